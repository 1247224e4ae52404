"""Rows that were damaged after they were made: every proof can fail, and says in words why."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import VerifyError
from gristmill.synth.atoms import encode
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.solvers.asking import REASONS, Unproved
from gristmill.synth.solvers.verify import verify_row, verify_shards
from tests.synth.corpus import SUMS, made, tokenizer

Row = dict[str, Any]


def damaged(change: Callable[[Row], None]) -> pa.RecordBatch:
    row = made(50_001, families=SUMS)
    (plain,) = row.to_pylist()
    change(plain)
    return pa.RecordBatch.from_pylist([plain], schema=row.schema)


def _no_answer(row: Row) -> None:
    row["tasks"][0]["answer"] = "999"


def _other_tokens(row: Row) -> None:
    """Another number in a record that is added up, of as many tokens."""
    where = row["tasks"][0]["evidence"][0]
    text = tokenizer().decode(np.array(row["input_ids"][where["start"] : where["end"]], np.uint32))
    number = next(n for n in re.findall(r"(?<![-:\d])\d+(?![-:\d])", text))
    other = text.replace(number, str(int(number) + (1 if int(number) % 10 < 9 else -1)))
    ids = tokenizer().encode_batch(pa.array([other], pa.large_string())).ids.tolist()
    assert len(ids) == where["end"] - where["start"]
    row["input_ids"][where["start"] : where["end"]] = ids


def _other_split(row: Row) -> None:
    """Two tokens of a document that spell what two others spell."""

    def one(text: str) -> list[int]:
        return encode([text], tokenizer())[0].tolist()

    ids = row["input_ids"]
    for at in range(1, 500):
        text = tokenizer().decode(np.array(ids[at : at + 2], np.uint32))
        for cut in range(1, len(text)):
            other = one(text[:cut]) + one(text[cut:])
            if len(other) == 2 and other != ids[at : at + 2]:
                ids[at : at + 2] = other
                return
    raise AssertionError("no such place")


def _fewer_evidence(row: Row) -> None:
    row["tasks"][0]["evidence"].pop()


def _group(row: Row) -> None:
    row["segments"][row["tasks"][0]["evidence"][0]["segment"]]["attn_group"] = 7


def _family(row: Row) -> None:
    row["tasks"][0]["family"] = "riddle"


def _span(row: Row) -> None:
    row["tasks"][0]["query_end"] += 1


def _short(row: Row) -> None:
    row["n_tokens"] -= 300


def _copied(row: Row) -> None:
    """A record becomes filler: its name stands where it was not declared."""
    row["segments"][row["tasks"][0]["evidence"][0]["segment"]]["kind"] = "text"


def _told(row: Row) -> None:
    row["tasks"][0]["window_eps"][2] = 0.5


def _chance(row: Row) -> None:
    row["tasks"][0]["chance"] *= 2


def _class(row: Row) -> None:
    row["tasks"][0]["klass"] = "C"


def _unverified(row: Row) -> None:
    row["tasks"][0]["verified"] = False


@pytest.mark.parametrize(
    ("change", "reasons"),
    [
        (_no_answer, {"unsolved"}),
        (_other_tokens, {"unsolved"}),
        (_other_split, {"unreadable"}),
        (_fewer_evidence, {"unsolved"}),
        (_group, {"groups"}),
        (_family, {"unknown_family"}),
        (_span, {"spans"}),
        (_short, {"padding", "unreadable"}),
        (_copied, {"leak"}),
        (_told, {"claims"}),
        (_chance, {"claims"}),
        (_class, {"claims"}),
        (_unverified, {"claims"}),
    ],
)
def test_every_proof_can_fail(change: Callable[[Row], None], reasons: set[str]) -> None:
    with pytest.raises(Unproved) as caught:
        verify_row(damaged(change), tokenizer())
    assert caught.value.reason in reasons


def test_an_undamaged_copy_is_proved() -> None:
    assert verify_row(damaged(lambda _: None), tokenizer())


WRONG = st.one_of(st.none(), st.integers(-3, 9000), st.sampled_from((0, 1, 8191, 8192, 8193, (1 << 31) - 1)))


@given(st.data())
def test_hostile_rows_are_refused_in_words(data: st.DataObject) -> None:
    """Any number of a row, of a segment, a task or its evidence is made another, or null: proved or Unproved."""
    row = made(8192, families=SUMS[:1])
    (plain,) = row.to_pylist()
    task = data.draw(st.sampled_from(plain["tasks"]))
    where = data.draw(st.sampled_from([plain, task, *plain["segments"], *task["evidence"], *task["distractors"][:3]]))
    name = data.draw(st.sampled_from(sorted(k for k, v in where.items() if isinstance(v, int | str))))
    value = data.draw(WRONG)
    where[name] = str(value) if isinstance(where[name], str) and value is not None else value
    if name == "row_id" or (name == "verified" and value is not None):
        return
    try:
        batch = pa.RecordBatch.from_pylist([plain], schema=row.schema)
    except (pa.ArrowInvalid, OverflowError):
        return
    try:
        verify_row(batch, tokenizer())
    except Unproved as error:
        assert error.reason in REASONS


def shard_of(rows: list[pa.RecordBatch], path: Path) -> Path:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, rows[0].schema) as writer:
        for row in rows:
            writer.write_batch(row)
    return path


def test_shards_are_verified_by_who_has_nothing_else(tmp_path: Path) -> None:
    good = made(50_001, families=SUMS)
    paths = [shard_of([good, made(50_001, "concat")], tmp_path / "a.arrow"), shard_of([good], tmp_path / "b.arrow")]
    verified = verify_shards(paths, tokenizer())
    assert verified.rows == 3 and verified.tasks == 2 * len(good.column("tasks")[0]) > 0
    assert verified.classes == {"A": verified.tasks} and set(verified.families) <= set(FAMILIES)
    wrong = damaged(_told)
    bad = shard_of([good, wrong], tmp_path / "c.arrow")
    with pytest.raises(VerifyError, match=r"c\.arrow row 1: not proved: task 0: claims") as caught:
        verify_shards([bad], tokenizer())
    assert caught.value.exit_code == 4
    with pytest.raises(VerifyError, match="another tokenizer"):
        verify_shards(paths, tokenizer("bytes"))
    (plain,) = good.to_pylist()
    plain["row_id"] = b"0" * 16
    shard_of([pa.RecordBatch.from_pylist([plain], schema=good.schema)], tmp_path / "d.arrow")
    with pytest.raises(VerifyError, match="row_id"):
        verify_shards([tmp_path / "d.arrow"], tokenizer())


def test_verifying_imports_nothing_that_makes_rows() -> None:
    code = (
        "import sys, gristmill.synth.solvers.verify, gristmill.synth.solvers.cheaters;"
        "print(sorted(n for n in sys.modules if n.startswith('gristmill.synth.') and '.solvers' not in n))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"

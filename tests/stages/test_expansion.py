"""Further rows of a row: what the chain makes of an expander, and what it refuses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import GristmillError
from gristmill.manifests.schema import content_hashes, derived_id
from gristmill.stages import catalogue
from gristmill.stages.chain import ChainResult, run_chain
from gristmill.stages.columns import with_column
from gristmill.stages.protocol import DERIVED, Expanded, Expander, Filter, Floats, Mapper, Reason, RowVerdict, Rule
from tests.laws.batches import make_batch


@dataclass(frozen=True)
class Letters:
    """A further row for each letter of a text, up to `most`; texts with an x go."""

    most: int = 3
    name: ClassVar[str] = "letters"
    version: ClassVar[int] = 1

    def reasons(self) -> tuple[Reason, ...]:
        return (Reason("has_x", "drop", ""), Reason(DERIVED, "drop", ""))

    def expand(self, batch: pa.RecordBatch) -> Expanded:
        texts = [text or "" for text in batch.column("text").to_pylist()]
        made = [(row, n, text[n]) for row, text in enumerate(texts) for n in range(min(len(text), self.most))]
        parent = np.array([row for row, _, _ in made], np.int64)
        further = batch.take(pa.array(parent))
        further = with_column(further, "text", pa.array([letter * 2 for *_, letter in made], pa.large_string()))
        gone = tuple(RowVerdict(row, "drop", "has_x") for row, text in enumerate(texts) if "x" in text)
        return Expanded(further, parent, [f"letter {n}" for _, n, _ in made], gone)


@dataclass(frozen=True)
class NoVowels:
    """Drops what begins with a vowel."""

    name: ClassVar[str] = "no_vowels"
    version: ClassVar[int] = 1

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("vowel", "above", 0.5, "vowel"),)

    def measure(self, batch: pa.RecordBatch) -> dict[str, Floats]:
        texts = batch.column("text").to_pylist()
        return {"vowel": np.array([float((text or "")[:1] in list("aeiou")) for text in texts])}


def told(result: ChainResult) -> list[tuple[int, str]]:
    return list(zip(result.kept_rows.tolist(), result.kept.column("text").to_pylist(), strict=True))


def test_further_rows_follow_the_row_they_come_from() -> None:
    result = run_chain([Letters()], make_batch(["ab", "", "xy", None, "c"]))
    assert told(result) == [
        (0, "ab"),
        (0, "aa"),
        (0, "bb"),
        (1, ""),
        (2, "xx"),
        (2, "yy"),
        (3, None),
        (4, "c"),
        (4, "cc"),
    ]
    assert [(f.row, f.reason) for f in result.fates] == [(2, "has_x")]
    assert result.kept_chars.tolist() == [2, 2, 2, 0, 2, 2, 0, 1, 2]
    rows = result.kept.to_pylist()
    assert rows[1]["id"] == derived_id(rows[0]["id"], "letter 0") != rows[2]["id"]
    assert rows[1]["parents"] == [rows[0]["id"]] and rows[1]["derivation"] == "form"
    assert rows[0]["parents"] is None and rows[0]["derivation"] is None
    assert result.kept.column("content_hash").equals(
        content_hashes(result.kept.column("text").fill_null(""), result.kept.column("media"))
    )


TEXTS = st.lists(st.text("abxio", max_size=5) | st.none(), max_size=12)
CHAINS: list[list[Any]] = [
    [Letters()],
    [Letters(), NoVowels()],
    [NoVowels(), Letters(), NoVowels()],
    [Letters(2), Letters(1), NoVowels()],
]


@pytest.mark.parametrize("chain", CHAINS)
@given(TEXTS)
def test_records_and_characters_balance_at_each_step(chain: Sequence[Any], texts: list[str | None]) -> None:
    result = run_chain(chain, make_batch(texts))
    rows, chars = len(texts), sum(len(t or "") for t in texts)
    for number, step in enumerate(result.steps):
        derived = step.derived.num_rows if step.derived is not None else 0
        gone = sum(f.step_index == number for f in result.fates)
        assert len(step.rows) == rows and int(step.chars_in.sum()) == chars
        rows = rows + derived - gone
        assert int(step.kept.sum()) + derived == rows
        chars = int(step.chars_out[step.kept].sum() + step.derived_chars.sum())
    assert result.kept.num_rows == rows and int(result.kept_chars.sum()) == chars
    assert (np.diff(result.kept_rows) >= 0).all()


@pytest.mark.parametrize("chain", CHAINS)
@given(TEXTS, st.integers(0, 12))
def test_a_row_s_further_rows_depend_on_it_alone(chain: Sequence[Any], texts: list[str | None], cut: int) -> None:
    batch = make_batch(texts)
    whole = run_chain(chain, batch)
    parts = [run_chain(chain, part) for part in (batch.slice(0, cut), batch.slice(min(cut, len(texts))))]
    assert [row for p in parts for row in p.kept.to_pylist()] == whole.kept.to_pylist()
    assert sum(len(p.fates) for p in parts) == len(whole.fates)


def test_a_fate_says_which_of_the_rows_of_one_record_went() -> None:
    result = run_chain([Letters(), NoVowels()], make_batch(["ba", "oi"]))
    texts = result.steps[1].before.column("text").to_pylist()
    assert [(f.row, texts[f.at]) for f in result.fates] == [(0, "aa"), (1, "oi"), (1, "oo"), (1, "ii")]


@dataclass(frozen=True)
class Wrong:
    """Returns what it is made with."""

    made: Expanded
    name: ClassVar[str] = "wrong"
    version: ClassVar[int] = 1

    def reasons(self) -> tuple[Reason, ...]:
        return ()

    def expand(self, batch: pa.RecordBatch) -> Expanded:
        return self.made


@pytest.mark.parametrize(
    ("parent", "form"),
    [
        ([1, 0], ["a", "b"]),
        ([0, 0], ["a", "a"]),
        ([0, 5], ["a", "b"]),
        ([-1, 0], ["a", "b"]),
        ([0], ["a"]),
        ([0, 1], ["a"]),
    ],
)
def test_what_does_not_fit_is_refused(parent: list[int], form: list[str]) -> None:
    batch = make_batch(["a", "b"])
    with pytest.raises(GristmillError, match="wrong"):
        run_chain([Wrong(Expanded(batch, np.array(parent, np.int64), form))], batch)


def test_columns_of_another_shape_are_refused() -> None:
    batch = make_batch(["a"])
    with pytest.raises(GristmillError, match="another shape"):
        run_chain([Wrong(Expanded(batch.select(["id"]), np.zeros(1, np.int64), ["a"]))], batch)


def test_an_expander_is_one_shape_and_no_other() -> None:
    stage = Letters()
    assert isinstance(stage, Expander) and not isinstance(stage, Filter | Mapper)
    assert catalogue.shape_of(stage) == catalogue.kind_of(stage) == "expander"

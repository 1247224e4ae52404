"""A stream stands in one place: two iterators, edited states, and what a row is made of."""

import json
from pathlib import Path
from typing import Any

import pytest

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.reader import TokenStream
from tests.pipeline.reader.test_stream import QUIET, out, plan_file, seen, table

__all__ = ["out"]


def test_of_two_iterators_the_one_that_began_last_goes_on(out: Path) -> None:
    stream = TokenStream(out / "a64", global_batch=4, options=QUIET)
    first = iter(stream)
    read = [int(i) for i in next(first).indices]
    second = iter(stream)
    read += [int(i) for i in next(second).indices]
    with pytest.raises(UsageError, match="another iterator"):
        next(first)
    read += [int(i) for batch in second for i in batch.indices]
    assert read == list(range(stream.plan.rows // 4 * 4)), "nothing lost, nothing twice"


@pytest.mark.parametrize(
    "change", [{"next": 8}, {"dropped": 1}, {"skipped": [[0, 4]]}, {"drawn": {}}, {"seal": "0" * 32}, {"more": {1, 2}}]
)
def test_a_state_that_was_edited_is_refused(out: Path, change: dict[str, Any]) -> None:
    stream = TokenStream(plan_file(out), global_batch=4, options=QUIET)
    next(iter(stream))
    state = json.loads(json.dumps(stream.state_dict()))
    other = TokenStream(plan_file(out), global_batch=4, options=QUIET)
    for rebase in (False, True):
        with pytest.raises(UsageError, match="changed after it was made"):
            other.load_state_dict(state | change, rebase=rebase)
    other.load_state_dict(state)
    assert seen(other)[0] == 4


def test_provenance_says_what_each_row_is_made_of(out: Path) -> None:
    rows = table(out / "a64")
    batch = next(iter(TokenStream(out / "a64", global_batch=3, options=QUIET)))
    for found, index, number in zip(batch.provenance, batch.indices.tolist(), batch.row.tolist(), strict=True):
        assert (found.index, found.row, found.source) == (index, number, "a64")
        assert found.row_id == rows[number]["row_id"]
        assert found.docs == rows[number]["docs"] and found.segments == rows[number]["segments"]


def test_a_row_is_shown_as_it_stands(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = table(out / "a64")[3]
    assert main(["show", str(out), "a64", "--row", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["row_id"] == row["row_id"].hex() and told["padding"] == 64 - row["n_tokens"]
    for shown, segment in zip(told["segments"], row["segments"], strict=True):
        ids = row["input_ids"][segment["start"] : segment["end"]]
        assert shown["ids"] == ids
        assert shown["text"] == (None if segment["kind"] == "separator" else bytes(ids).decode())
    assert [doc["id"] for doc in told["docs"]] == [doc["id"] for doc in row["docs"]]
    assert main(["show", str(out / "a64"), "--row", "3"]) == 0
    assert told["segments"][0]["text"] in capsys.readouterr().out
    for wrong in (["--row", "100000"], ["--row", "-1"], ["--row", "0", "--reason", "x"], ["--tokenizer", "bytes"]):
        assert main(["show", str(out / "a64"), *wrong]) == 2


@pytest.mark.parametrize(
    "words",
    [
        *(["--global-batch", "100000"], ["--global-batch", "0"], ["--out", "x"], ["--set", "a=1"], ["--resolved"]),
        *(["--sample", "0.5"], ["--measures", "all"]),
    ],
)
def test_a_plan_refuses_what_says_nothing_of_it(out: Path, words: list[str]) -> None:
    for plan in (plan_file(out), out / "a64"):
        assert main(["plan", str(plan), "--global-batch", "4"]) == 0
        assert main(["plan", str(plan), *words]) == 2

"""Tasks of class C: passages of real documents are put apart, and what can be proved of that is."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from gristmill.manifests.errors import InputError
from gristmill.render.draws import Draws
from gristmill.synth.atoms import prepare
from gristmill.synth.build import build_all, measure_costs
from gristmill.synth.cuts import NoPassages, choose
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.plan import SynthParams, content_order, make_plans
from gristmill.synth.solvers import passages
from gristmill.synth.solvers.asking import Unproved
from gristmill.synth.solvers.cheaters import CHEATERS, puzzles, scores
from gristmill.synth.solvers.reading import read_row
from gristmill.synth.solvers.verify import verify_row
from tests.synth.corpus import documents, form, prose, source, tokenizer

CONTEXT = 65_536
OF_PASSAGES = ("chunk_order", "fill_middle")
Row = dict[str, Any]


@cache
def rows(family: str, sequences: int = 1) -> tuple[pa.RecordBatch, ...]:
    params = SynthParams(
        context=CONTEXT, sequences=sequences, seed=5, modes={"task": 1}, families=(family,), max_uses=sequences
    )
    return tuple(build_all(params, documents(200_000), tokenizer(), form(CONTEXT), {}))


def damaged(family: str, change: Callable[[Row], None]) -> pa.RecordBatch:
    (row,) = rows(family)
    (plain,) = row.to_pylist()
    change(plain)
    return pa.RecordBatch.from_pylist([plain], schema=row.schema)


@pytest.mark.parametrize("family", OF_PASSAGES)
class TestPassages:
    def test_no_epsilon_is_stored_and_nothing_is_called_scattered(self, family: str) -> None:
        (plain,) = rows(family)[0].to_pylist()
        assert FAMILIES[family].klass == "C" and len(plain["tasks"]) == 3 + (family == "fill_middle")
        for task in plain["tasks"]:
            assert task["klass"] == "C" and task["window_eps"] == [] and task["verified"]

    def test_a_document_that_is_taken_apart_stands_nowhere_else(self, family: str) -> None:
        (plain,) = rows(family)[0].to_pylist()
        known = {doc.source.id: doc for doc in documents(200_000)}
        spans = {part["start"] for t in plain["tasks"] for part in (*t["evidence"], *t["distractors"])}
        found = [s for s in plain["segments"] if s["start"] in spans and s["kind"] in ("text", "code")]
        docs = {s["doc_idx"] for s in found}
        last = [s for s in plain["segments"] if s["kind"] == "separator"]
        own = [s for s in plain["segments"] if s["doc_idx"] in docs and s not in last]
        assert own == found and len(docs) == (3 if family == "chunk_order" else 6)
        for segment in own:
            doc = known[plain["docs"][segment["doc_idx"]]["id"]]
            text = read_row(rows(family)[0], tokenizer()).piece(segment["start"], segment["end"])
            atom = next(i for i in range(len(doc.tokens)) if doc.atom(i) == text)
            assert sum(doc.tokens[:atom]) == segment["doc_offset"]

    def test_every_proof_can_fail(self, family: str) -> None:
        def other_answer(row: Row) -> None:
            row["tasks"][0]["answer"] += "x"

        def called_a(row: Row) -> None:
            row["tasks"][0]["klass"] = "A"

        def told(row: Row) -> None:
            row["tasks"][0]["window_eps"] = [0.0, 0.0, 0.0]

        def fewer(row: Row) -> None:
            row["tasks"][0]["evidence"].pop()

        def elsewhere(row: Row) -> None:
            _segment(row, -1)["doc_offset"] += 1

        def another_document(row: Row) -> None:
            _segment(row, -1)["doc_idx"] = 0

        def also_filler(row: Row) -> None:
            filler = next(s for s in row["segments"] if s["kind"] in ("text", "code") and s["doc_idx"] == 0)
            filler["doc_idx"] = _segment(row, -1)["doc_idx"]

        def swapped(row: Row) -> None:
            evidence = row["tasks"][0]["evidence"]
            evidence[0], evidence[-1] = evidence[-1], evidence[0]

        for change, reason in (
            (other_answer, "unsolved"),
            (called_a, "spans"),
            (told, "claims"),
            (fewer, "unsolved"),
            (elsewhere, "unsolved"),
            (another_document, "unsolved"),
            (also_filler, "alike"),
            (swapped, "unsolved"),
        ):
            with pytest.raises(Unproved) as caught:
                verify_row(damaged(family, change), tokenizer())
            assert caught.value.reason == reason, change.__name__

    def test_a_passage_that_names_lose_is_noticed(self, family: str) -> None:
        """Any piece of evidence that is no longer declared as such leaves the task unsolved."""
        (plain,) = rows(family)[0].to_pylist()
        for at in range(len(plain["tasks"][0]["evidence"])):

            def drop(row: Row, at: int = at) -> None:
                _segment(row, at)["kind"] = "marker"

            with pytest.raises(Unproved):
                verify_row(damaged(family, drop), tokenizer())

    def test_passages_that_are_alike_are_refused(self, family: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(passages, "GRAM_WORDS", 1)
        with pytest.raises(Unproved, match="alike"):
            verify_row(rows(family)[0], tokenizer())
        monkeypatch.setattr(passages, "GRAM_WORDS", 8)
        monkeypatch.setattr(passages, "GRAM_TOKENS", 1)
        with pytest.raises(Unproved, match=r"alike: .* stands elsewhere"):
            verify_row(rows(family)[0], tokenizer())

    def test_short_cuts_of_order_and_place(self, family: str) -> None:
        """These look at no passage and find nothing. What words tell of natural text is not held to chance."""
        found = scores([p for row in rows(family, 6) for p in puzzles(read_row(row, tokenizer()))])
        assert len(found) == len(CHEATERS) and found[0].tasks >= 18
        assert [s for s in found if not s.at_chance] == []

    def test_too_few_documents_are_an_error_when_it_is_named(self, family: str) -> None:
        params = SynthParams(context=CONTEXT, sequences=1, seed=5, modes={"task": 1}, families=(family,))
        docs = prepare([source(prose(Draws(n), 400), n) for n in range(6)], tokenizer())[0]
        with pytest.raises(InputError, match="take apart"):
            make_plans(params, content_order(docs), measure_costs(tokenizer()))


def _segment(row: Row, evidence: int) -> Row:
    return row["segments"][row["tasks"][0]["evidence"][evidence]["segment"]]


def test_documents_that_repeat_themselves_are_passed_over() -> None:
    again = "\n\n".join([prose(Draws("one"), 8)] * 4)
    texts = [again, prose(Draws("two"), 30), prose(Draws("three"), 30), prose(Draws("two"), 30) + " More."]
    docs = prepare([source(text, n) for n, text in enumerate(texts)], tokenizer())[0]
    for key in range(8):
        (run,) = choose([(0, docs[0]), (1, docs[1])], 1, 4, Draws("cut", key))
        assert {cut.doc for cut in run} == {1} and [cut.atom for cut in run] == list(
            range(run[0].atom, run[0].atom + 4)
        )
    with pytest.raises(NoPassages):
        choose([(0, docs[0])], 1, 4, Draws("cut"))
    whole = len(docs[1].tokens)
    with pytest.raises(NoPassages, match="1 of 2"):
        choose([(1, docs[1]), (3, docs[3])], 2, whole - 1, Draws("cut"))

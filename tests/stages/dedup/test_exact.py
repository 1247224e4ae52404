"""Exact dedup: what counts as equal, which one stays, whatever the batches and the order of the shards."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import GristmillError, UsageError
from gristmill.manifests.schema import content_hash, document_batch
from gristmill.stages.dedup.exact import MEDIA_HASHES, MEDIA_PLACES, ExactDedup
from gristmill.stages.dedup.exact_stars import Rows, merged
from gristmill.stages.kernels.normal_form import EXACT, PROSE
from gristmill.stages.kernels.normal_form_plain import normal_form
from gristmill.stages.protocol import DROP, MARK, Exchange
from tests.stages.dedup.exchanges import documents, emitted, reduced, verdicts_on

Doc = dict[str, Any]
TEXTS = ["", " ", "a b", "A B", "a  b", "A  B", "a b c", "\0", "é", "e\u0301", "É"]
DOCS = st.lists(
    st.fixed_dictionaries(
        {"text": st.none() | st.sampled_from(TEXTS), "domain": st.sampled_from(["web", "code", "math", None])}
    ),
    max_size=24,
)


def dropped(rows: Sequence[Doc], stage: ExactDedup | None = None, cuts: Sequence[int] = ()) -> dict[int, int]:
    """Row that goes -> row of its keeper (ids are numbers of rows)."""
    found = verdicts_on(stage or ExactDedup(), documents(rows), cuts)
    return {v["addr"]: int(v["keeper"].hex(), 16) for v in found if v["kind"] == DROP}


def groups(rows: Sequence[Doc], stage: ExactDedup | None = None) -> set[frozenset[int]]:
    """Sets of rows of which one stays."""
    found: dict[int, set[int]] = {}
    for row, kept in dropped(rows, stage).items():
        found.setdefault(kept, {kept}).add(row)
    return {frozenset(group) for group in found.values()}


def same(one: Doc, other: Doc) -> bool:
    """The definition: by form where both have one and the same, by bytes else."""
    forms = [EXACT if d["domain"] in ("code", "math") else PROSE for d in (one, other)]
    texts = [d["text"] or "" for d in (one, other)]
    if forms[0] != forms[1]:
        return texts[0] == texts[1]
    return normal_form(texts[0], forms[0]) == normal_form(texts[1], forms[1])


def expected(rows: Sequence[Doc]) -> dict[int, set[int]]:
    """Row that goes -> the kept rows that it equals: first independent set in the order of ranks."""
    order = sorted(range(len(rows)), key=lambda row: (content_hash((rows[row]["text"] or "").encode()), row))
    kept: list[int] = []
    goes: dict[int, set[int]] = {}
    for row in order:
        equal = {k for k in kept if same(rows[row], rows[k])}
        if equal:
            goes[row] = equal
        else:
            kept.append(row)
    return goes


@given(DOCS, st.lists(st.integers(0, 24), max_size=4))
def test_a_record_goes_where_it_equals_a_kept_one_of_better_rank(rows: list[Doc], cuts: list[int]) -> None:
    found, wanted = dropped(rows, cuts=cuts), expected(rows)
    assert found.keys() == wanted.keys()
    assert all(found[row] in wanted[row] for row in found)


@given(DOCS, st.permutations(range(24)), st.lists(st.integers(0, 24), max_size=4))
def test_order_of_the_rows_does_not_matter(rows: list[Doc], order: list[int], cuts: list[int]) -> None:
    batch = documents(rows)
    stage = ExactDedup(keep=("longest",))
    moved = [i for i in order if i < len(rows)]
    rows_of = {v["addr"]: v for v in verdicts_on(stage, batch)}
    shuffled = reduced(stage, emitted(stage, batch.take(pa.array(moved, pa.int64()))), cuts)
    assert {moved[v["addr"]]: v | {"addr": moved[v["addr"]]} for v in shuffled} == rows_of


def test_what_counts_as_equal_by_domain() -> None:
    texts = ["One  two.\n", "one two.", "One two.", "One two", "One 2."]
    prose = [{"text": t, "domain": "web"} for t in texts]
    assert groups(prose) == groups([d | {"domain": None} for d in prose]) == {frozenset({0, 1, 2})}
    for domain in ("code", "math"):
        assert groups([d | {"domain": domain} for d in prose]) == {frozenset({0, 2})}
    assert groups(prose, ExactDedup("exact")) == {frozenset({0, 2})}
    assert groups(prose, ExactDedup("none")) == set()
    assert groups([d | {"domain": "code"} for d in prose], ExactDedup("prose")) == {frozenset({0, 1, 2})}


def test_equal_bytes_of_code_and_prose_are_equal() -> None:
    code = {"text": "Same  Bytes", "domain": "code"}
    assert groups([code, code | {"domain": "web"}]) == {frozenset({0, 1})}
    assert groups([code, {"text": "same bytes", "domain": "web"}]) == set()
    assert groups([code, code | {"domain": "web"}], ExactDedup("none")) == {frozenset({0, 1})}


def test_digits_always_count() -> None:
    rows = [{"text": f"Page {n}", "domain": d} for n in (1, 2) for d in ("web", "code", "knowledge", "vision")]
    assert all(len({row // 4 for row in group}) == 1 for group in groups(rows))


def test_empty_texts_are_equal() -> None:
    rows: list[Doc] = [{"text": t} for t in ("", None, " \n", "\u200b", "x")]
    assert groups(rows) == {frozenset({0, 1, 2, 3})}
    assert groups(rows, ExactDedup("none")) == {frozenset({0, 1})}


def test_media_count() -> None:
    def with_media(*hashes: bytes) -> Doc:
        return {"text": "A \ufffc" * len(hashes), "media": [{"sha256": h * 32} for h in hashes]}

    rows = [with_media(b"x"), with_media(b"y"), with_media(b"x") | {"text": "a  \ufffc"}, with_media(b"x", b"y")]
    assert groups(rows) == {frozenset({0, 2})}
    assert groups([d | {"domain": "math"} for d in rows]) == set()
    assert groups([with_media(b"x", b"y"), with_media(b"y", b"x"), with_media(b"x", b"y")]) == {frozenset({0, 2})}


@pytest.mark.parametrize("normalise", ["auto", "none"])
def test_the_policy_decides_then_content_then_id(normalise: Any) -> None:
    rows = [{"text": "same", "source": s, "scores": [("q", q)]} for s, q in (("b", 0.5), ("a", 0.5), ("b", 0.9))]
    assert dropped(rows, ExactDedup(normalise)) == {1: 0, 2: 0}
    assert dropped(rows, ExactDedup(normalise, keep=("score:q",))) == {0: 2, 1: 2}
    assert dropped(rows, ExactDedup(normalise, keep=("source:a>b", "score:q"))) == {0: 1, 2: 1}


def test_content_decides_before_ids() -> None:
    texts = ["Word", "word", "WORD"]
    best = min(range(3), key=lambda row: content_hash(texts[row].encode()))
    assert dropped([{"text": t} for t in texts]) == {row: best for row in range(3) if row != best}
    assert set(dropped([{"text": t} for t in texts[::-1]]).values()) == {2 - best}


def test_the_kept_one_is_marked_with_what_it_stands_for() -> None:
    rows: list[Doc] = [
        {"text": t, "dup_count": n} for t, n in (("Word", None), ("word", 3), ("WORD", None), ("other", 7))
    ]
    marks = [v for v in verdicts_on(ExactDedup(keep=("source:z",)), documents(rows)) if v["kind"] == MARK]
    smallest = min(content_hash(row["text"].encode()) for row in rows[:3])
    assert [(m["keeper"], m["value"]) for m in marks] == [(smallest, 5.0)]
    rows[2]["dup_cluster"] = b"\0" * 16
    marks = [v for v in verdicts_on(ExactDedup(), documents(rows)) if v["kind"] == MARK]
    assert [(m["keeper"], m["value"]) for m in marks] == [(b"\0" * 16, 5.0)]


def test_verdicts_tell_equal_bytes_from_equal_forms() -> None:
    stage = ExactDedup(keep=("source:z>*",))
    first = {"text": "Word", "source": "z"}
    found = verdicts_on(stage, documents([first, {"text": "Word"}, {"text": "word"}]))
    drops = [v for v in found if v["kind"] == DROP]
    assert [(v["addr"], v["value"], v["limit"], v["note"]) for v in drops] == [(1, 1.0, 1.0, 0), (2, 1.0, 1.0, 1)]
    assert [stage.explain(v["note"]) for v in drops] == ["", "equal when normalised"]


@pytest.mark.parametrize("cuts", [(), range(1, 50), (25,), (0, 0, 49, 50)])
def test_a_group_over_many_batches(cuts: Sequence[int]) -> None:
    found = verdicts_on(ExactDedup(), documents([{"text": "same"}] * 50), cuts)
    assert {v["addr"]: v["keeper"] for v in found if v["kind"] == DROP} == dict.fromkeys(range(1, 50), bytes(16))
    assert [(v["addr"], v["value"]) for v in found if v["kind"] == MARK] == [(0, 50.0)]


def test_no_more_than_the_kept_ones_are_carried() -> None:
    rows = Rows.of(emitted(ExactDedup(), documents([{"text": "same"}] * 9)))
    carried = merged(rows).kept(rows, slice(rows.last_key(), 9))
    assert (carried.addr.tolist(), carried.count.tolist(), carried.size.tolist()) == ([0], [9], [9])


def test_emits_key_rank_and_address() -> None:
    batch = documents([{"text": "x", "id": "00" * 15 + "ff"}])
    row = emitted(ExactDedup(keep=("shortest",)), batch, [7]).to_pylist()[0]
    assert row["key"] == content_hash(b"x")
    assert row["order"] == b"\0\0\0\1" + content_hash(b"x") + b"\0" * 15 + b"\xff"
    assert row["addr"] == 7


@pytest.mark.parametrize("normalise", ["auto", "prose", "exact", "none"])
def test_slices_emit_as_the_whole_does(normalise: Any) -> None:
    rows: list[Doc] = [
        {"text": f"{'é' * n} {n % 3}", "domain": ["web", "code"][n % 2], "dup_cluster": None} for n in range(9)
    ]
    rows[5]["dup_cluster"] = b"\0" * 16
    batch, stage = documents(rows), ExactDedup(normalise, keep=("longest",))
    part = emitted(stage, batch.slice(4, 3), range(4, 7))
    assert part.to_pylist() == emitted(stage, batch).to_pylist()[4:7]


def test_nothing_gives_nothing() -> None:
    stage = ExactDedup()
    nothing = emitted(stage, documents([]))
    assert nothing.num_rows == 0
    assert list(stage.reduce(iter([]))) == []
    assert list(stage.reduce(iter([nothing, nothing]))) == []


@pytest.mark.parametrize("key", ["", "0" * 31, "0" * 31 + "G", "0" * 31 + "F", "é" * 16, "0" * 33, None])
def test_an_id_that_is_not_one_is_refused(key: str | None) -> None:
    with pytest.raises(GristmillError, match="32"):
        emitted(ExactDedup(), documents([{"text": "x"}, {"text": "x", "id": key}]))


def test_a_missing_hash_is_refused() -> None:
    batch = document_batch({"text": pa.array(["x"]), "id": pa.array(["0" * 32])})
    with pytest.raises(GristmillError, match="content_hash"):
        ExactDedup().emit(batch, np.zeros(1, dtype=np.uint64))


def test_a_policy_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match=r"stage exact_dedup\.keep: an unknown criterion"):
        ExactDedup(keep=("best",))


def test_bytes_alone_need_no_text() -> None:
    media = (MEDIA_HASHES, MEDIA_PLACES)
    assert ExactDedup("none").reads == ("id", "content_hash", *media, "dup_cluster", "dup_count")
    assert "text" in ExactDedup("none", keep=("longest",)).reads


def test_is_an_exchange_with_one_reason() -> None:
    assert isinstance(ExactDedup(), Exchange)
    assert [(r.reason, r.verdict) for r in ExactDedup().reasons()] == [("exact_duplicate", "drop")]

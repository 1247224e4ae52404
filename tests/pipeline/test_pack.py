"""Packing: every token once, no needless cut, no row over-full, the same whatever the order of documents."""

import subprocess
import sys
from dataclasses import fields
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.manifests.trainer_schema import BREAK_LEVELS, BREAK_TOP, HOLD_END, HOLD_START
from gristmill.pipeline.cut import Structure, cut
from gristmill.pipeline.pack import NO_LIMIT, Pack, pack
from gristmill.pipeline.pack_kernel import best_fit, bitset_levels
from gristmill.pipeline.pack_plain import cut_plain, pack_plain

contexts = st.one_of(st.integers(1, 80), st.sampled_from([63, 64, 65, 4095, 4096, 4097, 8192, 262_145]))


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Any, Any, int]:
    context = draw(contexts)
    near = st.integers(max(context - 2, 0), context + 2)
    lengths = draw(st.lists(st.one_of(st.integers(0, 3 * context), near, st.integers(0, 3)), max_size=60))
    column = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 2**64 - 1]))
    keys = draw(st.lists(st.tuples(column, column), min_size=len(lengths), max_size=len(lengths), unique=True))
    return (
        np.array(lengths, dtype=np.int64),
        np.array(keys, dtype=np.uint64).reshape(len(lengths), 2),
        context,
    )


@st.composite
def structures(draw: st.DrawFn, lengths: list[int], context: int) -> Structure:
    """Candidates, media and holds of each document, the holds here and there longer than a row."""
    columns: list[list[tuple[int, int]]] = []
    media: list[list[tuple[int, int]]] = []
    for length in lengths:
        bounds = draw(st.lists(st.integers(0, length), max_size=8, unique=True).map(sorted)) if length else []
        holds = list(zip(bounds[::2], bounds[1::2], strict=False)) if draw(st.booleans()) else []
        media.append([])
        for start, end in holds:
            at = start
            for _ in range(draw(st.integers(1, 3))):
                if at < end:
                    at = draw(st.integers(at, end - 1))
                    media[-1].append((at, draw(st.integers(1, min(context, end - at)))))
                    at = sum(media[-1][-1])
        places = draw(st.lists(st.integers(1, max(length - 1, 1)), max_size=12, unique=True))
        free = [p for p in places if 0 < p < length and not any(s < p < e for s, e in holds)]
        levels = [(p, draw(st.integers(1, BREAK_TOP))) for p in free]
        columns.append(levels + [(s, HOLD_START) for s, _ in holds] + [(e, HOLD_END) for _, e in holds])
    return structure_of(columns, media)


def structure_of(breaks: list[list[tuple[int, int]]], media: list[list[tuple[int, int]]]) -> Structure:
    def bounds(lists: list[list[tuple[int, int]]]) -> Any:
        return np.cumsum([0, *map(len, lists)]).astype(np.int64)

    packed = [p * BREAK_LEVELS + level for row in breaks for p, level in sorted(row)]
    spans = [span for row in media for span in row]
    starts, sizes = ([s[i] for s in spans] for i in (0, 1))
    return Structure(bounds(breaks), ints(packed), bounds(media), ints(starts), ints(sizes))


def ints(values: list[int]) -> Any:
    return np.array(values, dtype=np.int64)


@st.composite
def structured(draw: st.DrawFn) -> tuple[Any, Any, int, Structure, int | None]:
    lengths, keys, context = draw(corpora())
    limit = draw(st.one_of(st.none(), st.integers(1, 5)))
    return lengths, keys, context, draw(structures(lengths.tolist(), context)), limit


def same(one: Pack, other: Pack) -> bool:
    return all(np.array_equal(getattr(one, f.name), getattr(other, f.name)) for f in fields(Pack))


def check(lengths: Any, context: int, packed: Pack) -> None:
    """All that must hold of a pack, checked slowly and without its own counters."""
    rows: list[list[tuple[int, int]]] = [[] for _ in range(packed.rows)]
    docs: dict[int, list[tuple[int, int, bool, bool]]] = {}
    columns = (
        packed.row,
        packed.start,
        packed.doc,
        packed.doc_offset,
        packed.length,
        packed.ends_doc,
        packed.separator,
    )
    for row, start, doc, offset, length, ends, separator in zip(*(c.tolist() for c in columns), strict=True):
        assert length > 0
        rows[row].append((start, start + length + separator))
        docs.setdefault(doc, []).append((offset, length, ends, separator))
        assert separator == (ends and start + length < context)
    for row in rows:
        assert row[0][0] == 0
        assert all(a[1] == b[0] for a, b in pairwise(row))
        assert row[-1][1] <= context
    assert sorted(docs) == np.flatnonzero(lengths).tolist()
    for doc, pieces in docs.items():
        pieces.sort()
        assert [p[0] for p in pieces] == [0, *accumulate(p[1] for p in pieces)][:-1]
        assert sum(p[1] for p in pieces) == lengths[doc]
        assert [p[2] for p in pieces] == [False] * (len(pieces) - 1) + [True]
        assert len(pieces) == 1 or lengths[doc] > context
    assert packed.empty.tolist() == np.flatnonzero(lengths == 0).tolist()
    assert packed.needless_cuts == 0
    assert packed.cut_docs == int((lengths > context).sum())


def naive_rows(sizes: list[int], context: int) -> int:
    """Rows of best-fit-decreasing by exhaustive search."""
    rooms: list[int] = []
    for size in sorted(sizes, reverse=True):
        fitting = [i for i, room in enumerate(rooms) if room >= size]
        if fitting:
            rooms[min(fitting, key=lambda i: rooms[i])] -= size
        else:
            rooms.append(context - size)
    return len(rooms)


@given(corpora())
@settings(max_examples=120)
def test_every_token_stands_once_and_nothing_is_cut_needlessly(corpus: tuple[Any, Any, int]) -> None:
    lengths, keys, context = corpus
    check(lengths, context, pack(lengths, keys, context))


@given(corpora())
@settings(max_examples=120)
def test_the_kernel_is_its_plain_twin(corpus: tuple[Any, Any, int]) -> None:
    lengths, keys, context = corpus
    packed = pack(lengths, keys, context)
    assert same(packed, pack_plain(lengths, keys, context))
    sizes = (packed.length + packed.separator).tolist()
    if (lengths <= context).all():
        assert packed.rows == naive_rows(sizes, context)
    assert packed.padding_tokens == packed.rows * context - sum(sizes)


@given(structured())
@settings(max_examples=150, deadline=None)
def test_structure_and_a_limit_of_pieces(corpus: tuple[Any, Any, int, Structure, int | None]) -> None:
    lengths, keys, context, structure, limit = corpus
    packed = pack(lengths, keys, context, structure, limit)
    check(lengths, context, packed)
    assert same(packed, pack_plain(lengths, keys, context, structure, limit))
    assert np.bincount(packed.row, minlength=1).max() <= (limit or NO_LIMIT)
    for doc, place in zip(packed.doc.tolist(), (packed.doc_offset + packed.length).tolist(), strict=True):
        mine = slice(structure.media_of[doc], structure.media_of[doc + 1])
        starts, sizes = structure.media_start[mine], structure.media_len[mine]
        assert not ((starts < place) & (place < starts + sizes)).any()
        marks = structure.breaks[structure.breaks_of[doc] : structure.breaks_of[doc + 1]]
        at, level = np.divmod(marks, BREAK_LEVELS)
        begins, ends = at[level == HOLD_START], at[level == HOLD_END]
        assert not ((begins < place) & (place < ends) & (ends - begins <= context)).any()


@given(corpora(), st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_matter(corpus: tuple[Any, Any, int], rng: Any) -> None:
    lengths, keys, context = corpus
    order = list(range(len(lengths)))
    rng.shuffle(order)
    places = np.array(order, dtype=np.int64)
    one, other = pack(lengths, keys, context), pack(lengths[places], keys[places], context)
    assert np.array_equal(one.doc, places[other.doc])
    assert np.array_equal(one.row, other.row)
    assert np.array_equal(one.start, other.start)


@given(st.integers(1, 300_000), st.data())
@settings(max_examples=60)
def test_the_bitset_finds_the_least_room_that_fits(context: int, data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, context), max_size=40).map(lambda s: sorted(s, reverse=True)))
    rows = best_fit(np.array(sizes, dtype=np.int64), context, bitset_levels(context), NO_LIMIT)
    rooms: dict[int, int] = {}
    for size, row in zip(sizes, rows.tolist(), strict=True):
        least = min((room for room in rooms.values() if room >= size), default=context)
        assert rooms.get(row, context) == least
        rooms[row] = rooms.get(row, context) - size


@example(100)
@given(st.integers(1, 200))
@settings(max_examples=20)
def test_a_document_that_fills_its_row_has_no_separator(context: int) -> None:
    lengths = np.array([context - 1, context, context + 1], dtype=np.int64)
    packed = pack(lengths, np.arange(3, dtype=np.uint64), context)
    last = {int(d): bool(s) for d, s, e in zip(packed.doc, packed.separator, packed.ends_doc, strict=True) if e}
    assert last == {0: True, 1: False, 2: context > 1} if context > 1 else {1: False, 2: False}


def test_padding_is_negligible_and_rows_are_mixed_on_a_web_like_corpus() -> None:
    """Log-normal lengths as in reference measurements: 0.0017 % of padding there."""
    rng = np.random.default_rng(3)
    lengths = np.exp(rng.normal(6.3, 1.1, 200_000)).astype(np.int64) + 1
    keys = rng.integers(0, 2**63, (len(lengths), 2)).astype(np.uint64)
    packed = pack(lengths, keys, 8192)
    assert packed.padding_frac < 1e-4
    in_row = np.bincount(packed.row)
    halves = in_row[: packed.rows // 2].mean(), in_row[packed.rows // 2 :].mean()
    assert abs(halves[0] - halves[1]) < 0.1 * in_row.mean()
    assert abs(np.corrcoef(packed.start, packed.length)[0, 1]) < 0.25


def test_long_documents_alone_leave_no_room_and_end_at_structure() -> None:
    """Nothing is short enough to fill what cuts leave: rows are taken apart, and no more of them than it takes."""
    rng = np.random.default_rng(4)
    lengths = rng.integers(1100, 4000, 3000).astype(np.int64)
    keys = rng.integers(0, 2**63, (len(lengths), 2)).astype(np.uint64)
    places = [sorted(rng.choice(np.arange(1, n), n // 64, replace=False).tolist()) for n in lengths.tolist()]
    structure = structure_of([[(p, BREAK_TOP) for p in row] for row in places], [[] for _ in places])
    packed = pack(lengths, keys, 1024, structure)
    check(lengths, 1024, packed)
    assert same(packed, pack_plain(lengths, keys, 1024, structure))
    assert packed.padding_frac <= 1e-4
    assert packed.padding_tokens + 1024 > 1e-4 * packed.rows * 1024
    stops = packed.doc_offset + packed.length
    at = [
        e or s in places[d]
        for d, s, e in zip(packed.doc.tolist(), stops.tolist(), packed.ends_doc.tolist(), strict=True)
    ]
    fragments = packed.length[~np.array(at)]
    assert 0 < len(fragments) < packed.rows
    assert fragments.sum() < 0.06 * lengths.sum()


def test_a_full_row_by_count_is_closed() -> None:
    lengths = np.ones(1001, dtype=np.int64)
    keys = np.arange(1001, dtype=np.uint64)
    rows = [pack(lengths, keys, 64, max_segments=limit).rows for limit in (1, 4, 31, 32, 33, None)]
    assert rows == [1001, 251, 33, 32, 32, 32]


def test_row_bounds_slice_the_pieces_of_rows() -> None:
    packed = pack(np.array([5, 5, 5], dtype=np.int64), np.arange(3, dtype=np.uint64), 8)
    assert packed.row_bounds().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("lengths", "keys", "context"), [([1], [1, 2], 8), ([-1], [1], 8), ([1], [1], 0), ([], [1], 8)]
)
def test_wrong_arguments_are_refused(lengths: list[int], keys: list[int], context: int) -> None:
    with pytest.raises(ValueError, match=r"."):
        pack(np.array(lengths, dtype=np.int64), np.array(keys, dtype=np.uint64), context)


def test_nothing_packs_to_nothing() -> None:
    packed = pack(np.array([], dtype=np.int64), np.array([], dtype=np.uint64), 8)
    assert (packed.rows, packed.padding_tokens, packed.padding_frac, len(packed.row)) == (0, 0, 0.0, 0)
    assert same(packed, pack_plain(np.array([], dtype=np.int64), np.array([], dtype=np.uint64), 8))


def test_import_leaves_numba_out() -> None:
    code = "import sys, gristmill.pipeline.pack; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_picture_stays_with_its_code_where_the_paragraph_behind_makes_both_too_long() -> None:
    """Code [10, 80), the picture [80, 105), a paragraph to 130: more than a row of 100, the pair is not."""

    def offsets(length: int, hold: tuple[int, int], picture: tuple[int, int]) -> list[int]:
        one = structure_of([[(hold[0], HOLD_START), (hold[1], HOLD_END)]], [[picture]])
        packed = pack(np.array([length]), np.arange(1, dtype=np.uint64), 100, one)
        return sorted(packed.doc_offset.tolist())

    assert offsets(180, (10, 130), (80, 25)) == [0, 10, 110]
    assert offsets(270, (5, 230), (150, 20)) == [0, 100, 150, 250], "the code is too long: it stays with what is behind"


@st.composite
def long_holds(draw: st.DrawFn) -> tuple[int, int, Structure]:
    """A document of one hold that is longer than a row, with some media."""
    context = draw(st.integers(4, 40))
    low = draw(st.integers(0, context))
    high = low + draw(st.integers(context + 1, 4 * context))
    media: list[tuple[int, int]] = []
    at = low
    for gap, size in draw(st.lists(st.tuples(st.integers(0, context), st.integers(1, context)), max_size=5)):
        if at + gap + size <= high:
            media.append((at + gap, size))
            at += gap + size
    length = high + draw(st.integers(0, 2 * context))
    return length, context, structure_of([[(low, HOLD_START), (high, HOLD_END)]], [media])


@given(long_holds())
@settings(max_examples=400, deadline=None)
def test_a_medium_of_a_hold_longer_than_a_row_stays_with_what_is_before_it(case: tuple[int, int, Structure]) -> None:
    length, context, structure = case
    parts = cut(ints([length]), context, structure)
    assert parts.doc_offset.tolist() == cut_plain(ints([length]), context, structure).doc_offset.tolist()
    ends = (structure.media_start + structure.media_len).tolist()
    for low, high in pairwise([int(structure.breaks[0]) // BREAK_LEVELS, *ends]):
        assert high - low > context or not any(low < place < high for place in parts.doc_offset.tolist())

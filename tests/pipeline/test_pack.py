"""Packing: every token once, no needless cut, no row over-full, the same whatever the order of documents."""

import subprocess
import sys
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.pipeline.pack import Pack, pack, pack_plain
from gristmill.pipeline.pack_kernel import best_fit, bitset_levels

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
        assert separator == (ends and length < context)
    for row in rows:
        assert row[0][0] == 0
        assert all(a[1] == b[0] for a, b in pairwise(row))
        assert row[-1][1] <= context
    assert sorted(docs) == np.flatnonzero(lengths).tolist()
    for doc, pieces in docs.items():
        pieces.sort()
        assert [p[0] for p in pieces] == list(range(0, int(lengths[doc]), context))
        assert sum(p[1] for p in pieces) == lengths[doc]
        assert [p[2] for p in pieces] == [False] * (len(pieces) - 1) + [True]
        assert len(pieces) == -(-int(lengths[doc]) // context)
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
@settings(max_examples=300)
def test_every_token_stands_once_and_nothing_is_cut_needlessly(corpus: tuple[Any, Any, int]) -> None:
    lengths, keys, context = corpus
    check(lengths, context, pack(lengths, keys, context))


@given(corpora())
@settings(max_examples=300)
def test_the_kernel_is_its_plain_twin(corpus: tuple[Any, Any, int]) -> None:
    lengths, keys, context = corpus
    packed = pack(lengths, keys, context)
    assert same(packed, pack_plain(lengths, keys, context))
    sizes = (packed.length + packed.separator).tolist()
    assert packed.rows == naive_rows(sizes, context)
    assert packed.padding_tokens == packed.rows * context - sum(sizes)


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
    rows = best_fit(np.array(sizes, dtype=np.int64), context, bitset_levels(context))
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

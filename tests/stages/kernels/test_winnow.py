"""Winnowing against its plain twin, and its promise: equal windows share an anchor."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.stages.kernels import winnow, winnow_plain
from gristmill.stages.kernels.winnow import split_window

ROWS = st.lists(st.lists(st.integers(0, 3), max_size=60), max_size=5)
WIDE = st.lists(st.lists(st.integers(0, (1 << 32) - 1), max_size=40), max_size=3)
SIZES = st.tuples(st.integers(1, 5), st.integers(1, 6))


def arrays(rows: Sequence[Sequence[int]]) -> tuple[winnow.Ids, winnow.Ints]:
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return np.array([token for row in rows for token in row], np.uint32), offsets


def found(rows: Sequence[Sequence[int]], k: int, w: int) -> list[tuple[int, int, int]]:
    return list(zip(*(a.tolist() for a in winnow.anchors(*arrays(rows), k, w)), strict=True))


@given(ROWS | WIDE, SIZES)
def test_the_kernel_equals_its_twin(rows: list[list[int]], sizes: tuple[int, int]) -> None:
    expected = [(n, at, value) for n, row in enumerate(rows) for at, value in winnow_plain.anchors(row, *sizes)]
    assert found(rows, *sizes) == expected


@given(ROWS, SIZES)
def test_few_anchors_are_those_that_do_not_follow_on_two_equal_ones(
    rows: list[list[int]], sizes: tuple[int, int]
) -> None:
    expected: list[tuple[int, int, int]] = []
    for n, row in enumerate(rows):
        own: list[tuple[int, int, int]] = []
        for at, value in winnow_plain.anchors(row, *sizes):
            if [v for _, _, v in own[-2:]] != [value, value]:
                own.append((n, at, value))
        expected += own
    made = winnow.anchors(*arrays(rows), *sizes, few=True)
    assert list(zip(*(a.tolist() for a in made), strict=True)) == expected


@given(ROWS, SIZES, st.integers(0, 99))
def test_flagged_windows_equal_the_twin(rows: list[list[int]], sizes: tuple[int, int], every: int) -> None:
    k, w = sizes
    flags = [sorted({v for _, v in winnow_plain.anchors(row, k, w) if v % 7 <= every % 8}) for row in rows]
    bounds = np.cumsum([0, *map(len, flags)]).astype(np.int64)
    flagged = np.array([value for row in flags for value in row], np.uint64)
    runs = winnow.flagged_windows(*arrays(rows), flagged, bounds, k, w)
    windows = [(r, p) for r, a, b in zip(*(x.tolist() for x in runs), strict=True) for p in range(a, b)]
    assert windows == [(n, p) for n, row in enumerate(rows) for p in winnow_plain.flagged_windows(row, flags[n], k, w)]


@given(st.lists(st.integers(0, 9), max_size=30), st.lists(st.integers(0, 9), min_size=10, max_size=30), SIZES)
@settings(max_examples=60)
def test_equal_windows_have_equal_anchors_at_equal_places(
    before: list[int], shared: list[int], sizes: tuple[int, int]
) -> None:
    k, w = sizes
    one = {(at, value) for _, at, value in found([shared], k, w)}
    other = {(at - len(before), value) for _, at, value in found([before + shared], k, w)}
    assert len(shared) < k + w - 1 or one
    assert one <= other


def test_a_row_of_one_token_less_than_a_window_has_no_anchor() -> None:
    k, w = split_window(50)
    assert (k, w) == (26, 25)
    assert found([[7] * 49], k, w) == []
    assert [at for _, at, _ in found([[7] * 50], k, w)] == [24]


def test_every_token_of_a_row_of_one_token_is_an_anchor_of_one_hash() -> None:
    rows = found([[7] * 60], 26, 25)
    assert [at for _, at, _ in rows] == list(range(24, 35))
    assert len({value for _, _, value in rows}) == 1


@pytest.mark.parametrize("window", range(1, 60))
def test_a_window_is_split_into_a_gram_and_its_neighbours(window: int) -> None:
    k, w = split_window(window)
    assert k >= 1
    assert w >= 1
    assert k + w - 1 == window


def test_density_is_that_of_the_paper() -> None:
    tokens = np.random.default_rng(5).integers(0, 50_000, 200_000).astype(np.uint32)
    made = winnow.anchors(tokens, np.array([0, len(tokens)]), 26, 25)
    assert len(made.rows) / len(tokens) == pytest.approx(2 / 26, rel=0.02)


def test_nothing_gives_nothing() -> None:
    assert found([], 3, 3) == []
    assert found([[], []], 3, 3) == []
    with pytest.raises(ValueError, match="positive"):
        winnow.anchors(*arrays([[1]]), 0, 3)

"""Groups of equal keys and their candidate pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.kernels import groups_plain as plain
from gristmill.stages.kernels.groups import count_pairs, group_starts, oversize, pair_blocks

SIZES = st.lists(st.integers(1, 12), max_size=12)


def starts_of(sizes: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def listed(left: np.ndarray, right: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(left.tolist(), right.tolist(), strict=True))


def candidate_pairs(key_starts: np.ndarray, cap: int, pivots: int) -> tuple[np.ndarray, np.ndarray]:
    """All pairs (left, right) at once, in one block."""
    total = int(count_pairs(key_starts, cap, pivots).sum())
    return next(pair_blocks(key_starts, cap, pivots, max(1, total)), (np.zeros(0, np.int64), np.zeros(0, np.int64)))


@given(st.lists(st.sampled_from([b"aaa", b"aab", b"baa", b"\0\0\0"]), max_size=20))
def test_groups_start_where_a_key_does(keys: list[bytes]) -> None:
    raw = np.frombuffer(b"".join(sorted(keys)), np.uint8).reshape(-1, 3)
    assert group_starts(raw).tolist() == plain.group_starts(sorted(keys))


@given(SIZES, st.integers(1, 8), st.integers(1, 15))
def test_pairs_are_those_of_the_plain_twin(sizes: list[int], cap: int, pivots: int) -> None:
    starts = starts_of(sizes)
    expected = plain.candidate_pairs(starts.tolist(), cap, pivots)
    assert listed(*candidate_pairs(starts, cap, pivots)) == expected
    assert count_pairs(starts, cap, pivots).sum() == len(expected)
    assert oversize(starts, cap).tolist() == plain.oversize(starts.tolist(), cap)


@given(SIZES, st.integers(1, 8), st.integers(1, 4), st.integers(1, 9))
def test_blocks_together_are_all_pairs(sizes: list[int], cap: int, pivots: int, block: int) -> None:
    starts = starts_of(sizes)
    blocks = [listed(*b) for b in pair_blocks(starts, cap, pivots, block)]
    assert [pair for b in blocks for pair in b] == plain.candidate_pairs(starts.tolist(), cap, pivots)
    assert all(len(b) == block for b in blocks[:-1])
    assert all(blocks)


@pytest.mark.parametrize(("members", "pairs"), [(1, 0), (2, 1), (4, 6), (5, 2 * 3 + 1)])
def test_a_group_over_the_cap_meets_its_pivots_alone(members: int, pairs: int) -> None:
    starts = starts_of([members])
    left, _ = candidate_pairs(starts, cap=4, pivots=2)
    assert len(left) == pairs
    assert oversize(starts, cap=4).tolist() == ([0] if members > 4 else [])


def test_a_band_with_most_rows_is_linear() -> None:
    starts = starts_of([3_000_000, 2])
    pairs = sum(len(left) for left, _ in pair_blocks(starts, cap=1000, pivots=3))
    assert pairs == 3 * (3_000_000 - 3) + 3 + 1


def test_no_rows_make_no_pairs() -> None:
    starts = group_starts(np.zeros((0, 9), np.uint8))
    assert starts.tolist() == [0]
    assert listed(*candidate_pairs(starts, 10, 2)) == []
    assert list(pair_blocks(starts, 10, 2)) == []

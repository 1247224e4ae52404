"""Groups of rows with equal keys, and the pairs of rows that each group makes candidates.

In: sorted rows, those of a group in the order of their rank, best first; `key_starts`, int64 (g + 1): group i is the
rows `[key_starts[i], key_starts[i + 1])`. Out: pairs of positions (left, right), left before right, so left has the
better rank; by group, then right, then left. A group of at most `cap` members gives all its pairs; a larger one pairs
each member with each of the best `pivots` before it, so its pairs are linear in its members.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.jit import OFFSETS, kernel

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

PAIRS_A_BLOCK = 1 << 22

_INTS_OUT = types.Array(types.int64, 1, "C")
_ROWS = types.Array(types.uint8, 2, "C", readonly=True)


@kernel(types.int64(_ROWS, _INTS_OUT))
def _starts_kernel(key: Any, starts: Any) -> Any:
    """Fills in where a group starts; returns how many do."""
    rows, width = key.shape
    groups = 0
    for row in range(rows):
        same = row > 0
        at = 0
        while same and at < width:
            same = key[row, at] == key[row - 1, at]
            at += 1
        if not same:
            starts[groups] = row
            groups += 1
    return groups


@kernel(types.int64(OFFSETS, types.int64, types.int64, _INTS_OUT, _INTS_OUT, _INTS_OUT))
def _pairs_kernel(starts: Any, cap: Any, pivots: Any, state: Any, left: Any, right: Any) -> Any:
    """Goes on from `state` (group, right, left; within the group) until `left` is full; returns the pairs written."""
    group, second, first = state
    filled = 0
    while group < len(starts) - 1:
        start = starts[group]
        members = starts[group + 1] - start
        reach = members if members <= cap else pivots
        while second < members:
            stop = min(second, reach)
            take = min(stop - first, len(left) - filled)
            for i in range(take):
                left[filled + i] = start + first + i
                right[filled + i] = start + second
            filled += take
            first += take
            if first < stop:
                state[0], state[1], state[2] = group, second, first
                return filled
            second += 1
            first = 0
        group += 1
        second = first = 0
    state[0], state[1], state[2] = group, 0, 0
    return filled


def group_starts(key: Bytes) -> Ints:
    """`key_starts` of sorted keys, uint8 (n, width): where each group starts, and n."""
    rows = len(key)
    starts = np.empty(rows + 1, np.int64)
    groups = int(_starts_kernel(np.ascontiguousarray(key), starts))
    starts[groups] = rows
    return starts[: groups + 1].copy()


def oversize(key_starts: Ints, cap: int) -> Ints:
    """The groups of more than `cap` members."""
    return np.flatnonzero(np.diff(key_starts) > cap)


def count_pairs(key_starts: Ints, cap: int, pivots: int) -> Ints:
    """How many pairs each group gives, int64 (g)."""
    members = np.diff(key_starts)
    reach = np.where(members <= cap, members, np.minimum(members, pivots))
    return reach * (reach - 1) // 2 + (members - reach) * reach


def pair_blocks(
    key_starts: Ints, cap: int, pivots: int, pairs_a_block: int = PAIRS_A_BLOCK
) -> Iterator[tuple[Ints, Ints]]:
    """The pairs (left, right) in blocks of `pairs_a_block`, the last one shorter; none for no pairs.

    A group may span blocks. Blocks are arrays of their own.
    """
    state = np.array([0, 0, 0], np.int64)
    starts = np.ascontiguousarray(key_starts, np.int64)
    left_over = int(count_pairs(starts, cap, pivots).sum())
    while left_over:
        size = min(left_over, pairs_a_block)
        left, right = np.empty(size, np.int64), np.empty(size, np.int64)
        filled = int(_pairs_kernel(starts, cap, pivots, state, left, right))
        assert filled == size
        yield left, right
        left_over -= size

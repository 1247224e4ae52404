"""Distinct values of sorted rows, moved together.

In: values, uint64 (n), and where rows start in them, int64 (r + 1), each row ascending. Their distinct values are moved
to the front of one another from a place `to` on, which lies at or before the first row.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.jit import OFFSETS, kernel

Values = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]


@kernel(types.int64(types.Array(types.uint64, 1, "C"), OFFSETS, types.int64, types.Array(types.int64, 1, "C")))
def _distinct_kernel(values: Any, starts: Any, to: Any, ends: Any) -> Any:
    """Fills in where each row ends now; returns where the last one does."""
    for row in range(len(starts) - 1):
        first = to
        for at in range(starts[row], starts[row + 1]):
            value = values[at]
            if to == first or value != values[to - 1]:
                values[to] = value
                to += 1
        ends[row] = to
    return to


def keep_distinct(values: Values, starts: Ints, to: int) -> Ints:
    """Sorts each row and keeps its distinct values; where each row ends then, int64 (r), the first one beginning at
    `to`."""
    bounds = starts.tolist()
    for start, stop in pairwise(bounds):
        values[start:stop].sort()
    ends = np.empty(len(starts) - 1, np.int64)
    _distinct_kernel(values, starts, to, ends)
    return ends

"""How many elements two sorted sets share, for many pairs of sets at once.

In: `values`, uint64, ascending and distinct within each set; set i is `values[offsets[i]:offsets[i + 1]]`; pairs as two
arrays of set numbers. Out: int64 (pairs). The plain twin is `len(set(a) & set(b))`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.jit import KEYS, OFFSETS, kernel

Ints = npt.NDArray[np.int64]

_OUT = types.Array(types.int64, 1, "C")


@kernel((KEYS, OFFSETS, OFFSETS, OFFSETS, _OUT))
def _count(values: Any, offsets: Any, left: Any, right: Any, shared: Any) -> None:
    for pair in range(len(left)):
        a, a_end = offsets[left[pair]], offsets[left[pair] + 1]
        b, b_end = offsets[right[pair]], offsets[right[pair] + 1]
        found = 0
        while a < a_end and b < b_end:
            x, y = values[a], values[b]
            # Without branches: half of the steps would be guessed wrong.
            found += x == y
            a += x <= y
            b += y <= x
        shared[pair] = found


def count_shared(values: npt.NDArray[np.uint64], offsets: Ints, left: Ints, right: Ints) -> Ints:
    """See the module."""
    shared = np.zeros(len(left), np.int64)
    _count(values, offsets, np.ascontiguousarray(left, np.int64), np.ascontiguousarray(right, np.int64), shared)
    return shared

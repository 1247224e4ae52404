"""The smallest content hash of each cluster.

In: nodes with the label of their cluster and their 128-bit hash as two words, most significant first. `best_hi`,
`best_lo` (uint64, one a label, at first all ones) hold the smallest seen so far, and are updated.
"""

from typing import Any

from numba import types

from gristmill.stages.kernels.jit import KEYS, OFFSETS, kernel

_OUT = types.Array(types.uint64, 1, "C")


@kernel((OFFSETS, KEYS, KEYS, _OUT, _OUT))
def lower_to(label: Any, hi: Any, lo: Any, best_hi: Any, best_lo: Any) -> None:
    """See the module."""
    for i in range(len(label)):
        at = label[i]
        if hi[i] < best_hi[at] or (hi[i] == best_hi[at] and lo[i] < best_lo[at]):
            best_hi[at] = hi[i]
            best_lo[at] = lo[i]

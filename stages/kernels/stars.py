"""One block of edges of the greedy independent set of `stages.dedup.stars`, which holds the contract.

In: `lower`, `higher`, int64 (e), and `status`, uint8 (n), which it updates. Out: `goes`, uint8 (e).
"""

from typing import Any

from numba import types

from gristmill.stages.kernels.jit import OFFSETS, kernel
from gristmill.stages.kernels.star_status import DROPPED, INDEX, KEEPER, KEPT

NO_NODE, SELF, LATE = 1, 2, 3
"""What can be wrong with an edge."""

_STATUS = types.Array(types.uint8, 1, "C")


@kernel(types.Tuple((types.int64, types.int64))(OFFSETS, OFFSETS, _STATUS, _STATUS))
def settle_kernel(lower: Any, higher: Any, status: Any, goes: Any) -> Any:
    """Settles the edges in order: (0, 0), or what is wrong and the edge at which it showed."""
    nodes = len(status)
    for edge in range(len(lower)):
        low, high = lower[edge], higher[edge]
        if low < 0 or high < 0 or low >= nodes or high >= nodes:
            return NO_NODE, edge
        if low == high:
            return SELF, edge
        goes[edge] = 0
        if status[low] == DROPPED or status[low] == INDEX or status[high] == DROPPED:
            continue
        if status[low] == KEEPER:
            return LATE, edge
        if status[high] == KEPT:
            status[high] = KEEPER
        status[low] = DROPPED
        goes[edge] = 1
    return 0, 0

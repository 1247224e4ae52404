"""Which documents go when near-duplicates are known: the lexicographically first independent set, streamed.

Nodes are documents, numbered densely in [0, n); an edge joins two that were verified to be near-duplicates. In the
order of rank, best first, a node goes if one of its neighbours of better rank is kept, and the best of those is its
keeper; otherwise it stays. So no two kept nodes are neighbours, each that goes was verified against a kept one of
better rank, and a chain of near neighbours keeps every second instead of losing all but its head.

Edges come as `lower` and `higher`, int64 (e), the node of worse and of better rank, in blocks that together are sorted
by (rank of lower, rank of higher), best rank first; a node's edges may span blocks. Equal edges may repeat. `status`,
uint8 (n) of `stages.kernels.star_status`, is all that is carried from block to block: one byte a node, whatever the
number of edges. Nodes of an index (documents that an earlier run kept) start as INDEX and rank before all others.
"""

import numpy as np
import numpy.typing as npt

from gristmill.manifests.errors import GristmillError
from gristmill.stages.kernels.star_status import DROPPED

Ints = npt.NDArray[np.int64]
Status = npt.NDArray[np.uint8]
Goes = npt.NDArray[np.bool_]

_WRONG = {
    1: "an edge to a node that there is not",
    2: "an edge from a node to itself",
    3: "edges out of the order of rank: a node that others went for has a kept neighbour of better rank",
}


def fresh_status(nodes: int) -> Status:
    """Of so many nodes, all kept."""
    return np.zeros(nodes, np.uint8)


def kept(status: Status) -> Goes:
    """Whether each node is kept, bool (n); final when all edges are settled."""
    return status != DROPPED


def settle(lower: Ints, higher: Ints, status: Status) -> Goes:
    """Settle a block of edges; True, bool (e), at the keeper edge of each node that goes in it: `higher` is its keeper.

    Updates `status`. Raises GristmillError on a node outside it, an edge from a node to itself, and, so far as it
    shows, on edges out of order.
    """
    from gristmill.stages.kernels.stars import settle_kernel

    goes = np.empty(len(lower), np.uint8)
    ends = (np.ascontiguousarray(lower, np.int64), np.ascontiguousarray(higher, np.int64))
    wrong, edge = settle_kernel(*ends, status, goes)
    if wrong:
        at = int(lower[edge]), int(higher[edge])
        raise GristmillError(_WRONG[wrong], where="settling duplicates", value=at)
    return goes.view(np.bool_)

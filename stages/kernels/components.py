"""Connected components by union-find: path halving, the smaller root wins.

In: `parent`, int32 or int64 (n), at first `arange(n)` (`fresh_parents`); edges as two arrays of node numbers in [0, n),
in blocks of any size and order. Out: `labels`, of the dtype of `parent`: the smallest node of the component of each
node, which depends on the set of edges alone. A parent is never larger than its node, so one pass forward makes labels
of parents. Memory: `parent` (4 bytes a node in int32), and the block of edges at hand.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.manifests.errors import GristmillError
from gristmill.stages.kernels.jit import kernel

Nodes = npt.NDArray[np.int32 | np.int64]

_INT32 = types.Array(types.int32, 1, "C")
_INT32_IN = types.Array(types.int32, 1, "C", readonly=True)
_INT64 = types.Array(types.int64, 1, "C")
_INT64_IN = types.Array(types.int64, 1, "C", readonly=True)


def _union(parent: Any, a: Any, b: Any) -> Any:
    """Unites the ends of each edge; the first edge with an end that is no node, or -1."""
    nodes = len(parent)
    for edge in range(len(a)):
        x, y = a[edge], b[edge]
        if x < 0 or y < 0 or x >= nodes or y >= nodes:
            return edge
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        while parent[y] != y:
            parent[y] = parent[parent[y]]
            y = parent[y]
        if x < y:
            parent[y] = x
        elif y < x:
            parent[x] = y
    return -1


def _flatten(parent: Any) -> None:
    for node in range(len(parent)):
        parent[node] = parent[parent[node]]


_UNION: dict[np.dtype[Any], Callable[..., Any]] = {
    np.dtype(np.int32): kernel(types.int64(_INT32, _INT32_IN, _INT32_IN))(_union),
    np.dtype(np.int64): kernel(types.int64(_INT64, _INT64_IN, _INT64_IN))(_union),
}
_FLATTEN: dict[np.dtype[Any], Callable[..., Any]] = {
    np.dtype(np.int32): kernel(types.void(_INT32))(_flatten),
    np.dtype(np.int64): kernel(types.void(_INT64))(_flatten),
}


def fresh_parents(nodes: int) -> Nodes:
    """Each node alone: int32 where that can number them."""
    return np.arange(nodes, dtype=np.int32 if nodes <= np.iinfo(np.int32).max else np.int64)


def union_edges(parent: Nodes, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> None:
    """Unite, in place, the components of the ends of each edge. Raises GristmillError on an end that is no node."""
    cast = [_as_nodes(ends, parent.dtype) for ends in (a, b)]
    bad = int(_UNION[parent.dtype](parent, *cast))
    if bad >= 0:
        raise GristmillError("an edge to a node that there is not", value=(int(a[bad]), int(b[bad])))


def _as_nodes(ends: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Ends as numbers of nodes; what does not fit turns into -1, not into another node."""
    if ends.dtype.itemsize > dtype.itemsize or ends.dtype.kind == "u":
        ends = np.where((ends < 0) | (ends > np.iinfo(dtype).max), -1, ends.astype(dtype))
    return np.ascontiguousarray(ends, dtype)


def labels(parent: Nodes) -> Nodes:
    """The smallest node of each node's component; `parent` itself, which goes on serving."""
    _FLATTEN[parent.dtype](parent)
    return parent


def components(nodes: int, blocks: Iterable[tuple[npt.NDArray[Any], npt.NDArray[Any]]]) -> Nodes:
    """The labels of so many nodes under blocks of edges (a, b)."""
    parent = fresh_parents(nodes)
    for a, b in blocks:
        union_edges(parent, a, b)
    return labels(parent)

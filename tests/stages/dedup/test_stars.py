"""The lexicographically first independent set: against a plain greedy one, and what must hold of it."""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import GristmillError
from gristmill.stages.dedup.stars import Ints, Status, fresh_status, kept, settle
from gristmill.stages.kernels.radix import sort_words
from gristmill.stages.kernels.star_status import INDEX
from gristmill.stages.kernels.stars_plain import keepers

NODES = 14
EDGES = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)).filter(lambda e: e[0] != e[1]), max_size=30
)


def settle_all(blocks: Iterable[tuple[Ints, Ints]], status: Status) -> Iterator[tuple[Ints, Ints]]:
    """Settle blocks of edges (lower, higher); for each, the nodes that go and their keepers."""
    for lower, higher in blocks:
        goes = settle(lower, higher, status)
        yield lower[goes], higher[goes]


def ranked_edges(lower: npt.NDArray[np.uint32], higher: npt.NDArray[np.uint32]) -> tuple[Ints, Ints]:
    """Edges between nodes that are numbered by rank, in the order that `settle` asks for, each once.

    Ends may come either way round; uint32 (e) both. One packed sort: 16 bytes an edge and as much again.
    """
    worse, better = np.maximum(lower, higher).astype(np.uint64), np.minimum(lower, higher)
    packed = sort_words((worse << np.uint64(32)) | better)
    once = np.ones(len(packed), np.bool_)
    once[1:] = packed[1:] != packed[:-1]
    packed = packed[once]
    return (packed >> np.uint64(32)).astype(np.int64), (packed & np.uint64(0xFFFFFFFF)).astype(np.int64)


def streamed(
    ranks: list[int], edges: list[tuple[int, int]], block: int, index: frozenset[int] = frozenset()
) -> dict[int, int]:
    """Nodes that go and their keepers, of nodes in any numbering, through blocks of sorted edges."""
    pairs = sorted({max((ranks[a], a), (ranks[b], b)) + min((ranks[a], a), (ranks[b], b)) for a, b in edges})
    lower, higher = (np.array([p[i] for p in pairs], np.int64) for i in (1, 3))
    status = fresh_status(len(ranks))
    status[list(index)] = INDEX
    blocks = [(lower[i : i + block], higher[i : i + block]) for i in range(0, len(pairs), block)]
    found = [part for went in settle_all(blocks, status) for part in zip(*(w.tolist() for w in went), strict=True)]
    assert len(dict(found)) == len(found)
    assert sorted(dict(found)) == np.flatnonzero(~kept(status)).tolist()
    return dict(found)


@given(st.permutations(range(NODES)), EDGES, st.integers(1, 9), st.integers(0, 4))
def test_streamed_is_greedy(ranks: list[int], edges: list[tuple[int, int]], block: int, indexed: int) -> None:
    index = frozenset(node for node in range(NODES) if ranks[node] < indexed)
    got = streamed(ranks, edges, block, index)
    assert got == keepers(ranks, edges, index)
    near = {frozenset(e) for e in edges}
    for lower, higher in got.items():
        assert ranks[higher] < ranks[lower]
        assert higher not in got
        assert frozenset((lower, higher)) in near
    for a, b in edges:
        assert a in got or b in got or {a, b} <= index


@given(EDGES, st.randoms(use_true_random=False), st.integers(1, 5))
def test_no_order_of_the_edges_matters(edges: list[tuple[int, int]], random: object, shards: int) -> None:
    ranks = list(range(NODES))
    expected = keepers(ranks, edges, frozenset())
    shuffled = edges * shards
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    ends = np.array(shuffled, np.uint32).reshape(-1, 2)
    lower, higher = ranked_edges(ends[:, 0], ends[:, 1])
    status = fresh_status(NODES)
    goes = settle(lower, higher, status)
    assert dict(zip(lower[goes].tolist(), higher[goes].tolist(), strict=True)) == expected
    assert len(lower) == len({frozenset(e) for e in edges})


def test_a_chain_of_near_neighbours_keeps_every_second() -> None:
    chain = [(i, i + 1) for i in range(59)]
    assert streamed(list(range(60)), chain, 7) == {i: i - 1 for i in range(1, 60, 2)}


def test_a_star_a_clique_all_equal_and_none() -> None:
    ranks = list(range(20))
    assert streamed(ranks, [(0, i) for i in range(1, 20)], 3) == dict.fromkeys(range(1, 20), 0)
    assert streamed(ranks, [(19, i) for i in range(19)], 3) == {19: 0}
    clique = [(a, b) for a in range(20) for b in range(a)]
    assert streamed(ranks, clique, 4) == dict.fromkeys(range(1, 20), 0)
    assert streamed(ranks, [], 4) == {}
    assert streamed([], [], 4) == {}


def test_a_node_whose_edges_span_blocks_goes_once_for_its_best() -> None:
    status = fresh_status(4)
    assert settle(np.array([1]), np.array([0]), status).tolist() == [True]
    assert settle(np.array([3]), np.array([1]), status).tolist() == [False]
    assert settle(np.array([3, 3]), np.array([0, 2]), status).tolist() == [True, False]
    assert kept(status).tolist() == [True, False, True, False]


def test_documents_of_an_index_stay_and_take_the_new_ones() -> None:
    assert streamed([0, 1, 2, 3], [(0, 1), (1, 2), (2, 3)], 2, frozenset([0, 1])) == {2: 1}


def test_edges_out_of_order_show() -> None:
    with pytest.raises(GristmillError, match=r"settling duplicates: edges out of the order of rank.*\(1, 0\)"):
        settle(np.array([2, 1]), np.array([1, 0]), fresh_status(3))


@pytest.mark.parametrize(("lower", "higher", "what"), [(3, 0, "not"), (0, -1, "not"), (1, 1, "itself")])
def test_edges_that_are_none_are_refused(lower: int, higher: int, what: str) -> None:
    with pytest.raises(GristmillError, match=what):
        settle(np.array([lower]), np.array([higher]), fresh_status(3))

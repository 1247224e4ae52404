"""Connected components: against walking, and what must hold of any answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import GristmillError
from gristmill.stages.kernels.components import components, fresh_parents, labels, union_edges
from gristmill.stages.kernels.components_plain import components as plain

NODES = 12
EDGES = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=16)


def ends(edges: list[tuple[int, int]], dtype: type = np.int32) -> tuple[np.ndarray, np.ndarray]:
    return np.array([a for a, _ in edges], dtype), np.array([b for _, b in edges], dtype)


@given(EDGES, st.integers(0, 16))
def test_labels_are_those_of_walking(edges: list[tuple[int, int]], cut: int) -> None:
    expected = plain(NODES, edges)
    assert components(NODES, [ends(edges[:cut]), ends(edges[cut:])]).tolist() == expected
    assert components(NODES, [ends(edges, np.int64)]).tolist() == expected
    wide = np.arange(NODES, dtype=np.int64)
    union_edges(wide, *ends(edges, np.int64))
    assert labels(wide).tolist() == expected


def test_invariants_of_a_random_graph() -> None:
    rng = np.random.default_rng(3)
    nodes = 50_000
    a, b = rng.integers(0, nodes, (2, 40_000), dtype=np.int32)
    label = components(nodes, [(a, b)])
    assert (label[a] == label[b]).all()
    assert (label[label] == label).all()
    assert (label <= np.arange(nodes)).all()
    smallest = np.full(nodes, nodes)
    np.minimum.at(smallest, label, np.arange(nodes))
    assert (smallest[label] == label).all()
    by = rng.permutation(len(a))
    assert (components(nodes, [(b[by], a[by])]) == label).all()


def test_edges_may_follow_after_labels_were_asked_for() -> None:
    parent = fresh_parents(4)
    union_edges(parent, *ends([(2, 3)]))
    assert labels(parent).tolist() == [0, 1, 2, 2]
    union_edges(parent, *ends([(3, 1)]))
    assert labels(parent).tolist() == [0, 1, 1, 1]


def test_a_long_path_in_the_worst_order() -> None:
    nodes = 200_000
    down = np.arange(nodes - 1, 0, -1, dtype=np.int32)
    assert (components(nodes, [(down, down - 1)]) == 0).all()


@pytest.mark.parametrize("bad", [(0, 3), (-1, 0), (0, 1 << 32), (-(1 << 32), 1)])
def test_an_end_that_is_no_node_is_refused(bad: tuple[int, int]) -> None:
    with pytest.raises(GristmillError, match="node that there is not"):
        union_edges(fresh_parents(3), *ends([(0, 1), bad], np.int64))


def test_an_unsigned_end_that_does_not_fit_is_refused() -> None:
    with pytest.raises(GristmillError, match="node that there is not"):
        union_edges(fresh_parents(3), np.array([2**32 - 1], np.uint32), np.array([0], np.uint32))


def test_no_nodes() -> None:
    assert components(0, []).tolist() == []

"""The kernel that settles a block of edges: what it says is wrong, and at which edge."""

import numpy as np
import pytest

from gristmill.stages.kernels.star_status import DROPPED, INDEX, KEEPER, KEPT
from gristmill.stages.kernels.stars import LATE, NO_NODE, SELF, settle_kernel


def settle(edges: list[tuple[int, int]], status: list[int]) -> tuple[tuple[int, int], list[int], list[int]]:
    lower, higher = np.array(edges, np.int64).reshape(-1, 2).T.copy()
    held, goes = np.array(status, np.uint8), np.full(len(edges), 9, np.uint8)
    return settle_kernel(lower, higher, held, goes), goes.tolist(), held.tolist()


@pytest.mark.parametrize(
    ("edge", "before", "goes", "after"),
    [
        ((1, 0), [KEPT, KEPT], 1, [KEEPER, DROPPED]),
        ((1, 0), [KEEPER, KEPT], 1, [KEEPER, DROPPED]),
        ((1, 0), [INDEX, KEPT], 1, [INDEX, DROPPED]),
        ((1, 0), [DROPPED, KEPT], 0, [DROPPED, KEPT]),
        ((1, 0), [DROPPED, KEEPER], 0, [DROPPED, KEEPER]),
        ((1, 0), [KEPT, DROPPED], 0, [KEPT, DROPPED]),
        ((1, 0), [KEPT, INDEX], 0, [KEPT, INDEX]),
        ((1, 0), [INDEX, INDEX], 0, [INDEX, INDEX]),
    ],
)
def test_an_edge(edge: tuple[int, int], before: list[int], goes: int, after: list[int]) -> None:
    assert settle([edge], before) == ((0, 0), [goes], after)


@pytest.mark.parametrize(
    ("edge", "wrong"), [((0, 2), NO_NODE), ((2, 0), NO_NODE), ((-1, 0), NO_NODE), ((0, -1), NO_NODE), ((1, 1), SELF)]
)
def test_an_edge_that_is_none(edge: tuple[int, int], wrong: int) -> None:
    assert settle([(1, 0), edge], [KEPT, KEPT])[0] == (wrong, 1)


def test_a_keeper_that_would_go_after_all() -> None:
    assert settle([(1, 0)], [KEPT, KEEPER])[0] == (LATE, 0)

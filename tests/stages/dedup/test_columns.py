"""Rows of arrays: joined in order, cut without a hold on the rest."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gristmill.stages.dedup.columns import Columns


@dataclass(frozen=True)
class Pairs(Columns):
    number: npt.NDArray[np.int64]
    places: npt.NDArray[np.uint32]


def pairs(first: int, stop: int) -> Pairs:
    return Pairs(np.arange(first, stop), np.arange(2 * first, 2 * stop, dtype=np.uint32).reshape(-1, 2))


def test_parts_are_joined_in_order() -> None:
    made = Pairs.joined([pairs(0, 2), pairs(2, 2), pairs(2, 5)])
    assert made.number.tolist() == [0, 1, 2, 3, 4] and made.places.tolist() == pairs(0, 5).places.tolist()
    assert (type(made), made.places.dtype) == (Pairs, np.uint32)


def test_a_part_holds_nothing_of_the_others() -> None:
    whole = pairs(0, 5)
    part = whole.part(1, 3)
    assert part.number.tolist() == [1, 2] and part.places.tolist() == [[2, 3], [4, 5]]
    assert part.number.base is None and not np.shares_memory(part.places, whole.places)
    assert whole.part(5, 5).places.shape == (0, 2)

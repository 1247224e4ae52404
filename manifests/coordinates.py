"""Coordinates in pictures: one convention (`coord_spec` 1), and what it shares with those of others.

Origin top left, x to the right, y down. Coordinates are continuous: the pixel in column i and row j covers
[i, i+1) x [j, j+1). A box is (x0, y0, x1, y1), half open, 0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height. Stored are
float64 in pixels of the picture as it is emitted (after device pixel ratio and resizing), beside its size;
normalised means x / width, y / height, and never width - 1.

`coordinates_formats` converts from and to the systems of others, `coordinates_text` writes what a model reads,
`coordinates_affine` resizes and crops a picture together with its annotations.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

COORD_SPEC = 1
"""Version of the convention, kept in records; raised when any of it changes."""

Box = tuple[float, float, float, float]
Point = tuple[float, float]
Ids = npt.NDArray[np.integer]


class Size(NamedTuple):
    """Of a picture, in pixels."""

    width: int
    height: int


def size_of(width: int, height: int) -> Size:
    """A picture's size. Raises ValueError where a side is below 1."""
    if width < 1 or height < 1:
        raise ValueError(f"a picture of {width} by {height} pixels")
    return Size(int(width), int(height))


def is_box(box: Sequence[float], size: Size) -> bool:
    """Whether these four numbers are a box in a picture of that size: finite, not empty, within."""
    if len(box) != 4 or not all(map(math.isfinite, box)):
        return False
    x0, y0, x1, y1 = box
    return 0 <= x0 < x1 <= size.width and 0 <= y0 < y1 <= size.height


def is_point(point: Sequence[float], size: Size) -> bool:
    """Whether these two numbers lie in a picture of that size, its right and lower edge excluded."""
    return len(point) == 2 and 0 <= point[0] < size.width and 0 <= point[1] < size.height


def box_of(numbers: Iterable[float], size: Size) -> Box:
    """A box of four numbers. Raises ValueError where they are none in a picture of that size."""
    found = tuple(float(number) for number in numbers)
    if not is_box(found, size):
        raise ValueError(f"no box in a picture of {size.width} by {size.height} pixels: {found}")
    return found[0], found[1], found[2], found[3]


def clipped(box: Sequence[float], size: Size) -> Box | None:
    """The part of a box that lies in the picture; None where none does. NaN gives None."""
    x0, y0, x1, y1 = box
    x0, y0, x1, y1 = max(x0, 0.0), max(y0, 0.0), min(x1, float(size.width)), min(y1, float(size.height))
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def area(box: Sequence[float]) -> float:
    """In square pixels; 0 where the box is empty."""
    return max(box[2] - box[0], 0.0) * max(box[3] - box[1], 0.0)


def overlap(one: Sequence[float], other: Sequence[float]) -> float:
    """Square pixels that both boxes cover."""
    return area((max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])))


def iou(one: Sequence[float], other: Sequence[float]) -> float:
    """Intersection over union, in [0, 1]; 0 where both are empty."""
    both = overlap(one, other)
    union = area(one) + area(other) - both
    return both / union if union > 0 else 0.0


def mask_box(mask: npt.NDArray[np.bool_]) -> Box | None:
    """The box of the true pixels of a mask (rows, columns): min and max + 1. None where there is none."""
    columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    if not len(columns):
        return None
    return float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)


def boxes_of_ids(ids: Ids) -> dict[int, tuple[Box, int]]:
    """For each id of an id map (rows, columns), 0 being the ground: the box of its pixels, and how many they are."""
    rows, columns = np.nonzero(ids)
    if not len(rows):
        return {}
    found, inverse, counts = np.unique(ids[rows, columns], return_inverse=True, return_counts=True)
    low = np.full((len(found), 2), np.iinfo(np.int64).max)
    high = np.zeros((len(found), 2), np.int64)
    places = np.column_stack([columns, rows])
    np.minimum.at(low, inverse, places)
    np.maximum.at(high, inverse, places + 1)
    boxes = np.concatenate([low, high], axis=1).astype(np.float64).tolist()
    counted = zip(found.tolist(), boxes, counts.tolist(), strict=True)
    return {int(name): ((box[0], box[1], box[2], box[3]), int(count)) for name, box, count in counted}

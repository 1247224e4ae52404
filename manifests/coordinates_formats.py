"""Boxes and points in the systems of others, from and to ours (`manifests.coordinates`).

| system | box | point |
|---|---|---|
| COCO, RefCOCO, ScreenSpot | left, top, width, height; pixels | |
| YOLO, GroundingDINO | centre x, centre y, width, height; fractions of the picture's | |
| fractions (Kimi-VL) | left, top, right, bottom in [0, 1] | x, y in [0, 1] |
| per mille (Qwen3-VL) | left, top, right, bottom in 0..1000, whole | x, y in 0..1000, whole |
| per mille, y first (Gemini) | top, left, bottom, right in 0..1000, whole | y, x in 0..1000, whole |
| percent (Molmo) | | x, y in 0..100, one decimal |
| a resized picture (Qwen2.5-VL) | left, top, right, bottom; pixels of the picture that the model is shown | likewise |

What comes from outside may lie beside the picture or have no extent: `from_...` clips it to the picture, and raises
ValueError where nothing is left or a number is not finite. What is exact there is exact here but for the rounding of
float64; whole numbers cost up to half a step, which is width / 2000 and height / 2000 pixels for per mille and
for percent with one decimal, and a box that is narrower than a step may come back empty (ValueError): see
`coordinates_text.too_small`. Halves are rounded to even.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from gristmill.manifests.coordinates import Box, Point, Size, clipped

PER_MILLE = 1000
PERCENT_STEPS = 1000
"""Steps of one decimal in 0..100."""


def from_xywh(xywh: Sequence[float], size: Size) -> Box:
    """A box of COCO, RefCOCO or ScreenSpot: left, top, width, height in pixels. Raises ValueError."""
    x, y, width, height = xywh
    return _inside((x, y, x + width, y + height), size)


def to_xywh(box: Box) -> Box:
    """Left, top, width, height in pixels."""
    x0, y0, x1, y1 = box
    return x0, y0, x1 - x0, y1 - y0


def from_yolo(yolo: Sequence[float], size: Size) -> Box:
    """A box of YOLO: centre and extent as fractions of the picture's. Raises ValueError."""
    x, y, width, height = yolo
    return from_fractions((x - width / 2, y - height / 2, x + width / 2, y + height / 2), size)


def to_yolo(box: Box, size: Size) -> Box:
    """Centre x, centre y, width, height as fractions of the picture's."""
    x0, y0, x1, y1 = to_fractions(box, size)
    return (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0


def from_fractions(box: Sequence[float], size: Size) -> Box:
    """A box of fractions of width and height. Raises ValueError."""
    x0, y0, x1, y1 = box
    return _inside((x0 * size.width, y0 * size.height, x1 * size.width, y1 * size.height), size)


def to_fractions(box: Box, size: Size) -> Box:
    """Left, top, right, bottom as fractions of width and height, not rounded."""
    x0, y0, x1, y1 = box
    return x0 / size.width, y0 / size.height, x1 / size.width, y1 / size.height


def from_per_mille(box: Sequence[float], size: Size) -> Box:
    """A box in 0..1000. Raises ValueError."""
    x0, y0, x1, y1 = (number / PER_MILLE for number in box)
    return from_fractions((x0, y0, x1, y1), size)


def to_per_mille(box: Box, size: Size) -> tuple[int, int, int, int]:
    """Left, top, right, bottom in 0..1000."""
    x0, y0, x1, y1 = box
    across, down = size
    return (
        steps(x0, across, PER_MILLE),
        steps(y0, down, PER_MILLE),
        steps(x1, across, PER_MILLE),
        steps(y1, down, PER_MILLE),
    )


def from_per_mille_y_first(box: Sequence[float], size: Size) -> Box:
    """A box of Gemini: top, left, bottom, right in 0..1000. Raises ValueError."""
    y0, x0, y1, x1 = box
    return from_per_mille((x0, y0, x1, y1), size)


def to_per_mille_y_first(box: Box, size: Size) -> tuple[int, int, int, int]:
    """Top, left, bottom, right in 0..1000."""
    x0, y0, x1, y1 = to_per_mille(box, size)
    return y0, x0, y1, x1


def from_resized(box: Sequence[float], seen: Size, size: Size) -> Box:
    """A box in pixels of the picture at the size `seen`, at which a model is shown it. Raises ValueError."""
    x0, y0, x1, y1 = box
    across, down = size.width / seen.width, size.height / seen.height
    return _inside((x0 * across, y0 * down, x1 * across, y1 * down), size)


def to_resized(box: Box, seen: Size, size: Size) -> Box:
    """A box in pixels of the picture at the size `seen`."""
    return from_resized(box, size, seen)


def point_from_fractions(point: Sequence[float], size: Size) -> Point:
    """A point of fractions of width and height. Raises ValueError."""
    return _point_inside((point[0] * size.width, point[1] * size.height), size)


def point_to_fractions(point: Point, size: Size) -> Point:
    """As fractions of width and height, not rounded."""
    return point[0] / size.width, point[1] / size.height


def point_from_per_mille(point: Sequence[float], size: Size) -> Point:
    """A point in 0..1000. Raises ValueError."""
    return point_from_fractions((point[0] / PER_MILLE, point[1] / PER_MILLE), size)


def point_to_per_mille(point: Point, size: Size) -> tuple[int, int]:
    """In 0..1000."""
    return steps(point[0], size.width, PER_MILLE), steps(point[1], size.height, PER_MILLE)


def point_from_per_mille_y_first(point: Sequence[float], size: Size) -> Point:
    """A point of Gemini: y, x in 0..1000. Raises ValueError."""
    return point_from_per_mille((point[1], point[0]), size)


def point_to_per_mille_y_first(point: Point, size: Size) -> tuple[int, int]:
    """y, x in 0..1000."""
    x, y = point_to_per_mille(point, size)
    return y, x


def point_from_percent(point: Sequence[float], size: Size) -> Point:
    """A point of Molmo: percent of width and height. Raises ValueError."""
    return point_from_fractions((point[0] / 100, point[1] / 100), size)


def point_to_percent(point: Point, size: Size) -> Point:
    """Percent of width and height, to one decimal."""
    x, y = (steps(at, side, PERCENT_STEPS) for at, side in zip(point, size, strict=True))
    return x / 10, y / 10


def point_from_resized(point: Sequence[float], seen: Size, size: Size) -> Point:
    """A point in pixels of the picture at the size `seen`. Raises ValueError."""
    return _point_inside((point[0] * size.width / seen.width, point[1] * size.height / seen.height), size)


def point_to_resized(point: Point, seen: Size, size: Size) -> Point:
    """A point in pixels of the picture at the size `seen`."""
    return point_from_resized(point, size, seen)


def steps(at: float, side: int, count: int) -> int:
    """How many of `count` steps of a side of the picture lie before a coordinate; exact, halves to even."""
    return round(Fraction(at) * count / side)


def _inside(box: Box, size: Size) -> Box:
    found = clipped(box, size) if all(map(math.isfinite, box)) else None
    if found is None:
        raise ValueError(f"no box in a picture of {size.width} by {size.height} pixels: {box}")
    return found


def _point_inside(point: Point, size: Size) -> Point:
    """The point, at the right or lower edge the last that is within. Raises ValueError where it lies further out."""
    x, y = point
    if not (0 <= x <= size.width and 0 <= y <= size.height):
        raise ValueError(f"no point in a picture of {size.width} by {size.height} pixels: {point}")
    return min(x, math.nextafter(size.width, 0)), min(y, math.nextafter(size.height, 0))

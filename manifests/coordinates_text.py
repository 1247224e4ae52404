"""Coordinates as a model reads them: two views of the same numbers, each named in words where it is used.

* `pixels`: whole numbers of pixels of the picture. A box is its outer one (left and top rounded down, right and bottom
  up), a point is the pixel that it lies in: `[41, 233, 108, 265]`, `[74, 248]`.
* `normalised`: fractions in [0, 1] of the picture's width and height, rounded half to even to DECIMALS decimals, to one
  more where the longer side is above FINE_ABOVE_PX: `[0.040, 0.304, 0.105, 0.344]`, `[0.072, 0.324]`.

A view has steps: a pixel, or the last decimal's share of a side. What is smaller than MIN_STEPS of them on either
side says little in that view and is left out there (`too_small`). The last digit of a point of `normalised` never
reaches 1, which would be beside the picture. `read_box` and `read_point` undo it to within a step.
"""

import math
import re
from collections.abc import Sequence
from typing import Literal

from gristmill.manifests.coordinates import Box, Point, Size
from gristmill.manifests.coordinates_formats import steps

TextView = Literal["pixels", "normalised"]
VIEWS: tuple[TextView, ...] = ("pixels", "normalised")

DECIMALS = 3
FINE_ABOVE_PX = 2000
MIN_STEPS = 4

_NUMBERS = re.compile(r"\[([0-9., ]{1,80})\]")


def decimals(size: Size) -> int:
    """How many the view `normalised` has."""
    return DECIMALS + (max(size) > FINE_ABOVE_PX)


def step_px(view: TextView, size: Size) -> tuple[float, float]:
    """What one step of a view is in pixels, across and down."""
    if view == "pixels":
        return 1.0, 1.0
    count = 10 ** decimals(size)
    return size.width / count, size.height / count


def too_small(box: Box, view: TextView, size: Size) -> bool:
    """Whether a side of the box is below MIN_STEPS steps of the view."""
    across, down = step_px(view, size)
    return box[2] - box[0] < MIN_STEPS * across or box[3] - box[1] < MIN_STEPS * down


def box_text(box: Box, view: TextView, size: Size) -> str:
    """`[left, top, right, bottom]`."""
    if view == "pixels":
        return _listed([str(n) for n in (*map(math.floor, box[:2]), *map(math.ceil, box[2:]))])
    return _listed([_fraction(at, size, i % 2, last=0) for i, at in enumerate(box)])


def point_text(point: Point, view: TextView, size: Size) -> str:
    """`[x, y]`."""
    if view == "pixels":
        within = (min(math.floor(at), side - 1) for at, side in zip(point, size, strict=True))
        return _listed([str(n) for n in within])
    return _listed([_fraction(at, size, i, last=1) for i, at in enumerate(point)])


def view_sentence(view: TextView, size: Size, of: Literal["box", "point"] = "box") -> str:
    """The view in words, for the prompt."""
    form = "a box is [left, top, right, bottom]" if of == "box" else "a point is [x, y]"
    if view == "pixels":
        shown = f"{size.width}x{size.height}"
        return f"Coordinates are pixels of the {shown} picture, counted from its top left corner; {form}."
    return f"Coordinates are fractions in [0, 1] of the picture's width and height, from its top left corner; {form}."


def read_box(text: str, view: TextView, size: Size) -> Box | None:
    """The box of the first bracketed list in a text; None where it is no box of four numbers."""
    found = _numbers(text, 4)
    if found is None:
        return None
    across, down = _units(view, size)
    return found[0] * across, found[1] * down, found[2] * across, found[3] * down


def read_point(text: str, view: TextView, size: Size) -> Point | None:
    """The point of the first bracketed list in a text, of `pixels` the middle of one; None where there is none."""
    found = _numbers(text, 2)
    if found is None:
        return None
    across, down = _units(view, size)
    middle = 0.5 if view == "pixels" else 0.0
    return (found[0] + middle) * across, (found[1] + middle) * down


def _units(view: TextView, size: Size) -> tuple[float, float]:
    return (1.0, 1.0) if view == "pixels" else (float(size.width), float(size.height))


def _numbers(text: str, count: int) -> list[float] | None:
    found = _NUMBERS.search(text)
    parts = found[1].split(",") if found else []
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        return None
    return numbers if len(numbers) == count else None


def _listed(numbers: Sequence[str]) -> str:
    return f"[{', '.join(numbers)}]"


def _fraction(at: float, size: Size, axis: int, last: int) -> str:
    """Decimals of a coordinate; never more than 1 less `last` steps."""
    places = decimals(size)
    count = 10**places
    found = min(steps(at, size[axis], count), count - last)
    return f"{found // count}.{found % count:0{places}d}"

"""Elements as they would be alone: full box, pixels, whether they are cut and when they are drawn, by the judge's map.

Fills and strokes are those that `cairo_flat` tells of the flat document. An element's `geometry` is their boxes within
their clips and the picture, `pixels` bounds what they drew.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.render.svg.naming import Named
from gristmill.render.svg.places import Patch, bounds, merge

_EDGE_SURE_PX = 1.0
_EDGE_NONE_PX = 0.25

Box = tuple[float, float, float, float]
Orders = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Alone:
    """`visible` bounds the pixels that no opaque paint covers; `last` counts from 0 in order of drawing.

    `cut`: whether the picture's edge cuts it, or a text a clip; None where it reaches over the edge by less than a
    pixel, and either may be said.
    """

    geometry: Box
    pixels: Box
    visible: Box | None
    visible_frac: float
    last: int
    cut: bool | None

    def full_off(self, box: Sequence[float]) -> float:
        """The farthest that a side of a full box is off from the geometry, or that pixels leave it.

        It may be larger than the pixels: hard edges have none of a tip thinner than one, and of what is cut there may
        be nothing left at a side.
        """
        low = max(box[side] - self.pixels[side] for side in (0, 1))
        high = max(self.pixels[side] - box[side] for side in (2, 3))
        return max(low, high, *(abs(found - true) for found, true in zip(box, self.geometry, strict=True)))


def uppermost(told: Sequence[Any], size: tuple[int, int]) -> Orders:
    """Of each pixel the place in the order of drawing of the uppermost opaque paint, -1 where there is none."""
    found = np.full((size[1], size[0]), -1, np.int32)
    for place, each in enumerate(told):
        if each.own is not None and each.is_opaque:
            found[_area(each)][each.own] = place
    return found


def alone(told: Sequence[Any], upper: Orders, one: Named) -> Alone | None:
    """An element's; None where it draws nothing inside the picture. `upper` as `uppermost` makes it."""
    size = upper.shape[1], upper.shape[0]
    places = [place for place, each in enumerate(told) if one.key <= each.key < one.end]
    mine = [told[place] for place in places if told[place].own is not None]
    patches = [
        Patch(each.x, each.y, each.own, each.own & (upper[_area(each)] <= place))
        for place in places
        if (each := told[place]).own is not None
    ]
    own = merge(patches)
    pixels = bounds(own.own, own.x, own.y) if own is not None else None
    if own is None or pixels is None:
        return None
    visible_frac = np.count_nonzero(own.visible) / np.count_nonzero(own.own)
    boxes = [_within(each.box, each.clip) for each in mine]
    geometry = (
        max(min(box[0] for box in boxes), 0.0),
        max(min(box[1] for box in boxes), 0.0),
        min(max(box[2] for box in boxes), float(size[0])),
        min(max(box[3] for box in boxes), float(size[1])),
    )
    cuts = [_cut_px(each, size) for each in mine]
    cut = None if _EDGE_NONE_PX < max(cuts) < _EDGE_SURE_PX else max(cuts) >= _EDGE_SURE_PX
    visible = bounds(own.visible, own.x, own.y)
    return Alone(geometry, pixels, visible, visible_frac, places[-1], cut)


def ranks_wrong(rows: Sequence[tuple[int, int]]) -> int:
    """How many of some (z, last) are not of their rank in order of drawing; what is drawn last together may swap."""
    lasts = sorted(last for _, last in rows)
    first = {last: place for place, last in reversed(list(enumerate(lasts)))}
    count = {last: lasts.count(last) for last in first}
    wrong = sum(not first[last] <= z < first[last] + count[last] for z, last in rows)
    return wrong + len(rows) - len({z for z, _ in rows})


def _area(each: Any) -> tuple[slice, slice]:
    return slice(each.y, each.y + each.own.shape[0]), slice(each.x, each.x + each.own.shape[1])


def _within(box: Box, clip: Box) -> Box:
    return max(box[0], clip[0]), max(box[1], clip[1]), min(box[2], clip[2]), min(box[3], clip[3])


def _cut(box: Box, clip: Box, size: tuple[int, int]) -> float:
    """How far a box leaves its clip or the picture."""
    inner = _within(_within(box, clip), (0.0, 0.0, float(size[0]), float(size[1])))
    return max(abs(a - b) for a, b in zip(box, inner, strict=True))


def _cut_px(each: Any, size: tuple[int, int]) -> float:
    """How far it reaches over an edge of the picture that no clip of its own keeps it from; a text over any clip."""
    box, clip = each.box, each.clip
    if each.is_text:
        return _cut(box, clip, size)
    over = -math.inf
    for side in (0, 1):
        if clip[side] <= 0:
            over = max(over, -box[side])
        if clip[side + 2] >= size[side]:
            over = max(over, box[side + 2] - size[side])
    return over

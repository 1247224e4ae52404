"""Where elements are: boxes, points and visible shares out of the operations that drew them.

Pure, on numpy alone. Pixels are whole: pixel (x, y) covers [x, x + 1) by [y, y + 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MIN_PIXELS = 8
MIN_SEEN_PX = 16
"""An element is named with 16 visible pixels, and must have 8 in the judge's map: engines differ in thin ones."""
MIN_SIDE_PX = 4
_POLE_CELLS = 96

Mask = npt.NDArray[np.bool_]
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Place:
    """An element's place. `seen_px`: visible pixels that its drawing changed, NaN where that cannot be told."""

    key: int
    bbox_full: Box
    bbox_visible: Box
    point: tuple[float, float]
    visible_px: int
    own_px: int
    truncated: bool
    z: int


@dataclass(frozen=True)
class Patch:
    """Masks over the same area, whose top left corner is (x, y)."""

    x: int
    y: int
    own: Mask
    visible: Mask


def bounds(mask: Mask, x: int = 0, y: int = 0) -> tuple[int, int, int, int] | None:
    """Half-open box of a mask's true pixels, moved by (x, y); None where there is none."""
    rows = np.flatnonzero(mask.any(axis=1))
    if not len(rows):
        return None
    columns = np.flatnonzero(mask[rows[0] : rows[-1] + 1].any(axis=0))
    return x + int(columns[0]), y + int(rows[0]), x + int(columns[-1]) + 1, y + int(rows[-1]) + 1


def pole(mask: Mask) -> tuple[int, int]:
    """The pixel of a mask that is farthest from what is not the mask, in the maximum norm: (x, y) within it.

    Of several the one nearest to the mask's centre. Masks over 96 pixels are looked at in blocks. The mask must not be
    empty.
    """
    block = max(1, -(-max(mask.shape) // _POLE_CELLS))
    if block > 1:
        high, wide = mask.shape[0] // block * block, mask.shape[1] // block * block
        cells: Mask = np.asarray(
            mask[:high, :wide].reshape(high // block, block, wide // block, block).all(axis=(1, 3))
        )
        if cells.any():
            x, y = _pole(cells)
            return x * block + block // 2, y * block + block // 2
    return _pole(mask)


def _pole(mask: Mask) -> tuple[int, int]:
    sums = np.zeros((mask.shape[0] + 1, mask.shape[1] + 1), np.int32)
    np.cumsum(np.cumsum(mask, axis=0, dtype=np.int32), axis=1, out=sums[1:, 1:])
    low, high = 0, (min(mask.shape) - 1) // 2
    best: Mask = mask
    while low < high:
        reach = (low + high + 1) // 2
        full = _squares(sums, 2 * reach + 1)
        if full.any():
            low, best = reach, full
        else:
            high = reach - 1
    ys, xs = np.nonzero(best)
    centre_y, centre_x = (mask.shape[0] - 1) / 2 - low, (mask.shape[1] - 1) / 2 - low
    nearest = int(np.argmin((ys - centre_y) ** 2 + (xs - centre_x) ** 2))
    return int(xs[nearest]) + low, int(ys[nearest]) + low


def _squares(sums: npt.NDArray[np.int32], side: int) -> Mask:
    inside = sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]
    return inside == side * side


def merge(patches: Sequence[Patch]) -> Patch | None:
    """The union of patches; None of none."""
    if len(patches) <= 1:
        return patches[0] if patches else None
    x0, y0 = min(p.x for p in patches), min(p.y for p in patches)
    x1 = max(p.x + p.own.shape[1] for p in patches)
    y1 = max(p.y + p.own.shape[0] for p in patches)
    own, visible = np.zeros((y1 - y0, x1 - x0), np.bool_), np.zeros((y1 - y0, x1 - x0), np.bool_)
    for patch in patches:
        rows = slice(patch.y - y0, patch.y - y0 + patch.own.shape[0])
        columns = slice(patch.x - x0, patch.x - x0 + patch.own.shape[1])
        own[rows, columns] |= patch.own
        visible[rows, columns] |= patch.visible
    return Patch(x0, y0, own, visible)

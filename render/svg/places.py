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
        cells = _cells(mask, block)
        if cells.any():
            x, y = _pole(cells)
            return x * block + block // 2, y * block + block // 2
    return _pole(mask)


def _cells(mask: Mask, block: int) -> Mask:
    """Which whole blocks of `block` by `block` pixels are all of the mask."""
    high, wide = mask.shape[0] // block * block, mask.shape[1] // block * block
    rows = mask[:high:block, :wide]
    for place in range(1, block):
        rows = rows & mask[place:high:block, :wide]
    cells = rows[:, ::block]
    for place in range(1, block):
        cells = cells & rows[:, place::block]
    return cells


def _pole(mask: Mask) -> tuple[int, int]:
    """The middle of the largest square of an odd side that fits in a mask, the one nearest to the mask's centre."""
    width = mask.shape[1] + 1
    bits = _bits(mask)
    side, best = 1, bits
    # A square of twice the side is four squares; then what is left of the side, halved each time.
    while bits and (bits := _grown(bits, side, width)):
        side, best = 2 * side, bits
    step = side
    while step := step // 2:
        bits = _grown(best, step, width)
        if bits:
            side, best = side + step, bits
    if side % 2 == 0:
        side -= 1
        best = _squares(_bits(mask), side, width)
    low = side // 2
    corners = np.frombuffer(best.to_bytes(mask.shape[0] * width // 8 + 1, "little"), np.uint8)
    ys, xs = np.divmod(np.flatnonzero(np.unpackbits(corners, bitorder="little")), width)
    centre_y, centre_x = (mask.shape[0] - 1) / 2 - low, (mask.shape[1] - 1) / 2 - low
    nearest = int(np.argmin((ys - centre_y) ** 2 + (xs - centre_x) ** 2))
    return int(xs[nearest]) + low, int(ys[nearest]) + low


def _bits(mask: Mask) -> int:
    """A mask as the bits of a number, row by row from the lowest, with a 0 after each row: no square goes over it."""
    padded = np.zeros((mask.shape[0], mask.shape[1] + 1), np.bool_)
    padded[:, :-1] = mask
    return int.from_bytes(np.packbits(padded, bitorder="little").tobytes(), "little")


def _grown(bits: int, step: int, width: int) -> int:
    """Corners of squares whose side is longer by `step`, which is at most the side."""
    bits &= bits >> step
    return bits & bits >> step * width


def _squares(bits: int, side: int, width: int) -> int:
    """Top left corners of the squares of a side."""
    grown = 1
    while grown < side:
        step = min(grown, side - grown)
        bits, grown = _grown(bits, step, width), grown + step
    return bits


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

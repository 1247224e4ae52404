"""Which element is seen at each pixel, from a shot in which every element has a flat colour of its own.

Red and green of a pixel name the element that paints it (`page.js:code`), blue is how much ink of text lies upon it,
so one shot tells owners and ink. Where colours blend (edges of round corners, turned boxes, colour emoji) they name
nobody: UNKNOWN. Elements are numbered in document order, so those below one are the numbers that follow it.

An element's visible pixels are those owned by it or by one below it, inside its box; a text line's are those in its
box whose owner is one of the elements that hold its text, or one above them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gristmill.render.protocol import Box, Point

UNKNOWN = -1
INK_LEVEL = 64
"""Of 255: less is the outermost rim of a glyph."""

Owners = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

_MULTIPLIER, _OFFSET, _CODES = 2531, 1217, 1 << 12
_TOLERATED = (1, 2, 3)
"""Of the four levels that share a code, from 0: the colour itself is the third."""
_POINT_CELLS = 64


@dataclass(frozen=True)
class Seen:
    """What is seen of an element: how many pixels, their bounds, one that lies well inside, and how many are unsure."""

    count: int
    bounds: Box
    point: Point
    unknown: int


def owners_of(pixels: npt.NDArray[np.uint8], elements: int) -> tuple[Owners, npt.NDArray[np.uint8]]:
    """The element of each pixel (UNKNOWN where colours name none), and the ink upon it."""
    codes = (np.arange(elements) * _MULTIPLIER + _OFFSET) % _CODES
    table = np.full((256, 256), UNKNOWN, np.int32)
    for off_red in _TOLERATED:
        for off_green in _TOLERATED:
            table[(codes >> 6) * 4 + off_red, (codes & 63) * 4 + off_green] = np.arange(elements, dtype=np.int32)
    levels = pixels[..., 0].astype(np.uint16)
    levels <<= 8
    levels |= pixels[..., 1]
    return table.ravel()[levels], np.ascontiguousarray(pixels[..., 2])


def pixel_box(box: Box, width: int, height: int) -> tuple[int, int, int, int]:
    """The pixels that a box touches, inside the picture; a thousandth of a pixel is rounding."""
    x0, y0 = int(np.floor(box[0] + 1e-3)), int(np.floor(box[1] + 1e-3))
    x1, y1 = int(np.ceil(box[2] - 1e-3)), int(np.ceil(box[3] - 1e-3))
    return max(x0, 0), max(y0, 0), min(x1, width), min(y1, height)


def seen_below(owners: Owners, box: Box, first: int, last: int) -> Seen | None:
    """What is seen of elements [first, last) inside `box` (pixels); None where nothing is."""
    x0, y0, x1, y1 = pixel_box(box, owners.shape[1], owners.shape[0])
    crop = owners[y0:y1, x0:x1]
    return _seen((crop >= first) & (crop < last), crop, x0, y0)


def count_among(owners: Owners, box: Box, allowed: Mask) -> int:
    """How many pixels inside `box` are those of the elements that `allowed` (one flag each) names."""
    x0, y0, x1, y1 = pixel_box(box, owners.shape[1], owners.shape[0])
    return int(np.count_nonzero(np.append(allowed, False)[owners[y0:y1, x0:x1]]))


def ink_in(owners: Owners, ink: npt.NDArray[np.uint8], box: Box, allowed: Mask) -> tuple[Seen | None, Mask]:
    """What is seen of a text line's ink, and its mask inside the line's pixels; colour emoji are ink of no owner."""
    x0, y0, x1, y1 = pixel_box(box, owners.shape[1], owners.shape[0])
    crop = owners[y0:y1, x0:x1]
    inked = (ink[y0:y1, x0:x1] >= INK_LEVEL) & (np.append(allowed, False)[crop] | (crop == UNKNOWN))
    return _seen(inked, crop, x0, y0), inked


def _seen(mask: Mask, crop: Owners, left: int, top: int) -> Seen | None:
    count = int(np.count_nonzero(mask))
    if not count:
        return None
    columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    x0, x1, y0, y1 = int(columns[0]), int(columns[-1]) + 1, int(rows[0]), int(rows[-1]) + 1
    x, y = _inner_point(mask[y0:y1, x0:x1])
    bounds = (float(left + x0), float(top + y0), float(left + x1), float(top + y1))
    unknown = int(np.count_nonzero(crop == UNKNOWN))
    return Seen(count, bounds, (left + x0 + x + 0.5, top + y0 + y + 0.5), unknown)


def _inner_point(mask: Mask) -> tuple[int, int]:
    """The pixel whose nearest end of a run, along its row and its column, is farthest; the middle of equals.

    Large masks are looked at through every n-th pixel.
    """
    step_x, step_y = -(-mask.shape[1] // _POINT_CELLS), -(-mask.shape[0] // _POINT_CELLS)
    small = mask[step_y // 2 :: step_y, step_x // 2 :: step_x]
    if not small.any():
        rows, columns = np.nonzero(mask)
        middle = len(rows) // 2
        return int(columns[middle]), int(rows[middle])
    across, down = _depth(small) * step_x, _depth(small.T).T * step_y
    depth = np.minimum(across, down)
    rows, columns = np.nonzero(depth == depth.max())
    centre_y, centre_x = (small.shape[0] - 1) / 2, (small.shape[1] - 1) / 2
    best = int(np.argmin(np.abs(rows - centre_y) + np.abs(columns - centre_x)))
    return int(columns[best]) * step_x + step_x // 2, int(rows[best]) * step_y + step_y // 2


def _depth(mask: Mask) -> npt.NDArray[np.int32]:
    """How many pixels of the mask lie, without a gap, between each pixel of a row and the nearer end of its run."""
    both = np.empty((2, *mask.shape), np.bool_)
    both[0], both[1] = mask, mask[:, ::-1]
    places = np.arange(1, mask.shape[1] + 1, dtype=np.int32)
    runs = places - np.maximum.accumulate(np.where(both, np.int32(0), places), axis=2)
    return np.minimum(runs[0], runs[1, :, ::-1])


def median_colour(pixels: npt.NDArray[np.uint8], mask: Mask) -> tuple[float, float, float] | None:
    """The median colour of the masked pixels; None where there is none."""
    if not mask.any():
        return None
    chosen = pixels[mask]
    # What np.median does, which takes four times as long for so few.
    middle = (len(chosen) - 1) // 2, len(chosen) // 2
    low, high = np.partition(chosen, middle, axis=0)[list(middle)].tolist()
    red, green, blue = ((a + b) / 2 for a, b in zip(low, high, strict=True))
    return red, green, blue


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    """The contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    a, b = _luminance(one), _luminance(other)
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


def _luminance(colour: Sequence[float]) -> float:
    linear = [c / 255 / 12.92 if c <= 0.04045 * 255 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

"""Two pictures of one drawing: whether engines agree, and whether there is anything to see.

A pixel is unmatched when a channel lies more than 48 above the greatest or below the least of the other picture's 5 by
5 pixels around it: shifts of an edge by a fraction of a pixel pass, a missing shape does not.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

TOLERANCE = 48
_SIDE = 5
_LEVELS_SHIFT = 5


def unmatched_px(a: Pixels, b: Pixels) -> int:
    """Unmatched pixels of both pictures, the larger count."""
    suspect = (np.maximum(a, b) - np.minimum(a, b)) > TOLERANCE
    rows = np.flatnonzero(suspect.any(axis=(1, 2)))
    if not len(rows):
        return 0
    # What is far from any suspect pixel needs no look.
    first, last = max(int(rows[0]) - _SIDE, 0), int(rows[-1]) + _SIDE + 1
    a, b = a[first:last], b[first:last]
    return max(_outside(a, b), _outside(b, a))


def _outside(a: Pixels, b: Pixels) -> int:
    high, low = _windows(b, np.maximum), _windows(b, np.minimum)
    over = a > np.minimum(high, 255 - TOLERANCE) + np.uint8(TOLERANCE)
    under = a < np.maximum(low, TOLERANCE) - np.uint8(TOLERANCE)
    return int(np.count_nonzero((over | under).any(axis=2)))


def _windows(pixels: Pixels, best: Callable[[Pixels, Pixels], Pixels]) -> Pixels:
    """Greatest or least of 5 by 5 pixels, axis by axis, in three steps each."""
    padded = np.pad(pixels, ((2, 2), (2, 2), (0, 0)), "edge")
    two = best(padded[:-1], padded[1:])
    four = best(two[:-2], two[2:])
    rows = best(four[:-1], padded[4:])
    two = best(rows[:, :-1], rows[:, 1:])
    four = best(two[:, :-2], two[:, 2:])
    return best(four[:, :-1], rows[:, 4:])


def mean_abs_diff(a: Pixels, b: Pixels) -> float:
    """In levels of 0 to 255, over all channels."""
    return float(np.mean(np.maximum(a, b) - np.minimum(a, b), dtype=np.float64))


def colours_and_ink(pixels: Pixels) -> tuple[int, float]:
    """How many colours of 8 levels a channel there are, and the share of pixels not of the most frequent one."""
    coarse = pixels >> _LEVELS_SHIFT
    key = (coarse[..., 0].astype(np.uint16) << 6) | (coarse[..., 1].astype(np.uint16) << 3) | coarse[..., 2]
    counts = np.bincount(key.ravel(), minlength=512)
    return int(np.count_nonzero(counts)), 1 - float(counts.max()) / key.size

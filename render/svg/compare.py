"""Two pictures of one drawing: whether engines agree, and whether there is anything to see.

Pictures are (height, width, 4) uint8, red, green, blue and an opaque alpha: numpy is faster over four channels than
three. A pixel is unmatched when a channel lies more than 48 above the greatest or below the least of the other
picture's 5 by 5 pixels around it: shifts of an edge by a fraction of a pixel pass, a missing shape does not.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

TOLERANCE = 48
_REACH = 2
SCREEN_TOLERANCE = 40
SCREEN_REACH = 1


def difference(a: Pixels, b: Pixels) -> Pixels:
    """Absolute difference of each channel."""
    return np.maximum(a, b) - np.minimum(a, b)


def any_channel(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether a flag of the last axis' four is set."""
    return flags.view(np.uint32)[..., 0] != 0


def unmatched_px(a: Pixels, b: Pixels, tolerance: int = TOLERANCE, reach: int = _REACH) -> int:
    """Unmatched pixels of both pictures, the larger count; `reach` is half a window's side, 1 or 2."""
    suspect = any_channel(difference(a, b) > tolerance)
    rows = np.flatnonzero(suspect.any(axis=1))
    if not len(rows):
        return 0
    columns = np.flatnonzero(suspect.any(axis=0))
    # What is farther from any suspect pixel than a window needs no look.
    top, bottom = max(int(rows[0]) - reach, 0), int(rows[-1]) + reach + 1
    left, right = max(int(columns[0]) - reach, 0), int(columns[-1]) + reach + 1
    a, b = a[top:bottom, left:right], b[top:bottom, left:right]
    return max(_outside(a, b, tolerance, reach), _outside(b, a, tolerance, reach))


def screened_px(a: Pixels, b: Pixels) -> int:
    """Unmatched pixels of reduced pictures, by the narrower rule for these: 3 by 3 pixels and 40 levels."""
    return unmatched_px(a, b, SCREEN_TOLERANCE, SCREEN_REACH)


def _outside(a: Pixels, b: Pixels, tolerance: int, reach: int) -> int:
    windows = _windows if reach == _REACH else _small_windows
    high, low = windows(b, np.maximum), windows(b, np.minimum)
    over = a > np.minimum(high, 255 - tolerance) + np.uint8(tolerance)
    over |= a < np.maximum(low, tolerance) - np.uint8(tolerance)
    return int(np.count_nonzero(any_channel(over)))


def _small_windows(pixels: Pixels, best: Callable[[Pixels, Pixels], Pixels]) -> Pixels:
    """Greatest or least of 3 by 3 pixels, axis by axis."""
    padded = np.pad(pixels, ((1, 1), (1, 1), (0, 0)), "edge")
    rows = best(best(padded[:-2], padded[1:-1]), padded[2:])
    return best(best(rows[:, :-2], rows[:, 1:-1]), rows[:, 2:])


def _windows(pixels: Pixels, best: Callable[[Pixels, Pixels], Pixels]) -> Pixels:
    """Greatest or least of 5 by 5 pixels, axis by axis, in three steps each."""
    padded = np.pad(pixels, ((_REACH, _REACH), (_REACH, _REACH), (0, 0)), "edge")
    two = best(padded[:-1], padded[1:])
    four = best(two[:-2], two[2:])
    rows = best(four[:-1], padded[4:])
    two = best(rows[:, :-1], rows[:, 1:])
    four = best(two[:, :-2], two[:, 2:])
    return best(four[:, :-1], rows[:, 4:])


def mean_abs_diff(a: Pixels, b: Pixels) -> float:
    """In levels of 0 to 255, over the three colours."""
    return int(difference(a, b).sum(dtype=np.uint64)) / (a.shape[0] * a.shape[1] * 3)


def colours_and_ink(pixels: Pixels) -> tuple[int, float]:
    """How many colours of 8 levels a channel there are, and the share of pixels not of the most frequent one."""
    whole = pixels.view(np.uint32).ravel()
    # Drawings are flat: runs of equal pixels are a fraction of the pixels.
    starts = np.flatnonzero(np.concatenate(([True], whole[1:] != whole[:-1])))
    colours = whole[starts]
    key = ((colours >> 5) & 7) | ((colours >> 10) & 56) | ((colours >> 15) & 448)
    counts = np.bincount(key, weights=np.diff(starts, append=whole.size), minlength=512)
    return int(np.count_nonzero(counts)), 1 - float(counts.max()) / whole.size

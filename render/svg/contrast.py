"""Whether a text can be read: its colour against what is around it, in the picture itself.

Crops are (height, width, 4) uint8 as in `compare`.
"""

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
Colour = npt.NDArray[np.float64]

_INK_LEVELS = 24
_STRONGEST_FRAC = 0.8
_MAX_GROUND_PIXELS = 400


def luminance(colour: Colour) -> float:
    """Relative luminance of an sRGB colour of 0 to 255 (WCAG 2.2)."""
    total = 0.0
    for part, weight in zip(colour[:3] / 255, (0.2126, 0.7152, 0.0722), strict=True):
        total += weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
    return float(total)


def contrast(a: Colour, b: Colour) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    bright, dark = sorted([luminance(a), luminance(b)], reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def around(ink: Mask) -> Mask:
    """What touches no letter: a crop's ground."""
    near = ink.copy()
    near[1:] |= ink[:-1]
    near[:-1] |= ink[1:]
    wide = near.copy()
    wide[:, 1:] |= near[:, :-1]
    wide[:, :-1] |= near[:, 1:]
    return ~wide


def ground_colour(pixels: Pixels, ground: Mask) -> Colour | None:
    """The median of the ground, of at most some hundred of its pixels; None where there is none."""
    found = pixels[ground]
    if not len(found):
        return None
    return np.median(found[:: -(-len(found) // _MAX_GROUND_PIXELS)], axis=0)


def letter_colour(pixels: Pixels, ink: Mask, ground: Colour) -> tuple[Colour, float]:
    """The letters' colour, and the share of their pixels that differ from the ground.

    It is that of the pixel which differs more than 4 in 5 do: at the edges letters are mixed with their ground.
    """
    letters = pixels[ink]
    away = np.abs(letters - ground)
    order = np.argsort(away.sum(axis=1), kind="stable")
    share = float(np.count_nonzero(away.max(axis=1) > _INK_LEVELS)) / len(letters)
    return letters[order[int(_STRONGEST_FRAC * (len(letters) - 1))]].astype(np.float64), share

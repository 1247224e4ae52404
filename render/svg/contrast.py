"""Whether a text can be read: its colour against what is around it, in the picture itself."""

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

_INK_LEVELS = 24
_STRONGEST_FRAC = 0.8


def luminance(colour: npt.NDArray[np.float64]) -> float:
    """Relative luminance of an sRGB colour of 0 to 255 (WCAG 2.2)."""
    part = colour / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return float(linear @ np.array([0.2126, 0.7152, 0.0722]))


def contrast(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    bright, dark = sorted([luminance(a), luminance(b)], reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def text_colours(pixels: Pixels, ink: Mask) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
    """Colour of the letters and of their ground in a crop; None where there is no ground beside the letters.

    The ground is the median of what does not touch a letter, the letters' colour that of the pixel which differs from
    it more than 4 in 5 do: their edges are mixed with the ground.
    """
    near = ink.copy()
    near[1:] |= ink[:-1]
    near[:-1] |= ink[1:]
    near[:, 1:] |= near[:, :-1].copy()
    near[:, :-1] |= near[:, 1:].copy()
    ground_pixels, ink_pixels = pixels[~near], pixels[ink]
    if not len(ground_pixels) or not len(ink_pixels):
        return None
    ground = np.median(ground_pixels, axis=0)
    away = np.abs(ink_pixels - ground).sum(axis=1)
    strongest = int(np.argsort(away, kind="stable")[int(_STRONGEST_FRAC * (len(away) - 1))])
    return ink_pixels[strongest].astype(np.float64), ground


def ink_frac(pixels: Pixels, ink: Mask, ground: npt.NDArray[np.float64]) -> float:
    """Share of the letters' pixels that differ from the ground."""
    away = np.abs(pixels[ink] - ground).max(axis=1)
    return float(np.mean(away > _INK_LEVELS))

"""Reads scenes: which forms of which colours stand where, from pixels alone.

Each blob is held against its own drawing of every form in the blob's box, sampled 4 by 4 a pixel; the nearest is what
it is, if it is near and none other is. Its colour is the nearest of reference colours. A scene's words:
`red star [12, 40, 44, 72]`, one a thing, from left to right.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gristmill.synth.solvers.pixels import Blob, Cover, Mask, Rgb, blobs
from gristmill.synth.solvers.words import Contradiction

REFERENCE = {
    "red": (210, 30, 40),
    "orange": (240, 135, 10),
    "yellow": (250, 215, 35),
    "green": (50, 160, 75),
    "blue": (30, 100, 205),
    "purple": (145, 55, 200),
    "brown": (125, 75, 40),
    "black": (30, 30, 30),
}
MAX_OFF, MIN_APART = 0.06, 0.03
"""Mean difference of cover: of the form that it is, at most; of the next one, so much more. Measured over all forms,
sides and shades: own at most 0.010, next at least 0.15 more."""
SAMPLES = 4
_SINE_72 = np.sin(np.pi * 0.4)


class Thing(NamedTuple):
    """A form; box in pixels, half open."""

    colour: str
    form: str
    box: tuple[float, float, float, float]


def things(picture: Rgb) -> list[Thing]:
    """From left to right. Raises Contradiction on a blob that is none of them."""
    return [_thing(blob) for blob in blobs(picture)]


def words_of(picture: Rgb) -> str:
    """See the module."""
    told = (f"{t.colour} {t.form} [{', '.join(str(int(n)) for n in t.box)}]" for t in things(picture))
    return "; ".join(told)


def _thing(blob: Blob) -> Thing:
    height, width = blob.cover.shape
    off = sorted((float(np.abs(_own(form, width, height) - blob.cover).mean()), form) for form in _FORMS)
    if off[0][0] > MAX_OFF or off[1][0] - off[0][0] < MIN_APART:
        raise Contradiction(f"a thing that is neither {off[0]} nor {off[1]}")
    return Thing(_colour(blob), off[0][1], (float(blob.x0), float(blob.y0), float(blob.x1), float(blob.y1)))


def _colour(blob: Blob) -> str:
    return min(REFERENCE, key=lambda n: sum((a - b) ** 2 for a, b in zip(REFERENCE[n], blob.colour, strict=True)))


@lru_cache(maxsize=4096)
def _own(form: str, width: int, height: int) -> Cover:
    """How far a form that fills a box covers each of its pixels."""
    u = (np.arange(width * SAMPLES) + 0.5) / (width * SAMPLES)
    v = (np.arange(height * SAMPLES) + 0.5) / (height * SAMPLES)
    inside = _FORMS[form](u[None, :], v[:, None])
    return inside.reshape(height, SAMPLES, width, SAMPLES).mean(axis=(1, 3))


def _round(u: Cover, v: Cover) -> Cover:
    return np.hypot(u - 0.5, v - 0.5)


def _star(u: Cover, v: Cover) -> Mask:
    """A star of five points: in the box of one of radius 1, by the angle from its nearest tip."""
    x = (u * 2 - 1) * _SINE_72
    y = v * (1 + np.cos(np.pi * 0.2)) - 1
    turn = np.mod(np.arctan2(x, -y), np.pi * 0.4)
    turn = np.minimum(turn, np.pi * 0.4 - turn)
    inner = 0.42
    edge = inner * np.sin(np.pi * 0.2) / (inner * np.sin(np.pi * 0.2 - turn) + np.sin(turn))
    return np.hypot(x, y) <= edge


_FORMS: dict[str, Callable[[Cover, Cover], Mask]] = {
    "circle": lambda u, v: _round(u, v) <= 0.5,
    "ring": lambda u, v: (_round(u, v) <= 0.5) & (_round(u, v) >= 0.3),
    "square": lambda u, v: (u >= 0) & (v >= 0),
    "triangle": lambda u, v: np.abs(u - 0.5) <= v / 2,
    "diamond": lambda u, v: np.abs(u - 0.5) + np.abs(v - 0.5) <= 0.5,
    "star": _star,
    "cross": lambda u, v: (np.abs(u - 0.5) <= 0.17) | (np.abs(v - 0.5) <= 0.17),
}

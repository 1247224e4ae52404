"""Reads panels: the number in a picture, by holding each blob against digits that were drawn here for that.

Ten digits of each font and weight are drawn once a process, in five sizes, in the child of `render.svg`; each, and each
blob of a picture, is brought to CELL pixels, and the nearest is what it is, if it is near and no other digit is. A blob
as wide or as high as the picture is a frame.
"""

from functools import cache
from itertools import product

import numpy as np
from PIL import Image

from gristmill.render.protocol import Rejected
from gristmill.render.svg.engines import DRAW, ask
from gristmill.render.svg.wire import Message
from gristmill.synth.solvers.pixels import Blob, Cover, Rgb, blobs, decode
from gristmill.synth.solvers.words import Contradiction

CELL = (16, 24)
FRAME_FRAC = 0.8
HALF = 0.4
"""What is covered by less is no part of a digit: its box would depend on where its edge falls between pixels."""
MAX_OFF, MIN_APART = 0.2, 0.03
"""Of the digit that it is, at most; of the next one, so much more. Measured over 400 panels: 0.163 and 0.069."""
ASPECT_WEIGHT = 0.3
_FAMILIES, _WEIGHTS = ("DejaVu Sans", "DejaVu Serif", "DejaVu Sans Mono"), ("normal", "bold")
_SIZES_PX = (24, 28, 32, 36, 44)
_STEP_PX = 60


def number_in(picture: Rgb) -> str:
    """The digits of a panel, from left to right. Raises Contradiction where there is none, or a blob is no digit."""
    height, width = picture.shape[:2]
    small = [b for b in blobs(picture) if b.x1 - b.x0 < FRAME_FRAC * width and b.y1 - b.y0 < FRAME_FRAC * height]
    found = _outer(small)
    if not found:
        raise Contradiction("a panel without a number")
    return "".join(_digit(blob) for blob in found)


def _outer(found: list[Blob]) -> list[Blob]:
    """Those that lie in no other: the zero of a font of one width has a dot inside."""
    return [b for b in found if not any(o is not b and o.x0 <= b.x0 and b.x1 <= o.x1 and o.y0 < b.y0 for o in found)]


def _digit(blob: Blob) -> str:
    shape, aspect = _shape(blob)
    shapes, aspects = _digits()
    off = np.abs(shapes - shape).mean(axis=(2, 3)) + ASPECT_WEIGHT * np.abs(aspects - aspect)
    nearest = off.min(axis=1)
    first, second = np.argsort(nearest, kind="stable")[:2].tolist()
    if nearest[first] > MAX_OFF or nearest[second] - nearest[first] < MIN_APART:
        raise Contradiction(f"a digit that is {first} ({nearest[first]:.3f}) or {second} ({nearest[second]:.3f})")
    return str(first)


def _shape(blob: Blob) -> tuple[Cover, float]:
    """What is covered by a half at least, in CELL, and its width over its height, but no more than one."""
    rows, cols = np.nonzero(blob.cover >= HALF)
    cover = blob.cover[rows.min() : rows.max() + 1, cols.min() : cols.max() + 1]
    image = Image.fromarray(np.round(cover * 255).astype(np.uint8))
    cell = np.asarray(image.resize(CELL, Image.Resampling.BOX), np.float64) / 255
    return cell, min(1.0, cover.shape[1] / cover.shape[0])


@cache
def _digits() -> tuple[Cover, Cover]:
    """Of each digit its drawings in CELL, float64[10, drawings, rows, columns], and how wide they are."""
    drawn = [[_shape(blob) for blob in _outer(blobs(_row(*each)))] for each in product(_FAMILIES, _WEIGHTS, _SIZES_PX)]
    shapes = np.array([[shape for shape, _ in row] for row in drawn])
    return shapes.swapaxes(0, 1), np.array([[aspect for _, aspect in row] for row in drawn]).T


def _row(family: str, weight: str, px: int) -> Rgb:
    texts = "".join(f'<text x="{10 + _STEP_PX * n}" y="70">{n}</text>' for n in range(10))
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_STEP_PX * 10 + 20} 90">'
        f'<rect width="{_STEP_PX * 10 + 20}" height="90" fill="#fff"/>'
        f'<g font-family="{family}" font-weight="{weight}" font-size="{px}">{texts}</g></svg>'
    )
    try:
        request = {"what": "draw", "text": svg, "width": _STEP_PX * 10 + 20, "height": 90, "parts": []}
        return decode(ask(DRAW, Message(request)).blob)
    except Rejected as error:
        raise Contradiction(f"digits cannot be drawn to compare with: {error}") from None

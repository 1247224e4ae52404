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
    off = {d: min(_off(shape, aspect, own) for own in _digits()[d]) for d in _digits()}
    first, second = sorted(off, key=lambda d: off[d])[:2]
    if off[first] > MAX_OFF or off[second] - off[first] < MIN_APART:
        raise Contradiction(f"a digit that is {first} ({off[first]:.3f}) or {second} ({off[second]:.3f})")
    return first


def _off(shape: Cover, aspect: float, own: tuple[Cover, float]) -> float:
    return float(np.abs(shape - own[0]).mean()) + ASPECT_WEIGHT * abs(aspect - own[1])


def _shape(blob: Blob) -> tuple[Cover, float]:
    """What is covered by a half at least, in CELL, and its width over its height, but no more than one."""
    rows, cols = np.nonzero(blob.cover >= HALF)
    cover = blob.cover[rows.min() : rows.max() + 1, cols.min() : cols.max() + 1]
    image = Image.fromarray(np.round(cover * 255).astype(np.uint8))
    cell = np.asarray(image.resize(CELL, Image.Resampling.BOX), np.float64) / 255
    return cell, min(1.0, cover.shape[1] / cover.shape[0])


@cache
def _digits() -> dict[str, list[tuple[Cover, float]]]:
    """Of each digit its drawings in CELL, and how wide they are."""
    found: dict[str, list[tuple[Cover, float]]] = {digit: [] for digit in "0123456789"}
    for family, weight, px in product(_FAMILIES, _WEIGHTS, _SIZES_PX):
        for digit, blob in zip("0123456789", _outer(blobs(_row(family, weight, px))), strict=True):
            found[digit].append(_shape(blob))
    return found


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

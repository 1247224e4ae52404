"""The engine of doodles: draws one, in a killable child. See `tests.render.doodle`."""

import io
import json
import os
import signal
import time
from collections.abc import Callable

from PIL import Image, ImageDraw


def factory(_: bytes) -> Callable[[bytes], bytes]:
    """The function of the child: JSON of text and scale -> PNG."""
    drawn = 0

    def draw(payload: bytes) -> bytes:
        nonlocal drawn
        drawn += 1
        text, scale = json.loads(payload)
        return _png(text, scale, drawn)

    return draw


def _png(text: str, scale: float, number: int) -> bytes:
    head, *lines = text.splitlines()
    _, width, height, ground = head.split()
    image = Image.new("RGB", (round(int(width) * scale), round(int(height) * scale)), ground)
    brush = ImageDraw.Draw(image)
    for line in lines:
        word, *rest = line.split() or [""]
        if word == "crash":
            os.kill(os.getpid(), signal.SIGABRT)
        elif word == "sleep":
            time.sleep(float(rest[0]))
        elif word == "tremble":
            image.putpixel((0, 0), (number % 256, 0, 0))
        elif word:
            _draw(brush, word, [float(n) * scale for n in rest[:-1]], rest[-1])
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=6)
    return out.getvalue()


def _draw(brush: ImageDraw.ImageDraw, word: str, at: list[float], colour: str) -> None:
    if word == "rect":
        if at[2] > at[0] and at[3] > at[1]:
            brush.rectangle((at[0], at[1], at[2] - 1, at[3] - 1), fill=colour)
    elif word == "disc":
        x, y, r = at
        brush.ellipse((x - r, y - r, x + r - 1, y + r - 1), fill=colour)
    else:
        raise ValueError(f"no such word: {word}")

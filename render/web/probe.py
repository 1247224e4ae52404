"""A page whose picture is known: whether the browser draws as it must, and has the fonts that pages are written in.

A font that is not there is no error to a browser: it draws the missing glyph (a box), or nothing, and goes on. So each
of GLYPHS is held against NO_GLYPH, which no font has, and against white.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gristmill.render.protocol import EngineState
from gristmill.render.web.client import Client
from gristmill.render.web.session import Pixels, pixels_of

GLYPHS: Mapping[str, tuple[str, str]] = {
    "Japanese": ("\u3042", "fonts-noto-cjk"),
    "Chinese": ("\u6f22", "fonts-noto-cjk"),
    "Korean": ("\ud55c", "fonts-noto-cjk"),
    "Arabic": ("\u0639", "fonts-dejavu-core"),
    "Hebrew": ("\u05d0", "fonts-dejavu-core"),
    "Greek": ("\u03a9", "fonts-dejavu-core"),
    "Cyrillic": ("\u0416", "fonts-dejavu-core"),
    "emoji": ("\U0001f9e9", "fonts-noto-color-emoji"),
}
"""What our pages are written in: a letter of it, and Debian's package of a font that has it."""
NO_GLYPH = "\U00050000"
_STYLE = (
    "body{margin:0;background:#fff}div{position:absolute;left:10px;top:20px;width:40px;height:30px;background:#0050c8}"
    "i{position:absolute;top:70px;width:40px;height:40px;font:24px/40px sans-serif;text-align:center;overflow:hidden}"
)
_CELL_PX, _CELLS_TOP_PX, _HEIGHT = 40, 70, 120


def run_probe(client: Client, glyphs: Mapping[str, tuple[str, str]] = GLYPHS) -> EngineState:
    """The state of the browser. Raises Rejected where it cannot render at all."""
    letters = [NO_GLYPH, *(letter for letter, _ in glyphs.values())]
    cells = "".join(f"<i style=left:{k * _CELL_PX}px>{letter}</i>" for k, letter in enumerate(letters))
    html = f"<!doctype html><title>probe</title><style>{_STYLE}</style><div role=img aria-label=probe></div>{cells}"
    width = len(letters) * _CELL_PX
    head: dict[str, Any] = {"job": "take", "ids": [], "html": html, "view": [width, _HEIGHT, 1.0], "seed": 0}
    taken, png = client.ask(head | {"scripts": False})
    pixels = pixels_of(png)
    box = [int(v) for v in taken["things"][0]["visible"]] if taken["things"] else []
    right = pixels.shape == (_HEIGHT, width, 3) and tuple(pixels[35, 30]) == (0, 80, 200) and box == [10, 20, 50, 50]
    cage = "bubblewrap and Chromium's sandbox" if taken["sandboxed"] else "bubblewrap"
    detail = f"{client.found.path}, held by {cage if client.found.cage == 'bubblewrap' else 'Chromium sandbox alone'}"
    if not right:
        wrong = f"{detail}: the probe came out wrong: {box}"
        return EngineState("chromium", "", False, wrong, "use another build of Chromium")
    drawn = [pixels[_CELLS_TOP_PX:, k * _CELL_PX : (k + 1) * _CELL_PX] for k in range(len(letters))]
    lost = [name for name, cell in zip(glyphs, drawn[1:], strict=True) if not _is_drawn(cell, drawn[0])]
    if not lost:
        return EngineState("chromium", taken["version"], True, detail)
    packages = " ".join(sorted({glyphs[name][1] for name in lost}))
    return EngineState(
        "chromium", "", False, f"{detail}: no font for {', '.join(lost)}", f"install fonts (Debian: {packages})"
    )


def _is_drawn(cell: Pixels, missing: Pixels) -> bool:
    return bool((cell != 255).any()) and not np.array_equal(cell, missing)

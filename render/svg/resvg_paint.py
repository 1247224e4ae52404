"""Drawing by resvg. Imported by a child only.

A document without texts is read without fonts. Fonts are read once, from memory: from files resvg would map them anew
for each glyph.
"""

import functools
import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from resvg import render, usvg

from gristmill.render.svg import fonts

Pixels = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.uint32]

_DPI = 96.0
# Pillow keeps a fourth byte of 255 for each pixel of RGB: to ask for it is cheaper than to convert.
_PACKED = {"RGB": "RGBX", "RGBA": "RGBA"}
_IN_PLACE = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)
_WHITE, _BLACK = (255, 255, 255, 255), (0, 0, 0, 255)
_GENERIC = {"Sans-": "Arial", "Sans.": "Arial", "SansMono": "Courier New", "Serif": "Times New Roman"}
"""Where resvg looks for `sans-serif`, `monospace` and `serif`; in the last one for families that it lacks, too."""
_HARD_EDGES = ' shape-rendering="crispEdges" text-rendering="optimizeSpeed"'


def draw(text: str, with_text: bool = True, hard_edges: bool = False) -> Pixels:
    """RGBA pixels of a document at its own width and height, on white; on black and with hard edges for a map.

    A document for a map says nothing of edges itself. Raises ValueError for what resvg does not read.
    """
    if hard_edges:
        text = text.replace("<svg", f"<svg{_HARD_EDGES}", 1)
    return decoded(_painted(text, options(with_text), _BLACK if hard_edges else _WHITE))


@functools.cache
def options(with_fonts: bool) -> Any:
    """How documents are read, with our fonts or with none."""
    found = usvg.Options.default()
    found.dpi = _DPI
    found.font_family = fonts.FAMILIES[0]
    if with_fonts:
        bodies = {path: Path(path).read_bytes() for path in fonts.font_files()}
        for body in bodies.values():
            found.load_font_data(body)
        for path, body in bodies.items():
            found.load_font_data(fonts.renamed(body, _generic(Path(path).name)))
    return found


def _painted(text: str, how: Any, ground: tuple[int, int, int, int]) -> bytes:
    try:
        return render(usvg.Tree.from_str(text, how), _IN_PLACE, bg_color=ground)
    except BaseException as error:
        # The binding panics over what it cannot read; that is no Exception, and would cost the child.
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError(str(error)) from None


def _generic(name: str) -> str:
    return next(family for part, family in _GENERIC.items() if part in name)


def decoded(png: bytes) -> Pixels:
    """RGBA pixels of a PNG, not to be written to."""
    with Image.open(io.BytesIO(png), formats=["PNG"]) as opened:
        picture = opened if opened.mode in _PACKED else opened.convert("RGBA")
        pixels = picture.tobytes("raw", _PACKED[picture.mode])
        return np.frombuffer(pixels, np.uint8).reshape(picture.height, picture.width, 4)


def reduced(picture: Pixels, factor: int) -> Pixels:
    """Means of `factor` by `factor` pixels; what lacks at the right and at the bottom is white."""
    if factor == 1:
        return picture
    height, width = picture.shape[:2]
    whole = Image.fromarray(picture)
    if width % factor or height % factor:
        padded = Image.new("RGBA", (-(-width // factor) * factor, -(-height // factor) * factor), "white")
        padded.paste(whole, (0, 0))
        whole = padded
    return np.asarray(whole.reduce(factor))


def colour(number: int) -> str:
    """The colour that stands for a number on a map."""
    return f"#{number & 255:02x}{number >> 8 & 255:02x}{number >> 16 & 255:02x}"


def labels(pixels: Pixels) -> Labels:
    """The numbers that the colours of a map stand for."""
    return pixels.view("<u4")[..., 0] & np.uint32(0xFFFFFF)

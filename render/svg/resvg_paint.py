"""Drawing by resvg. Imported by a child only."""

import io

import numpy as np
import numpy.typing as npt
import resvg_py
from PIL import Image

from gristmill.render.svg import fonts

Pixels = npt.NDArray[np.uint8]


def draw(text: str, with_text: bool = True, hard_edges: bool = False) -> Pixels:
    """RGB pixels of a document at its own width and height, on white; in a map of flat colours without soft edges."""
    png = resvg_py.svg_to_bytes(
        svg_string=text,
        background="#000000" if hard_edges else "#ffffff",
        dpi=96,
        skip_system_fonts=True,
        font_files=list(fonts.font_files()) if with_text else [],
        font_family="DejaVu Sans",
        sans_serif_family="DejaVu Sans",
        serif_family="DejaVu Serif",
        monospace_family="DejaVu Sans Mono",
        shape_rendering="crisp_edges" if hard_edges else "geometric_precision",
        text_rendering="optimize_speed" if hard_edges else "geometric_precision",
    )
    with Image.open(io.BytesIO(bytes(png)), formats=["PNG"]) as picture:
        return np.asarray(picture.convert("RGB"))


def labels(pixels: Pixels) -> npt.NDArray[np.int32]:
    """The numbers that the colours of a map stand for."""
    wide = pixels.astype(np.int32)
    return (wide[..., 0] << 16) | (wide[..., 1] << 8) | wide[..., 2]

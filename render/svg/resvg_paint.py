"""Drawing by resvg. Imported by a child only."""

import io

import numpy as np
import numpy.typing as npt
import resvg_py
from PIL import Image

from gristmill.render.svg import fonts

Pixels = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.uint32]


def draw(text: str, with_text: bool = True, hard_edges: bool = False) -> Pixels:
    """RGBA pixels of a document at its own width and height, on white; on black and with hard edges for a map."""
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
    return decoded(bytes(png))


def decoded(png: bytes) -> Pixels:
    """RGBA pixels of a PNG."""
    with Image.open(io.BytesIO(png), formats=["PNG"]) as picture:
        return np.asarray(picture if picture.mode == "RGBA" else picture.convert("RGBA"))


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

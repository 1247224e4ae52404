"""Decoded pixels: what is compared where pictures are, since encoders differ.

`pixels` is the BLAKE3-128 of size and RGBA bytes, `dhash` a difference hash: of the grey picture reduced to 9 x 8 by
mean of areas, one bit for each pair of neighbours in a row, set where the right one is brighter; 16 hex digits.

`decode` is for what an engine has just drawn, `decode_stored` for what stands in a record that may come from anywhere.
"""

import io
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from gristmill.manifests.child import ChildFailure, ChildLimits
from gristmill.manifests.effects import ask_child
from gristmill.manifests.picture_hash import picture_hash

CHILD_TARGET = "gristmill.render.pixels_child:make"
MAX_PIXELS = 1 << 26
"""Of a stored picture: 67 million."""
LIMITS = ChildLimits(max_seconds_per_record=20.0, max_rss_bytes=2 << 30, max_output_bytes=4 * MAX_PIXELS + 8)
DHASH_COLUMNS, DHASH_ROWS = 9, 8
_PNG_HEAD = struct.Struct(">8s4x4sII")
_SIZES = struct.Struct("<II")
_HASH_BYTES = 16


@dataclass(frozen=True)
class Decoded:
    """A picture: `rgba` is uint8[height, width, 4]."""

    rgba: npt.NDArray[np.uint8]
    pixels: str
    dhash: str


def size_of(png: bytes) -> tuple[int, int]:
    """Width and height by the header. Raises OSError where it is no PNG."""
    if len(png) < _PNG_HEAD.size:
        raise OSError("no PNG")
    signature, chunk, width, height = _PNG_HEAD.unpack_from(png)
    if (signature, chunk) != (b"\x89PNG\r\n\x1a\n", b"IHDR"):
        raise OSError("no PNG")
    return width, height


def decode(png: bytes) -> Decoded:
    """The pixels of a picture and their hashes. Raises OSError where it is no PNG."""
    with Image.open(io.BytesIO(png), formats=("PNG",)) as opened:
        return _decoded(opened.convert("RGBA"))


def decode_stored(png: bytes) -> Decoded | ChildFailure:
    """The same, in a killable child. Raises OSError where it is no PNG or of more than MAX_PIXELS."""
    width, height = size_of(png)
    if not 0 < width * height <= MAX_PIXELS:
        raise OSError(f"a picture of {width}x{height}")
    answer = ask_child(CHILD_TARGET, LIMITS, [png])[0]
    if isinstance(answer, ChildFailure):
        return answer
    size, pixels = _SIZES.unpack_from(answer), answer[_SIZES.size :]
    if size != (width, height) or len(pixels) != 4 * width * height:
        raise OSError("other pixels than the header says")
    return _decoded(Image.frombytes("RGBA", size, pixels))


def _decoded(image: Image.Image) -> Decoded:
    rgba: Any = np.asarray(image)
    pixels = picture_hash(image.width, image.height, image.tobytes())[:_HASH_BYTES]
    return Decoded(rgba, pixels.hex(), _dhash(image))


def _dhash(image: Image.Image) -> str:
    grey = image.convert("L").resize((DHASH_COLUMNS, DHASH_ROWS), Image.Resampling.BOX)
    values: Any = np.asarray(grey, dtype=np.int16)
    bits = np.packbits(values[:, 1:] > values[:, :-1])
    return bits.tobytes().hex()


def differing(first: Decoded, second: Decoded) -> int:
    """Pixels that differ; all of the larger picture where the sizes do."""
    if first.rgba.shape != second.rgba.shape:
        return max(first.rgba.size, second.rgba.size) // 4
    return int((first.rgba != second.rgba).any(axis=2).sum())

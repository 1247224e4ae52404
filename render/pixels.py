"""Decoded pixels: what is compared where pictures are, since encoders differ.

`pixels` is the BLAKE3-128 of size and RGBA bytes, `dhash` a difference hash: of the grey picture reduced to 9 x 8 by
mean of areas, one bit for each pair of neighbours in a row, set where the right one is brighter; 16 hex digits.
"""

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from blake3 import blake3
from PIL import Image

DHASH_COLUMNS, DHASH_ROWS = 9, 8
_HASH_BYTES = 16


@dataclass(frozen=True)
class Decoded:
    """A picture: `rgba` is uint8[height, width, 4]."""

    rgba: npt.NDArray[np.uint8]
    pixels: str
    dhash: str


def size_of(png: bytes) -> tuple[int, int]:
    """Width and height by the header. Raises OSError where there is no picture."""
    with Image.open(io.BytesIO(png)) as image:
        return image.size


def decode(png: bytes) -> Decoded:
    """The pixels of a picture and their hashes. Raises OSError where it is none."""
    with Image.open(io.BytesIO(png)) as opened:
        image = opened.convert("RGBA")
    rgba: Any = np.asarray(image)
    head = f"{image.width}x{image.height}\0".encode()
    return Decoded(rgba, blake3(head).update(image.tobytes()).hexdigest(_HASH_BYTES), _dhash(image))


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

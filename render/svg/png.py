"""PNG of a picture as cairo keeps it, the same bytes on every run. Pure, on numpy and zlib.

Rows stand as they are, without a filter: drawings are flat, and zlib finds their repeated rows itself. Against
filters chosen by row (120 drawings of the template families) that is a third of the time to write, a third of the time
to read, and 8 % fewer bytes.
"""

import struct
import zlib
from typing import Any

import numpy as np

ZLIB_LEVEL = 3
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEAD = struct.Struct(">IIBBBBB")
_LENGTH = struct.Struct(">I")
_RGB = 2
_BITS = 8


def encode(pixels: Any) -> bytes:
    """PNG of uint8[height, width, 4] or uint32[height, width]: blue, green, red and a byte that is not looked at."""
    height, width = pixels.shape[:2]
    bytes_ = pixels.view(np.uint8).reshape(height, width, 4)
    # Each row after the number of its filter, 0.
    lines = np.zeros((height, 1 + 3 * width), np.uint8)
    for channel in range(3):
        lines[:, 1 + channel :: 3] = bytes_[:, :, 2 - channel]
    head = _HEAD.pack(width, height, _BITS, _RGB, 0, 0, 0)
    body = zlib.compress(lines.data, ZLIB_LEVEL)
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return _LENGTH.pack(len(body)) + kind + body + _LENGTH.pack(zlib.crc32(body, zlib.crc32(kind)))

"""The hash of decoded pixels: what makes two files one picture, whatever their encoders.

BLAKE3 (32 bytes) over width, height, the word of the mode where one is given, and the pixels, row by row from the top.
Modes are given where pixels of several kinds are compared (`picture_dedup`), and left out where all are RGBA of 8 bits
(`pixels` of render pairs, which is the first half of it).
"""

from blake3 import blake3


def picture_hash(width: int, height: int, pixels: bytes, mode: str = "") -> bytes:
    """See the module."""
    head = f"{width}x{height}\0{mode}\0" if mode else f"{width}x{height}\0"
    return blake3(head.encode()).update(pixels).digest()

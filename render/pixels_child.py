"""What the child runs that decodes stored pictures: a PNG in, `width` and `height` (little-endian uint32) and RGBA out.

A picture that stands in a record may be made to break its decoder; no other format is opened, whatever it is called.
Imported by the killable child only.
"""

import io
import struct
from collections.abc import Callable

from PIL import Image

HEAD = struct.Struct("<II")


def make(init: bytes) -> Callable[[bytes], bytes]:
    """The function of the child; `init` is not used."""
    return rgba_of


def rgba_of(png: bytes) -> bytes:
    """See the module. Raises OSError, ValueError, or whatever the decoder raises."""
    with Image.open(io.BytesIO(png), formats=("PNG",)) as opened:
        image = opened.convert("RGBA")
    return HEAD.pack(image.width, image.height) + image.tobytes()

"""What the picture child runs: one file in, a hash of what it decodes to out; loaded in the killable child alone.

The hash is `picture_hash` with the word of the mode, of the pixels: as RGBA of 8 bits, row by row
from the top, with what EXIF says of the orientation left alone; pictures of more than 8 bits a channel as they are,
under their own mode. It does not depend on the encoder, the file format of lossless ones, or a palette. A file that is
no picture raises, and so does one of several frames, or of more pixels than anybody decodes here.
"""

import io
from collections.abc import Callable

from PIL import Image

from gristmill.manifests.image_tokens import is_size
from gristmill.manifests.picture_hash import picture_hash

DECODERS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
_DEEP = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")


def make(init: bytes) -> Callable[[bytes], bytes]:
    """The function of the child; `init` is not used."""
    return pixel_hash


def pixel_hash(file: bytes) -> bytes:
    """See the module. Raises OSError, ValueError, or whatever a decoder raises."""
    with Image.open(io.BytesIO(file), formats=DECODERS) as opened:
        if not is_size(*opened.size):
            raise ValueError(f"a picture of {opened.size[0]} by {opened.size[1]} pixels")
        if getattr(opened, "n_frames", 1) != 1:
            raise ValueError("a picture of several frames")
        opened.load()
        picture = opened if opened.mode in _DEEP else opened.convert("RGBA")
        return picture_hash(picture.width, picture.height, picture.tobytes(), picture.mode)

"""Pictures inside an SVG: small PNG and JPEG as data: addresses, seen to be what they say."""

import base64
import binascii
import io
import re

from PIL import Image

from gristmill.render.svg.vocabulary import MAX_IMAGE_CHARS, MAX_IMAGE_PIXELS, Refused

_DATA = re.compile(r"data:image/(png|jpeg|jpg);base64,([A-Za-z0-9+/=\s]+)")


def check_data_picture(address: str) -> None:
    """Refuse anything but a small whole picture of the type that it claims."""
    found = _DATA.fullmatch(address) if len(address) <= MAX_IMAGE_CHARS else None
    if found is None:
        raise Refused("outside_reference", address[:40])
    kind = "PNG" if found.group(1) == "png" else "JPEG"
    try:
        body = base64.b64decode(found.group(2), validate=False)
        with Image.open(io.BytesIO(body), formats=[kind]) as picture:
            if picture.width * picture.height > MAX_IMAGE_PIXELS:
                raise Refused("too_large", f"{picture.width}x{picture.height}")
            picture.load()
    except (binascii.Error, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise Refused("bad_value", f"not a {kind}") from error

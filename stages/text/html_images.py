"""Image references of a page as media: data only, nothing is ever opened.

A medium has `kind` image, `uri` (the image's address resolved against the page's; as it stands where the page has
none), `width` and `height` in pixels where the page gives them as integers, and its `alt` text. An image of base64 data
becomes bytes: of at most MAX_DATA_BYTES, of a type in DATA_TYPES, with that type's signature. No medium: spacers (a
side of at most SPACER_PIXELS), addresses over MAX_URI_CHARS or of other schemes than http and https.
"""

import base64
import binascii
import re
from typing import Any
from urllib.parse import urljoin

from gristmill.stages.text.html_math import unescaped

MAX_DATA_BYTES = 1 << 20
MAX_PAGE_DATA_BYTES = 8 << 20
MAX_URI_CHARS = 2048
MAX_ALT_CHARS = 2000
MAX_SIDE_PIXELS = 1 << 20
SPACER_PIXELS = 2
DATA_TYPES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}

_ATTR = re.compile(r'\s([a-z][a-z-]*)(?:="([^"]*)")?')
_DATA = re.compile(r"data:(image/[a-z]+);base64,", re.IGNORECASE)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_FORMULA_CLASS = re.compile(r"(?:^|\s)(?:tex|latex|math|mwe-math-fallback-image-\w+|formulaInl|formulaDsp)(?:\s|$)")
_LAZY = ("data-src", "data-original", "data-lazy-src")


def attributes(attrs: str) -> dict[str, str]:
    """The attributes of a serialised tag, unescaped; the first of a name counts."""
    found: dict[str, str] = {}
    for name, value in _ATTR.findall(attrs):
        found.setdefault(name, unescaped(value))
    return found


def formula_of(image: dict[str, str]) -> str | None:
    """The LaTeX that an image of a formula bears as its alternative text; None for other images."""
    return image.get("alt", "").strip() or None if _FORMULA_CLASS.search(image.get("class", "")) else None


def medium_of(image: dict[str, str], page_url: str, data_budget: int) -> dict[str, Any] | None:
    """The medium for an <img> (see the module), None where it makes none; `data` holds the bytes of a data: URI."""
    sides = [_side(image.get(name, "")) for name in ("width", "height")]
    if any(side is not None and side <= SPACER_PIXELS for side in sides):
        return None
    medium: dict[str, Any] = {
        "width": sides[0],
        "height": sides[1],
        "alt": image.get("alt", "").strip()[:MAX_ALT_CHARS],
    }
    source = _source(image)
    if _DATA.match(source):
        return _data_medium(source, medium, data_budget)
    uri = _resolved(source, page_url)
    return medium | {"uri": uri} if uri else None


def _side(value: str) -> int | None:
    digits = value.strip().removesuffix("px")
    return min(int(digits), MAX_SIDE_PIXELS) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def _source(image: dict[str, str]) -> str:
    lazy = next((image[name].strip() for name in _LAZY if image.get(name, "").strip()), "")
    source = image.get("src", "").strip()
    if lazy and (not source or source[:5].lower() == "data:"):
        return lazy
    return source or image.get("srcset", "").strip().partition(" ")[0].rstrip(",")


def _resolved(source: str, page_url: str) -> str | None:
    if not source or len(source) > MAX_URI_CHARS:
        return None
    try:
        uri = urljoin(page_url, source) if page_url else source
    except ValueError:
        return None
    scheme = _SCHEME.match(uri)
    if (scheme and scheme[1].lower() not in ("http", "https")) or not uri.isprintable() or len(uri) > MAX_URI_CHARS:
        return None
    return uri


def _data_medium(source: str, medium: dict[str, Any], data_budget: int) -> dict[str, Any] | None:
    head = _DATA.match(source)
    body = source[head.end() :] if head else ""
    if head is None or len(body) > min(MAX_DATA_BYTES, data_budget) * 4 // 3 + 4:
        return None
    mime = head[1].lower().replace("/jpg", "/jpeg")
    try:
        data = base64.b64decode("".join(body.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    signature = DATA_TYPES.get(mime)
    if signature is None or not signature.match(data) or len(data) > min(MAX_DATA_BYTES, data_budget):
        return None
    sides = _pixel_sides(mime, data)
    if sides and min(sides) <= SPACER_PIXELS:
        return None
    if sides:
        medium = medium | {"width": sides[0], "height": sides[1]}
    return medium | {"mime": mime, "data": data}


def _pixel_sides(mime: str, data: bytes) -> tuple[int, int] | None:
    """Width and height as PNG and GIF headers give them."""
    if mime == "image/png" and len(data) >= 24:
        width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    elif mime == "image/gif" and len(data) >= 10:
        width, height = int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    else:
        return None
    return (width, height) if width <= MAX_SIDE_PIXELS and height <= MAX_SIDE_PIXELS else None

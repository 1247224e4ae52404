"""The size of a picture from the head of its file: PNG, GIF, JPEG, WebP and BMP, by their own fields alone.

Nothing is decoded. `stored_size` is pure and reads at most the HEAD_BYTES that it is given; a size is what the file
says of itself, in pixels as they are stored (an orientation in EXIF turns nothing), and may be a lie. `sizes` asks a
killable child, since a picture is hostile. Layouts: PNG 11.2.2 (IHDR), GIF89a 18, ITU-T T.81 B.2.2 (SOF), RFC 9649 2.5
to 2.7 (WebP), BITMAPINFOHEADER.
"""

import struct
from collections.abc import Callable, Sequence

from gristmill.manifests.child import ChildFailure, ChildLimits

HEAD_BYTES = 256 << 10
"""Of a file. A JPEG may have any number of segments of 64 KiB before its size: cameras write two or three."""
_LIMITS = ChildLimits(max_seconds_per_record=10.0, max_rss_bytes=256 << 20, max_output_bytes=64)
_SIZE = struct.Struct("<QQ")
_TARGET = "gristmill.manifests.picture_header:child"
_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Start of frame; the three left out are tables of Huffman codes and of arithmetic coding, and a reserved one."""
_JPEG_BARE = frozenset((0x01, *range(0xD0, 0xD9)))
"""Markers without a length."""

Size = tuple[int, int]


def stored_size(head: bytes) -> Size | None:
    """(width, height) that the head of a file names; None where it is of no known kind, cut short, or names none."""
    try:
        found = _kind(head)(head)
    except (struct.error, IndexError):
        return None
    return found if found is not None and min(found) > 0 else None


def sizes(heads: Sequence[bytes | memoryview]) -> list[Size | None]:
    """`stored_size` of each, from a child; None, too, where it failed. Heads may be whole files."""
    from gristmill.manifests.effects import ask_child

    answers = ask_child(_TARGET, _LIMITS, [head[:HEAD_BYTES] for head in heads]) if heads else []
    return [None if isinstance(a, ChildFailure) or not a else _checked(a) for a in answers]


def _checked(answer: bytes) -> Size | None:
    """What a child answered; it may have been taken over by what it read."""
    return _SIZE.unpack(answer) if len(answer) == _SIZE.size else None


def child(_: bytes) -> Callable[[bytes], bytes]:
    """Factory of the child: the head of a file in, two uint64 out, or nothing."""

    def function(head: bytes) -> bytes:
        found = stored_size(head)
        return b"" if found is None else _SIZE.pack(*found)

    return function


def _kind(head: bytes) -> Callable[[bytes], Size | None]:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return _png
    if head.startswith((b"GIF87a", b"GIF89a")):
        return _gif
    if head.startswith(b"\xff\xd8\xff"):
        return _jpeg
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp
    return _bmp if head.startswith(b"BM") else _none


def _none(_: bytes) -> None:
    return None


def _png(head: bytes) -> Size | None:
    return struct.unpack_from(">II", head, 16) if head[12:16] == b"IHDR" else None


def _gif(head: bytes) -> Size:
    return struct.unpack_from("<HH", head, 6)


def _jpeg(head: bytes) -> Size | None:
    at = 2
    while True:
        if head[at] != 0xFF:
            return None
        marker = head[at + 1]
        if marker == 0xFF:  # any number of these may stand before a marker
            at += 1
        elif marker in _JPEG_BARE:
            at += 2
        elif marker in _JPEG_SIZES:
            height, width = struct.unpack_from(">HH", head, at + 5)
            return width, height
        else:
            at += 2 + struct.unpack_from(">H", head, at + 2)[0]


def _webp(head: bytes) -> Size | None:
    form = head[12:16]
    if form == b"VP8X" and len(head) >= 30:
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    if form == b"VP8L" and head[20] == 0x2F:
        (bits,) = struct.unpack_from("<I", head, 21)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if form == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", head, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _bmp(head: bytes) -> Size | None:
    (header_bytes,) = struct.unpack_from("<I", head, 14)
    if header_bytes < 40:
        return None
    width, height = struct.unpack_from("<ii", head, 18)
    return width, abs(height)

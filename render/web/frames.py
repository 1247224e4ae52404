"""A frame between parent and worker: 4 bytes (little endian) of length, that many of JSON, and the bytes of a PNG."""

import json
import struct
from typing import Any

_LENGTH = struct.Struct("<I")


def packed(head: dict[str, Any], body: bytes = b"") -> bytes:
    """A frame."""
    text = json.dumps(head).encode("utf-8", "surrogatepass")
    return _LENGTH.pack(len(text)) + text + body


def unpacked(frame: bytes) -> tuple[dict[str, Any], bytes]:
    """Head and body of a frame."""
    (length,) = _LENGTH.unpack_from(frame)
    start = _LENGTH.size
    return json.loads(frame[start : start + length]), frame[start + length :]

"""Messages between the domain and its children: a JSON head and a blob of bytes."""

import struct
from dataclasses import dataclass, field
from typing import Any

import orjson

_LENGTH = struct.Struct("<I")


@dataclass(frozen=True)
class Message:
    """`head` is plain JSON data."""

    head: dict[str, Any] = field(default_factory=dict[str, Any])
    blob: bytes = b""


def pack(message: Message) -> bytes:
    """A message as bytes."""
    head = orjson.dumps(message.head, option=orjson.OPT_SERIALIZE_NUMPY)
    return _LENGTH.pack(len(head)) + head + message.blob


def unpack(payload: bytes) -> Message:
    """The message of some bytes."""
    (length,) = _LENGTH.unpack_from(payload)
    end = _LENGTH.size + length
    return Message(orjson.loads(memoryview(payload)[_LENGTH.size : end]), bytes(payload[end:]))

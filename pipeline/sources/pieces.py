"""What a decompressed file is made of: pieces of bytes, and breaks where the bytes cannot be had.

A piece holds at most PIECE_BYTES bytes and at least one. All of it is a pure function of the file's bytes.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, Literal

PIECE_BYTES = 128 << 10


@dataclass(frozen=True, slots=True)
class Break:
    """Where the bytes break off. `verified` says that all bytes before it passed the format's own check (a
    whole member or frame had ended); if not, the record that the break closes cannot be trusted."""

    reason: Literal["truncated", "corrupt"]
    detail: str
    verified: bool


Piece = bytes | Break


def read_fully(raw: BinaryIO, size: int) -> bytes:
    """`size` bytes of `raw`, fewer only at its end (remote files may answer with less than asked)."""
    data = raw.read(size)
    while len(data) < size and (more := raw.read(size - len(data))):
        data += more
    return data


def behind(pieces: Iterator[bytes], skip: int) -> Iterator[bytes]:
    """`pieces` up to a cut (EOFError), but for their first `skip` bytes."""
    with suppress(EOFError):
        for piece in pieces:
            if skip < len(piece):
                yield piece[max(skip, 0) :]
            skip -= len(piece)

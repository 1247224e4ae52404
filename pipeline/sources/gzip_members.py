"""Gzip (RFC 1952), member by member, for files that are cut or damaged (`streams` reads the others faster).

A member is believed when its CRC-32 and length hold: of one that fails, nothing more is delivered. Of a member that
is cut, which has neither, all is delivered that can be decoded. What follows a damaged member is found by the next
member's header. Zero bytes behind the last member are padding, as for gzip(1).
"""

import io
import re
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from gristmill.pipeline.sources.pieces import PIECE_BYTES, Break, Piece, behind, read_fully

MAGIC = b"\x1f\x8b\x08"
_GZIP_WINDOW = 31
_READ_BYTES = 64 << 10
# ID1 ID2 CM, reserved flags clear, MTIME, XFL and OS in use: by chance once in some 10^11 bytes.
_HEADER = re.compile(rb"\x1f\x8b\x08[\x00-\x1f][\s\S]{4}[\x00\x02\x04][\x00-\x0d\xff]")
_HEADER_BYTES = 10


def decode(raw: BinaryIO, skip: int) -> Iterator[Piece]:
    """The pieces of `raw` from where it stands, but for the first `skip` bytes, which have been delivered."""
    while head := read_fully(raw, len(MAGIC)):
        start = raw.tell() - len(head)
        if MAGIC.startswith(head):
            size, fault = _measure(raw, start)
            end = raw.tell()
            if (fault is None and size > skip) or (fault and fault.reason == "truncated"):
                yield from behind(_member(raw, start), skip)
            if fault:
                # What the member delivered before it was found out is neither verified nor skipped again.
                yield Break(fault.reason, fault.detail, skip <= 0 and fault.verified)
            skip = max(skip - size, 0) if fault is None else 0
            raw.seek(end)
            intact = fault is None
        else:
            intact = False
            if not _seek_behind_zeros(raw, start):
                return
            yield Break("corrupt", f"no gzip member at byte {start}, where one should begin", True)
        if not intact and not _seek_member(raw, start + 1):
            return


def _measure(raw: BinaryIO, start: int) -> tuple[int, Break | None]:
    """Decoded bytes of the member at `start`, and what is wrong with it; leaves `raw` behind a sound member."""
    size = 0
    try:
        for piece in _member(raw, start):
            size += len(piece)
    except zlib.error as error:
        return size, Break("corrupt", f"gzip member at byte {start}: {error}", True)
    except EOFError:
        # The end of a damaged one can be lost: then it runs on into what follows.
        if _seek_member(raw, start + 1):
            return size, Break("corrupt", f"gzip member at byte {start}: does not end before the next one", True)
        return size, Break("truncated", f"the file ends inside the gzip member at byte {start}", not size)
    return size, None


def _member(raw: BinaryIO, start: int) -> Iterator[bytes]:
    """The content of the member at `start`; leaves `raw` behind it. Raises zlib.error, or EOFError at a cut."""
    raw.seek(start)
    inflate, data = zlib.decompressobj(_GZIP_WINDOW), b""
    while not inflate.eof:
        piece = inflate.decompress(data, PIECE_BYTES)
        data = inflate.unconsumed_tail
        if piece:
            yield piece
        if not data and len(piece) < PIECE_BYTES and not inflate.eof:
            data = read_fully(raw, _READ_BYTES)
            if not data:
                raise EOFError
    raw.seek(-len(inflate.unused_data), io.SEEK_CUR)


def _seek_behind_zeros(raw: BinaryIO, start: int) -> bool:
    """Whether anything but zero bytes follows `start`."""
    raw.seek(start)
    while data := read_fully(raw, _READ_BYTES):
        if data.strip(b"\0"):
            return True
    return False


def _seek_member(raw: BinaryIO, start: int) -> bool:
    """Moves `raw` to the next member's header at or behind `start`; False if there is none."""
    raw.seek(start)
    data = b""
    while more := read_fully(raw, _READ_BYTES):
        data = data[1 - _HEADER_BYTES :] + more
        if found := _HEADER.search(data):
            raw.seek(found.start() - len(data), io.SEEK_CUR)
            return True
    return False

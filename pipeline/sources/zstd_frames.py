"""Zstandard (RFC 8878), frame by frame, for files that are cut or damaged (`streams` reads the others faster).

A frame that fails to decode, or fails its checksum, delivers nothing more. Of a frame that is cut every whole block
is delivered: blocks are fed one at a time, which also bounds what one step can yield (128 KiB). Skippable frames hold
no content. What follows a damaged frame is found by the next frame's magic number.
"""

import io
from collections.abc import Iterator
from typing import BinaryIO

from gristmill.pipeline.sources.pieces import PIECE_BYTES, Break, Piece, behind, read_fully

MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = (b"\x2a\x4d\x18", range(0x50, 0x60))
_MAX_HEADER_BYTES = 18
_BLOCK_HEADER_BYTES = 3
_RLE_BLOCK = 1
_CHECKSUM_BYTES = 4
# Windows up to `zstd --long=31`, which public dumps use; memory is taken only for frames that ask for it.
_MAX_WINDOW_BYTES = 1 << 31


def is_frame(head: bytes) -> bool:
    """Whether a file that begins with `head` is Zstandard (a frame, or a skippable one before it)."""
    return head.startswith(MAGIC) or _is_skippable(head)


def _is_skippable(head: bytes) -> bool:
    return head[1:4] == _SKIPPABLE[0] and head[0] in _SKIPPABLE[1]


def decode(raw: BinaryIO, skip: int) -> Iterator[Piece]:
    """The pieces of `raw` from where it stands, but for the first `skip` bytes, which have been delivered."""
    while head := read_fully(raw, 4):
        start = raw.tell() - len(head)
        fault = None
        if is_frame(head) or (len(head) < 4 and (MAGIC.startswith(head) or head[0] in _SKIPPABLE[1])):
            size, fault = _measure(raw, start)
            end = raw.tell()
            if fault is None or fault.reason == "truncated":
                yield from behind(_frame(raw, start), skip)
            if fault:
                # What the frame delivered before it was found out is neither verified nor skipped again.
                yield Break(fault.reason, fault.detail, skip <= 0 and fault.verified)
            skip = max(skip - size, 0) if fault is None else 0
            raw.seek(end)
        else:
            fault = Break("corrupt", f"no zstd frame at byte {start}, where one should begin", True)
            yield fault
        if fault and not _seek_frame(raw, start + 1):
            return


def _measure(raw: BinaryIO, start: int) -> tuple[int, Break | None]:
    """Decoded bytes of the frame at `start`, and what is wrong with it; leaves `raw` behind a sound frame."""
    import zstandard

    size = 0
    try:
        for piece in _frame(raw, start):
            size += len(piece)
    except zstandard.ZstdError as error:
        return size, Break("corrupt", f"zstd frame at byte {start}: {error}", True)
    except EOFError:
        # The end of a damaged one can be lost: then it runs on into what follows.
        if _seek_frame(raw, start + 1):
            return size, Break("corrupt", f"zstd frame at byte {start}: does not end before the next one", True)
        return size, Break("truncated", f"the file ends inside the zstd frame at byte {start}", not size)
    return size, None


def _frame(raw: BinaryIO, start: int) -> Iterator[bytes]:
    """The content of the frame at `start`; leaves `raw` behind it. Raises ZstdError, or EOFError at a cut."""
    import zstandard

    raw.seek(start)
    head = read_fully(raw, _MAX_HEADER_BYTES)
    if _is_skippable(head):
        raw.seek(start + 8 + int.from_bytes(head[4:8], "little"))
        if len(head) < 8 or raw.tell() > raw.seek(0, io.SEEK_END):
            raise EOFError
        raw.seek(start + 8 + int.from_bytes(head[4:8], "little"))
        return
    try:
        size = zstandard.frame_header_size(head)
        checksum = zstandard.get_frame_parameters(head).has_checksum
    except zstandard.ZstdError:
        if len(head) < _MAX_HEADER_BYTES:
            raise EOFError from None
        raise
    raw.seek(start + size)
    feed = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES).decompressobj().decompress
    feed(head[:size])
    for block in _blocks(raw, _CHECKSUM_BYTES if checksum else 0):
        if piece := feed(block):
            yield piece


def _blocks(raw: BinaryIO, checksum_bytes: int) -> Iterator[bytes]:
    """The blocks of a frame with their headers, then its checksum. Raises EOFError where the file ends inside."""
    last = False
    while not last:
        header = read_fully(raw, _BLOCK_HEADER_BYTES)
        value = int.from_bytes(header, "little")
        last, size = bool(value & 1), 1 if (value >> 1) & 3 == _RLE_BLOCK else value >> 3
        content = read_fully(raw, size)
        if len(header) < _BLOCK_HEADER_BYTES or len(content) < size:
            raise EOFError
        yield header + content
    checksum = read_fully(raw, checksum_bytes)
    if len(checksum) < checksum_bytes:
        raise EOFError
    if checksum:
        yield checksum


def _seek_frame(raw: BinaryIO, start: int) -> bool:
    """Moves `raw` to the next frame's magic number at or behind `start`; False if there is none."""
    raw.seek(start)
    data = b""
    while more := read_fully(raw, PIECE_BYTES):
        data = data[-3:] + more
        if (at := data.find(MAGIC)) >= 0:
            raw.seek(at - len(data), io.SEEK_CUR)
            return True
    return False

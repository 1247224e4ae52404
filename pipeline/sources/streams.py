"""The uncompressed bytes of a file, in pieces, with the places where they break off.

Of a stream that is cut all that can be decoded is delivered. Of a member (gzip) or frame (zstd) that is damaged
nothing is, but for what had been before the damage was met (members of more than PIECE_BYTES); reading goes on at
the next one. Uncompressed files have no breaks. Compression is told by the first bytes; a file that is named as
compressed and is neither compressed nor text breaks at once.
"""

import io
import re
from collections.abc import Iterator
from typing import BinaryIO

from gristmill.pipeline.sources import gzip_members, zstd_frames
from gristmill.pipeline.sources.pieces import PIECE_BYTES, Break, Piece, read_fully

_SNIFF_BYTES = 4096
_GZIP_NAME = re.compile(r"\.(gz|gzip|bgz)$", re.IGNORECASE)
_ZSTD_NAME = re.compile(r"\.(zst|zstd)$", re.IGNORECASE)


def read_pieces(raw: BinaryIO, name: str) -> Iterator[Piece]:
    """The pieces of `raw`, a seekable stream at its start; `name` tells what the file claims to be.

    Raises OSError when `raw` itself cannot be read.
    """
    head = read_fully(raw, _SNIFF_BYTES)
    raw.seek(0)
    if head.startswith(gzip_members.MAGIC) or (_GZIP_NAME.search(name) and not _is_text(head)):
        return _gzip_pieces(raw)
    if zstd_frames.is_frame(head) or (_ZSTD_NAME.search(name) and not _is_text(head)):
        return _zstd_pieces(raw)
    return _plain_pieces(raw)


def _is_text(head: bytes) -> bool:
    """Whether the first bytes of a file could be text; True for an empty file, False for a cut magic number."""
    if head and (gzip_members.MAGIC.startswith(head) or zstd_frames.MAGIC.startswith(head)):
        return False
    cut_char_bytes = 3 if len(head) == _SNIFF_BYTES else 0
    return b"\0" not in head and len(head.decode("utf-8", "ignore").encode()) >= len(head) - cut_char_bytes


def _plain_pieces(raw: BinaryIO) -> Iterator[Piece]:
    while piece := read_fully(raw, PIECE_BYTES):
        yield piece


def _gzip_pieces(raw: BinaryIO) -> Iterator[Piece]:
    """fastwarc inflates at twice the speed of the standard library, but ends silently at a cut and at an
    empty first member, and tells no cause: so its end is checked, and where it stopped early the exact decoder
    goes over the file again, passing over what was delivered."""
    from fastwarc.stream_io import GzipReader

    delivered = 0
    reader = GzipReader(raw)
    try:
        while piece := reader.read(PIECE_BYTES):
            delivered += len(piece)
            yield piece
        at, member = reader.inner_tell(), reader.frame_start_position() or 0
        if at == raw.seek(0, io.SEEK_END) and gzip_members.ended_whole(raw, member, delivered):
            return
    except OSError:
        pass
    raw.seek(0)
    yield from _merged(gzip_members.decode(raw, delivered))


def _zstd_pieces(raw: BinaryIO) -> Iterator[Piece]:
    """As for gzip; here fastwarc reports a cut as it reports damage."""
    from fastwarc.stream_io import ZstdReader

    delivered = 0
    reader = ZstdReader(raw)
    try:
        while piece := reader.read(PIECE_BYTES):
            delivered += len(piece)
            yield piece
        if reader.inner_tell() == raw.seek(0, io.SEEK_END):
            return
    except OSError:
        pass
    raw.seek(0)
    yield from _merged(zstd_frames.decode(raw, delivered))


def _merged(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """`pieces` without the breaks that directly follow another one."""
    broken = False
    for piece in pieces:
        if not broken or not isinstance(piece, Break):
            yield piece
        broken = isinstance(piece, Break)

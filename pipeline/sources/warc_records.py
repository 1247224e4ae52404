"""The records of a WARC file (ISO 28500), framed by their Content-Length and checked against what follows.

Members are inflated by `streams`; the framing is ours, because a reader that goes by Content-Length alone swallows
the next record where one is too long, and stops where one is too short. A record is sound if, behind its block, it is
terminated, the next one begins or the file ends. If not, it is lost up to the next record's first lines, which may
lie inside the length that it claims. A record is let go only when a byte behind it has been seen, so that a break
that is not verified takes it with it (compare `lines`)."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gristmill.pipeline.sources.kernel_use import kernels_pay
from gristmill.pipeline.sources.losses import LostBytes, lose
from gristmill.pipeline.sources.pieces import Break, Piece
from gristmill.pipeline.sources.protocol import Loss

MAX_HEAD_BYTES = 64 << 10
_START = re.compile(rb"[\r\n]*(WARC/\d\.\d{1,4}[ \t]*\r?\n)")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(rb"\ncontent-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)
_NEXT = re.compile(rb"WARC/\d\.\d{1,4}[ \t]{0,16}\r?\n(?=[A-Za-z][A-Za-z-]{2,40}[ \t]{0,16}:)")
_NEXT_BYTES = 96  # the most that _NEXT looks at
_LINE_ENDS = re.compile(rb"[\r\n]*")
_TERMINATOR = b"\r\n\r\n"
_SOUND = _TERMINATOR + b"WARC/"
_BEHIND_BYTES = 16
_SLACK_BYTES = 4096
# A longer record is put together at once, so that what it takes is known.
_SPANNING_BYTES = 4 << 20
# As nearly all tools write them: found at a third of the time of the tolerant patterns.
_USUAL_LENGTH = re.compile(rb"\r\nContent-Length: (\d{1,18})\r\n")
_USUAL_TYPE = b"\r\nWARC-Type: "


@cache
def _scanner() -> Callable[[npt.NDArray[np.uint8], int, int], tuple[list[list[int]], int]]:
    from gristmill.stages.kernels.warc_pages import scan_pages

    return scan_pages


class Record(NamedTuple):
    """A record: `data[start:block]` is its head, `data[block:end]` its block, which goes on in `more`; `offset` that
    of its first byte. `places` are those of its parts in `data`, if a kernel found them (`warc_pages`)."""

    data: bytes
    start: int
    block: int
    end: int
    offset: int
    more: Sequence[memoryview] = ()
    places: Sequence[int] = ()

    def whole(self) -> "Record":
        """The same in one piece."""
        if not self.more:
            return self
        data = b"".join((memoryview(self.data)[self.start : self.end], *self.more))
        return Record(data, 0, self.block - self.start, len(data), self.offset)


def read_records(pieces: Iterable[Piece], max_block_bytes: int, types: Sequence[str]) -> Iterator[Record | Loss]:
    """The records whose WARC-Type is one of `types`, and every loss, in file order.

    Other records are passed over; they count only where they are damaged. A record whose block is above the limit
    is `too_large`, and is never held in memory.
    """
    framer = _Framer(iter(pieces), max_block_bytes, types)
    while not framer.done:
        yield from framer.usual_records()
        yield from framer.step()


@dataclass(frozen=True, slots=True)
class _Frame:
    """Positions in the buffer; `end` may lie beyond it."""

    start: int
    block: int
    end: int


class _Framer:
    """`_buffer` begins at offset `_base`; what lies before `_at` is dealt with. `_ahead` is the piece that holds
    the buffer's end and what follows, from offset `_ahead_base`; b"" if there is none. `_end` is what comes behind
    the last piece, None while that is another one. `_told`: what comes next, up to a record, belongs to a loss
    that has been told."""

    def __init__(self, pieces: Iterator[Piece], max_block_bytes: int, types: Sequence[str]) -> None:
        self._pieces = pieces
        self._max_block_bytes = max_block_bytes
        self._reads_pages = "response" in types
        self._types = tuple(kind.encode() + b"\r\n" for kind in types)
        wanted = "|".join(types).encode()
        self._wants = re.compile(rb"\nwarc-type[ \t]*:[ \t]*(?:" + wanted + rb")[ \t]*\r?\n", re.IGNORECASE)
        self._buffer = b""
        self._base = 0
        self._at = 0
        self._ahead = b""
        self._ahead_base = 0
        self._end: Break | Literal["file"] | None = None
        self._told = False
        self.done = False

    def usual_records(self) -> Iterator[Record]:
        """The sound records that begin in the buffer, up to the first that needs a closer look."""
        if self._reads_pages and kernels_pay(0):
            yield from self._usual_pages()
        data, at, base, types = self._buffer, self._at, self._base, self._types
        find, startswith, last = data.find, data.startswith, len(data) - len(_SOUND)
        while startswith(b"WARC/1.", at):
            block = find(_TERMINATOR, at, at + MAX_HEAD_BYTES) + 4
            kind = find(_USUAL_TYPE, at, block) + len(_USUAL_TYPE)
            length = _USUAL_LENGTH.search(data, at, block)
            if block < 4 or kind < len(_USUAL_TYPE) or not length:
                return
            # A head may end at bare line feeds before that.
            if find(b"\n\n", at, block) >= 0 or find(b"\n\r\n", at, block - 1) >= 0:
                return
            end = block + int(length[1])
            if end - block > self._max_block_bytes:
                return
            if end > last:
                if startswith(types, kind) and (record := self._spanning(at, block, end)):
                    self._told = False
                    yield record
                    data, at, base = self._buffer, self._at, self._base
                    find, startswith, last = data.find, data.startswith, len(data) - len(_SOUND)
                    continue
                return
            if not startswith(_SOUND, end):
                return
            start, at = at, end + len(_TERMINATOR)
            self._at = at
            self._told = False
            if startswith(types, kind):
                yield Record(data, start, block, end, base + start)

    def _usual_pages(self) -> Iterator[Record]:
        """The same, found by a kernel, up to the first that is no page in its most usual form."""
        spanned = True
        while spanned:
            spanned, data, base, last = False, self._buffer, self._base, len(self._buffer) - len(_SOUND)
            rows, stop = _scanner()(np.frombuffer(data, np.uint8), self._at, self._max_block_bytes)
            self._told = self._told and stop == self._at
            self._at = stop
            for places in rows:
                start, block, end = places[:3]
                if end <= last:
                    yield Record(data, start, block, end, base + start, (), places)
                elif record := self._spanning(start, block, end, places):
                    self._told = False
                    yield record
                    spanned = True

    def _spanning(self, start: int, block: int, end: int, places: Sequence[int] = ()) -> Record | None:
        """The record that begins in the buffer and ends in a later piece, not put together; None, and all that was
        read is in the buffer, if it needs a closer look."""
        if end - start > _SPANNING_BYTES:
            return None
        offset, behind = self._base + start, self._base + end
        parts: list[memoryview] = []
        at = self._base + len(self._buffer)
        while at < behind + len(_SOUND) and (piece := self._next_piece(at)):
            parts.append(piece)
            at += len(piece)
        if not parts:
            return None
        last = len(parts[-1]) - (at - behind)
        if last < 0 or bytes(parts[-1][last : last + len(_SOUND)]) != _SOUND:
            self._buffer = b"".join((memoryview(self._buffer)[start:], *parts))
            self._base, self._at = offset, 0
            return None
        parts[-1] = parts[-1][:last]
        record = Record(self._buffer, start, block, len(self._buffer), offset, parts, places)
        self._buffer, self._base, self._ahead = self._ahead, self._ahead_base, b""
        self._at = behind + len(_TERMINATOR) - self._base
        return record

    def step(self) -> Iterator[Record | Loss]:
        """Deals with what lies at `_at`: a record, or whatever it is instead."""
        frame = self._frame()
        if frame is None:
            yield from self._unframed()
            return
        self._told = False
        wanted = self._wants.search(self._buffer, frame.start, frame.block)
        beyond = frame.end + _BEHIND_BYTES > len(self._buffer)
        if beyond and (not wanted or frame.end - frame.block > self._max_block_bytes):
            yield from self._pass_over(frame, bool(wanted))
            return
        if beyond:
            moved = self._at
            self._fill(frame.end + _BEHIND_BYTES - self._at)
            moved -= self._at
            frame = _Frame(frame.start - moved, frame.block - moved, frame.end - moved)
        data, end = self._buffer, frame.end
        if not data.startswith(_SOUND, end) and not self._is_sound(end):
            yield from self._damaged(frame)
            return
        self._at = end + len(_TERMINATOR) if data.startswith(_TERMINATOR, end) else end
        if wanted and end - frame.block > self._max_block_bytes:
            yield self._too_large(LostBytes(memoryview(data)[frame.start : end]), frame, self._base + frame.start)
        elif wanted:
            yield Record(data, frame.start, frame.block, end, self._base + frame.start)

    def _frame(self) -> _Frame | None:
        """The record that begins at `_at`, after any line ends; None if none does."""
        while True:
            data, at = self._buffer, self._at
            start = _START.match(data, at)
            if start:
                # The first end of a head, whatever its line ends: what is found must not depend on the pieces.
                if found := _HEAD_END.search(data, start.end() - 1, at + MAX_HEAD_BYTES):
                    block = found.end()
                    length = _LENGTH.search(data, start.end() - 1, block)
                    return _Frame(start.start(1), block, block + int(length[1])) if length else None
            elif len(data) - self._behind_line_ends(at) > _NEXT_BYTES:
                return None
            if len(data) - at > MAX_HEAD_BYTES or not self._fill(len(data) - at + 1):
                return None

    def _fill(self, size: int) -> bool:
        """Has at least `size` bytes behind `_at`, which moves, if they can be had before the end."""
        if self._ahead and self._base + self._at >= self._ahead_base:
            self._at += self._base - self._ahead_base
            self._buffer, self._base, self._ahead = self._ahead, self._ahead_base, b""
        missing = self._at + size - len(self._buffer)
        if missing <= 0:
            return True
        parts: list[bytes | memoryview] = [memoryview(self._buffer)[self._at :]]
        end = self._base + len(self._buffer)
        while missing > 0 and (piece := self._next_piece(end)):
            # Of the last piece only what is missing: what comes behind is read from the piece itself.
            parts.append(piece if len(piece) <= missing else piece[: missing + _SLACK_BYTES])
            missing -= len(parts[-1])
            end += len(parts[-1])
        self._base += self._at
        self._buffer, self._at = b"".join(parts), 0
        return missing <= 0

    def _next_piece(self, end: int) -> memoryview:
        """The bytes from offset `end` on that are at hand, else the next piece; b"" at the end."""
        have = end - self._ahead_base
        if self._ahead and have < len(self._ahead):
            return memoryview(self._ahead)[have:]
        self._ahead = b""
        piece = next(self._pieces, None) if self._end is None else b""
        if piece is None:
            self._end = "file"
        elif isinstance(piece, Break):
            self._end = piece
        else:
            self._ahead, self._ahead_base = piece, end
        return memoryview(self._ahead)

    def _behind_line_ends(self, at: int) -> int:
        found = _LINE_ENDS.match(self._buffer, at)
        return found.end() if found else at

    def _is_sound(self, end: int) -> bool:
        """Whether a record can end at `end`."""
        if end > len(self._buffer):
            return False
        behind = self._behind_line_ends(end)
        if behind == len(self._buffer) and isinstance(self._end, Break):
            return self._end.verified
        terminated = self._buffer.startswith(_TERMINATOR, end)
        return terminated or behind == len(self._buffer) or self._buffer.startswith(b"WARC/", behind)

    def _damaged(self, frame: _Frame) -> Iterator[Loss]:
        """A record that does not end where it says it does."""
        cut = frame.end > len(self._buffer)
        start, self._at = frame.start, frame.block
        lost = LostBytes(memoryview(self._buffer)[start : frame.block])
        yield from self._lose_up_to_next(lost, self._base + start, "its Content-Length leads nowhere", cut)

    def _unframed(self) -> Iterator[Loss]:
        """No record begins at `_at`."""
        at = self._behind_line_ends(self._at)
        self._at = at
        if at == len(self._buffer) and self._end is not None:
            if isinstance(self._end, Break):
                yield lose(self._end.reason, b"", self._base + at, self._end.detail)
            self._reopen()
            return
        head = self._buffer[at : at + _NEXT_BYTES]
        cut = b"WARC/".startswith(head[:5])
        detail = "no WARC record where one should begin"
        if head.startswith(b"filedesc:"):
            detail = "an ARC file, which is not read"
        lost = LostBytes(head[:1])
        self._at += 1
        yield from self._lose_up_to_next(lost, self._base + at, detail, cut)

    def _lose_up_to_next(self, lost: LostBytes, offset: int, detail: str, cut: bool) -> Iterator[Loss]:
        """One loss from `offset` on to the next record's first lines; `lost` are its bytes before `_at`.

        Without a next record the loss has the reason of what ends the bytes; a file's end is one if `cut`.
        """
        while True:
            found = _NEXT.search(self._buffer, self._at)
            ended = self._end is not None
            stop = found.start() if found else len(self._buffer) - (0 if ended else _NEXT_BYTES)
            if stop > self._at:
                lost.add(memoryview(self._buffer)[self._at : stop])
                self._at = stop
            if found or ended:
                break
            self._fill(len(self._buffer) - self._at + 1)
        reason = "corrupt"
        if not found and isinstance(self._end, Break):
            reason, detail = self._end.reason, self._end.detail
        elif not found and cut:
            reason, detail = "truncated", "the file ends inside a record"
        if not self._told:
            yield lose(reason, lost, offset, detail)
        self._told = False
        if not found:
            self._reopen()

    def _pass_over(self, frame: _Frame, wanted: bool) -> Iterator[Loss]:
        """A record that is not wanted, or is too large to be held."""
        offset, left, lost = self._base + frame.start, frame.end - frame.start, LostBytes()
        self._at = frame.start
        while left and self._fill(1):
            taken = min(left, len(self._buffer) - self._at)
            lost.add(memoryview(self._buffer)[self._at : self._at + taken])
            self._at += taken
            left -= taken
        self._fill(_BEHIND_BYTES)
        if left or not self._is_sound(self._at):
            yield from self._lose_up_to_next(lost, offset, "its Content-Length leads nowhere", left > 0)
        elif wanted:
            yield self._too_large(lost, frame, offset)

    def _too_large(self, lost: LostBytes, frame: _Frame, offset: int) -> Loss:
        size = frame.end - frame.block
        return lose("too_large", lost, offset, "block of a record", size, self._max_block_bytes)

    def _reopen(self) -> None:
        """Goes on behind a break; what comes up to the next record belongs to the loss of the break."""
        self.done = self._end == "file"
        self._base += len(self._buffer)
        self._buffer, self._at, self._end, self._told = b"", 0, None, True

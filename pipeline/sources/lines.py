"""From pieces to lines, split at `\\n` alone, before anything is decoded.

A line is let go only when a byte behind its newline has been seen: a break that is not verified takes the last
line with it, whole or not. A line longer than the limit is passed over without being held in memory.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gristmill.pipeline.sources.losses import LostBytes, lose
from gristmill.pipeline.sources.pieces import Break, Piece
from gristmill.pipeline.sources.protocol import Loss

# Above this a line that is still growing is kept in a bytearray: appending to bytes would copy it every time.
_GROWING_BYTES = 1 << 20

Line = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True)
class Lines:
    """Consecutive lines without their newlines; `offset` is the first one's in the uncompressed stream.

    `unsure`: the first may be the rest of a line whose beginning was lost (it is one, if it is no record).
    `unended`: the last one ends with the file and without a newline, so it may be cut.
    `data` and `starts`, where they are given: the lines are views of `data` from `starts` on, in one piece.
    """

    offset: int
    lines: list[Line]
    unsure: bool = False
    unended: bool = False
    data: bytes | None = None
    starts: Sequence[int] = ()


def read_lines(pieces: Iterable[Piece], max_line_bytes: int) -> Iterator[Lines | Loss]:
    """Lines and losses in file order."""
    splitter = _Splitter(max_line_bytes)
    for piece in pieces:
        if isinstance(piece, Break):
            yield from splitter.at_break(piece)
        else:
            yield from splitter.feed(piece)
    yield from splitter.at_end()


def _split(data: bytes) -> tuple[list[Line], list[int], int]:
    """The lines of `data`, as views of it, where each begins, and where the rest does; a copy of each costs more
    than the search."""
    view, find = memoryview(data), data.find
    lines: list[Line] = []
    starts: list[int] = []
    start, end = 0, find(b"\n")
    while end >= 0:
        lines.append(view[start:end])
        starts.append(start)
        start = end + 1
        end = find(b"\n", start)
    return lines, starts, start


class _Splitter:
    """`_carry` are the bytes from `_offset` on that are no finished line yet, or `_over` if they are too many;
    `_held` is the last byte of the piece before, looked at when its successor comes."""

    def __init__(self, max_line_bytes: int) -> None:
        self._max_bytes = max_line_bytes
        self._offset = 0
        self._carry: bytes | bytearray = b""
        self._held = b""
        self._over: LostBytes | None = None
        self._unsure = False

    def feed(self, piece: bytes) -> Iterator[Lines | Loss]:
        """Takes a piece, gives the lines that it finishes."""
        growing = self._over is not None or len(self._carry) >= _GROWING_BYTES
        data = b"".join((b"" if growing else self._carry, self._held, memoryview(piece)[:-1]))
        self._held = piece[-1:]
        if growing:
            head, newline, data = data.partition(b"\n")
            self._grow(head)
            if not newline:
                return
            yield self._finish_grown()
        lines, starts, end = _split(data)
        self._carry = data[end:]
        if lines:
            yield replace(self._lines(lines), data=data, starts=starts)
        if len(self._carry) >= _GROWING_BYTES:
            self._carry = bytearray(self._carry)
            self._grow(b"")

    def at_break(self, broken: Break) -> Iterator[Lines | Loss]:
        """What a break leaves of the unfinished line is one loss; a verified one spares a line that is whole."""
        if broken.verified and self._held == b"\n":
            yield self._finish_grown() if self._over is not None else self._lines([self._carry])
            self._carry = self._held = b""
        lost = LostBytes(self._carry) if self._over is None else self._over
        lost.add(self._held)
        yield lose(broken.reason, lost, self._offset, broken.detail)
        self._offset += lost.size
        self._carry, self._held, self._over, self._unsure = b"", b"", None, True

    def at_end(self) -> Iterator[Lines | Loss]:
        """The last line."""
        if self._over is not None:
            self._over.add(self._held.rstrip(b"\n"))
            yield self._finish_grown()
        elif self._held == b"\n":
            yield self._lines([self._carry])
        elif self._held:
            self._carry += self._held
            yield self._lines([self._carry], unended=True)

    def _grow(self, head: bytes) -> None:
        """Adds to the unfinished line, of which nothing but size and hash is kept once it is too long."""
        if self._over is None:
            self._carry += head
            if len(self._carry) > self._max_bytes:
                self._over, self._carry = LostBytes(self._carry), b""
        else:
            self._over.add(head)

    def _finish_grown(self) -> Lines | Loss:
        if self._over is None:
            line, self._carry = self._carry, b""
            return self._lines([line])
        over, self._over = self._over, None
        loss = lose("too_large", over, self._offset, "line", over.size, self._max_bytes)
        self._offset += over.size + 1
        self._unsure = False
        return loss

    def _lines(self, lines: list[Line], unended: bool = False) -> Lines:
        block = Lines(self._offset, lines, self._unsure, unended)
        self._offset += sum(map(len, lines)) + len(lines)
        self._unsure = False
        return block

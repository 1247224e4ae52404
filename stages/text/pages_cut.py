"""Spans of texts taken out: from (row, start, end, reason) in bytes to a new text column and the characters cut.

Spans of a row may touch and overlap; a byte belongs to the first of them in the order (start, then the order given), so
that each character is counted under one reason. Spans begin and end between characters.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.stages.columns import with_column
from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.protocol import Floats, Mapped, RowVerdict, Rule, drops_when_above, drops_when_below

WINDOW_BYTES = 4 << 20
"""Bytes that are looked at together, at most, but for a line that is longer: what bounds the memory of marks."""

Ints = npt.NDArray[np.int64]

_MEDIUM = b"\xef\xbf\xbc"


MAX_SPANS = 1 << 14
"""Lines that are cut of one window for one reason, at most: a page of a book has 1,000 bytes or more, and a text that
is made to have more of them shall not cost more memory than its size."""


@dataclass(frozen=True, slots=True)
class Span:
    """`data[start:end]` of row `row` goes, for one reason. Byte offsets into the column's data."""

    row: int
    start: int
    end: int
    reason: str


@dataclass(frozen=True)
class Windows:
    """Pieces of rows in order: `data[starts[i]:ends[i]]` is whole lines of row `rows[i]`."""

    rows: Ints
    starts: Ints
    ends: Ints


def windows_of(data: Bytes, offsets: Offsets, window_bytes: int = WINDOW_BYTES) -> list[Windows]:
    """Groups of windows, each of at most `window_bytes` unless one line is longer; empty rows are left out."""
    pieces: list[tuple[int, int, int]] = []
    for row in np.flatnonzero(np.diff(offsets)).tolist():
        at, end = int(offsets[row]), int(offsets[row + 1])
        while end - at > window_bytes:
            cut = _line_begin(data, at, end, window_bytes)
            pieces.append((row, at, cut))
            at = cut
        if at < end:
            pieces.append((row, at, end))
    return [_windows(group) for group in _grouped(pieces, window_bytes)]


def _line_begin(data: Bytes, at: int, end: int, window_bytes: int) -> int:
    """Where the last line that begins within the window begins; else where the first after it does."""
    inside = np.flatnonzero(data[at : at + window_bytes] == 10)
    if len(inside):
        return at + int(inside[-1]) + 1
    step = at + window_bytes
    while step < end:
        ahead = np.flatnonzero(data[step : step + window_bytes] == 10)
        if len(ahead):
            return step + int(ahead[0]) + 1
        step += window_bytes
    return end


def _grouped(pieces: Sequence[tuple[int, int, int]], window_bytes: int) -> list[list[tuple[int, int, int]]]:
    groups: list[list[tuple[int, int, int]]] = []
    size = 0
    for piece in pieces:
        length = piece[2] - piece[1]
        if not groups or size + length > window_bytes:
            groups.append([])
            size = 0
        groups[-1].append(piece)
        size += length
    return groups


def _windows(pieces: Sequence[tuple[int, int, int]]) -> Windows:
    rows, starts, ends = np.array(pieces, np.int64).reshape(-1, 3).T.copy()
    return Windows(rows, starts, ends)


def count_chars(data: Bytes, start: int, end: int) -> int:
    """Characters of `data[start:end]`: bytes that continue none."""
    total = 0
    for at in range(start, end, WINDOW_BYTES):
        total += int(np.count_nonzero((data[at : min(at + WINDOW_BYTES, end)] & 0xC0) != 0x80))
    return total


def without_overlaps(spans: Sequence[Span]) -> list[Span]:
    """The spans by row and start, none touching a byte twice; what is left empty is gone."""
    order = sorted(range(len(spans)), key=lambda i: (spans[i].row, spans[i].start, i))
    clean: list[Span] = []
    row, reached = -1, 0
    for index in order:
        span = spans[index]
        if span.row != row:
            row, reached = span.row, span.start
        start = max(span.start, reached)
        if span.end > start:
            clean.append(Span(span.row, start, span.end, span.reason))
            reached = span.end
    return clean


def around_media(data: Bytes, span: Span) -> list[Span]:
    """The span without the places of media, U+FFFC."""
    pieces: list[Span] = []
    at = span.start
    found = np.flatnonzero(data[span.start : span.end - 2] == _MEDIUM[0])
    for place in (found + span.start).tolist():
        if data[place : place + 3].tobytes() == _MEDIUM:
            pieces.append(Span(span.row, at, place, span.reason))
            at = place + 3
    pieces.append(Span(span.row, at, span.end, span.reason))
    return [piece for piece in pieces if piece.end > piece.start]


def cut_spans(
    text: pa.Array, data: Bytes, offsets: Offsets, spans: Sequence[Span], reasons: Sequence[str]
) -> tuple[pa.Array, Mapping[str, Ints]]:
    """The column without the spans, and for each reason the characters cut of each row (int64).

    Spans must be clean (`without_overlaps`). The column itself comes back where there are none.
    """
    cut = {reason: np.zeros(len(text), np.int64) for reason in reasons}
    if not spans:
        return text, cut
    for span in spans:
        cut[span.reason][span.row] += count_chars(data, span.start, span.end)
    lengths = np.diff(offsets)
    np.subtract.at(lengths, [s.row for s in spans], [s.end - s.start for s in spans])
    ends = np.zeros(len(offsets), np.int64)
    np.cumsum(lengths, out=ends[1:])
    body = np.empty(int(ends[-1]), np.uint8)
    source, target = int(offsets[0]), 0
    for start, end in [*((s.start, s.end) for s in spans), (int(offsets[-1]), int(offsets[-1]))]:
        body[target : target + start - source] = data[source:start]
        target += start - source
        source = end
    valid = text.is_valid().buffers()[1] if text.null_count else None
    return pa.LargeStringArray.from_buffers(len(text), pa.py_buffer(ends), pa.py_buffer(body), valid), cut


Applied = tuple[pa.Array, Mapping[str, Ints], Mapping[str, Floats]]
"""A text column after cutting, the characters cut by reason, the measures."""


def cut_and_judged(batch: pa.RecordBatch, apply: Callable[[pa.Array], Applied], rules: Sequence[Rule]) -> Mapped:
    """The batch with the text that `apply` leaves, and verdicts by the rules; the batch itself where nothing is cut."""
    # Held: every `batch.column` makes a new object, and no two of them are the same one.
    given = batch.column("text")
    text, cut, measures = apply(given)
    after = batch if text is given else with_column(batch, "text", text)
    return Mapped(after, verdicts_by(rules, measures), cut, measures)


def verdicts_by(rules: Sequence[Rule], measures: Mapping[str, Floats]) -> tuple[RowVerdict, ...]:
    """The first rule that each row fails."""
    verdicts: dict[int, RowVerdict] = {}
    for rule in rules:
        value = measures[rule.measure]
        fails = drops_when_above if rule.direction == "above" else drops_when_below
        for row in np.flatnonzero(fails(value, rule.limit)).tolist():
            verdict = RowVerdict(row, "drop", rule.reason, rule.measure, float(value[row]), rule.limit)
            verdicts.setdefault(row, verdict)
    return tuple(verdicts[row] for row in sorted(verdicts))

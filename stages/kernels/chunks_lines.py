"""Counts over lines and paragraphs as datatrove's filters take them, by string operations of Python.

White space is what `str.isspace` says. Nothing is held of a line but, where duplicates are asked for, the place of each
different one.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.chunks_affix import before, decode, signed
from gristmill.stages.kernels.chunks_counts import count_chars
from gristmill.stages.kernels.chunks_tables import SPACE, U32
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, OFFSETS, helper, kernel

QUALITY_COUNTS = ("hashes", "ellipses", "lines", "bullet_lines", "ellipsis_lines")
"""`count("#")`, `count("...") + count("…")`, lines of `splitlines`, those that begin with a bullet or hyphen behind
white space, those that end with an ellipsis before white space."""
REPEAT_COUNTS = ("paras", "dup_paras", "dup_para_chars", "lines", "dup_lines", "dup_line_chars")
r"""Elements of `re.split(r"\n{2,}", text.strip())`, those that stood before, their characters; the same of
`re.split(r"\n+", text)`."""
FINEWEB_COUNTS = ("lines", "terminal_lines", "short_lines", "line_chars", "dup_line_chars", "line_ends")
"""Lines of `split("\\n")` that are not white space, those that end with a terminal mark, short ones; all characters but
line feeds; characters of lines that stood before; line feeds."""

(_HASHES, _ELLIPSES, _LINES, _BULLETS, _ELLIPSIS_LINES) = range(len(QUALITY_COUNTS))
(_FW_LINES, _FW_TERMINAL, _FW_SHORT, _FW_CHARS, _FW_DUP_CHARS, _FW_ENDS) = range(len(FINEWEB_COUNTS))

_FLAGS = types.Array(types.uint32, 1, "C", readonly=True)
_OFFSETS_OUT = types.Array(types.int64, 1, "C")
_HASH, _HYPHEN, _STOP, _LF, _CR = 0x23, 0x2D, 0x2E, 0x0A, 0x0D
_BULLET, _ELLIPSIS = 0x2022, 0x2026
_FACTOR = 0x9E3779B97F4A7C15
_FIRST_SLOTS = 64

Counts = npt.NDArray[np.int64]


@helper
def _ends_line(point: int) -> bool:
    """For `str.splitlines`."""
    return 0x0A <= point <= 0x0D or 0x1C <= point <= 0x1E or point in (0x85, 0x2028, 0x2029)


@helper
def trim_left(data: Any, start: int, end: int, flags: Any) -> int:
    """Behind the white space at the start."""
    while start < end:
        point, behind = decode(data, start, end)
        if not flags[point] & SPACE:
            break
        start = behind
    return start


@helper
def trim_right(data: Any, start: int, end: int, flags: Any) -> int:
    """Before the white space at the end."""
    while end > start:
        point, at = before(data, start, end)
        if not flags[point] & SPACE:
            break
        end = at
    return end


@helper
def _count_line(data: Any, start: int, end: int, flags: Any, row: Any) -> None:
    row[_LINES] += 1
    first = trim_left(data, start, end, flags)
    if first == end:
        return
    point, _ = decode(data, first, end)
    row[_BULLETS] += point in (_BULLET, _HYPHEN)
    last = trim_right(data, first, end, flags)
    point, _ = before(data, first, last)
    stops = last - first >= 3 and data[last - 1] == _STOP and data[last - 2] == _STOP and data[last - 3] == _STOP
    row[_ELLIPSIS_LINES] += point == _ELLIPSIS or stops


@kernel((BYTES, OFFSETS, _FLAGS, COUNTS_OUT))
def _count_quality(data: Any, offsets: Any, flags: Any, counts: Any) -> None:
    for i in range(len(offsets) - 1):
        at, end = offsets[i], offsets[i + 1]
        row = counts[i]
        start, stops = at, 0
        while at < end:
            point, behind = decode(data, at, end)
            stops = stops + 1 if point == _STOP else 0
            row[_HASHES] += point == _HASH
            row[_ELLIPSES] += point == _ELLIPSIS or stops == 3
            stops = 0 if stops == 3 else stops
            if _ends_line(point):
                if point == _CR and behind < end and data[behind] == _LF:
                    behind += 1
                _count_line(data, start, at, flags, row)
                start = behind
            at = behind
        if start < end:
            _count_line(data, start, end, flags, row)


@helper
def _hash(data: Any, start: int, end: int) -> int:
    value = np.uint64(end - start)
    for i in range(start, end):
        value = (value ^ np.uint64(data[i])) * np.uint64(_FACTOR)
        value ^= value >> np.uint64(29)
    return signed(value >> np.uint64(1))


@helper
def _is_same(data: Any, stood: int, start: int, end: int, limit: int, feeds: int) -> bool:
    """Whether the element that begins at `stood` is the one in `[start, end)`. Elements end before `feeds` line feeds
    or at `limit`, and hold none of those."""
    size = end - start
    if stood + size > limit:
        return False
    for i in range(size):
        if data[stood + i] != data[start + i]:
            return False
    behind = stood + size
    if behind == limit:
        return True
    return behind + feeds <= limit and data[behind] == _LF and data[behind + feeds - 1] == _LF


@helper
def _element_end(data: Any, start: int, limit: int, feeds: int) -> tuple[int, int]:
    """Where the element ends, and where the next one begins; -1 where there is none."""
    at = start
    while at < limit:
        if data[at] == _LF and (feeds == 1 or (at + 1 < limit and data[at + 1] == _LF)):
            behind = at
            while behind < limit and data[behind] == _LF:
                behind += 1
            return at, behind
        at += 1
    return limit, -1


@helper
def _grown(data: Any, slots: Any, limit: int, feeds: int) -> Any:
    """Twice as many slots, the same elements."""
    larger = np.full(2 * len(slots), -1, dtype=np.int64)
    for stood in slots:
        if stood >= 0:
            end, _ = _element_end(data, stood, limit, feeds)
            slot = _hash(data, stood, end) & (len(larger) - 1)
            while larger[slot] >= 0:
                slot = (slot + 1) & (len(larger) - 1)
            larger[slot] = stood
    return larger


@helper
def _count_duplicates(data: Any, start: int, limit: int, feeds: int, flags: Any, blank: bool, row: Any) -> None:
    """Add elements, duplicates and their characters; `blank`: white space alone is an element, too."""
    slots = np.full(_FIRST_SLOTS, -1, dtype=np.int64)
    known = 0
    while start >= 0:
        end, behind = _element_end(data, start, limit, feeds)
        if blank or trim_left(data, start, end, flags) < end:
            row[0] += 1
            slot = _hash(data, start, end) & (len(slots) - 1)
            while slots[slot] >= 0 and not _is_same(data, slots[slot], start, end, limit, feeds):
                slot = (slot + 1) & (len(slots) - 1)
            if slots[slot] >= 0:
                row[1] += 1
                row[2] += count_chars(data, start, end)
            else:
                slots[slot] = start
                known += 1
                if 2 * known > len(slots):
                    slots = _grown(data, slots, limit, feeds)
        start = behind


@kernel((BYTES, OFFSETS, _FLAGS, COUNTS_OUT))
def _count_repeats(data: Any, offsets: Any, flags: Any, counts: Any) -> None:
    for i in range(len(offsets) - 1):
        start, end = offsets[i], offsets[i + 1]
        first = trim_left(data, start, end, flags)
        last = trim_right(data, first, end, flags)
        _count_duplicates(data, first, last, 2, flags, True, counts[i, :3])
        _count_duplicates(data, start, end, 1, flags, True, counts[i, 3:])


@kernel((BYTES, OFFSETS, _FLAGS, BYTES, types.int64, COUNTS_OUT))
def _count_fineweb(data: Any, offsets: Any, flags: Any, terminal: Any, short: int, counts: Any) -> None:
    duplicates = np.zeros(3, dtype=np.int64)
    for i in range(len(offsets) - 1):
        start, limit = offsets[i], offsets[i + 1]
        row = counts[i]
        duplicates[:] = 0
        _count_duplicates(data, start, limit, 1, flags, False, duplicates)
        row[_FW_LINES], row[_FW_DUP_CHARS] = duplicates[0], duplicates[2]
        while start < limit:
            end = start
            while end < limit and data[end] != _LF:
                end += 1
            chars = count_chars(data, start, end)
            row[_FW_CHARS] += chars
            row[_FW_ENDS] += end < limit
            if trim_left(data, start, end, flags) < end:
                point, _ = before(data, start, end)
                row[_FW_TERMINAL] += terminal[point] != 0
                row[_FW_SHORT] += chars <= short
            start = end + 1


@kernel((types.Array(types.uint8, 1, "C"), OFFSETS, _FLAGS, _OFFSETS_OUT))
def _strip_texts(data: Any, offsets: Any, flags: Any, stripped: Any) -> None:
    for i in range(len(offsets) - 1):
        start = trim_left(data, offsets[i], offsets[i + 1], flags)
        end = trim_right(data, start, offsets[i + 1], flags)
        at = stripped[i]
        for k in range(end - start):
            data[at + k] = data[start + k]
        stripped[i + 1] = at + end - start


def strip_texts(data: Bytes, offsets: Offsets, flags: U32) -> Offsets:
    """Take the white space around each text away, in place; the new offsets."""
    stripped = np.zeros_like(offsets)
    _strip_texts(data, offsets, flags, stripped)
    return stripped


def count_quality(data: Bytes, offsets: Offsets, flags: U32) -> Counts:
    """QUALITY_COUNTS of each document, int64 (n, 5); `flags` are those of `chunks_tables`."""
    counts = np.zeros((len(offsets) - 1, len(QUALITY_COUNTS)), dtype=np.int64)
    _count_quality(data, offsets, flags, counts)
    return counts


def count_repeats(data: Bytes, offsets: Offsets, flags: U32) -> Counts:
    """REPEAT_COUNTS of each document, int64 (n, 6)."""
    counts = np.zeros((len(offsets) - 1, len(REPEAT_COUNTS)), dtype=np.int64)
    _count_repeats(data, offsets, flags, counts)
    return counts


def count_fineweb(data: Bytes, offsets: Offsets, flags: U32, terminal: Bytes, short_chars: int) -> Counts:
    """FINEWEB_COUNTS of each document, int64 (n, 6); `terminal` (uint8, a number for each code point) is 1 for a
    terminal mark; a line of at most `short_chars` characters is short."""
    counts = np.zeros((len(offsets) - 1, len(FINEWEB_COUNTS)), dtype=np.int64)
    _count_fineweb(data, offsets, flags, terminal, short_chars, counts)
    return counts

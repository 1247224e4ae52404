"""Lines of UTF-8 bytes, one at a time: where each ends, what is visible of it, its words and its last character.

Helpers for kernels that walk through a document and hold nothing of it, so that a text of 100 million lines needs no
table of them; `lines_plain` is their twin. Lines end as for `str.splitlines` (CRLF is one end); white space is what
`char_table` calls SPACE, so the mark of a medium (U+FFFC) is white space, too. Ranges are half-open byte offsets.
Nothing is read behind `end`, whatever the bytes are.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types

from gristmill.stages.kernels.char_table import ALPHA, ATTACHED, SOLO, SPACE, UPPER, WORD
from gristmill.stages.kernels.jit import helper

# numba makes uint8 an unsigned integer under `int`, and an unsigned with a signed one a float.
signed = cast(Callable[[Any], int], np.int64)

BYTES_OUT = types.Array(types.uint8, 1, "C")
OFFSETS_OUT = types.Array(types.int64, 1, "C")

_TAB, _LF, _CR = 0x09, 0x0A, 0x0D
_COMMA, _STOP, _APOSTROPHE, _QUOTE = 0x2C, 0x2E, 0x27, 0x2019
_MALFORMED = 0xDC00
_LAST_POINT = 0x10FFFF
_TICK, _MIN_FENCE = 0x60, 3


@helper
def point_at(data: Any, at: int, end: int) -> tuple[int, int]:
    """Code point at `at` and the byte behind it; a lone byte of what is cut is U+DC00."""
    first = signed(data[at])
    if first < 0x80:
        return first, at + 1
    size = 2 + (first >= 0xE0) + (first >= 0xF0)
    if first < 0xC2 or at + size > end:
        return _MALFORMED, at + 1
    point = first & (0x7F >> size)
    for i in range(at + 1, at + size):
        point = point << 6 | (signed(data[i]) & 0x3F)
    return min(point, _LAST_POINT), at + size


@helper
def next_line(data: Any, at: int, end: int) -> tuple[int, int]:
    """Where the line that begins at `at` ends, and where the next one begins."""
    while at < end:
        byte = signed(data[at])
        if byte < 0x20:
            if byte == _CR and at + 1 < end and data[at + 1] == _LF:
                return at, at + 2
            if _LF <= byte <= _CR or 0x1C <= byte <= 0x1E:
                return at, at + 1
        elif byte == 0xC2:
            if at + 1 < end and data[at + 1] == 0x85:
                return at, at + 2
        elif byte == 0xE2 and at + 2 < end and data[at + 1] == 0x80 and (data[at + 2] & 0xFE) == 0xA8:
            return at, at + 3
        at += 1
    return end, end


@helper
def trimmed(data: Any, start: int, end: int, flags: Any) -> tuple[int, int]:
    """The range without white space at either side; (end, end) where there is nothing else."""
    while start < end:
        point, behind = point_at(data, start, end)
        if not signed(flags[point]) & SPACE:
            break
        start = behind
    while end > start:
        before = _start_of_last(data, start, end)
        point, _ = point_at(data, before, end)
        if not signed(flags[point]) & SPACE:
            break
        end = before
    return start, end


@helper
def last_point(data: Any, start: int, end: int, flags: Any) -> tuple[int, int]:
    """The last character that is no mark or format character, and where it begins; (-1, start) without one."""
    while end > start:
        before = _start_of_last(data, start, end)
        point, _ = point_at(data, before, end)
        if not signed(flags[point]) & ATTACHED:
            return point, before
        end = before
    return -1, start


@helper
def _start_of_last(data: Any, start: int, end: int) -> int:
    at = end - 1
    while at > start and at > end - 4 and (signed(data[at]) & 0xC0) == 0x80:
        at -= 1
    return at


@helper
def count_chars(data: Any, start: int, end: int) -> int:
    """Characters in a range: bytes that do not continue one."""
    chars = 0
    for i in range(start, end):
        chars += (data[i] & 0xC0) != 0x80
    return chars


@helper
def holds_medium(data: Any, start: int, end: int) -> bool:
    """Whether the mark of a medium, U+FFFC, stands in a range."""
    found = False
    for i in range(start, end - 2):
        found = found or (data[i] == 0xEF and data[i + 1] == 0xBF and data[i + 2] == 0xBC)
    return found


@helper
def longest_chunk(data: Any, start: int, end: int, flags: Any) -> int:
    """Characters of the longest sequence without white space, in which a solo ends what stands before it."""
    longest = 0
    chars = 0
    while start < end:
        point, start = point_at(data, start, end)
        flag = signed(flags[point])
        chars = 0 if flag & SPACE else 1 if flag & SOLO else chars + 1
        longest = max(longest, chars)
    return longest


@helper
def count_chunks(data: Any, start: int, end: int, flags: Any, enough: int) -> int:
    """Chunks without white space (`str.split`), but that one with several solos counts each; ends at `enough`."""
    chunks, solos, inside = 0, 0, False
    while start < end and chunks < enough:
        point, start = point_at(data, start, end)
        flag = signed(flags[point])
        if flag & SPACE:
            inside, solos = False, 0
        else:
            solos += flag & SOLO != 0
            chunks += not inside or (flag & SOLO != 0 and solos > 1)
            inside = True
    return chunks


@helper
def count_words(data: Any, start: int, end: int, flags: Any, enough: int) -> int:
    """Words (runs and solos of `kernels.words`) in a range within a line; counting ends at `enough`."""
    words, in_run, before, at = 0, False, 0, start
    while at < end and words < enough:
        point, behind = point_at(data, at, end)
        flag = signed(flags[point])
        if flag & SOLO:
            words += 1
            in_run = False
        elif flag & (ALPHA | WORD):
            words += not in_run
            in_run = True
            before = flag
        elif in_run and not flag & ATTACHED:
            in_run = _joins(data, point, before, behind, end, flags)
            # A run ends and another begins at an apostrophe between letters.
            words += in_run and point in (_APOSTROPHE, _QUOTE)
            before = flag
        at = behind
    return words


@helper
def _joins(data: Any, point: int, before: int, behind: int, end: int, flags: Any) -> bool:
    if point not in (_STOP, _COMMA, _APOSTROPHE, _QUOTE) or behind >= end:
        return False
    following, _ = point_at(data, behind, end)
    after = signed(flags[following])
    if after & SOLO or not after & (ALPHA | WORD):
        return False
    if point == _STOP:
        return not (after & UPPER and before & ALPHA and not before & UPPER)
    if point == _COMMA:
        return not before & ALPHA and not after & ALPHA
    return before & ALPHA != 0 and after & ALPHA != 0


@helper
def copied(data: Any, start: int, end: int, out: Any, at: int) -> int:
    """Copy a range to `out[at:]`; where it ends there."""
    for i in range(start, end):
        out[at + i - start] = data[i]
    return at + end - start


@helper
def fence_after(data: Any, start: int, stop: int, fence: int, flags: Any) -> int:
    """The backticks of the fence that is open behind a line, 0 for none; `fence` are those of the one before it."""
    first, last = trimmed(data, start, stop, flags)
    at = first
    while at < last and data[at] == _TICK:
        at += 1
    ticks = at - first
    if fence > 0 or ticks < _MIN_FENCE:
        return 0 if fence > 0 and at == last and ticks >= fence else fence
    more = False
    for i in range(at, last):
        more = more or data[i] == _TICK
    return 0 if more else ticks

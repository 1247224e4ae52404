"""RefinedWeb's corrections of lines, as one walk over the bytes of each row that writes the text anew.

In: bytes and offsets of texts; out: bytes and offsets of the new texts, counts of each row. What stays is copied as it
is, line ends and white space too. The twin is `lines_refinedweb_plain`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import ALPHA, ATTACHED, SPACE, UPPER, WORD, char_flags
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, OFFSETS, helper, kernel
from gristmill.stages.kernels.lines import (
    BYTES_OUT,
    OFFSETS_OUT,
    copied,
    count_chars,
    count_words,
    fence_after,
    holds_medium,
    last_point,
    next_line,
    point_at,
    signed,
    trimmed,
)
from gristmill.stages.kernels.lines_phrases import TABLE, Phrases

COUNTS: tuple[str, ...] = ("words", "cut_words", "uppercase", "numeric", "counter", "one_word", "navigation")
"""Words of the text, and of what is cut; characters cut for each reason, the ends of lines that go among them."""

(_WORDS, _CUT_WORDS, _UPPERCASE, _NUMERIC, _COUNTER, _ONE_WORD, _NAVIGATION) = range(len(COUNTS))
AT_START, AT_END, INSIDE, COUNTED = 1, 2, 4, 8
"""Kinds of phrases: that a line begins with, ends with, holds; that stand behind the number of a counter."""
_MANY = 1 << 62
_MAX_COUNTER_BYTES = 64
_NUMBER_MARKS = tuple(map(ord, ".,:/-"))
_DIGIT_MARKS = tuple(map(ord, ".,"))
_THOUSANDS = tuple(map(ord, "kKmM"))
_LOW_LINE = 0x5F


@helper
def _is_digit(byte: int) -> bool:
    return 0x30 <= byte <= 0x39


@helper
def _kind_of_chars(data: Any, start: int, end: int, flags: Any, limits: Any) -> int:
    """_UPPERCASE, _NUMERIC or -1."""
    upper, letters, digits, others, chars = 0, 0, 0, 0, 0
    for i in range(start, end):
        # Most lines are ASCII with letters, and need no more than this loop, which is vectorised.
        byte = signed(data[i])
        others += byte >= 0x80
        upper += 0x41 <= byte <= 0x5A
        letters += 0x41 <= byte & 0x5F <= 0x5A
        chars += (byte != 0x20) & ((byte < 0x09) | (byte > 0x0D)) & ((byte < 0x1C) | (byte > 0x1F))
    if others == 0 and letters > 0:
        return _UPPERCASE if upper * 1_000_000 > limits[0] * chars else -1
    upper, letters, digits, others, chars = 0, 0, 0, 0, 0
    while start < end:
        point, start = point_at(data, start, end)
        flag = signed(flags[point])
        chars += flag & (SPACE | ATTACHED) == 0
        upper += flag & UPPER != 0
        letters += flag & ALPHA != 0
        digits += flag & WORD != 0 and point != _LOW_LINE
        others += flag & (ALPHA | WORD | SPACE | ATTACHED) == 0 and point not in _NUMBER_MARKS
    if upper * 1_000_000 > limits[0] * chars:
        return _UPPERCASE
    return _NUMERIC if digits > 0 and letters == 0 and others == 0 else -1


@helper
def _is_counter(data: Any, start: int, end: int, classes: Any, moves: Any, kinds: Any, sizes: Any) -> bool:
    """Whether the range is a number and what it counts: "3 likes", "1.2k views"."""
    if end - start > _MAX_COUNTER_BYTES or not _is_digit(signed(data[start])):
        return False
    while start < end and (_is_digit(signed(data[start])) or signed(data[start]) in _DIGIT_MARKS):
        start += 1
    if start < end and signed(data[start]) in _THOUSANDS:
        start += 1
    first = start
    while first < end and data[first] == 0x20:
        first += 1
    state = 0
    for i in range(first, end):
        state = signed(moves[state + signed(classes[data[i]])])
    return start < first < end and kinds[state] & COUNTED != 0 and sizes[state] == end - first


@helper
def _parted(data: Any, start: int, end: int, at: int, flags: Any) -> bool:
    """Whether no word goes on over `at`."""
    if at <= start or at >= end:
        return True
    after, _ = point_at(data, at, end)
    before, _ = last_point(data, start, at, flags)
    inside = before >= 0 and signed(flags[before]) & (ALPHA | WORD) != 0
    return not (inside and signed(flags[after]) & (ALPHA | WORD | ATTACHED))


@helper
def _phrase_in(data: Any, start: int, end: int, flags: Any, automaton: Any) -> tuple[int, int]:
    """The first navigational phrase that stands where its kind must stand; (end, end) for none."""
    classes, moves, kinds, sizes = automaton
    state = 0
    found, behind = end, end
    for i in range(start, end):
        state = signed(moves[state + signed(classes[data[i]])])
        kind = signed(kinds[state])
        first = i + 1 - signed(sizes[state])
        stands = kind & INSIDE != 0 or (kind & AT_START != 0 and first == start)
        stands = stands or (kind & AT_END != 0 and i + 1 == end)
        # A longer phrase from the same place takes the place of a shorter one.
        if stands and found in (end, first) and _parted(data, start, end, first, flags):
            found, behind = (first, i + 1) if _parted(data, start, end, i + 1, flags) else (found, behind)
    return found, behind


@helper
def _has_letter(data: Any, start: int, end: int, flags: Any) -> bool:
    while start < end:
        point, start = point_at(data, start, end)
        if signed(flags[point]) & ALPHA:
            return True
    return False


@helper
def _edited(data: Any, line: Any, words: int, out: Any, to: int, tables: Any, counts: Any) -> int:
    """Write a short line (start, visible start and end, start of the next) without its navigational phrase; where the
    text ends now."""
    at, inner, last, behind = line
    flags, classes, moves, kinds, sizes = tables
    first, after = _phrase_in(data, inner, last, flags, (classes, moves, kinds, sizes))
    if first == last:
        return copied(data, at, behind, out, to)
    left = count_words(data, inner, first, flags, _MANY) + count_words(data, after, last, flags, _MANY)
    counts[_CUT_WORDS] += words - left
    counts[_NAVIGATION] += count_chars(data, at, behind)
    if not _has_letter(data, inner, first, flags) and not _has_letter(data, after, last, flags):
        counts[_CUT_WORDS] += left
        return to
    _, first = trimmed(data, inner, first, flags)
    after, _ = trimmed(data, after, last, flags)
    written = copied(data, at, max(first, inner), out, to)
    if first > inner and after < last:
        out[written] = 0x20
        written += 1
    written = copied(data, after, behind, out, written)
    counts[_NAVIGATION] -= count_chars(out, to, written)
    return written


@helper
def _correct_line(data: Any, line: Any, out: Any, to: int, tables: Any, limits: Any, counts: Any) -> int:
    """Write a line, or what stays of it; where the text ends now."""
    at, stop, behind = line
    flags, classes, moves, kinds, sizes = tables
    inner, last = trimmed(data, at, stop, flags)
    words = count_words(data, inner, last, flags, _MANY)
    counts[_WORDS] += words
    if words == 0 or holds_medium(data, at, stop):
        return copied(data, at, behind, out, to)
    reason = _kind_of_chars(data, inner, last, flags, limits)
    if reason < 0 and _is_counter(data, inner, last, classes, moves, kinds, sizes):
        reason = _COUNTER
    if reason < 0 and words == 1:
        reason = _ONE_WORD
    if reason >= 0:
        counts[_CUT_WORDS] += words
        counts[reason] += count_chars(data, at, behind)
        return to
    if words > limits[1]:
        return copied(data, at, behind, out, to)
    return _edited(data, (at, inner, last, behind), words, out, to, tables, counts)


_TABLES = types.Tuple([BYTES, BYTES, TABLE, TABLE, TABLE])


@kernel((BYTES, OFFSETS, _TABLES, OFFSETS, BYTES_OUT, OFFSETS_OUT, COUNTS_OUT))
def _correct(data: Any, offsets: Any, tables: Any, limits: Any, out: Any, out_offsets: Any, counts: Any) -> None:
    flags = tables[0]
    to = 0
    for row in range(len(offsets) - 1):
        at, end = offsets[row], offsets[row + 1]
        fence = 0
        while at < end:
            stop, behind = next_line(data, at, end)
            before, fence = fence, fence_after(data, at, stop, fence, flags)
            if before > 0 or fence > 0:
                counts[row, _WORDS] += count_words(data, at, stop, flags, _MANY)
                to = copied(data, at, behind, out, to)
            else:
                to = _correct_line(data, (at, stop, behind), out, to, tables, limits, counts[row])
            at = behind
        out_offsets[row + 1] = to


def correct(
    data: Bytes, offsets: Offsets, known: Phrases, max_upper_frac: float, max_navigation_words: int
) -> tuple[Bytes, Offsets, npt.NDArray[np.int64]]:
    """The corrected texts as bytes and offsets, and the counts (int64, (n, len(COUNTS))).

    `known` has phrases of the kinds AT_START, AT_END, INSIDE, COUNTED, in this order.
    """
    rows, size = len(offsets) - 1, int(offsets[-1] - offsets[0])
    out = np.empty(size, dtype=np.uint8)
    out_offsets = np.zeros(rows + 1, dtype=np.int64)
    counts = np.zeros((rows, len(COUNTS)), dtype=np.int64)
    limits = np.array([round(max_upper_frac * 1_000_000), max_navigation_words], dtype=np.int64)
    tables = char_flags(), known.classes, known.moves, known.kinds, known.sizes
    _correct(data, offsets, tables, limits, out, out_offsets, counts)
    return out[: out_offsets[-1]], out_offsets, counts

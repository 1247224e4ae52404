"""Lines and paragraphs of documents in one pass over Arrow's bytes: a table of them, and the repeated ones.

A line ends as for `str.splitlines` and is taken without the white space around it; one that is blank then is no line,
it only parts paragraphs. So CRLF parts them as well as LF does, and blank lines are nobody's duplicates. To be compared
a line keeps the white space before it; lines are compared byte by byte, paragraphs by their lines. The twin is
`segments_plain`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import BREAK, SPACE, UPPER, WORD, char_flags
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, OFFSETS, helper, inner, kernel
from gristmill.stages.kernels.segments import LINE_COLUMNS, REPEAT_COLUMNS
from gristmill.stages.kernels.segments_intern import (
    INTERNED,
    Interned,
    clear,
    entries_of,
    intern_bytes,
    intern_values,
    interned,
)
from gristmill.stages.kernels.words import NOTHING, RUN, SYMBOL, decode, next_token

Ints = npt.NDArray[np.int64]
Ints32 = npt.NDArray[np.int32]

(_START, _END, _CHARS, _WORDS, _LAST, _LONGEST, _UPPER, _DIGITS) = range(len(LINE_COLUMNS))
(_LINES, _DUP_LINES, _DUP_LINE_CHARS, _PARAS, _DUP_PARAS, _DUP_PARA_CHARS) = range(len(REPEAT_COLUMNS))
_CR, _LF, _LOW_LINE = 0x0D, 0x0A, 0x5F
TABLE_OUT = types.Array(types.int32, 2, "C")
FLAGS_OUT = types.Array(types.boolean, 1, "C")
_ROWS_OUT = types.Array(types.int64, 1, "C")
_LINE_BYTES_LOG2 = 6
_COUNT_ABOVE_BYTES = 1 << 20


@inner
def next_line(data: Bytes, at: int, end: int, flags: Bytes) -> tuple[int, int, int, int, int, int, int, int]:
    """The line at `at`: the byte behind its end, the first and last byte (half open) of what is not white space in it,
    its characters, the last one, upper-case letters, characters of numbers, and the white space before all of them.
    A blank line has no characters."""
    first, last, chars, spaces, point, upper, digits, lead = at, at, 0, 0, 0, 0, 0, 0
    while at < end:
        here = at
        char, at = decode(data, at, end)
        flag = np.int64(flags[char])
        if flag & BREAK:
            if char == _CR and at < end and data[at] == _LF:
                at += 1
            break
        if flag & SPACE:
            spaces += 1
            continue
        if chars == 0:
            first, lead, spaces = here, spaces, 0
        chars += spaces + 1
        spaces, last, point = 0, at, char
        upper += flag & UPPER != 0
        digits += flag & WORD != 0 and char != _LOW_LINE
    return at, first, last, chars, point, upper, digits, lead


@inner
def _words_between(data: Bytes, at: int, end: int, flags: Bytes) -> tuple[int, int]:
    """Words, and the characters of the longest run."""
    words, longest, joined = 0, 0, False
    while True:
        kind, _, at, chars, _, _, joined = next_token(data, at, end, flags, joined)
        if kind == NOTHING:
            return words, longest
        words += kind != SYMBOL
        if kind == RUN:
            longest = max(longest, chars)


@kernel(types.void(BYTES, OFFSETS, BYTES, _ROWS_OUT))
def _count_lines(data: Any, offsets: Any, flags: Any, rows: Any) -> None:
    for row in range(len(offsets) - 1):
        at, end, lines = offsets[row], offsets[row + 1], 0
        while at < end:
            at, _, _, chars, _, _, _, _ = next_line(data, at, end, flags)
            lines += chars > 0
        rows[row + 1] = rows[row] + lines


@kernel(types.void(BYTES, OFFSETS, BYTES, TABLE_OUT, FLAGS_OUT))
def _tabulate(data: Any, offsets: Any, flags: Any, table: Any, opens: Any) -> None:
    line = 0
    for row in range(len(offsets) - 1):
        start, end = offsets[row], offsets[row + 1]
        at, blank = start, True
        while at < end:
            at, first, last, chars, point, upper, digits, _ = next_line(data, at, end, flags)
            if chars > 0:
                words, longest = _words_between(data, first, last, flags)
                table[line, _START], table[line, _END] = first - start, last - start
                table[line, _CHARS], table[line, _WORDS] = chars, words
                table[line, _LAST], table[line, _LONGEST] = point, longest
                table[line, _UPPER], table[line, _DIGITS] = upper, digits
                opens[line] = blank
                line += 1
            blank = chars == 0


def tabulate(data: Bytes, offsets: Offsets) -> tuple[Ints, Ints32, npt.NDArray[np.bool_]]:
    """The fields of `segments.LineTable`."""
    rows = np.zeros(len(offsets), np.int64)
    _count_lines(data, offsets, char_flags(), rows)
    table = np.empty((rows[-1], len(LINE_COLUMNS)), np.int32)
    opens = np.empty(rows[-1], np.bool_)
    _tabulate(data, offsets, char_flags(), table, opens)
    return rows, table, opens


class _Scratch(NamedTuple):
    """Distinct lines and paragraphs of a row, and the number of each line (int32) in it."""

    lines: Interned
    paras: Interned
    numbers: Ints32


_SCRATCH = types.NamedTuple((INTERNED, INTERNED, types.Array(types.int32, 1, "C")), _Scratch)


@helper
def _end_paragraph(opened: int, lines: int, chars: int, scratch: Any, counts: Any) -> None:
    """Count the paragraph of the lines `opened` up to `lines`, if it has any."""
    if lines > opened:
        counts[_PARAS] += 1
        before = entries_of(scratch.paras)
        if intern_values(scratch.numbers, opened, lines - opened, scratch.paras) < before:
            counts[_DUP_PARAS] += 1
            counts[_DUP_PARA_CHARS] += chars


@kernel(types.void(BYTES, OFFSETS, BYTES, _SCRATCH, COUNTS_OUT))
def _count_repeats(data: Any, offsets: Any, flags: Any, scratch: Any, table: Any) -> None:
    for row in range(len(offsets) - 1):
        clear(scratch.lines, (offsets[row + 1] - offsets[row]) >> _LINE_BYTES_LOG2)
        clear(scratch.paras, 0)
        start, end, counts = offsets[row], offsets[row + 1], table[row]
        at, lines, opened, para_chars = start, 0, 0, 0
        while at < end:
            here = at
            at, _, last, chars, _, _, _, lead = next_line(data, at, end, flags)
            if chars == 0:
                _end_paragraph(opened, lines, para_chars, scratch, counts)
                opened, para_chars = lines, 0
                continue
            before = entries_of(scratch.lines)
            number = intern_bytes(data, start, here, last - here, scratch.lines)
            if number < before:
                counts[_DUP_LINES] += 1
                counts[_DUP_LINE_CHARS] += lead + chars
            para_chars += lead + chars + (lines > opened)
            scratch.numbers[lines] = number
            lines += 1
        _end_paragraph(opened, lines, para_chars, scratch, counts)
        counts[_LINES] = lines


def count_repeats(data: Bytes, offsets: Offsets) -> Ints:
    """The table of `segments.Repeats`."""
    table = np.zeros((len(offsets) - 1, len(REPEAT_COLUMNS)), np.int64)
    most = _most_lines(data, offsets)
    scratch = _Scratch(interned(most), interned(most), np.empty(most, np.int32))
    _count_repeats(data, offsets, char_flags(), scratch, table)
    return table


def _most_lines(data: Bytes, offsets: Offsets) -> int:
    """A bound of the lines of a row: half its bytes, counted out where that is too many to make arrays for."""
    sizes = np.diff(offsets)
    bound = int(sizes[sizes <= _COUNT_ABOVE_BYTES].max(initial=0)) // 2 + 1
    for row in np.flatnonzero(sizes > _COUNT_ABOVE_BYTES):
        rows = np.zeros(2, np.int64)
        _count_lines(data, offsets[row : row + 2], char_flags(), rows)
        bound = max(bound, int(rows[1]))
    return bound

"""Lines and paragraphs that stood in their document before, in one pass over Arrow's bytes.

A line ends as for `str.splitlines` and is taken without the white space behind it; one that is blank then is no line,
it only parts paragraphs. So CRLF parts them as well as LF does, and blank lines are nobody's duplicates. Lines
are compared byte by byte, paragraphs by their lines. The twin is
`segments_plain`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import char_flags
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, OFFSETS, helper, inner, kernel
from gristmill.stages.kernels.segments import REPEAT_COLUMNS
from gristmill.stages.kernels.segments_intern import (
    INTERNED,
    Interned,
    clear,
    entries_of,
    intern_bytes,
    intern_values,
    interned,
)
from gristmill.stages.kernels.words import next_break, strip_end

Ints = npt.NDArray[np.int64]
Ints32 = npt.NDArray[np.int32]

(_LINES, _DUP_LINES, _DUP_LINE_CHARS, _PARAS, _DUP_PARAS, _DUP_PARA_CHARS) = range(len(REPEAT_COLUMNS))
_ROWS_OUT = types.Array(types.int64, 1, "C")
_LINE_BYTES_LOG2 = 6
_COUNT_ABOVE_BYTES = 1 << 20


@inner
def _next_line(data: Bytes, at: int, end: int, flags: Bytes) -> tuple[int, int, int]:
    """The line at `at`: the byte behind its end, that behind what is not white space in it, its characters up to there;
    a blank line has none."""
    stop, behind, chars, _, _, _ = next_break(data, at, end, flags)
    last, spaces = strip_end(data, at, stop, flags)
    return behind, last, chars - spaces


@kernel(types.void(BYTES, OFFSETS, BYTES, _ROWS_OUT))
def _count_lines(data: Any, offsets: Any, flags: Any, rows: Any) -> None:
    for row in range(len(offsets) - 1):
        at, end, lines = offsets[row], offsets[row + 1], 0
        while at < end:
            at, _, chars = _next_line(data, at, end, flags)
            lines += chars > 0
        rows[row + 1] = rows[row] + lines


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
            at, last, chars = _next_line(data, at, end, flags)
            if chars == 0:
                _end_paragraph(opened, lines, para_chars, scratch, counts)
                opened, para_chars = lines, 0
                continue
            before = entries_of(scratch.lines)
            number = intern_bytes(data, start, here, last - here, scratch.lines)
            if number < before:
                counts[_DUP_LINES] += 1
                counts[_DUP_LINE_CHARS] += chars
            para_chars += chars + (lines > opened)
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

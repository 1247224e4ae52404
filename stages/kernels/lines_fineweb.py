"""What FineWeb's rules ask of lines, counted in one walk over the bytes of each row. The twin is `lines_plain`.

A line is taken without the white space around it, and one that is blank is none; line ends are counted all.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import SOLO, char_flags
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, OFFSETS, helper, kernel
from gristmill.stages.kernels.lines import count_chars, last_point, next_line, point_at, signed, trimmed
from gristmill.stages.kernels.lines_chars import TERMINAL, end_classes

COUNTS: tuple[str, ...] = ("lines", "terminal_lines", "short_lines", "line_chars", "line_ends")
"""Lines; those that end with a terminal mark; those of at most so many columns (a character, but a solo counts two);
characters of lines, with the white space before them, as `segments.Repeats` counts them; ends of lines, those of blank
ones, too."""

(_LINES, _TERMINAL, _SHORT, _CHARS, _ENDS) = range(len(COUNTS))


@helper
def _is_short(data: Any, start: int, end: int, flags: Any, most: int) -> bool:
    """Whether a range takes at most `most` columns."""
    if end - start <= most:
        # A solo has three bytes or more.
        return True
    columns = 0
    while start < end:
        point, start = point_at(data, start, end)
        columns += 2 if signed(flags[point]) & SOLO else 1
        if columns > most:
            return False
    return True


@kernel((BYTES, OFFSETS, BYTES, BYTES, OFFSETS, COUNTS_OUT))
def _count(data: Any, offsets: Any, flags: Any, ends: Any, most: Any, counts: Any) -> None:
    for row in range(len(offsets) - 1):
        at, end = offsets[row], offsets[row + 1]
        while at < end:
            stop, behind = next_line(data, at, end)
            start, last = trimmed(data, at, stop, flags)
            counts[row, _ENDS] += behind > stop
            if start < last:
                point, _ = last_point(data, start, last, flags)
                counts[row, _LINES] += 1
                counts[row, _TERMINAL] += point >= 0 and signed(ends[point]) & TERMINAL != 0
                counts[row, _SHORT] += _is_short(data, start, last, flags, most[0])
                counts[row, _CHARS] += count_chars(data, at, last)
            at = behind


def count_lines(data: Bytes, offsets: Offsets, stop_chars: str | None, short_columns: int) -> npt.NDArray[np.int64]:
    """Counts of each row, int64 (n, len(COUNTS)). `stop_chars` are the terminal marks; None: those of `lines_chars`."""
    counts = np.zeros((len(offsets) - 1, len(COUNTS)), dtype=np.int64)
    most = np.array([short_columns], dtype=np.int64)
    _count(data, offsets, char_flags(), end_classes(stop_chars), most, counts)
    return counts

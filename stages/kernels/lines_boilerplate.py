"""Characters in lines that look like the frame of a web page: links in a row, notices, navigation.

One walk over the bytes of each row; nothing is held of a line. The twin is `lines_boilerplate_plain`. A line is taken
without the white space and the bullet before it; a blank one is none, and does not end a run. Each line counts once:

* a *notice* holds a notice phrase and has at most NOTICE_WORDS words (a letter of a script without spaces is one, too);
* a line of *links* has two separators or more (`lines_chars`: | > / » › · • and others) with white space at both sides,
  at most LINK_WORDS words for each part on average, a letter, and no terminal mark at its end; one that begins with "|"
  is a row of a table;
* a *label* has at most LABEL_WORDS words and LABEL_COLUMNS columns (a letter of a script without spaces takes two, and
  LABEL_SOLOS of them at most), begins with a letter that is no small one, ends with a letter, digit or closing bracket,
  and has letters for three quarters of its characters. Labels and links in a run of MIN_RUN or more are *navigation*;
  what breaks a run is any other line.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import ALPHA, ATTACHED, SOLO, SPACE, UPPER, WORD, char_flags
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, OFFSETS, helper, kernel
from gristmill.stages.kernels.lines import last_point, next_line, point_at, signed, trimmed
from gristmill.stages.kernels.lines_chars import CLOSER, SEPARATOR, TERMINAL, end_classes
from gristmill.stages.kernels.lines_phrases import TABLE, Phrases, found_kinds

COUNTS: tuple[str, ...] = ("chars", "notice_chars", "link_chars", "navigation_chars")
"""Characters that are not white space: of all lines, of notices, of links, of labels in runs."""
(_CHARS, _NOTICE, _LINKS, _NAVIGATION) = range(len(COUNTS))

NOTICE_WORDS, LINK_WORDS = 25, 4
LABEL_WORDS, LABEL_COLUMNS, LABEL_SOLOS = 4, 32, 10
MIN_RUN = 5

_BAR, _LONG_LINE_BYTES = 0x7C, 400
_BULLETS = tuple(map(ord, "-*\u2022\u00b7\u25cf\u25aa\u2013"))
_TEXT, _LABEL, _LINK_LINE, _NOTICE_LINE = range(4)


@helper
def _behind_bullet(data: Any, start: int, end: int, flags: Any) -> int:
    point, behind = point_at(data, start, end)
    if point not in _BULLETS or behind >= end:
        return start
    following, _ = point_at(data, behind, end)
    if not signed(flags[following]) & SPACE:
        return start
    first, _ = trimmed(data, behind, end, flags)
    return first


@helper
def _look(data: Any, start: int, end: int, flags: Any, ends: Any) -> tuple[int, int, int, int, int, int]:
    """Characters without white space, letters, solos, columns, chunks, separators between white space."""
    chars, letters, solos, columns, chunks, separators = 0, 0, 0, 0, 0, 0
    in_chunk, alone = False, False
    while start < end:
        point, start = point_at(data, start, end)
        flag = signed(flags[point])
        if flag & SPACE:
            separators += alone
            in_chunk, alone = False, False
            columns += 1
            continue
        if flag & ATTACHED:
            continue
        alone = not in_chunk and chunks > 0 and signed(ends[point]) & SEPARATOR != 0
        chunks += not in_chunk
        in_chunk = True
        chars += 1
        letters += flag & ALPHA != 0
        solos += flag & SOLO != 0
        columns += 2 if flag & SOLO else 1
    return chars, letters, solos, columns, chunks, separators


@helper
def _kind_of_line(data: Any, start: int, end: int, tables: Any) -> tuple[int, int]:
    """What a line that is not blank is, and its characters without white space."""
    flags, ends, classes, moves, kinds = tables
    first = _behind_bullet(data, start, end, flags)
    chars, letters, solos, columns, chunks, separators = _look(data, first, end, flags, ends)
    if end - first > _LONG_LINE_BYTES:
        return _TEXT, chars
    if chunks - separators + solos <= NOTICE_WORDS and found_kinds(data, first, end, classes, moves, kinds):
        return _NOTICE_LINE, chars
    point, _ = last_point(data, first, end, flags)
    last, end_kind = signed(flags[max(point, 0)]), signed(ends[max(point, 0)])
    if separators >= 2 and letters > 0 and data[first] != _BAR and not end_kind & TERMINAL:
        return (_LINK_LINE if chunks - separators <= LINK_WORDS * (separators + 1) else _TEXT), chars
    opening, _ = point_at(data, first, end)
    opens = signed(flags[opening])
    small = opens & (UPPER | SOLO) == 0 and opening < 0x250
    if not opens & ALPHA or small or not (last & (ALPHA | WORD) or end_kind & CLOSER):
        return _TEXT, chars
    fits = chunks <= LABEL_WORDS and columns <= LABEL_COLUMNS and solos <= LABEL_SOLOS
    return (_LABEL if fits and 4 * letters >= 3 * chars else _TEXT), chars


@kernel((BYTES, OFFSETS, BYTES, BYTES, BYTES, TABLE, TABLE, COUNTS_OUT))
def _count(data: Any, offsets: Any, flags: Any, ends: Any, classes: Any, moves: Any, kinds: Any, counts: Any) -> None:
    tables = (flags, ends, classes, moves, kinds)
    for row in range(len(offsets) - 1):
        at, end = offsets[row], offsets[row + 1]
        run, run_chars = 0, 0
        while at < end:
            stop, behind = next_line(data, at, end)
            start, last = trimmed(data, at, stop, flags)
            at = behind
            if start == last:
                continue
            kind, chars = _kind_of_line(data, start, last, tables)
            counts[row, _CHARS] += chars
            counts[row, _NOTICE] += chars if kind == _NOTICE_LINE else 0
            counts[row, _LINKS] += chars if kind == _LINK_LINE else 0
            if kind == _TEXT:
                counts[row, _NAVIGATION] += run_chars if run >= MIN_RUN else 0
                run, run_chars = 0, 0
            else:
                run += 1
                run_chars += chars if kind == _LABEL else 0
        counts[row, _NAVIGATION] += run_chars if run >= MIN_RUN else 0


def count_boilerplate(data: Bytes, offsets: Offsets, notices: Phrases) -> npt.NDArray[np.int64]:
    """Counts of each row, int64 (n, len(COUNTS)); `notices` has phrases of one kind."""
    counts = np.zeros((len(offsets) - 1, len(COUNTS)), dtype=np.int64)
    tables = char_flags(), end_classes(), notices.classes, notices.moves, notices.kinds
    _count(data, offsets, *tables, counts)
    return counts

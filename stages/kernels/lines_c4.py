"""C4's rules over lines, as one walk over the bytes of each row that writes the text anew.

In: bytes and offsets of texts; out: bytes and offsets of the new texts, counts of each row. Nothing is held of a line
but while it is looked at. The twin is `lines_c4_plain`.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import char_flags
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, OFFSETS, helper, kernel
from gristmill.stages.kernels.lines import (
    BYTES_OUT,
    OFFSETS_OUT,
    copied,
    count_chars,
    count_chunks,
    fence_after,
    holds_medium,
    last_point,
    longest_chunk,
    next_line,
    signed,
    trimmed,
)
from gristmill.stages.kernels.lines_chars import QUOTE, TERMINAL, end_classes
from gristmill.stages.kernels.lines_phrases import TABLE, Phrases, found_kinds, phrases
from gristmill.stages.kernels.lines_sentences import count_sentences, next_sentence

COUNTS: tuple[str, ...] = (
    "kept_lines",
    "long_lines",
    "sentences",
    "dropped_for",
    "too_long_word",
    "citation",
    "no_terminal_punc",
    "too_few_words",
    "javascript",
    "policy",
)
"""Columns of the counts: lines kept, those of them with `min_paragraph_chars` or more; sentences in them; LOREM or
CURLY for the phrase that a row goes for, else 0; characters cut for each reason, the ends of their lines among them."""

(_KEPT, _LONG, _SENTENCES, DROPPED_FOR, _TOO_LONG, _CITATION, _NO_END, _FEW_WORDS, _SCRIPT, _POLICY) = range(10)

LOREM, JAVASCRIPT, CURLY, POLICY, CITATIONS = 1, 2, 4, 8, 16
POLICY_PHRASES = (
    "terms of use",
    "privacy policy",
    "cookie policy",
    "uses cookies",
    "use of cookies",
    "use cookies",
)
"""Of the C4 code in TensorFlow Datasets (c4_utils.py)."""
_PHRASES = (("lorem ipsum",), ("javascript",), ("{",), POLICY_PHRASES, ("[",))
_EDIT, _NEEDED = (np.frombuffer(word, np.uint8) for word in (b"edit]", b"citation needed]"))
_STOP, _OPEN, _CLOSE, _ZERO, _NINE, _LF, _SPACE = 0x2E, 0x5B, 0x5D, 0x30, 0x39, 0x0A, 0x20


@dataclass(frozen=True)
class C4Limits:
    """What the kernel is told; -1 turns a limit off. `keep_code`: lines of code between fences
    stay as they are. `on` has the bits LOREM ... CITATIONS of the rules that are on."""

    max_word_chars: int
    min_line_words: int
    min_paragraph_chars: int
    on: int
    terminal: bool
    by_sentence: bool
    keep_code: bool = False


@helper
def _stands(data: Any, at: int, end: int, word: Any) -> bool:
    if at + len(word) > end:
        return False
    same = True
    for i in range(len(word)):
        same = same and data[at + i] == word[i]
    return same


@helper
def _is_citation(data: Any, at: int, end: int) -> int:
    """Where the citation that begins at `at` ends: [12], [], [edit], [citation needed]; `at` if it is none."""
    behind = at + 1
    while behind < end and _ZERO <= signed(data[behind]) <= _NINE:
        behind += 1
    if behind < end and data[behind] == _CLOSE:
        return behind + 1
    if _stands(data, at + 1, end, _EDIT):
        return at + 1 + len(_EDIT)
    if _stands(data, at + 1, end, _NEEDED):
        return at + 1 + len(_NEEDED)
    return at


@helper
def _without_citations(data: Any, start: int, end: int, out: Any, at: int) -> int:
    while start < end:
        if data[start] == _OPEN:
            behind = _is_citation(data, start, end)
            if behind > start:
                start = behind
                continue
        out[at] = data[start]
        start += 1
        at += 1
    return at


@helper
def _ends_well(out: Any, start: int, end: int, flags: Any, ends: Any) -> bool:
    point, place = last_point(out, start, end, flags)
    if point < 0 or not signed(ends[point]) & (TERMINAL | QUOTE):
        return False
    return not (point == _STOP and place - 2 >= start and out[place - 1] == _STOP and out[place - 2] == _STOP)


@helper
def _fault(data: Any, line: Any, out: Any, text: Any, found: int, tables: Any, limits: Any) -> int:
    """The column of the reason that a line goes for, DROPPED_FOR if its document does; -1 if it stays. The line lies
    in `data[line[0]:line[1]]`, and without citations in `out[text[0]:text[1]]`."""
    flags, ends = tables[0], tables[1]
    if limits[4] != 0 and not _ends_well(out, text[0], text[1], flags, ends):
        return _NO_END
    if count_chunks(data, line[0], line[1], flags, limits[1]) < limits[1]:
        return _FEW_WORDS
    if found & LOREM:
        return DROPPED_FOR
    if found & JAVASCRIPT:
        return _SCRIPT
    if found & CURLY:
        return DROPPED_FOR
    return _POLICY if found & POLICY else -1


@helper
def _trimmed_copy(data: Any, start: int, end: int, out: Any, at: int, cites: bool, flags: Any) -> int:
    if not cites:
        return copied(data, start, end, out, at)
    last = _without_citations(data, start, end, out, at)
    inner, last = trimmed(out, at, last, flags)
    return copied(out, inner, last, out, at)


@helper
def _add_line(data: Any, line: Any, out: Any, at: int, tables: Any, limits: Any, counts: Any) -> int:
    """Write a line (start, end, start of the next) behind what is written, if it stays, and count; where the text
    ends now."""
    start, stop, behind = line
    flags, ends, classes, moves, kinds = tables
    first = at
    if counts[_KEPT] > 0:
        out[at] = _SPACE if limits[5] != 0 else _LF
        first += 1
    if holds_medium(data, start, stop):
        last = copied(data, start, stop, out, first)
    else:
        inner, end = trimmed(data, start, stop, flags)
        if inner == end and (limits[4] != 0 or limits[1] > 0):
            return at
        if 0 <= limits[0] < end - inner and longest_chunk(data, inner, end, flags) > limits[0]:
            counts[_TOO_LONG] += count_chars(data, start, behind)
            return at
        found = found_kinds(data, inner, end, classes, moves, kinds) & limits[3]
        last = _trimmed_copy(data, inner, end, out, first, found & CITATIONS != 0, flags)
        fault = _fault(data, (inner, end), out, (first, last), found, tables, limits)
        if fault == DROPPED_FOR:
            counts[DROPPED_FOR] = LOREM if found & LOREM else CURLY
            return at
        if fault >= 0:
            counts[fault] += count_chars(data, start, behind)
            return at
        if found & CITATIONS:
            counts[_CITATION] += count_chars(data, inner, end) - count_chars(out, first, last)
    counts[_KEPT] += 1
    counts[_LONG] += count_chars(out, first, last) >= limits[2]
    counts[_SENTENCES] += 1 if limits[5] != 0 else count_sentences(out, first, last, flags, ends)
    return last


@helper
def _add_code(data: Any, start: int, stop: int, out: Any, at: int, counts: Any) -> int:
    """Write a line of fenced code as it stands; it is kept, and no sentence."""
    if counts[_KEPT] > 0:
        out[at] = _LF
        at += 1
    counts[_KEPT] += 1
    return copied(data, start, stop, out, at)


@helper
def _without_outer_line_ends(out: Any, start: int, end: int) -> int:
    """Lines that are kept blank do not stand at either side."""
    while end > start and out[end - 1] == _LF:
        end -= 1
    first = start
    while first < end and out[first] == _LF:
        first += 1
    return copied(out, first, end, out, start)


_TABLES = types.Tuple([BYTES, BYTES, BYTES, TABLE, TABLE])


@kernel((BYTES, OFFSETS, _TABLES, OFFSETS, BYTES_OUT, OFFSETS_OUT, COUNTS_OUT))
def _clean(data: Any, offsets: Any, tables: Any, limits: Any, out: Any, out_offsets: Any, counts: Any) -> None:
    flags, ends = tables[0], tables[1]
    for row in range(len(offsets) - 1):
        at, end = offsets[row], offsets[row + 1]
        first = out_offsets[row]
        written = first
        fence = 0
        while at < end and counts[row, DROPPED_FOR] == 0:
            if limits[5] != 0:
                behind = next_sentence(data, at, end, flags, ends)
                stop = behind
            else:
                stop, behind = next_line(data, at, end)
            before = fence
            fence = fence_after(data, at, stop, fence, flags) if limits[6] != 0 else 0
            if before > 0 or fence > 0:
                written = _add_code(data, at, stop, out, written, counts[row])
            else:
                written = _add_line(data, (at, stop, behind), out, written, tables, limits, counts[row])
            at = behind
        if counts[row, DROPPED_FOR] != 0:
            written = first
        out_offsets[row + 1] = _without_outer_line_ends(out, first, written)


@functools.lru_cache(maxsize=1)
def _phrases() -> Phrases:
    return phrases(_PHRASES)


def clean(data: Bytes, offsets: Offsets, limits: C4Limits) -> tuple[Bytes, Offsets, npt.NDArray[np.int64]]:
    """The texts of lines that stay, as bytes and offsets, and the counts (int64, (n, len(COUNTS))).

    Lines that stay are parted by a line feed (sentences by a space); a row that goes for a phrase has no text.
    """
    rows, size = len(offsets) - 1, int(offsets[-1] - offsets[0])
    # Two sentences that nothing parts ("one.Two") get a space between them.
    out = np.empty(2 * size if limits.by_sentence else size, dtype=np.uint8)
    out_offsets = np.zeros(rows + 1, dtype=np.int64)
    counts = np.zeros((rows, len(COUNTS)), dtype=np.int64)
    known = _phrases()
    told = [limits.max_word_chars, limits.min_line_words, limits.min_paragraph_chars, limits.on]
    told += [int(limits.terminal), int(limits.by_sentence), int(limits.keep_code and not limits.by_sentence)]
    tables = char_flags(), end_classes(), known.classes, known.moves, known.kinds
    _clean(data, offsets, tables, np.array(told, dtype=np.int64), out, out_offsets, counts)
    return out[: out_offsets[-1]], out_offsets, counts

"""Lines of books and encyclopaedic pages, told apart in one pass over Arrow's bytes.

A text is read in windows of whole lines. For each line that is out of the ordinary the kernel leaves a mark; from the
marks `stages.text.pages` and `stages.text.knowledge_blocks` decide, without reading the text again. Lines are those
of `line_keys`; only lines that are not blank are counted. A mark's kind, in the order in which they are tried:

| kind | a line that | value | aux |
|---|---|---|---|
| TOC, INDEX, REFERENCES | is a heading of the table `heads` | 0 | 0 |
| STAMP | is in `heads` as what digitizers stamp on pages | 0 | 0 |
| NUMBER | is a number of 1 to 4 digits, or a small Roman one, or in `heads` with one | the number | 1 if Roman |
| LEADER | ends with text, a leader of 3 dots or more, a page number | the number | 0 |
| SPACED | ends with text, a tab or 2 spaces or more, a page number; only near to TOC | the number | 0 |
| ENTRY | begins with a letter, ends with a comma and pages | the last page | 256 * first letter + how many |
| CITED | begins with a label in brackets and a year or "et al", DOI, URL; or a number, and has both | its number | 0 |
| CHAPTER | begins with a number and a stop, or a word for chapter and one; only near to TOC | the number | 0 |
| JUNK | has 2 tokens or more, at least half of them junk | junk tokens | tokens |
| PAGE_HEAD | stands alone, has at most MAX_KEY_BYTES, begins or ends with a number | the number | 0 |

The first letter of an indented ENTRY counts as 0. `is_open` is 1 where the mark breaks into a sentence: the last line
of prose before (of MIN_PROSE_BYTES or more) does not end one, and the next line of prose begins with a small letter or
one that is not ASCII. Near to TOC is within NEAR_LINES of a heading or of another line of a table of contents.

Tokens are what white space separates. One of ASCII alone is junk when, of what stands between its first and last letter
or digit, a letter is repeated 4 times (Taghva et al. 2001, rule R), 7 consonants follow one another, or 5 or more
letters, none but the first a capital, have no vowel (after Taghva's rule V), a digit stands between small letters,
one of `~|!;` between letters, or symbols outnumber letters and digits (rule A).

A line of at most MAX_KEY_BYTES that returns at regular distances is a page header: its key is given back when it comes
`min_repeats` times or more, on average MIN_PAGE_LINES to MAX_PAGE_LINES lines apart, with a standard deviation of at
most half of that, breaks into a sentence in a quarter of its places, and either stands alone between blank lines (a
form feed and a line that is a number count as one) in three quarters of them, or has a number that rises by 1 to 3 in
four of five steps. Manuals repeat lines of code and directives as often as books do headers, but not into sentences.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, helper, kernel
from gristmill.stages.kernels.line_keys import (
    KNOWN,
    MAX_KEY_BYTES,
    KeyTable,
    ends_paragraph,
    key_of,
    known_value,
    table_of,
    trimmed_line,
)
from gristmill.stages.kernels.page_line_kinds import first_number, kind_of, page_head_number
from gristmill.stages.kernels.page_tokens import count_tokens

Ints = npt.NDArray[np.int64]

MARK_FIELDS = ("window", "start", "end", "line", "kind", "value", "aux", "is_open")
COUNTS = ("lines", "tokens", "junk_tokens", "single_letters", "hyphen_lines")
PLAIN, TOC, INDEX, REFERENCES, STAMP, NUMBER, LEADER, SPACED, ENTRY, CITED, CHAPTER, JUNK, PAGE_HEAD = range(13)

MIN_PROSE_BYTES = 25
MIN_PAGE_LINES = 12
MAX_PAGE_LINES = 250
NEAR_LINES = 12
MAX_SLOTS = 1 << 17
MIN_SLOTS = 1 << 6
MAX_HEADERS = 1 << 12
MAX_MARKS = 1 << 17
"""Of one window no more lines are marked: an index of 4 MB has fewer."""

_BYTES_PER_SLOT = 16
_COUNT, _KEY, _LAST, _GAPS, _SQUARES, _OPEN, _ALONE, _NUMBER, _RISES, _STATS = range(10)


@helper
def _ends_open(data: Bytes, start: int, end: int) -> bool:
    """Whether a line ends without . ! ? : or a closing quote, bracket or full stop of other scripts."""
    last = data[end - 1]
    if last < 0x80:
        return last not in (0x2E, 0x21, 0x3F, 0x3A, 0x22, 0x27, 0x29)
    if end - start < 3 or last & 0xC0 != 0x80:
        return True
    first, middle = data[end - 3], data[end - 2]
    if first == 0xE2 and middle == 0x80:
        return last not in (0x9D, 0x99, 0xA6)
    if first == 0xE3 and middle == 0x80:
        return last not in (0x82, 0x8D, 0x8F)
    return not (first == 0xEF and middle == 0xBC and last in (0x81, 0x89, 0x8E, 0x9F))


@helper
def _goes_on(data: Bytes, first: int) -> bool:
    """Whether a line begins with a small letter or one that is not ASCII."""
    return 0x61 <= data[first] <= 0x7A or data[first] >= 0x80


@helper
def _note_repeat(stats: Ints, slots: int, used: int, key: int) -> tuple[int, int]:
    """Slot of a key, and the slots in use. A table that is half full takes no new key: then -1."""
    slot = (key >> 20) & (slots - 1)
    while stats[slot, _COUNT] > 0 and stats[slot, _KEY] != key:
        slot = (slot + 1) & (slots - 1)
    if stats[slot, _COUNT] == 0:
        if 2 * used >= slots:
            return -1, used
        used += 1
        stats[slot] = 0
        stats[slot, _KEY] = key
    return slot, used


@helper
def _count_repeat(stats: Ints, line: int, alone: bool, number: int) -> None:
    if stats[_COUNT] > 0:
        gap = line - stats[_LAST]
        stats[_GAPS] += gap
        stats[_SQUARES] += gap * gap
        stats[_RISES] += stats[_NUMBER] > 0 and 1 <= number - stats[_NUMBER] <= 3
    stats[_COUNT] += 1
    stats[_LAST] = line
    stats[_ALONE] += alone
    stats[_NUMBER] = number


@helper
def _is_header(stats: Ints, min_repeats: int) -> bool:
    count = stats[_COUNT]
    if count < min_repeats or count < 2 or 4 * stats[_OPEN] < count:
        return False
    gaps = count - 1
    if 4 * stats[_ALONE] < 3 * count and 5 * stats[_RISES] < 4 * gaps:
        return False
    if stats[_GAPS] < MIN_PAGE_LINES * gaps or stats[_GAPS] > MAX_PAGE_LINES * gaps:
        return False
    # variance <= (mean / 2)^2, without a division
    return 4 * (gaps * stats[_SQUARES] - stats[_GAPS] * stats[_GAPS]) <= stats[_GAPS] * stats[_GAPS]


@helper
def _slots_for(size: int) -> int:
    slots = MIN_SLOTS
    while slots < MAX_SLOTS and slots * _BYTES_PER_SLOT < size:
        slots *= 2
    return slots


@helper
def _scan_window(
    data: Bytes, bounds: Ints, window: int, known: KeyTable, stats: Ints, counts: Ints, marks: Ints, found: int
) -> int:
    """Marks of one window from place `found` on (those past the end are counted only); the number of marks."""
    at, end = bounds[window]
    most = found + MAX_MARKS
    slots = _slots_for(end - at)
    stats[:slots, _COUNT] = 0
    used, is_open, near, waiting, slot = 0, False, -NEAR_LINES - 1, -1, -1
    after_blank = True
    while at < end:
        begin = at
        first, last, at = trimmed_line(data, at, end)
        if first == last:
            after_blank = True
            continue
        line = counts[window, 0]
        counts[window, 0] += 1
        junk, tokens = count_tokens(data, first, last, counts[window])
        kind, value, aux = kind_of(data, begin, first, last, known, line - near <= NEAR_LINES)
        alone = after_blank and last - first <= MAX_KEY_BYTES and ends_paragraph(data, at, end)
        if kind == PLAIN and tokens >= 2 and 2 * junk >= tokens:
            kind, value, aux = JUNK, junk, tokens
        if kind == PLAIN and alone and page_head_number(data, first, last) > 0:
            kind, value, aux = PAGE_HEAD, page_head_number(data, first, last), 0
        if kind in (TOC, LEADER, SPACED, CHAPTER):
            near = line
        is_prose = kind not in (NUMBER, PAGE_HEAD) and last - first >= MIN_PROSE_BYTES
        if is_prose and is_open and _goes_on(data, first):
            if 0 <= waiting < len(marks):
                marks[waiting, 7] = 1
            if slot >= 0:
                stats[slot, _OPEN] += 1
        if is_prose:
            waiting, slot = -1, -1
        if kind != PLAIN and found < most:
            if found < len(marks):
                marks[found, 0], marks[found, 1], marks[found, 2], marks[found, 3] = window, begin, at, line
                marks[found, 4], marks[found, 5], marks[found, 6], marks[found, 7] = kind, value, aux, 0
            waiting = found
            found += 1
        if kind in (PLAIN, PAGE_HEAD) and last - first <= MAX_KEY_BYTES:
            slot, used = _note_repeat(stats, slots, used, key_of(data, first, last, 0))
            if slot >= 0:
                _count_repeat(stats[slot], line, alone, first_number(data, first, last))
        if is_prose and (slot < 0 or stats[slot, _COUNT] == 1):
            is_open = _ends_open(data, first, last)
        after_blank = kind == NUMBER or data[at - 1] == 0x0C
    return found


@kernel(types.UniTuple(types.int64, 2)(BYTES, COUNTS_OUT, KNOWN, types.int64, COUNTS_OUT, COUNTS_OUT, COUNTS_OUT))
def _scan(
    data: Bytes, bounds: Ints, known: KeyTable, min_repeats: int, counts: Ints, marks: Ints, headers: Ints
) -> tuple[int, int]:
    size = 0
    for window in range(len(bounds)):
        size = max(size, bounds[window, 1] - bounds[window, 0])
    stats = np.empty((_slots_for(size), _STATS), np.int64)
    found, repeated = 0, 0
    for window in range(len(bounds)):
        found = _scan_window(data, bounds, window, known, stats, counts, marks, found)
        for slot in range(_slots_for(bounds[window, 1] - bounds[window, 0])):
            if stats[slot, _COUNT] > 1 and repeated < len(headers) and _is_header(stats[slot], min_repeats):
                headers[repeated, 0], headers[repeated, 1] = window, stats[slot, _KEY]
                repeated += 1
    return found, repeated


@kernel(types.int64(BYTES, types.int64, types.int64, KNOWN, COUNTS_OUT))
def _find_headers(data: Bytes, at: int, end: int, known: KeyTable, spans: Ints) -> int:
    found = 0
    seen = np.zeros(len(known) + 1, np.int64)
    while at < end:
        begin = at
        first, last, at = trimmed_line(data, at, end)
        if first == last or last - first > MAX_KEY_BYTES:
            continue
        place = known_value(known, key_of(data, first, last, 0))
        if place == 0:
            continue
        seen[place] += 1
        if seen[place] > 1:
            if found < len(spans):
                spans[found, 0], spans[found, 1] = begin, at
            found += 1
    return found


@dataclass(frozen=True)
class PageScan:
    """What the kernel found in some windows: `counts` (windows, len(COUNTS)), `marks` (n, len(MARK_FIELDS)), both
    int64, and the keys of page headers by window."""

    counts: Ints
    marks: Ints
    headers: dict[int, KeyTable]


def scan_windows(data: Bytes, starts: Ints, ends: Ints, known: KeyTable, min_repeats: int) -> PageScan:
    """Marks, counts and header keys of the windows `data[starts[i]:ends[i]]`; see the module."""
    bounds = np.stack([starts, ends], axis=1)
    room, found, repeated = int((ends - starts).sum()) // 256 + 64, 0, 0
    headers = np.zeros((MAX_HEADERS, 2), np.int64)
    while True:
        counts = np.zeros((len(starts), len(COUNTS)), np.int64)
        marks = np.empty((room, len(MARK_FIELDS)), np.int64)
        found, repeated = _scan(data, bounds, known, min_repeats, counts, marks, headers)
        if found <= room:
            break
        room = found
    by_window: dict[int, dict[int, int]] = {}
    for window, key in headers[:repeated].tolist():
        own = by_window.setdefault(window, {})
        own[key] = len(own) + 1
    return PageScan(counts, marks[:found], {window: table_of(keys) for window, keys in by_window.items()})


def header_spans(data: Bytes, start: int, end: int, known: KeyTable) -> Ints:
    """Spans (n, 2) of the lines of one window whose key is in `known`, but for the first of each key."""
    room = 256
    while True:
        spans = np.empty((room, 2), np.int64)
        found = _find_headers(data, start, end, known, spans)
        if found <= room:
            return spans[:found]
        room = found

"""Units of texts that may be duplicates: lines, paragraphs, spans of sentences.

In: bytes and offsets of texts, which rows are walked, and which of them hold media. Out: for each unit its row and the
bytes [start, stop) of the text that go with it, in order.

* LINES: a line with the characters that end it (lines end as in `lines`).
* PARAGRAPHS: lines that follow one another without an empty one, with the empty ones behind them.
* SPANS: each sequence of `span` sentences (`lines_sentences`; a line ends one). The end of its last line belongs to it
  if it begins at the beginning of a line, so that what stays before it does not run into the next line.

No unit are those of less than `min_chars` characters (white space at the ends aside) or `min_words` words, and those
that hold the mark of a medium. With `keep_blocks`, code between fences is in no unit, and parts what is around it; nor
is a row of a Markdown table one of the LINES. The twin is `line_units_plain`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import char_flags
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, OFFSETS, helper, kernel
from gristmill.stages.kernels.lines import (
    count_chars,
    count_words,
    fence_after,
    holds_medium,
    next_line,
    signed,
    trimmed,
)
from gristmill.stages.kernels.lines_chars import end_classes
from gristmill.stages.kernels.lines_sentences import next_sentence

LINES, PARAGRAPHS, SPANS = range(3)
MAX_SPAN = 16
_BAR, _TICK = 0x7C, 0x60
_MOST_BYTES_OF_A_CHAR = 4
_ROW, _USED, _NEEDED = range(3)
_BYTES_A_UNIT = 64
_MIN_ROOM = 4096
_STATE_OUT = types.Array(types.int64, 1, "C")


class UnitRules(NamedTuple):
    """What a unit is; see the module."""

    unit: int
    min_chars: int
    min_words: int
    keep_blocks: bool
    span: int


class Texts(NamedTuple):
    """Row i is `data[offsets[i]:offsets[i + 1]]`; `walked` and `with_media` are 1 or 0."""

    data: Bytes
    offsets: Offsets
    walked: npt.NDArray[np.uint8]
    with_media: npt.NDArray[np.uint8]


_TEXTS = types.NamedTuple((BYTES, OFFSETS, BYTES, BYTES), Texts)
_RULES = types.NamedTuple((types.int64, types.int64, types.int64, types.boolean, types.int64), UnitRules)


@helper
def _is_unit(data: Bytes, start: int, stop: int, media: bool, rules: Any, flags: Bytes) -> bool:
    """Whether what stands there is enough."""
    first, last = trimmed(data, start, stop, flags)
    size = last - first
    if size == 0 or (
        size < _MOST_BYTES_OF_A_CHAR * rules.min_chars and count_chars(data, first, last) < rules.min_chars
    ):
        return False
    if media and holds_medium(data, start, stop):
        return False
    return rules.min_words == 0 or count_words(data, first, last, flags, rules.min_words) >= rules.min_words


@helper
def _put(out: Any, used: int, row: int, start: int, stop: int) -> int:
    """One more unit; without room it is counted only."""
    if used < len(out):
        out[used, 0], out[used, 1], out[used, 2] = row, start, stop
    return used + 1


@helper
def _first_visible(data: Bytes, start: int, stop: int) -> int:
    """The first byte above the blank, else 0."""
    while start < stop:
        if data[start] > 0x20:
            return signed(data[start])
        start += 1
    return 0


@helper
def _is_table_row(data: Bytes, start: int, stop: int, flags: Bytes) -> bool:
    """Whether a line begins and ends with a bar."""
    first, last = trimmed(data, start, stop, flags)
    return last - first > 1 and data[first] == _BAR and data[last - 1] == _BAR


@helper
def _fence_after(data: Bytes, at: int, stop: int, fence: int, rules: Any, flags: Bytes) -> int:
    if not rules.keep_blocks:
        return 0
    if fence == 0:
        first = _first_visible(data, at, stop)
        if first != _TICK and first < 0x80:
            return 0
    return fence_after(data, at, stop, fence, flags)


@helper
def _lines(data: Bytes, place: Any, rules: Any, flags: Bytes, out: Any) -> int:
    """Units of a row from `out[0]` on; how many, there being room or not. `place`: begin, end, number, whether it holds
    media."""
    begin, end, row, media = place
    at, used, fence = begin, 0, 0
    while at < end:
        stop, behind = next_line(data, at, end)
        before, fence = fence, _fence_after(data, at, stop, fence, rules, flags)
        if before == 0 and fence == 0 and _is_unit(data, at, stop, media, rules, flags):
            table = rules.keep_blocks and _first_visible(data, at, stop) == _BAR
            if not table or not _is_table_row(data, at, stop, flags):
                used = _put(out, used, row, at - begin, behind - begin)
        at = behind
    return used


@helper
def _paragraphs(data: Bytes, place: Any, rules: Any, flags: Bytes, out: Any) -> int:
    """The same for paragraphs."""
    begin, end, row, media = place
    at, used, fence, gap = begin, 0, 0, False
    start, last = -1, -1  # of the paragraph that is open: its begin, the end of its last line
    while at < end:
        stop, behind = next_line(data, at, end)
        before, fence = fence, _fence_after(data, at, stop, fence, rules, flags)
        code = before > 0 or fence > 0
        first, visible = trimmed(data, at, stop, flags)
        blank = first == visible and not (media and holds_medium(data, at, stop))
        if start >= 0 and (code or (gap and not blank)):
            if _is_unit(data, start, last, media, rules, flags):
                used = _put(out, used, row, start - begin, at - begin)
            start = -1
        if not blank and not code:
            start = at if start < 0 else start
            last = stop
        gap = blank
        at = behind
    if start >= 0 and _is_unit(data, start, last, media, rules, flags):
        used = _put(out, used, row, start - begin, end - begin)
    return used


@helper
def _spans(data: Bytes, place: Any, rules: Any, flags: Bytes, ends: Bytes, open_: Any, out: Any) -> int:
    """The same for spans; `open_` (MAX_SPAN, 2) has room for the begins of sentences."""
    begin, end, row, media = place
    at, used, fence, count = begin, 0, 0, 0
    while at < end:
        stop, behind = next_line(data, at, end)
        before, fence = fence, _fence_after(data, at, stop, fence, rules, flags)
        if before > 0 or fence > 0 or (media and holds_medium(data, at, stop)):
            count = 0
            at = behind
            continue
        first, visible = trimmed(data, at, stop, flags)
        sentence = at if first < visible else stop
        while sentence < stop:
            following = next_sentence(data, sentence, stop, flags, ends)
            open_[count % rules.span, 0], open_[count % rules.span, 1] = sentence, sentence == at
            count += 1
            start, heads = open_[(count - rules.span) % rules.span]
            if count >= rules.span and _is_unit(data, start, following, False, rules, flags):
                cut = behind if following == stop and heads != 0 else following
                used = _put(out, used, row, start - begin, cut - begin)
            sentence = following
        at = behind
    return used


@kernel(types.void(_TEXTS, BYTES, BYTES, _RULES, _STATE_OUT, COUNTS_OUT))
def _units(texts: Any, flags: Any, ends: Any, rules: Any, state: Any, out: Any) -> None:
    data, offsets, walked, with_media = texts
    open_ = np.zeros((MAX_SPAN, 2), np.int64)
    while state[_ROW] < len(walked):
        row, used, found = state[_ROW], state[_USED], 0
        place = (offsets[row], offsets[row + 1], row, with_media[row] != 0)
        if walked[row] == 0:
            found = 0
        elif rules.unit == LINES:
            found = _lines(data, place, rules, flags, out[used:])
        elif rules.unit == PARAGRAPHS:
            found = _paragraphs(data, place, rules, flags, out[used:])
        else:
            found = _spans(data, place, rules, flags, ends, open_, out[used:])
        if used + found > len(out):
            state[_NEEDED] = used + found
            return
        state[_USED] = used + found
        state[_ROW] = row + 1


def text_units(texts: Texts, rules: UnitRules) -> npt.NDArray[np.int64]:
    """Units of all rows (n, 3): row, start, stop, by row and place."""
    state = np.zeros(3, np.int64)
    size = int(texts.offsets[-1] - texts.offsets[0])
    out = np.empty((size // _BYTES_A_UNIT + _MIN_ROOM, 3), np.int64)
    while True:
        _units(texts, char_flags(), end_classes(), rules, state, out)
        if state[_ROW] == len(texts.walked):
            return out[: state[_USED]]
        # The row that lacks room is walked again.
        more = np.empty((int(state[_NEEDED]) * 5 // 4 + _MIN_ROOM, 3), np.int64)
        more[: state[_USED]] = out[: state[_USED]]
        out = more

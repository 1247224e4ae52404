"""Where tokenised documents may be cut, as numba kernels over UTF-8 and ids: `pipeline.breaks` has the rules,
`pipeline.breaks_plain` the twin. A document is walked through token by token, whatever its length.

Import this module only where it is used: it compiles once, cached.
"""

from typing import Any

import numpy as np
from numba import types

from gristmill.manifests.trainer_schema import (
    BREAK_LEVELS,
    BREAK_LINE,
    BREAK_PARAGRAPH,
    BREAK_SENTENCE,
    BREAK_STRETCH_TOKENS,
    BREAK_TOKEN,
    BREAK_TOP,
    HOLD_END,
    HOLD_START,
)
from gristmill.stages.kernels.jit import BYTES, OFFSETS, helper, inner, kernel

_LEVELS, _STRETCH = BREAK_LEVELS, BREAK_STRETCH_TOKENS
_TOKEN, _SENTENCE, _LINE, _PARAGRAPH, _TOP = BREAK_TOKEN, BREAK_SENTENCE, BREAK_LINE, BREAK_PARAGRAPH, BREAK_TOP
_HOLD_END, _HOLD_START = HOLD_END, HOLD_START

_TAB, _LF, _CR, _SPACE, _HASH, _BACKSLASH = 0x09, 0x0A, 0x0D, 0x20, 0x23, 0x5C
_TICK, _TILDE, _MIN_FENCE = 0x60, 0x7E, 3
_MAX_HASHES, _MAX_CLOSERS = 6, 3
_COMMANDS = np.frombuffer(b"part{chapter{section{subsection{", dtype=np.uint8)
_COMMAND_BOUNDS = np.array([0, 5, 13, 21, 32], dtype=np.int64)

_TEXTS = types.Tuple((BYTES, OFFSETS))
_IDS = types.Tuple(
    (types.Array(types.uint32, 1, "C", readonly=True), OFFSETS, types.Array(types.int32, 1, "C", readonly=True))
)
_FLAGS = types.Array(types.bool_, 1, "C", readonly=True)
_SPANS = types.UniTuple(OFFSETS, 3)
_OUT = types.Array(types.int64, 1, "C")


@inner
def _is_blank(byte: Any) -> Any:
    return byte in (_SPACE, _TAB, _CR)


@helper
def _blank_line_before(data: Any, begin: Any, place: Any) -> Any:
    """Whether the line that ends in front of `place`, where a line begins, is blank."""
    at = place - 2
    while at >= begin and _is_blank(data[at]):
        at -= 1
    return at < begin or data[at] == _LF


@helper
def _is_heading(data: Any, place: Any, end: Any) -> Any:
    """`# ` to `###### `, or a sectioning command of LaTeX."""
    if data[place] == _HASH:
        at = place
        while at < end and data[at] == _HASH:
            at += 1
        return at - place <= _MAX_HASHES and at < end and data[at] == _SPACE
    if data[place] == _BACKSLASH:
        for command in range(len(_COMMAND_BOUNDS) - 1):
            first, stop = _COMMAND_BOUNDS[command], _COMMAND_BOUNDS[command + 1]
            at = 0
            while first + at < stop and place + 1 + at < end and data[place + 1 + at] == _COMMANDS[first + at]:
                at += 1
            if first + at == stop:
                return True
    return False


@inner
def _closes(byte: Any) -> Any:
    """A quote or a closing bracket."""
    return byte in (0x22, 0x27, 0x29, 0x5D)


@helper
def _ends_sentence(data: Any, begin: Any, place: Any) -> Any:
    """Whether a sentence ends in front of `place`, or of the one space in front of it."""
    at = place - 1
    spaced = data[place] == _SPACE or data[place] == _LF
    if data[at] == _SPACE:
        at -= 1
        spaced = True
    closers = 0
    while at > begin and closers < _MAX_CLOSERS and _closes(data[at]):
        at -= 1
        closers += 1
    if at < begin:
        return False
    if data[at] in (0x21, 0x2E, 0x3F):
        return spaced
    if data[at] < 0x80 or at - 2 < begin:
        return False
    mark = (np.int64(data[at - 2]) << 16) | (np.int64(data[at - 1]) << 8) | np.int64(data[at])
    return mark in (0xE38082, 0xEFBC81, 0xEFBC9F, 0xE0A5A4)


@inner
def _level(data: Any, begin: Any, place: Any, end: Any, is_code: Any) -> Any:
    """Level of a cut in front of byte `place`, 0 inside a character."""
    here = data[place]
    if here & 0xC0 == 0x80:
        return 0
    before = data[place - 1]
    if before == _LF:
        if not is_code and _is_heading(data, place, end):
            return _TOP
        if not _blank_line_before(data, begin, place):
            return _LINE
        return _TOP if is_code and not (_is_blank(here) or here == _LF) else _PARAGRAPH
    if here in (_SPACE, _LF) or before == _SPACE or before >= 0x80 or _closes(before):
        return _SENTENCE if _ends_sentence(data, begin, place) else _TOKEN
    return _TOKEN


@inner
def _adds_up(ids: Any, first: Any, stop: Any, lengths: Any, spans: Any, row: Any, size: Any) -> Any:
    """Whether the bytes of the ids outside of media are those of the text."""
    medium, total, at = spans[0][row], 0, first
    while at < stop:
        if medium < spans[0][row + 1] and at - first == spans[1][medium]:
            at += max(spans[2][medium], 1)
            medium += 1
            continue
        here = lengths[ids[at]] if ids[at] < len(lengths) else -1
        if here < 0:
            return False
        total += here
        at += 1
    return total == size


@inner
def _better(data: Any, begin: Any, place: Any, end: Any, is_code: Any, best: Any) -> Any:
    """The level of a place, 0 when it is below `best`; most places cannot reach it, and are not looked at."""
    if data[place - 1] != _LF and best > _SENTENCE:
        return 0
    level = _level(data, begin, place, end, is_code)
    return level if level >= best else 0


@helper
def _of_text(texts: Any, coded: Any, row: Any, is_code: Any, out: Any) -> Any:
    """Candidates of a document without media; their number, 0 where ids do not add up to the text."""
    data, (begin, end) = texts[0], (texts[1][row], texts[1][row + 1])
    first, stop = coded[1][row], coded[1][row + 1]
    used, best, best_at = 0, 0, 0
    place = begin + coded[2][coded[0][first]]
    edge = first + _STRETCH
    for at in range(first + 1, stop):
        if at == edge:
            if best:
                out[used] = best_at * _LEVELS + best
                used += 1
            best = 0
            edge += _STRETCH
        if place <= begin or place >= end:
            return 0
        level = _better(data, begin, place, end, is_code, best)
        if level:
            best, best_at = level, at - first
        size = coded[2][coded[0][at]]
        if size < 0:
            return 0
        place += size
    if best:
        out[used] = best_at * _LEVELS + best
        used += 1
    return used if place == end else 0


@helper
def _around_media(texts: Any, coded: Any, row: Any, is_code: Any, media: Any, holds: Any, out: Any) -> Any:
    """The same of a document with media, whose ids add up (`find_holds`), with the marks of its holds."""
    data, (begin, end) = texts[0], (texts[1][row], texts[1][row + 1])
    first, tokens = coded[1][row], coded[1][row + 1] - coded[1][row]
    medium, last_medium = media[0][row], media[0][row + 1]
    hold, last_hold = holds[0][row], holds[0][row + 1]
    used, best, best_at, place, at, edge = 0, 0, 0, begin, 0, _STRETCH
    while at < tokens:
        if at >= edge:
            if best:
                out[used] = best_at * _LEVELS + best
                used += 1
            best, edge = 0, (at // _STRETCH + 1) * _STRETCH
        while hold < last_hold and holds[2][hold] <= at:
            hold += 1
        is_held = hold < last_hold and holds[1][hold] < at
        if begin < place < end and not is_held:
            level = _better(data, begin, place, end, is_code, best)
            if level:
                best, best_at = level, at
        if medium < last_medium and at == media[1][medium]:
            at += max(media[2][medium], 1)
            medium += 1
        else:
            place += coded[2][coded[0][first + at]]
            at += 1
    if best:
        out[used] = best_at * _LEVELS + best
        used += 1
    for mark in range(holds[0][row], last_hold):
        out[used] = holds[1][mark] * _LEVELS + _HOLD_START
        out[used + 1] = holds[2][mark] * _LEVELS + _HOLD_END
        used += 2
    out[:used].sort()
    return used


@inner
def _has_text(data: Any, place: Any, stop: Any) -> Any:
    while place < stop and data[place] <= _SPACE:
        place += 1
    return place < stop


# What `_read_lines` knows of a line so far: character and length of the run that it begins with, whether it stands in
# front of that run, in it or behind, whether anything or a backtick is behind; and the same of the fence that is open.
_KIND, _RUN, _PART, _OTHER, _TICKS, _FENCE, _FENCE_RUN, _STATES = range(8)
_INDENT, _IN_RUN, _REST = range(3)


@inner
def _end_line(state: Any) -> Any:
    """Open or close a fence with the line that ends, and begin the next."""
    if state[_FENCE] == 0:
        if state[_RUN] >= _MIN_FENCE and not (state[_KIND] == _TICK and state[_TICKS]):
            state[_FENCE], state[_FENCE_RUN] = state[_KIND], state[_RUN]
    elif state[_KIND] == state[_FENCE] and state[_RUN] >= state[_FENCE_RUN] and not state[_OTHER]:
        state[_FENCE] = 0
    state[:_FENCE] = 0


@helper
def _read_lines(data: Any, at: Any, place: Any, state: Any) -> Any:
    """Bring `state` from byte `at` to `place`."""
    while at < place:
        byte = data[at]
        at += 1
        if byte == _LF:
            _end_line(state)
        elif _is_blank(byte):
            state[_PART] = _REST if state[_PART] == _IN_RUN else state[_PART]
        elif state[_PART] == _INDENT and byte in (_TICK, _TILDE):
            state[_KIND], state[_RUN], state[_PART] = byte, 1, _IN_RUN
        elif state[_PART] == _IN_RUN and byte == state[_KIND]:
            state[_RUN] += 1
        else:
            state[_PART], state[_OTHER] = _REST, 1
            state[_TICKS] |= byte == _TICK


@helper
def _holds_of(texts: Any, coded: Any, row: Any, media: Any, starts: Any, ends: Any, made: Any) -> Any:
    """Holds of a document, written to `starts` and `ends` from `made` on; how many there are then."""
    data, begin = texts[0], texts[1][row]
    first, tokens = coded[1][row], coded[1][row + 1] - coded[1][row]
    medium, last = media[0][row], media[0][row + 1]
    place, at, floor, paragraph, pending, line = begin, 0, 0, -1, 0, begin
    in_hold, seen = False, False
    state = np.zeros(_STATES, np.int64)
    while at < tokens:
        _read_lines(data, line, place, state)
        line = place
        is_bound = place > begin and data[place - 1] == _LF and state[_FENCE] == 0
        if is_bound and _blank_line_before(data, begin, place):
            pending = at
            if in_hold and seen:
                ends[made - 1], floor, in_hold = at, at, False
        if medium < last and at == media[1][medium]:
            if state[_PART] == _IN_RUN:
                state[_PART] = _REST
            if in_hold:
                ends[made - 1], floor = at, at
            starts[made] = paragraph if paragraph >= floor else at
            made += 1
            in_hold, seen, paragraph, pending = True, False, -1, -1
            at += max(media[2][medium], 1)
            medium += 1
            continue
        size = coded[2][coded[0][first + at]]
        if _has_text(data, place, place + size):
            seen = True
            if pending >= 0:
                paragraph, pending = pending, -1
        place += size
        at += 1
    if in_hold:
        ends[made - 1] = at
    return made


@kernel(types.UniTuple(_OUT, 3)(_TEXTS, _IDS, _SPANS))
def find_holds(texts: Any, coded: Any, media: Any) -> Any:
    """(bounds int64[n + 1], starts, ends): media with the paragraphs that touch them, in tokens, one a medium."""
    ids, id_offsets, lengths = coded
    rows = len(texts[1]) - 1
    bounds = np.zeros(rows + 1, np.int64)
    starts = np.zeros(len(media[1]), np.int64)
    ends = np.zeros(len(media[1]), np.int64)
    made = 0
    for row in range(rows):
        first, stop = id_offsets[row], id_offsets[row + 1]
        is_known = media[0][row] < media[0][row + 1] and stop - first > _STRETCH
        size = texts[1][row + 1] - texts[1][row]
        if is_known and _adds_up(ids, first, stop, lengths, media, row, size):
            made = _holds_of(texts, coded, row, media, starts, ends, made)
        bounds[row + 1] = made
    return bounds, starts[:made], ends[:made]


@kernel(types.Tuple((_OUT, _OUT))(_TEXTS, _IDS, _FLAGS, _SPANS, _SPANS))
def candidates(texts: Any, coded: Any, is_code: Any, media: Any, holds: Any) -> Any:
    """(int64[n] counts, int64 breaks): candidates of each stretch and marks of each hold, ascending in a document.

    texts: bytes and offsets; coded: ids, offsets, bytes of each id; is_code: bool[n]; media, holds: bounds int64[n +
    1], and starts and lengths in tokens (of holds: starts and ends).
    """
    counts = np.zeros(len(is_code), np.int64)
    out = np.empty(1024, np.int64)
    used = 0
    for row in range(len(is_code)):
        tokens = coded[1][row + 1] - coded[1][row]
        if tokens <= _STRETCH:
            continue
        needed = tokens // _STRETCH + 1 + 2 * (holds[0][row + 1] - holds[0][row])
        if used + needed > len(out):
            out = np.concatenate((out, np.empty(len(out) + needed, np.int64)))
        if media[0][row] == media[0][row + 1]:
            counts[row] = _of_text(texts, coded, row, is_code[row], out[used:])
        elif holds[0][row] < holds[0][row + 1]:
            counts[row] = _around_media(texts, coded, row, is_code[row], media, holds, out[used:])
        used += counts[row]
    return counts, out[:used].copy()

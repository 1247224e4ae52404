"""Where tokens stand in their text, words where they cannot be told, and edges of spans moved out of words.

A vocabulary spells a token by the bytes that it stands for: token i has `spelled[bounds[i]:bounds[i + 1]]`. Tokens of a
row that spell its text one after the other have their places from that; a space that some vocabularies put before the
text is passed over. `windows_tokens_plain` is the twin.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import ALPHA, ATTACHED, SOLO, WORD, char_flags
from gristmill.stages.kernels.jit import BYTES, OFFSETS, helper, inner, kernel
from gristmill.stages.kernels.windows import END, FIRST, ROW, START, STOP
from gristmill.stages.kernels.windows_units import STATE_FIELDS, begin, next_unit
from gristmill.stages.kernels.winnow import IDS, Ids, Ints, longer
from gristmill.stages.kernels.words import decode

Places = npt.NDArray[np.uint32]

_SPACE = 0x20
_LOOK_BACK = 32
"""Marks behind which a letter is looked for."""
_UNIT_KEY = 0x9E3779B97F4A7C15
_FIRST_ROOM = 1024

_signed = cast(Callable[[Any], int], np.int64)
_PLACES = types.Array(types.uint32, 2, "C")
_FLAGS_OUT = types.Array(types.boolean, 1, "C")


@helper
def _spell(row_ids: Any, text: Bytes, bounds: Offsets, spelled: Bytes, starts: Any, stops: Any) -> bool:
    at = 0
    for i in range(len(row_ids)):
        token = _signed(row_ids[i])
        if token >= len(bounds) - 1:
            return False
        first, end = bounds[token], bounds[token + 1]
        if i == 0 and first < end and spelled[first] == _SPACE and (len(text) == 0 or text[0] != _SPACE):
            first += 1
        starts[i] = at
        if at + end - first > len(text):
            return False
        for place in range(first, end):
            if spelled[place] != text[at]:
                return False
            at += 1
        stops[i] = at
    return at == len(text)


@kernel((IDS, OFFSETS, BYTES, OFFSETS, OFFSETS, BYTES, _PLACES, _FLAGS_OUT))
def _spell_rows(
    ids: Ids, offsets: Offsets, data: Bytes, text: Offsets, bounds: Offsets, spelled: Bytes, places: Any, right: Any
) -> None:
    for row in range(len(offsets) - 1):
        a, b = offsets[row], offsets[row + 1]
        own, starts, stops = data[text[row] : text[row + 1]], places[0, a:b], places[1, a:b]
        right[row] = _spell(ids[a:b], own, bounds, spelled, starts, stops)


def token_places(
    tokens: tuple[Ids, Ints], texts: tuple[Bytes, Offsets], spelling: tuple[Bytes, Ints]
) -> tuple[Places, Places, npt.NDArray[np.bool_]]:
    """Start and stop of each token in the text of its row, and whether the tokens of a row spell its text.

    tokens: ids and offsets of rows; texts: the same of their UTF-8; spelling: `spelled` and `bounds`.
    """
    (ids, offsets), (data, text), (spelled, bounds) = tokens, texts, spelling
    places = np.zeros((2, len(ids)), np.uint32)
    is_spelled = np.zeros(len(offsets) - 1, np.bool_)
    given = [np.ascontiguousarray(a) for a in (ids, offsets, data, text, bounds, spelled)]
    _spell_rows(*given, places, is_spelled)
    return places[0], places[1], is_spelled


@kernel((BYTES, OFFSETS, BYTES))
def _word_units(data: Bytes, text: Offsets, flags: Bytes) -> Any:
    values, starts = np.empty(_FIRST_ROOM, np.uint32), np.empty(_FIRST_ROOM, np.uint32)
    stops, offsets = np.empty(_FIRST_ROOM, np.uint32), np.zeros(len(text), np.int64)
    state, count = np.zeros(STATE_FIELDS, np.int64), 0
    for row in range(len(text) - 1):
        base, end = text[row], text[row + 1]
        begin(data, base, end, flags, False, state)
        while True:
            start, stop, value, _ = next_unit(data, end, flags, np.uint64(_UNIT_KEY), state)
            if start < 0:
                break
            if count == len(values):
                values, starts, stops = longer(values), longer(starts), longer(stops)
            values[count], starts[count], stops[count] = value >> np.uint64(32), start - base, stop - base
            count += 1
        offsets[row + 1] = count
    return values[:count].copy(), offsets, starts[:count].copy(), stops[:count].copy()


def word_units(data: Bytes, text: Offsets) -> tuple[Ids, Ints, Places, Places]:
    """The units (`windows_units`) of each row: a hash of 32 bits, offsets of rows, start and stop in the row's text."""
    return _word_units(np.ascontiguousarray(data), np.ascontiguousarray(text), char_flags())


@inner
def _char_at(data: Bytes, at: int, low: int) -> int:
    """The begin of the character that the byte before `at` belongs to."""
    at -= 1
    while at > low and data[at] & 0xC0 == 0x80:
        at -= 1
    return at


@helper
def _is_inside(data: Bytes, at: int, low: int, end: int, flags: Bytes) -> bool:
    """Whether a word or character goes on over `at`, which is the begin of a character of the text `data[low:end]`."""
    if at <= low or at >= end:
        return False
    point, _ = decode(data, at, end)
    flag = flags[point]
    if flag & ATTACHED:
        return True
    if flag & SOLO or flag & (ALPHA | WORD) == 0:
        return False
    for _ in range(_LOOK_BACK):
        at = _char_at(data, at, low)
        point, _ = decode(data, at, end)
        flag = flags[point]
        if flag & ATTACHED == 0:
            return flag & (ALPHA | WORD) != 0 and flag & SOLO == 0
        if at <= low:
            return False
    return True


@helper
def _forward(data: Bytes, at: int, limit: int, low: int, end: int, flags: Bytes) -> int:
    """The first place from `at` on that is in no word, at most `limit`."""
    while at < limit and data[at] & 0xC0 == 0x80:
        at += 1
    while at < limit and _is_inside(data, at, low, end, flags):
        _, at = decode(data, at, end)
    return min(at, limit)


@helper
def _backward(data: Bytes, at: int, limit: int, low: int, end: int, flags: Bytes) -> int:
    """The last place up to `at` that is in no word, at least `limit`."""
    while at > limit and at < end and data[at] & 0xC0 == 0x80:
        at -= 1
    while at > limit and _is_inside(data, at, low, end, flags):
        at = _char_at(data, at, limit)
    return at


@kernel((types.Array(types.int64, 2, "C"), BYTES, OFFSETS, BYTES))
def _snap(spans: Any, data: Bytes, text: Offsets, flags: Bytes) -> None:
    i = 0
    while i < len(spans):
        last = i
        while (
            last + 1 < len(spans)
            and spans[last + 1, ROW] == spans[i, ROW]
            and spans[last + 1, FIRST] == spans[last, END]
        ):
            last += 1
        low, end = _signed(text[spans[i, ROW]]), _signed(text[spans[i, ROW] + 1])
        begins = _forward(data, low + spans[i, START], low + spans[last, STOP], low, end, flags)
        stops = _backward(data, low + spans[last, STOP], begins, low, end, flags)
        for j in range(i, last + 1):
            spans[j, START] = begins - low
            edge = max(low + spans[j, STOP], begins)
            begins = _forward(data, edge, stops, low, end, flags) if j < last else stops
            spans[j, STOP] = begins - low
        i = last + 1


def snapped(spans: Ints, data: Bytes, text: Offsets) -> Ints:
    """Spans (see `windows`) whose edges stand between characters and in no word: the outer edges of spans that touch
    one another moved inwards, those between them forward. A span may be left empty."""
    made = np.array(spans, dtype=np.int64, order="C")
    _snap(made, np.ascontiguousarray(data), np.ascontiguousarray(text), char_flags())
    return made

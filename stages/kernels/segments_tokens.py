"""Ids of the tokens that n-grams are made of: equal ids are equal texts within a row, byte by byte.

These are the tokens of `words` put together within a chunk, which is what stands between white space: a chunk's
first and last symbols stand alone, but for STICKY ones ("(foo" is two, "-v" and "a/" are one each). What is left is one
token, "foo(bar" or "x|y", but that it parts at an apostrophe of a word, and at one of SEPARATORS alone between two
words ("well", "-", "known"). A solo stands alone. So n tokens are as much of a line of code, markup or mathematics as
for the tokenizer that the limits on n-grams are used with elsewhere, which parts a chunk inside at little else: of 490
texts of all kinds that it lets pass, 64 fell for their duplicate n-grams with symbols as tokens, and 2 fall so.
The twin is `segments_plain`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import char_flags
from gristmill.stages.kernels.jit import BYTES, OFFSETS, helper, inner, kernel
from gristmill.stages.kernels.segments import SEPARATORS, STICKY, Tokens
from gristmill.stages.kernels.segments_intern import (
    INTERNED,
    clear,
    entries_of,
    intern_bytes,
    interned,
)
from gristmill.stages.kernels.words import NOTHING, RUN, SOLO_LETTER, next_token

_DISTINCT_BYTES_LOG2 = 4
"""A text of a few pages has a distinct token in some 16 bytes."""

_STICKY = tuple(map(ord, STICKY))
_SEPARATORS = tuple(map(ord, SEPARATORS))


class _Out(NamedTuple):
    """The fields of `segments.Tokens`."""

    rows: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int32]
    spaced: npt.NDArray[np.uint8]
    vocabulary: npt.NDArray[np.int64]
    chars: npt.NDArray[np.int32]


_OUT = types.NamedTuple(
    tuple(types.Array(kind, 1, "C") for kind in (types.int64, types.int32, types.uint8, types.int64, types.int32)),
    _Out,
)

_SPAN = types.Array(types.int32, 2, "C")
(_START, _SIZE, _CHARS) = range(3)
"""Columns of the spans of a row: the byte where a token starts, counted from the row's, its bytes and characters."""

(_COUNT, _FROM, _TO, _LENGTH, _IN_RUN, _SYMBOLS, _SYMBOL_CHARS, _STICKY_TO, _STICKY_CHARS, _FIELDS) = range(10)
"""What is known on the way: spans so far; the word that is open: its bytes, its characters (0: none is), whether its
last part is a run; the symbols right behind it: how many, and their characters; the same up to the last sticky one."""


@inner
def _add_span(start: int, end: int, chars: int, spans: Any, state: Any) -> None:
    count = state[_COUNT]
    spans[count, _START], spans[count, _SIZE], spans[count, _CHARS] = start, end - start, chars
    state[_COUNT] = count + 1


@helper
def _close_with_symbols(data: Bytes, base: int, at: int, flags: Bytes, spans: Any, state: Any) -> None:
    """The word that is open ends, and the symbols behind it, up to the byte `at`, stand alone but for the sticky."""
    place = state[_TO]
    if state[_STICKY_TO] > 0:
        place = state[_STICKY_TO]
        state[_LENGTH] += state[_STICKY_CHARS]
    _add_span(state[_FROM] - base, place - base, state[_LENGTH], spans, state)
    while place < at:
        kind, first, place, chars, _, _, _ = next_token(data, place, at, flags, False)
        if kind != NOTHING:
            _add_span(first - base, place - base, chars, spans, state)
    state[_LENGTH:] = 0


@inner
def _close(data: Bytes, base: int, at: int, flags: Bytes, spans: Any, state: Any) -> None:
    if state[_SYMBOLS] > 0:
        _close_with_symbols(data, base, at, flags, spans, state)
    elif state[_LENGTH] > 0:
        _add_span(state[_FROM] - base, state[_TO] - base, state[_LENGTH], spans, state)
        state[_LENGTH] = 0


@inner
def _add_symbol(start: int, end: int, chars: int, point: int, state: Any) -> bool:
    """Whether a symbol goes with the word that is open, or opens one."""
    sticky = point in _STICKY
    if state[_LENGTH] > 0:
        state[_SYMBOLS] += 1
        state[_SYMBOL_CHARS] += chars
        if sticky:
            state[_STICKY_TO], state[_STICKY_CHARS] = end, state[_SYMBOL_CHARS]
    elif sticky:
        state[_FROM], state[_TO], state[_LENGTH], state[_IN_RUN] = start, end, chars, 0
    else:
        return False
    return True


@inner
def _add_run(start: int, end: int, chars: int, state: Any) -> None:
    if state[_LENGTH] == 0:
        state[_FROM] = start
    state[_TO], state[_IN_RUN] = end, 1
    state[_LENGTH] += state[_SYMBOL_CHARS] + chars
    state[_SYMBOLS:] = 0


@helper
def _cut(data: Bytes, start: int, end: int, flags: Bytes, spans: Any, state: Any) -> int:
    """The spans of a row's tokens; how many there are."""
    state[:] = 0
    at, joined, symbol = start, False, 0
    while True:
        before = at
        kind, first, at, chars, detail, _, joined = next_token(data, at, end, flags, joined)
        if first > before or kind in (NOTHING, SOLO_LETTER):
            _close(data, start, before, flags, spans, state)
        if kind == NOTHING:
            return state[_COUNT]
        if kind == RUN:
            parted = state[_SYMBOLS] == 0 or (state[_SYMBOLS] == 1 and symbol in _SEPARATORS)
            if parted and state[_LENGTH] > 0 and state[_IN_RUN]:
                # What parts two words does not stick to the first.
                state[_STICKY_TO] = 0
                _close(data, start, first, flags, spans, state)
            _add_run(first, at, chars, state)
        elif kind == SOLO_LETTER or not _add_symbol(first, at, chars, detail, state):
            _add_span(first - start, at - start, chars, spans, state)
        symbol = detail


@kernel(types.void(BYTES, OFFSETS, OFFSETS, BYTES, INTERNED, _SPAN, _OUT))
def _tokenize(data: Any, starts: Any, ends: Any, flags: Any, table: Any, spans: Any, out: Any) -> None:
    state = np.zeros(_FIELDS, np.int64)
    token, words = 0, 0
    for row in range(len(starts)):
        base = starts[row]
        found = _cut(data, base, ends[row], flags, spans, state)
        clear(table, (ends[row] - base) >> _DISTINCT_BYTES_LOG2)
        behind = 0
        for i in range(found):
            first, size = int(spans[i, _START]), int(spans[i, _SIZE])
            before = entries_of(table)
            number = intern_bytes(data, base, base + first, size, table)
            if number == before:
                out.chars[words + number] = spans[i, _CHARS]
            out.ids[token + i] = number
            out.spaced[token + i] = first > behind
            behind = first + size
        token += found
        words += entries_of(table)
        out.rows[row + 1] = token
        out.vocabulary[row + 1] = words


def tokenize(data: Bytes, starts: Offsets, ends: Offsets) -> Tokens:
    """The tokens of the rows `data[starts[i]:ends[i]]`."""
    size, most = int((ends - starts).sum()), int((ends - starts).max(initial=0))
    rows, vocabulary = np.zeros(len(starts) + 1, np.int64), np.zeros(len(starts) + 1, np.int64)
    out = _Out(rows, np.empty(size, np.int32), np.empty(size, np.uint8), vocabulary, np.empty(size, np.int32))
    _tokenize(data, starts, ends, char_flags(), interned(most), np.empty((most, 3), np.int32), out)
    tokens, words = int(rows[-1]), int(vocabulary[-1])
    return Tokens(rows, out.ids[:tokens], out.spaced[:tokens], vocabulary, out.chars[:words])

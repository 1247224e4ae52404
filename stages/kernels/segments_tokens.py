"""Ids of the tokens that n-grams are made of: equal ids are equal texts within a row, byte by byte.

These are the tokens of `words` put together within a chunk, which is what stands between white space: a chunk's
first and last symbols stand alone, but for STICKY ones ("(foo" is two, "-v" and "a/" are one each). What is left is one
token, "foo(bar" or "x|y", but that it parts at an apostrophe of a word, and between two words as `words_join` says
("well", "-", "known"; an address is one). Few equal symbols are as many tokens, more are one. A solo stands alone.
Underscores at the ends of a word are no part of it ("_emphasis_"), and a chunk of symbols alone in which more than a
few equal ones stand together ("====", "+-----+-----+") is a line that is drawn, and one token.
So n tokens are as much of a line of code, markup or mathematics as for the tokenizer that the limits on n-grams are
used with elsewhere, which parts a chunk inside at little else: of 490 texts of all kinds that it lets pass, 64 fell for
their duplicate n-grams with the tokens of `words`.
The twin is `segments_plain`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import ATTACHED, char_flags
from gristmill.stages.kernels.jit import BYTES, OFFSETS, helper, inner, kernel
from gristmill.stages.kernels.segments import MAX_SINGLE_SYMBOLS, STICKY, Tokens
from gristmill.stages.kernels.segments_intern import (
    INTERNED,
    clear,
    entries_of,
    intern_bytes,
    interned,
)
from gristmill.stages.kernels.words import NOTHING, RUN, SOLO_LETTER, SYMBOL, UNDERSCORE, decode, next_token
from gristmill.stages.kernels.words_join import begins_address, separates

_DISTINCT_BYTES_LOG2 = 4
"""A text of a few pages has a distinct token in some 16 bytes."""

_STICKY = tuple(map(ord, STICKY))
_STOP = ord(".")


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


@inner
def _add_span(spans: Any, count: int, start: int, size: int, chars: int) -> int:
    spans[count, _START], spans[count, _SIZE], spans[count, _CHARS] = start, size, chars
    return count + 1


@inner
def _is_single(point: int, repeats: int) -> bool:
    """Whether a symbol is one token, however often it stands there."""
    return repeats == 1 or repeats > MAX_SINGLE_SYMBOLS or point == _STOP or point in _STICKY


@helper
def _add_each(data: Bytes, base: int, at: int, end: int, flags: Bytes, spans: Any, count: int) -> int:
    """The characters from `at` to `end`, each with its marks, as spans of their own."""
    while at < end:
        start, chars = at, 1
        _, at = decode(data, at, end)
        while at < end:
            point, behind = decode(data, at, end)
            if np.int64(flags[point]) & ATTACHED == 0:
                break
            at, chars = behind, chars + 1
        count = _add_span(spans, count, start - base, at - start, chars)
    return count


@helper
def _add_symbols(data: Bytes, base: int, at: int, end: int, flags: Bytes, spans: Any, count: int) -> int:
    """The symbols from `at` to `end` as spans of their own."""
    while at < end:
        kind, first, at, chars, point, repeats, _ = next_token(data, at, end, flags, False)
        if kind != NOTHING and _is_single(point, repeats):
            count = _add_span(spans, count, first - base, at - first, chars)
        elif kind != NOTHING:
            count = _add_each(data, base, first, at, flags, spans, count)
    return count


@helper
def _add_underscores(base: int, at: int, end: int, spans: Any, count: int) -> int:
    if end - at > MAX_SINGLE_SYMBOLS:
        return _add_span(spans, count, at - base, end - at, end - at)
    for i in range(at, end):
        count = _add_span(spans, count, i - base, 1, 1)
    return count


@inner
def _add_word(data: Bytes, base: int, opened: int, stop: int, chars: int, spans: Any, count: int) -> int:
    """A word as a span, and the underscores at its ends as others."""
    if data[opened] != UNDERSCORE and data[stop - 1] != UNDERSCORE:
        return _add_span(spans, count, opened - base, stop - opened, chars)
    first, behind = opened, stop
    while first < stop and data[first] == UNDERSCORE:
        first += 1
    while behind > first and data[behind - 1] == UNDERSCORE:
        behind -= 1
    count = _add_underscores(base, opened, first, spans, count)
    if behind > first:
        size = behind - first
        count = _add_span(spans, count, first - base, size, chars - (stop - opened - size))
    return _add_underscores(base, behind, stop, spans, count)


@helper
def _add_behind(data: Bytes, places: Any, behind: Any, flags: Bytes, spans: Any, count: int) -> int:
    """The symbols between a word's end and what follows it (row, end, next), as spans; `behind` are how many there
    are, their characters, and whether they are one token."""
    start, stop, before = places
    symbols, symbol_chars, single = behind
    if single:
        return _add_span(spans, count, stop - start, before - stop, symbol_chars)
    return _add_symbols(data, start, stop, before, flags, spans, count) if symbols > 0 else count


# `_cut` has plain variables, for speed. The open word (`chars` 0: none is) runs from `opened` to `stop`, and its
# last part may be a run. Symbols behind it wait for what comes; `symbol` is the last one, `sticky_stop` and
# `sticky_chars` reach up to the last sticky one (0: none). `chunk` is where the chunk begins, `runs` are its runs,
# `chunk_chars` its symbols' characters, `chunk_count` the spans before it, `drawn` whether one stands often.
@helper
def _cut(data: Bytes, start: int, end: int, flags: Bytes, spans: Any) -> int:
    """The spans of a row's tokens; how many there are."""
    opened, stop, chars, ends_in_run = 0, 0, 0, False
    symbols, symbol_chars, sticky_stop, sticky_chars, symbol, times = 0, 0, 0, 0, 0, 0
    at, joined, address, runs, count = start, False, False, 0, 0
    chunk, chunk_chars, chunk_count, drawn = start, 0, 0, False
    while True:
        before = at
        kind, first, at, size, detail, repeats, joined = next_token(data, at, end, flags, joined)
        chunk_ends = first > before or kind in (NOTHING, SOLO_LETTER)
        ends = chunk_ends
        if kind == RUN and not ends and ends_in_run:
            address = address or begins_address(runs, symbols, symbol, times)
            parts = symbols == 1 and not address
            ends = symbols == 0 or (parts and separates(symbol, times, data[stop - 1], data[first], flags))
            # What parts two words does not stick to the first.
            sticky_stop = 0 if ends else sticky_stop
        if ends and chars > 0:
            if sticky_stop > 0:
                stop, chars = sticky_stop, chars + sticky_chars
            count = _add_word(data, start, opened, stop, chars, spans, count)
            single = symbols == 1 and sticky_stop == 0 and _is_single(symbol, times)
            count = _add_behind(data, (start, stop, before), (symbols, symbol_chars, single), flags, spans, count)
            chars, ends_in_run, symbols, symbol_chars, sticky_stop, symbol = 0, False, 0, 0, 0, 0
        if chunk_ends:
            if drawn and runs == 0:
                count = _add_span(spans, chunk_count, chunk - start, before - chunk, chunk_chars)
            chunk, chunk_chars, chunk_count, drawn, runs, address = first, 0, count, False, 0, False
        if kind == NOTHING:
            return count
        runs += kind == RUN
        if kind == SYMBOL:
            chunk_chars, drawn = chunk_chars + size, drawn or repeats > MAX_SINGLE_SYMBOLS
        if kind == RUN:
            opened = opened if chars > 0 else first
            stop, chars, ends_in_run = at, chars + symbol_chars + size, True
            symbols, symbol_chars, sticky_stop = 0, 0, 0
        elif kind == SYMBOL and chars > 0:
            symbols, symbol_chars, symbol, times = symbols + 1, symbol_chars + size, detail, repeats
            if detail in _STICKY:
                sticky_stop, sticky_chars = at, symbol_chars
        elif kind == SYMBOL and detail in _STICKY:
            opened, stop, chars = first, at, size
        elif kind == SYMBOL and not _is_single(detail, repeats):
            count = _add_symbols(data, start, first, at, flags, spans, count)
        else:
            count = _add_span(spans, count, first - start, at - first, size)
            if kind == SOLO_LETTER:
                chunk, chunk_count = at, count


@kernel(types.void(BYTES, OFFSETS, OFFSETS, BYTES, INTERNED, _SPAN, _OUT))
def _tokenize(data: Any, starts: Any, ends: Any, flags: Any, table: Any, spans: Any, out: Any) -> None:
    token, words = 0, 0
    for row in range(len(starts)):
        base = starts[row]
        found = _cut(data, base, ends[row], flags, spans)
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

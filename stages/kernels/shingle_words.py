"""Units of documents as hashes: the words of prose, the chunks of exact text, the characters of both.

* WORDS: the runs and solos of `words`, in the form of `shingle_fold`; symbols are no words. Words of ASCII letters,
  digits and underscores are found 64 bytes at a time (`shingle_masks`); all else goes character by character
  through `next_token` and the table, with the same result.
* CHUNKS: what stands between white space (the SPACE of `char_table`), byte by byte as it is; a letter of a script
  without spaces is a chunk of its own.
* CHARS: the code points of the form of `shingle_fold`, punctuation included, white space as one blank, none at the
  ends.
* EXACT_CHARS: the same without folding: the code points as they are.

A row is read in steps: each call fills a block, the cursor remembers where it stood. The twin is `shingle_plain`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.char_table import SOLO, SPACE
from gristmill.stages.kernels.jit import BYTES, KEYS, helper, inner
from gristmill.stages.kernels.segments_intern import WORD_BYTES, word_at
from gristmill.stages.kernels.shingle_fold import MAX_MARKS
from gristmill.stages.kernels.shingle_folding import (
    CURSOR_PLACES,
    CURSOR_STATE,
    MAX_POINTS,
    POINTS,
    WAITING,
    end_marks,
    fold_char,
    is_left_out,
    stands_for_itself,
)
from gristmill.stages.kernels.shingle_hash import add_block, factor_of, hash_bytes, low_zeros, mix64
from gristmill.stages.kernels.shingle_masks import LANES, plain_words
from gristmill.stages.kernels.words import NOTHING, SYMBOL, decode, next_token

WORDS, CHUNKS, CHARS, EXACT_CHARS = range(4)
BLOCK = 2048
"""Units that are made at once: 16 KiB, which stay in the cache between the steps."""

_AT, _JOINED, _GAP, _BEGUN = range(CURSOR_STATE)

# numba makes uint8 an unsigned integer under `int`, and an unsigned with a signed one a float.
_signed = cast(Callable[[Any], int], np.int64)

_SPACE_BAR = 0x20
_MOST_OF_A_CHAR = MAX_POINTS + MAX_MARKS + 1

_ONES = 0x0101010101010101
_TOP, _LOW = 0x80 * _ONES, 0x7F * _ONES
_FROM_CAPITAL_A, _ABOVE_CAPITAL_Z = (0x80 - 0x41) * _ONES, (0x80 - 0x5B) * _ONES
_FROM_BLANK = (0x80 - 0x21) * _ONES


class ShingleTables(NamedTuple):
    """`flags` and `fold` of characters; `keys` at UNIT, at SHINGLE, and at DROP the factor of a unit that leaves."""

    flags: npt.NDArray[np.uint8]
    fold: npt.NDArray[np.int32]
    keys: npt.NDArray[np.uint64]


FOLD = types.Array(types.int32, 1, "C", readonly=True)
CURSOR = types.Array(types.int64, 1, "C")
"""Where the reading of a row stands: its place first."""
TABLES = types.NamedTuple((BYTES, FOLD, KEYS), ShingleTables)
UNIT, SHINGLE, DROP = range(3)


def new_cursor() -> npt.NDArray[np.int64]:
    """A cursor, to be put at a row with `begin_row`."""
    return np.zeros(CURSOR_PLACES, np.int64)


@inner
def begin_row(cursor: Any, start: int) -> None:
    """Puts a cursor at the first byte of a row."""
    cursor[:] = 0
    cursor[_AT] = start


@inner
def place_of(cursor: Any) -> Any:
    """The byte that is read next; the row's end when all has been read."""
    return cursor[_AT]


@inner
def _lowered(word: Any) -> Any:
    """Eight ASCII bytes with the letters in lower case."""
    capital = (word + np.uint64(_FROM_CAPITAL_A)) & ~(word + np.uint64(_ABOVE_CAPITAL_Z)) & np.uint64(_TOP)
    return word | (capital >> np.uint64(2))


@inner
def _add_packed(value: Any, part: Any, size: Any, packed: Any, count: Any, factor: Any) -> Any:
    """The open word (its hash, the bytes that make no block yet, its size) with the `count` bytes of one code point."""
    filled = size & np.uint64(7)
    part |= packed << (filled << np.uint64(3))
    if filled + count >= np.uint64(8):
        # Never with filled == 0: a code point has at most four bytes.
        value = add_block(value, part, factor)
        part = packed >> (np.uint64(64) - (filled << np.uint64(3)))
    return value, part, size + count


@inner
def _packed(point: int) -> Any:
    """A code point's UTF-8 as a number, and how many bytes it has."""
    if point < 0x80:
        return np.uint64(point), np.uint64(1)
    if point < 0x800:
        return np.uint64(0x80C0 | point >> 6 | (point & 0x3F) << 8), np.uint64(2)
    if point < 0x10000:
        return np.uint64(0x8080E0 | point >> 12 | (point >> 6 & 0x3F) << 8 | (point & 0x3F) << 16), np.uint64(3)
    last = (point >> 6 & 0x3F) << 16 | (point & 0x3F) << 24
    return np.uint64(0x808080F0 | point >> 18 | (point >> 12 & 0x3F) << 8 | last), np.uint64(4)


@inner
def _decode_sure(data: Bytes, at: int) -> tuple[int, int]:
    """Code point and the byte behind it in bytes that are known to be UTF-8."""
    first = _signed(data[at])
    if first < 0x80:
        return first, at + 1
    second = _signed(data[at + 1]) & 0x3F
    if first < 0xE0:
        return (first & 0x1F) << 6 | second, at + 2
    third = _signed(data[at + 2]) & 0x3F
    if first < 0xF0:
        return (first & 0x0F) << 12 | second << 6 | third, at + 3
    return (first & 0x07) << 18 | second << 12 | third << 6 | _signed(data[at + 3]) & 0x3F, at + 4


@inner
def _hash_word(data: Bytes, at: int, stop: int, fold: Any, cursor: Any, key: Any) -> Any:
    """Hash of the folded form of the word `data[at:stop]`."""
    value, part, size, factor = key, np.uint64(0), np.uint64(0), factor_of(key)
    while at < stop:
        start = at
        point, at = _decode_sure(data, at)
        if cursor[WAITING] == 0 and stands_for_itself(point, fold):
            packed = word_at(data, start, at - start)
            value, part, size = _add_packed(value, part, size, packed, np.uint64(at - start), factor)
            continue
        for i in range(fold_char(point, fold, cursor)):
            packed, count = _packed(cursor[POINTS + i])
            value, part, size = _add_packed(value, part, size, packed, count, factor)
    for i in range(end_marks(cursor)):
        packed, count = _packed(cursor[POINTS + i])
        value, part, size = _add_packed(value, part, size, packed, count, factor)
    if size & np.uint64(7):
        value = add_block(value, part, factor)
    return mix64(value ^ size)


@inner
def _hash_plain(data: Bytes, at: int, stop: int, key: Any) -> Any:
    """Hash of the word `data[at:stop]` of ASCII."""
    factor, size = factor_of(key), stop - at
    value = add_block(key, _lowered(word_at(data, at, size)), factor)
    # Most words have at most 16 bytes: a branch that is not foreseen takes longer than a block that is not wanted.
    second = _lowered(word_at(data, at + WORD_BYTES, max(size - WORD_BYTES, 0)))
    value = add_block(value, second, factor) if size > WORD_BYTES else value
    for i in range(2 * WORD_BYTES, size, WORD_BYTES):
        value = add_block(value, _lowered(word_at(data, at + i, size - i)), factor)
    return mix64(value ^ np.uint64(size))


@helper
def _other_words(data: Bytes, at: int, joined: bool, end: int, tables: Any, cursor: Any, out: Any, count: int) -> Any:
    """One word after another as `next_token` has them, until what follows is ASCII or there is no room: where they
    end, whether a run goes on there, and how many there are then in `out`."""
    flags, fold, key, more = tables.flags, tables.fold, tables.keys[UNIT], True
    while more and count < len(out):
        kind, start, at, _, _, _, joined = next_token(data, at, end, flags, joined)
        if kind not in (NOTHING, SYMBOL):
            out[count] = _hash_word(data, start, at, fold, cursor, key)
            count += 1
        while not joined and at < end and data[at] == _SPACE_BAR:
            at += 1
        more = at < end and (joined or data[at] >= 0x80)
    return at, joined, count


@helper
def fill_words(data: Bytes, end: int, tables: Any, cursor: Any, out: Any, first: int) -> Any:
    """Hashes of the next words of a row that ends at `end` into `out[first:]`; how many."""
    key = tables.keys[UNIT]
    at, joined, count = cursor[_AT], cursor[_JOINED] != 0, first
    while at < end and count + LANES <= len(out):
        if joined:
            at, joined, count = _other_words(data, at, joined, end, tables, cursor, out, count)
            continue
        starts, ends, idle, begins, unclear = plain_words(data, at, end)
        limit = low_zeros(unclear)
        while low_zeros(ends) < limit:
            out[count] = _hash_plain(data, at + low_zeros(starts), at + low_zeros(ends), key)
            count += _signed(ends & ~(ends - np.uint64(1)) & idle == np.uint64(0))
            starts, ends = starts & (starts - np.uint64(1)), ends & (ends - np.uint64(1))
        here = min(low_zeros(starts), limit)
        at += here
        joined = low_zeros(starts) <= limit and starts & ~(starts - np.uint64(1)) & begins != np.uint64(0)
        if limit < LANES or here == 0:
            at, joined, count = _other_words(data, at, joined, end, tables, cursor, out, count)
    cursor[_AT], cursor[_JOINED] = min(at, end), joined
    return count - first


@inner
def _end_of_chunk(data: Bytes, at: int, end: int, flags: Bytes) -> int:
    """Where the chunk that begins at `at` ends."""
    start = at
    while at < end:
        word = word_at(data, at, end - at)
        # Bit 7 of each byte that is not ASCII above the blank.
        unclear = ~(((word & np.uint64(_LOW)) + np.uint64(_FROM_BLANK)) & ~word) & np.uint64(_TOP)
        at += low_zeros(unclear) >> 3
        if unclear == np.uint64(0):
            continue
        if at >= end:
            return end
        point, behind = decode(data, at, end)
        flag = _signed(flags[point])
        if flag & SPACE:
            return at
        if flag & SOLO:
            return at if at > start else behind
        at = behind
    return end


@helper
def fill_chunks(data: Bytes, end: int, tables: Any, cursor: Any, out: Any, first: int) -> Any:
    """The same for chunks."""
    flags, key = tables.flags, tables.keys[UNIT]
    at, count = cursor[_AT], first
    while at < end and count < len(out):
        point, behind = decode(data, at, end)
        if _signed(flags[point]) & SPACE:
            at = behind
            continue
        stop = _end_of_chunk(data, at, end, flags)
        out[count] = hash_bytes(data, at, stop, key)
        count += 1
        at = stop
    cursor[_AT] = at
    return count - first


@inner
def _put_char(out: Any, count: int, point: int, key: Any) -> int:
    out[count] = mix64(key ^ np.uint64(point))
    return count + 1


@inner
def _put_points(out: Any, count: int, cursor: Any, made: int, key: Any) -> int:
    for i in range(made):
        count = _put_char(out, count, cursor[POINTS + i], key)
    return count


@helper
def fill_chars(data: Bytes, end: int, tables: Any, exact: bool, cursor: Any, out: Any, first: int) -> Any:
    """The same for characters, folded or exact; the row is read when its end is reached."""
    flags, fold, key = tables.flags, tables.fold, tables.keys[UNIT]
    at, count = cursor[_AT], first
    while at < end and count + _MOST_OF_A_CHAR <= len(out):
        point, at = decode(data, at, end)
        if _signed(flags[point]) & SPACE:
            cursor[_GAP] = cursor[_BEGUN]
            continue
        if not exact and is_left_out(point, fold):
            continue
        if cursor[_GAP]:
            count = _put_points(out, count, cursor, end_marks(cursor), key)
            count = _put_char(out, count, _SPACE_BAR, key)
        if exact or (cursor[WAITING] == 0 and stands_for_itself(point, fold)):
            count = _put_char(out, count, point, key)
        else:
            count = _put_points(out, count, cursor, fold_char(point, fold, cursor), key)
        cursor[_GAP], cursor[_BEGUN] = 0, 1
    if at >= end:
        count = _put_points(out, count, cursor, end_marks(cursor), key)
    cursor[_AT] = at
    return count - first


@helper
def fill_units(kind: int, data: Bytes, end: int, tables: Any, cursor: Any, out: Any, first: int) -> Any:
    """Hashes of the next units of a row into `out[first:]`; how many. `place_of(cursor)` is `end` when it is read."""
    if kind == WORDS:
        return fill_words(data, end, tables, cursor, out, first)
    if kind == CHUNKS:
        return fill_chunks(data, end, tables, cursor, out, first)
    return fill_chars(data, end, tables, kind == EXACT_CHARS, cursor, out, first)

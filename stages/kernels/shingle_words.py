"""Units of documents as hashes: the words of prose, the chunks of exact text, the characters of both.

* WORDS: the runs and solos of `words`, in the form of `shingle_fold`; symbols are no words. Words of ASCII letters,
  digits and underscores are found and put in lower case eight bytes at a time; all else goes character by character
  through `next_token` and the table, with the same result.
* CHUNKS: what stands between white space (the SPACE of `char_table`), byte by byte as it is; a letter of a script
  without spaces is a chunk of its own.
* CHARS: the code points of the form of `shingle_fold`, punctuation included, white space as one blank, none at the
  ends.
* EXACT_CHARS: the same without folding: the code points as they are.

A row is read in steps: each call fills a block, the cursor remembers where it stood. The twin is `shingle_plain`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.char_table import SOLO, SPACE
from gristmill.stages.kernels.jit import BYTES, KEYS, helper, inner
from gristmill.stages.kernels.segments_intern import WORD_BYTES, word_at
from gristmill.stages.kernels.shingle_fold import MAX_MARKS, FoldTable
from gristmill.stages.kernels.shingle_folding import (
    FOLD,
    FOLDING,
    MAX_POINTS,
    Folding,
    begin_folding,
    end_marks,
    fold_char,
    is_left_out,
    new_folding,
)
from gristmill.stages.kernels.shingle_hash import add_block, hash_bytes, low_zeros, mix64
from gristmill.stages.kernels.words import NOTHING, SYMBOL, UNDERSCORE, decode, next_token

WORDS, CHUNKS, CHARS, EXACT_CHARS = range(4)
BLOCK = 2048
"""Units that are made at once: 16 KiB, which stay in the cache between the steps."""

_AT, _JOINED, _GAP, _BEGUN = range(4)
_STATE = 4
_VALUE, _PART, _SIZE = range(3)
_SPACE_BAR = 0x20
_COMMA, _STOP, _APOSTROPHE = 0x2C, 0x2E, 0x27
_MOST_OF_A_CHAR = MAX_POINTS + MAX_MARKS + 1

_ONES = 0x0101010101010101
_TOP, _LOW, _CASE = 0x80 * _ONES, 0x7F * _ONES, 0x20 * _ONES
_FROM_A, _ABOVE_Z = (0x80 - 0x61) * _ONES, (0x80 - 0x7B) * _ONES
_FROM_0, _ABOVE_9 = (0x80 - 0x30) * _ONES, (0x80 - 0x3A) * _ONES
_FROM_CAPITAL_A, _ABOVE_CAPITAL_Z = (0x80 - 0x41) * _ONES, (0x80 - 0x5B) * _ONES
_UNDERSCORES = UNDERSCORE * _ONES
_FROM_BLANK = (0x80 - 0x21) * _ONES


class ShingleTables(NamedTuple):
    """`flags` and `fold` of characters; `keys` at UNIT, at SHINGLE, and at DROP the factor of a unit that leaves."""

    flags: npt.NDArray[np.uint8]
    fold: FoldTable
    keys: npt.NDArray[np.uint64]


class Cursor(NamedTuple):
    """Where the reading of a row stands: `state`; `word`, the open word's hash, its bytes that make no block yet, its
    size in bytes; `folding`."""

    state: npt.NDArray[np.int64]
    word: npt.NDArray[np.uint64]
    folding: Folding


CURSOR = types.NamedTuple((types.Array(types.int64, 1, "C"), types.Array(types.uint64, 1, "C"), FOLDING), Cursor)
TABLES = types.NamedTuple((BYTES, FOLD, KEYS), ShingleTables)
UNIT, SHINGLE, DROP = range(3)


def new_cursor() -> Cursor:
    """A cursor, to be put at a row with `begin_row`."""
    return Cursor(np.zeros(_STATE, np.int64), np.zeros(3, np.uint64), new_folding())


@inner
def begin_row(cursor: Any, start: int) -> None:
    """Puts a cursor at the first byte of a row."""
    cursor.state[:] = 0
    cursor.state[_AT] = start
    begin_folding(cursor.folding)


@inner
def place_of(cursor: Any) -> Any:
    """The byte that is read next; the row's end when all has been read."""
    return cursor.state[_AT]


@inner
def _word_bits(word: Any) -> Any:
    """Bit 7 of each byte that is an ASCII letter, digit or underscore."""
    low = word & np.uint64(_LOW)
    cased = low | np.uint64(_CASE)
    letters = (cased + np.uint64(_FROM_A)) & ~(cased + np.uint64(_ABOVE_Z))
    digits = (low + np.uint64(_FROM_0)) & ~(low + np.uint64(_ABOVE_9))
    underscores = ~((low ^ np.uint64(_UNDERSCORES)) + np.uint64(_LOW))
    return (letters | digits | underscores) & ~word & np.uint64(_TOP)


@inner
def _lowered(word: Any) -> Any:
    """Eight ASCII bytes with the letters in lower case."""
    capital = (word + np.uint64(_FROM_CAPITAL_A)) & ~(word + np.uint64(_ABOVE_CAPITAL_Z)) & np.uint64(_TOP)
    return word | (capital >> np.uint64(2))


@inner
def _add_byte(word: Any, byte: Any) -> None:
    """One more byte of the open word."""
    size = word[_SIZE]
    word[_PART] |= np.uint64(byte) << (np.uint64(8) * (size & np.uint64(7)))
    word[_SIZE] = size + np.uint64(1)
    if word[_SIZE] & np.uint64(7) == np.uint64(0):
        word[_VALUE] = add_block(word[_VALUE], word[_PART])
        word[_PART] = np.uint64(0)


@helper
def _add_point(word: Any, point: int) -> None:
    """One more code point of the open word, as UTF-8."""
    if point < 0x80:
        _add_byte(word, point)
        return
    if point < 0x800:
        _add_byte(word, 0xC0 | point >> 6)
    else:
        if point < 0x10000:
            _add_byte(word, 0xE0 | point >> 12)
        else:
            _add_byte(word, 0xF0 | point >> 18)
            _add_byte(word, 0x80 | point >> 12 & 0x3F)
        _add_byte(word, 0x80 | point >> 6 & 0x3F)
    _add_byte(word, 0x80 | point & 0x3F)


@helper
def _hash_word(data: Bytes, at: int, stop: int, fold: Any, cursor: Any, key: Any) -> Any:
    """Hash of the folded form of the word `data[at:stop]`."""
    word = cursor.word
    word[_VALUE], word[_PART], word[_SIZE] = key, np.uint64(0), np.uint64(0)
    folding = cursor.folding
    while at < stop:
        point, at = decode(data, at, stop)
        for i in range(fold_char(point, fold, folding)):
            _add_point(word, folding.points[i])
    for i in range(end_marks(folding)):
        _add_point(word, folding.points[i])
    if word[_SIZE] & np.uint64(7):
        word[_VALUE] = add_block(word[_VALUE], word[_PART])
    return mix64(word[_VALUE] ^ word[_SIZE])


@inner
def _end_of_plain(data: Bytes, at: int, end: int) -> int:
    """Where ASCII letters, digits and underscores end."""
    while at < end:
        ends = ~_word_bits(word_at(data, at, end - at)) & np.uint64(_TOP)
        if ends:
            return min(at + (low_zeros(ends) >> 3), end)
        at += WORD_BYTES
    return end


@inner
def _may_go_on(data: Bytes, stop: int, end: int) -> bool:
    """Whether a run of ASCII might go on at `stop`, as only `next_token` can tell."""
    if stop >= end:
        return False
    byte = np.int64(data[stop])
    if byte >= 0x80:
        return True
    if byte not in (_STOP, _COMMA, _APOSTROPHE) or stop + 1 >= end:
        return False
    after = np.uint64(data[stop + 1])
    return bool(after >= np.uint64(0x80) or _word_bits(after) != np.uint64(0))


@inner
def _hash_plain(data: Bytes, at: int, stop: int, key: Any) -> Any:
    """Hash of the word `data[at:stop]` of ASCII."""
    value = key
    for i in range(at, stop, WORD_BYTES):
        value = add_block(value, _lowered(word_at(data, i, stop - i)))
    return mix64(value ^ np.uint64(stop - at))


@helper
def fill_words(data: Bytes, end: int, tables: Any, cursor: Any, out: Any, first: int) -> Any:
    """Hashes of the next words of a row that ends at `end` into `out[first:]`; how many. The row is read when it is
    less than there is room for."""
    flags, fold, key = tables.flags, tables.fold, tables.keys[UNIT]
    at, joined, count = cursor.state[_AT], cursor.state[_JOINED] != 0, first
    while at < end and count < len(out):
        word = word_at(data, at, end - at)
        bits = _word_bits(word)
        low = word & np.uint64(0xFF)
        if bits & np.uint64(0x80) and low != np.uint64(UNDERSCORE) and not joined:
            ends = ~bits & np.uint64(_TOP)
            stop = at + (low_zeros(ends) >> 3) if ends else _end_of_plain(data, at + WORD_BYTES, end)
            if not _may_go_on(data, stop, end):
                if ends:
                    kept = word & (((ends & (~ends + np.uint64(1))) >> np.uint64(7)) - np.uint64(1))
                    out[count] = mix64(add_block(key, _lowered(kept)) ^ np.uint64(stop - at))
                else:
                    out[count] = _hash_plain(data, at, stop, key)
                count += 1
                at = stop + 1
                continue
        elif low < np.uint64(0x80) and low != np.uint64(UNDERSCORE) and not joined:
            at += low_zeros(bits | (word & np.uint64(_TOP))) >> 3
            continue
        kind, start, at, _, _, _, joined = next_token(data, at, end, flags, joined)
        if kind not in (NOTHING, SYMBOL):
            out[count] = _hash_word(data, start, at, fold, cursor, key)
            count += 1
    cursor.state[_AT], cursor.state[_JOINED] = min(at, end), joined
    return count - first


@inner
def _end_of_chunk(data: Bytes, at: int, end: int, flags: Bytes) -> int:
    """Where the chunk that begins at `at` ends."""
    start = at
    while at < end:
        word = word_at(data, at, end - at)
        if at + WORD_BYTES <= end and _is_inside(word):
            at += WORD_BYTES
            continue
        point, behind = decode(data, at, end)
        flag = np.int64(flags[point])
        if flag & SPACE:
            return at
        if flag & SOLO:
            return at if at > start else behind
        at = behind
    return end


@inner
def _is_inside(word: Any) -> bool:
    """Whether eight bytes are ASCII above the blank."""
    return ((word & np.uint64(_LOW)) + np.uint64(_FROM_BLANK)) & ~word & np.uint64(_TOP) == np.uint64(_TOP)


@helper
def fill_chunks(data: Bytes, end: int, tables: Any, cursor: Any, out: Any, first: int) -> Any:
    """The same for chunks."""
    flags, key = tables.flags, tables.keys[UNIT]
    at, count = cursor.state[_AT], first
    while at < end and count < len(out):
        point, behind = decode(data, at, end)
        if np.int64(flags[point]) & SPACE:
            at = behind
            continue
        stop = _end_of_chunk(data, at, end, flags)
        out[count] = hash_bytes(data, at, stop, key)
        count += 1
        at = stop
    cursor.state[_AT] = at
    return count - first


@inner
def _put_char(out: Any, count: int, point: int, key: Any) -> int:
    out[count] = mix64(key ^ np.uint64(point))
    return count + 1


@inner
def _put_points(out: Any, count: int, points: Any, made: int, key: Any) -> int:
    for i in range(made):
        count = _put_char(out, count, points[i], key)
    return count


@helper
def fill_chars(data: Bytes, end: int, tables: Any, exact: bool, cursor: Any, out: Any, first: int) -> Any:
    """The same for characters, folded or exact; the row is read when its end is reached."""
    flags, fold, key = tables.flags, tables.fold, tables.keys[UNIT]
    at, count, state, folding = cursor.state[_AT], first, cursor.state, cursor.folding
    while at < end and count + _MOST_OF_A_CHAR <= len(out):
        point, at = decode(data, at, end)
        if np.int64(flags[point]) & SPACE:
            state[_GAP] = state[_BEGUN]
            continue
        if not exact and is_left_out(point, fold):
            continue
        if state[_GAP]:
            count = _put_points(out, count, folding.points, end_marks(folding), key)
            count = _put_char(out, count, _SPACE_BAR, key)
        if exact:
            count = _put_char(out, count, point, key)
        else:
            count = _put_points(out, count, folding.points, fold_char(point, fold, folding), key)
        state[_GAP], state[_BEGUN] = 0, 1
    if at >= end:
        count = _put_points(out, count, folding.points, end_marks(folding), key)
    state[_AT] = at
    return count - first


@helper
def fill_units(kind: int, data: Bytes, end: int, tables: Any, cursor: Any, out: Any, first: int) -> Any:
    """Hashes of the next units of a row into `out[first:]`; how many. `place_of(cursor)` is `end` when it is read."""
    if kind == WORDS:
        return fill_words(data, end, tables, cursor, out, first)
    if kind == CHUNKS:
        return fill_chunks(data, end, tables, cursor, out, first)
    return fill_chars(data, end, tables, kind == EXACT_CHARS, cursor, out, first)

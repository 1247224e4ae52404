"""Words as `ngram_fold` defines them, found one after another in UTF-8 bytes, hashed and compared.

A *stream* is the text of many words as uint32: the code points of each word's form, 0 behind each word. The twin is
`ngram_plain`.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.jit import BYTES, OFFSETS, helper, inner, kernel
from gristmill.stages.kernels.ngram_fold import (
    COMMA,
    DROPPED,
    KIND_SHIFT,
    LETTER,
    MANY,
    MANY_SOLO,
    MARK,
    POINT_MASK,
    SEPARATOR,
    SOLO_LETTER,
    Fold,
)
from gristmill.stages.kernels.segments_intern import WORD_BYTES, word_at
from gristmill.stages.kernels.words import decode

Points = npt.NDArray[np.uint32]
Hashes = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

POINTS = types.Array(types.uint32, 1, "C", readonly=True)
FOLD = types.NamedUniTuple(POINTS, 2, Fold)
POINTS_OUT = types.Array(types.uint32, 1, "C")
HASHES_OUT = types.Array(types.uint64, 1, "C")
INTS_OUT = types.Array(types.int64, 1, "C")

_SEED, _FACTOR, _LAST_FACTOR = 0x9E3779B97F4A7C15, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53
_WIDE = 1 << 40
_ZERO, _NINE, _GROUP_DIGITS = 0x30, 0x39, 3
_QUOTE, _COMMA = 0x27, 0x2C

# Eight bytes at once: a byte below 0x80 plus 0x80 - X has its top bit where it is X or more.
_ONES = 0x0101010101010101
_CASE, _TOP = 0x20 * _ONES, 0x80 * _ONES
_FROM_A, _ABOVE_Z = (0x80 - 0x61) * _ONES, (0x80 - 0x7B) * _ONES
_FROM_0, _ABOVE_9 = (0x80 - 0x30) * _ONES, (0x80 - 0x3A) * _ONES

# numba makes an unsigned with a signed integer a float.
signed = cast(Callable[[Any], int], np.int64)


@inner
def mixed(value: Any) -> Any:
    """64 bits that all depend on all of `value` (the last steps of MurmurHash3)."""
    value = (value ^ (value >> np.uint64(33))) * np.uint64(_LAST_FACTOR)
    return value ^ (value >> np.uint64(29))


@inner
def _with_chunk(found: Any, chunk: Any) -> Any:
    found = (found ^ chunk) * np.uint64(_FACTOR)
    return found ^ (found >> np.uint64(32))


@inner
def _is_digit(byte: int) -> bool:
    return _ZERO <= byte <= _NINE


@helper
def groups_digits(data: Bytes, at: int, end: int) -> bool:
    """Whether the comma at `at`, inside a word, stands between a digit and exactly three."""
    behind = at + 1 + _GROUP_DIGITS
    if behind > end or not _is_digit(signed(data[at - 1])):
        return False
    for i in range(at + 1, behind):
        if not _is_digit(signed(data[i])):
            return False
    return behind == end or not _is_digit(signed(data[behind]))


@inner
def next_word(data: Bytes, at: int, end: int, elements: Points, sequences: Points) -> tuple[int, int, int, Any]:
    """The word at or behind `at`: its bytes [start, stop), where to go on, and its hash; start -1 without one.

    The hash is over the word's form: up to eight code points below 0x80 are one chunk, which ends before any other,
    each of which is a chunk by itself.
    """
    while at + WORD_BYTES <= end:
        letters = _ascii_word(word_at(data, at, WORD_BYTES))
        if letters & np.uint64(0x80) == np.uint64(0):
            if data[at] >= 0x80 or data[at] == _QUOTE:
                break
            at += 1
            continue
        stop, found = _plain_word(data, at, end)
        if stop < 0:
            break
        return at, stop, stop + 1, found
    return _any_word(data, at, end, elements, sequences)


@inner
def _ascii_word(eight: Any) -> Any:
    """Bit 7 of each of eight bytes that is an ASCII letter or digit."""
    low = eight & ~np.uint64(_TOP)
    lower = low | np.uint64(_CASE)
    letters = (lower + np.uint64(_FROM_A)) ^ (lower + np.uint64(_ABOVE_Z))
    digits = (low + np.uint64(_FROM_0)) ^ (low + np.uint64(_ABOVE_9))
    return (letters | digits) & ~eight & np.uint64(_TOP)


@inner
def _plain_word(data: Bytes, at: int, end: int) -> tuple[int, Any]:
    """End and hash of the word at `at` if it is of ASCII and ends at an ASCII character that parts words for sure."""
    found = np.uint64(_SEED)
    while at + WORD_BYTES <= end:
        eight = word_at(data, at, WORD_BYTES)
        others = ~_ascii_word(eight) & np.uint64(_TOP)
        # Digits have the bit of small letters already.
        lower = eight | np.uint64(_CASE)
        if others == np.uint64(0):
            found = _with_chunk(found, lower)
            at += WORD_BYTES
            continue
        first = (others & (~others + np.uint64(1))) >> np.uint64(7)
        below = first - np.uint64(1)
        size = signed(((below & np.uint64(_ONES)) * np.uint64(_ONES)) >> np.uint64(56))
        stop = at + size
        byte = signed(data[stop])
        if (
            byte >= 0x80
            or byte == _QUOTE
            or (byte == _COMMA and (stop + 1 >= end or _is_digit(signed(data[stop + 1]))))
        ):
            return -1, found
        return stop, mixed(_with_chunk(found, lower & below) if size else found)
    return -1, found


@helper
def _any_word(data: Bytes, at: int, end: int, elements: Points, sequences: Points) -> tuple[int, int, int, Any]:
    start, stop = -1, at
    solo = False
    found, chunk, shift = np.uint64(_SEED), np.uint64(0), np.uint64(0)
    while at < end:
        point, after = decode(data, at, end)
        element = signed(elements[point])
        kind = element >> KIND_SHIFT
        if kind in (LETTER, MANY):
            if start >= 0 and solo:
                return start, stop, at, _finished(found, chunk, shift)
            start = at if start < 0 else start
        elif kind in (SOLO_LETTER, MANY_SOLO):
            if start >= 0:
                return start, stop, at, _finished(found, chunk, shift)
            start, solo = at, True
        elif kind in (SEPARATOR, COMMA):
            if start >= 0 and (kind == SEPARATOR or solo or not groups_digits(data, at, end)):
                return start, stop, after, _finished(found, chunk, shift)
            at = after
            continue
        elif kind == DROPPED or start < 0:
            at = after
            continue
        many = element & POINT_MASK
        count = 1 if kind < MANY else signed(sequences[many])
        for i in range(count):
            part = many if kind < MANY else signed(sequences[many + 1 + i])
            if part < 0x80:
                chunk |= np.uint64(part) << shift
                shift += np.uint64(8)
            if (part >= 0x80 and shift != np.uint64(0)) or shift == np.uint64(64):
                found, chunk, shift = _with_chunk(found, chunk), np.uint64(0), np.uint64(0)
            if part >= 0x80:
                found = _with_chunk(found, np.uint64(part | _WIDE))
        stop, at = after, after
    return start, stop, end, _finished(found, chunk, shift)


@inner
def _finished(found: Any, chunk: Any, shift: Any) -> Any:
    return mixed(_with_chunk(found, chunk) if shift else found)


@inner
def _has_form(kind: int) -> bool:
    return kind in (LETTER, SOLO_LETTER, MARK) or kind >= MANY


@helper
def same_word(data: Bytes, start: int, stop: int, fold: Fold, stream: Points, place: int) -> int:
    """Where the word in the stream at `place` ends if the bytes [start, stop) are that word, else -1."""
    at = start
    while at < stop:
        point, at = decode(data, at, stop)
        element = signed(fold.elements[point])
        kind = element >> KIND_SHIFT
        if not _has_form(kind):
            continue
        if kind < MANY:
            if signed(stream[place]) != element & POINT_MASK:
                return -1
            place += 1
            continue
        many = element & POINT_MASK
        for i in range(many + 1, many + 1 + signed(fold.sequences[many])):
            if stream[place] != fold.sequences[i]:
                return -1
            place += 1
    return place if stream[place] == 0 else -1


@helper
def _write_word(data: Bytes, start: int, stop: int, fold: Fold, stream: Points, place: int) -> int:
    """Put the form of a word into the stream; where it ends, behind its 0. Writes nothing to a stream of no length."""
    at = start
    writes = len(stream) > 0
    while at < stop:
        point, at = decode(data, at, stop)
        element = signed(fold.elements[point])
        kind = element >> KIND_SHIFT
        if not _has_form(kind):
            continue
        many = element & POINT_MASK
        count = 1 if kind < MANY else signed(fold.sequences[many])
        if writes:
            for i in range(count):
                stream[place + i] = np.uint32(many) if kind < MANY else fold.sequences[many + 1 + i]
        place += count
    if writes:
        stream[place] = 0
    return place + 1


@kernel(types.int64(BYTES, OFFSETS, FOLD, POINTS_OUT, HASHES_OUT, INTS_OUT, INTS_OUT))
def _write_texts(
    data: Bytes, offsets: Offsets, fold: Fold, stream: Points, hashes: Hashes, bounds: Ints, last_words: Ints
) -> int:
    words, place = 0, 0
    writes = len(stream) > 0
    for text in range(len(offsets) - 1):
        at, end = offsets[text], offsets[text + 1]
        while at < end:
            start, stop, at, found = next_word(data, at, end, fold.elements, fold.sequences)
            if start < 0:
                break
            place = _write_word(data, start, stop, fold, stream, place)
            words += 1
            if writes:
                hashes[words - 1] = found
                bounds[words] = place
        last_words[text + 1] = words
    return place


def words_of_texts(data: Bytes, offsets: Offsets, fold: Fold) -> tuple[Points, Hashes, Ints, Ints]:
    """Stream of the words of n texts, hash of each word, where each begins in the stream (and the last ends), and which
    words each text has: those from `firsts[text]` to `firsts[text + 1]`."""
    firsts = np.zeros(len(offsets), np.int64)
    nothing = np.empty(0, np.uint32), np.empty(0, np.uint64), np.empty(0, np.int64)
    size = _write_texts(data, offsets, fold, *nothing, firsts)
    words = int(firsts[-1])
    stream, hashes, bounds = np.zeros(size, np.uint32), np.empty(words, np.uint64), np.zeros(words + 1, np.int64)
    _write_texts(data, offsets, fold, stream, hashes, bounds, firsts)
    return stream, hashes, bounds, firsts

"""Repeated n-grams over the tokens of `chunks`, with datatrove's arithmetic (faults M23 and M26 included).

The tokens of a text become numbers: equal texts, equal numbers. `top`: the most frequent n-gram of tokens, the first
to occur among equals, one that occurs once too (M23): characters of the tokens and n - 1 blanks, times occurrences.
`duplicated`: reading on behind each n-gram whose *characters* stood there before ("ab" "c" is "a" "bc", M26):
characters of those. What is found by a hash is always compared.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.chunks_affix import signed
from gristmill.stages.kernels.chunks_counts import count_chars
from gristmill.stages.kernels.chunks_marks import TOKENS, Tokens
from gristmill.stages.kernels.jit import BYTES, OFFSETS, helper, kernel

_BASE = 0x9E3779B97F4A7C15
_MIX = 0xFF51AFD7ED558CCD
"""Of murmur3's finalizer (Appleby)."""
_MANY = 1 << 20

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]


class Known(NamedTuple):
    """The different tokens of a text by number: `place` (int64, (n, 5)): first byte, bytes, characters, hash of the
    bytes as a polynomial, its base to the power of the bytes. `slots` (int32; -1 is free)."""

    place: I64
    slots: I32


_START, _SIZE, _CHARS, _HASH, _POWER = range(5)
_I32_OUT = types.Array(types.int32, 1, "C")
_KNOWN = types.NamedTuple([types.Array(types.int64, 2, "C"), _I32_OUT], Known)
_SUMS = types.Array(types.int64, 1, "C")


@helper
def _slot(value: int, slots: int) -> int:
    """Which of so many slots a hash begins at (Lemire's reduction of its upper half)."""
    mixed = np.uint64(value)
    mixed = (mixed ^ mixed >> np.uint64(33)) * np.uint64(_MIX)
    return signed((mixed >> np.uint64(32)) * np.uint64(slots) >> np.uint64(32))


@helper
def _next(slot: int, slots: int) -> int:
    return slot + 1 if slot + 1 < slots else 0


@helper
def _polynomial(data: Any, start: int, size: int) -> tuple[int, int]:
    value, power = np.uint64(0), np.uint64(1)
    for i in range(start, start + size):
        value = value * np.uint64(_BASE) + np.uint64(data[i]) + np.uint64(1)
        power *= np.uint64(_BASE)
    return signed(value), signed(power)


@helper
def _same_bytes(data: Any, one: int, other: int, size: int) -> bool:
    i = 0
    while i < size and data[one + i] == data[other + i]:
        i += 1
    return i == size


@helper
def _number(data: Any, tokens: Tokens, first: int, last: int, known: Known, count: int, ids: Any) -> int:
    """Write the numbers of the tokens `[first, last)`; how many are known now, of `count` before."""
    room = len(known.slots)
    for i in range(first, last):
        start, size = tokens.starts[i], signed(tokens.sizes[i])
        value, power = _polynomial(data, start, size)
        slot = _slot(value, room)
        number = known.slots[slot]
        while number >= 0:
            place = known.place[number]
            if place[_HASH] == value and place[_SIZE] == size and _same_bytes(data, place[_START], start, size):
                break
            slot = _next(slot, room)
            number = known.slots[slot]
        if number < 0:
            number = count
            known.slots[slot] = number
            place = known.place[number]
            place[_START], place[_SIZE], place[_CHARS] = start, size, count_chars(data, start, start + size)
            place[_HASH], place[_POWER] = value, power
            count += 1
        ids[i - first] = number
    return count


@helper
def _same_numbers(ids: Any, one: int, other: int, n: int) -> bool:
    i = 0
    while i < n and ids[one + i] == ids[other + i]:
        i += 1
    return i == n


@helper
def _top_gram(ids: Any, count: int, n: int, known: Known, slots: Any, seen: Any) -> int:
    """Characters of the top n-gram, times its occurrences; `seen` (count) is scratch."""
    room = len(slots)
    slots[:] = -1
    for i in range(count - n + 1):
        value = np.uint64(0)
        for k in range(i, i + n):
            value = (value ^ np.uint64(ids[k])) * np.uint64(_BASE)
        slot = _slot(signed(value), room)
        while slots[slot] >= 0 and not _same_numbers(ids, slots[slot], i, n):
            slot = _next(slot, room)
        if slots[slot] < 0:
            slots[slot] = i
        seen[i] = 0
        seen[slots[slot]] += 1
    best, times = 0, 0
    for i in range(count - n + 1):
        if seen[i] > times:
            best, times = i, seen[i]
    chars = n - 1 if times > 0 else 0
    for k in range(best, min(best + n, count)):
        chars += known.place[ids[k], _CHARS]
    return chars * times


@helper
def _same_characters(data: Any, ids: Any, one: int, other: int, n: int, place: Any) -> bool:
    """Whether two n-grams are the same bytes when their tokens are put together."""
    if _same_numbers(ids, one, other, n):
        return True
    size = 0
    for k in range(n):
        size += place[ids[one + k], _SIZE] - place[ids[other + k], _SIZE]
    if size != 0:
        return False
    i, j, end = 0, 0, one + n
    while one < end:
        if data[place[ids[one], _START] + i] != data[place[ids[other], _START] + j]:
            return False
        i += 1
        j += 1
        if i == place[ids[one], _SIZE]:
            one, i = one + 1, 0
        if j == place[ids[other], _SIZE]:
            other, j = other + 1, 0
    return True


@helper
def _duplicated(data: Any, ids: Any, count: int, n: int, known: Known, slots: Any) -> int:
    """Characters of the n-grams that stood before."""
    room = len(slots)
    slots[:] = -1
    place = known.place
    chars, i = 0, 0
    while i < count - n + 1:
        value, own = signed(0), signed(0)
        for k in range(i, i + n):
            value = value * place[ids[k], _POWER] + place[ids[k], _HASH]
            own += place[ids[k], _CHARS]
        slot = _slot(value, room)
        while slots[slot] >= 0 and not _same_characters(data, ids, slots[slot], i, n, place):
            slot = _next(slot, room)
        if slots[slot] >= 0:
            chars += own
            i += n
        else:
            slots[slot] = i
            i += 1
    return chars


@helper
def _room(count: int) -> int:
    """Slots for so many entries: fewer for each where there are millions."""
    return 2 * count + 8 if count < _MANY else count + count // 4


@helper
def _measure(data: Any, ids: Any, count: int, known: Known, top: Any, duplicated: Any, sums: Any) -> None:
    """Write to `sums` the characters for each n of `top`, then of `duplicated`."""
    slots = np.empty(_room(count), dtype=np.int32)
    seen = np.empty(count, dtype=np.int32)
    for k in range(len(top)):
        sums[k] = _top_gram(ids, count, top[k], known, slots, seen)
    for k in range(len(duplicated)):
        sums[len(top) + k] = _duplicated(data, ids, count, duplicated[k], known, slots)


@kernel((BYTES, OFFSETS, TOKENS, OFFSETS, OFFSETS, types.Array(types.int64, 2, "C")))
def _measure_texts(data: Any, firsts: Any, tokens: Any, top: Any, duplicated: Any, sums: Any) -> None:
    for text in range(len(firsts) - 1):
        first, last = firsts[text], firsts[text + 1]
        place = np.empty((last - first, 5), dtype=np.int64)
        known = Known(place, np.full(_room(last - first), -1, dtype=np.int32))
        ids = np.empty(last - first, dtype=np.int32)
        _number(data, tokens, first, last, known, 0, ids)
        _measure(data, ids, last - first, known, top, duplicated, sums[text])


@kernel((BYTES, TOKENS, _KNOWN, types.int64, _I32_OUT))
def _number_piece(data: Any, tokens: Any, known: Any, count: int, ids: Any) -> int:
    return _number(data, tokens, 0, len(ids), known, count, ids)


@kernel((BYTES, _I32_OUT, _KNOWN, OFFSETS, OFFSETS, _SUMS))
def _measure_numbers(data: Any, ids: Any, known: Any, top: Any, duplicated: Any, sums: Any) -> None:
    _measure(data, ids, len(ids), known, top, duplicated, sums)


@kernel((types.Array(types.int64, 2, "C"), types.int64, _I32_OUT))
def _fill_slots(place: Any, count: int, slots: Any) -> None:
    room = len(slots)
    for number in range(count):
        slot = _slot(place[number, _HASH], room)
        while slots[slot] >= 0:
            slot = _next(slot, room)
        slots[slot] = number


def measure_texts(data: Bytes, firsts: Offsets, tokens: Tokens, top: Offsets, duplicated: Offsets) -> I64:
    """Of texts with the tokens `[firsts[i], firsts[i + 1])`: characters by n of `top`, then of `duplicated`, int64
    (texts, len(top) + len(duplicated)). Takes some 80 bytes for each token of the longest text."""
    sums = np.zeros((len(firsts) - 1, len(top) + len(duplicated)), dtype=np.int64)
    _measure_texts(data, firsts, tokens, top, duplicated, sums)
    return sums


class LongText:
    """The numbers of one text that comes in pieces: 4 bytes for each token, some 50 for each different one."""

    def __init__(self, data: Bytes, most_tokens: int) -> None:
        self._data = data
        self._ids = np.empty(most_tokens, dtype=np.int32)
        self._tokens = self._count = 0
        self._known = Known(np.empty((1 << 12, 5), np.int64), np.full(1 << 13, -1, np.int32))

    def add(self, tokens: Tokens) -> None:
        """The tokens of the next piece."""
        self._make_room(self._count + len(tokens.starts))
        ids = self._ids[self._tokens : self._tokens + len(tokens.starts)]
        self._count = _number_piece(self._data, tokens, self._known, self._count, ids)
        self._tokens += len(ids)

    def _make_room(self, wanted: int) -> None:
        if wanted <= len(self._known.place):
            return
        room = wanted + wanted // 4
        place = np.empty((room, 5), dtype=np.int64)
        place[: self._count] = self._known.place[: self._count]
        self._known = Known(place, np.full(2 * room, -1, dtype=np.int32))
        _fill_slots(place, self._count, self._known.slots)

    def measure(self, top: Offsets, duplicated: Offsets) -> I64:
        """What `measure_texts` gives for this text, int64 (len(top) + len(duplicated))."""
        sums = np.zeros(len(top) + len(duplicated), dtype=np.int64)
        _measure_numbers(self._data, self._ids[: self._tokens], self._known, top, duplicated, sums)
        return sums

"""Sections of a text that stand in it twice: runs of units (`windows_units`) that are equal in all but white space.

A byte is repeated when it stands in a window of L units that stands earlier in the same text, without overlap.

In linear time and less memory than the text. One pass over the text notes the anchors of its windows (see `winnow`) in
two tables of bits, met and met again, and in a list, with the place where its windows begin. Where an anchor was met
again, its windows are looked at: a table keeps the place of the first one of each kind, and a later one that is equal
in all that is not white space is a repetition. Where the table is full, it is confined to windows with hashes below a
bound, and another pass sees to those above it. Hashes have a key that is drawn anew in each process and find candidates
alone; the texts themselves are compared. `windows_units_plain` is the twin.
"""

import os
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.char_table import SPACE, char_flags
from gristmill.stages.kernels.jit import BYTES, helper, inner, kernel
from gristmill.stages.kernels.segments_intern import WORD_BYTES, word_at
from gristmill.stages.kernels.windows_units import JOINED, PARTED, STATE_FIELDS, begin, is_medium, next_unit
from gristmill.stages.kernels.winnow import BASE, base_power, longer, mixed, push, split_window
from gristmill.stages.kernels.words import decode

_signed = cast(Callable[[Any], int], np.int64)
_KEY = np.frombuffer(os.urandom(8), np.uint64)
_ALL_TAGS = 1 << 32
_FREE = 0xFFFFFFFF
"""No place in a text of less than 4 GiB."""
MIN_SLOTS, SMALL_SLOTS, BYTES_PER_SLOT = 1 << 10, 1 << 20, 8
"""Tables have a slot of 8 bytes for each byte of a text up to SMALL_SLOTS, and above that one for 8 to 16 bytes."""
_FULL, _NEARLY_FULL = 0.6, 0.55
_FIRST_ROOM = 256
_JOINED_BIT = 1 << 31

Spans = npt.NDArray[np.int64]

_U64 = types.Array(types.uint64, 1, "C")
_PAIRS = types.Array(types.uint32, 2, "C")
_NUMBERS = types.Array(types.int64, 1, "C")

_ENTRIES, _LOW, _HIGH = range(3)
"""Of the table: how many entries it has, and the bounds of the hashes that it takes."""


@inner
def _has_bit(bits: Any, number: Any) -> bool:
    return (bits[number >> np.uint64(6)] >> (number & np.uint64(63))) & np.uint64(1) != np.uint64(0)


@inner
def _set_bit(bits: Any, number: Any) -> None:
    bits[number >> np.uint64(6)] |= np.uint64(1) << (number & np.uint64(63))


@kernel((BYTES, BYTES, _U64, types.int64, types.int64, _U64, _U64))
def _note_anchors(data: Bytes, flags: Bytes, key: Any, k: int, length: int, met: Any, again: Any) -> Any:
    """The list of anchors (bit, with _JOINED_BIT; place of the first unit of the first window), those that follow on an
    equal one left out. Sets the bits."""
    state, w = np.zeros(STATE_FIELDS, np.int64), length - k + 1
    values, starts = np.zeros(length, np.uint64), np.zeros((length, 2), np.int64)
    queue, places = np.empty(w, np.uint64), np.empty(w, np.int64)
    power, mask = base_power(k), np.uint64(64 * len(met) - 1)
    found, noted, last = np.empty((_FIRST_ROOM, 2), np.uint32), 0, np.int64(-1)
    count, slot, old, head, size, anchor, value = 0, 0, 0, 0, 0, -1, np.uint64(0)
    begin(data, 0, len(data), flags, False, state)
    while True:
        start, _, unit, marks = next_unit(data, len(data), flags, key[0], state)
        if start < 0:
            return found[:noted].copy()
        if marks & PARTED:
            count, slot, head, size, anchor, last, value = 0, 0, 0, 0, -1, np.int64(-1), np.uint64(0)
        value = value * np.uint64(BASE) + unit
        if count >= k:
            old = slot - k if slot >= k else slot - k + length
            value -= power * values[old]
        values[slot], starts[slot, 0], starts[slot, 1] = unit, start, marks & JOINED
        slot = slot + 1 if slot + 1 < length else 0
        count += 1
        if count < k:
            continue
        head, size = push(queue, places, head, size, count - k, mixed(value), w)
        if count < length or places[head] == anchor:
            continue
        anchor = places[head]
        bit = queue[head] & mask
        _set_bit(again if _has_bit(met, bit) else met, bit)
        if np.int64(bit) == last:
            continue
        last = np.int64(bit)
        found = longer(found) if noted == len(found) else found
        found[noted, 0] = bit | (np.uint64(_JOINED_BIT) if starts[slot, 1] else np.uint64(0))
        found[noted, 1] = starts[slot, 0]
        noted += 1


@inner
def _past_space(data: Bytes, at: int, end: int, flags: Bytes) -> int:
    while at < end:
        point, behind = decode(data, at, end)
        if flags[point] & SPACE == 0:
            break
        at = behind
    return at


@helper
def _end_of_equal(data: Bytes, one: int, other: int, stop: int, flags: Bytes) -> int:
    """Where the text from `one` on ends that equals `data[other:stop]` but for white space; -1 where it does not."""
    end, floor = len(data), other
    while True:
        while other + WORD_BYTES <= stop and word_at(data, one, WORD_BYTES) == word_at(data, other, WORD_BYTES):
            one, other = one + WORD_BYTES, other + WORD_BYTES
        if other == stop:
            return one
        while other > floor and data[other] & 0xC0 == 0x80:
            # Behind eight equal bytes, inside a character that may differ from here on.
            one, other = one - 1, other - 1
        one, other = _past_space(data, one, end, flags), _past_space(data, other, stop, flags)
        if other == stop:
            return one
        _, behind = decode(data, other, stop)
        for i in range(behind - other):
            if one + i >= end or data[one + i] != data[other + i]:
                return -1
        one, other = one + behind - other, behind
        floor = other


@helper
def _confine(table: Any, bounds: Any) -> None:
    """Halve the range of hashes that the table holds, and let go of those above."""
    bounds[_HIGH] = (bounds[_LOW] + bounds[_HIGH] + 1) // 2
    kept = np.empty((bounds[_ENTRIES], 2), np.uint32)
    count = 0
    for slot in range(len(table)):
        if table[slot, 0] != _FREE and table[slot, 1] < bounds[_HIGH]:
            kept[count] = table[slot]
            count += 1
    table[:, 0] = _FREE
    for i in range(count):
        slot = np.int64(kept[i, 1]) * np.int64(0x9E3779B1) & (len(table) - 1)
        while table[slot, 0] != _FREE:
            slot = (slot + 1) & (len(table) - 1)
        table[slot] = kept[i]
    bounds[_ENTRIES] = count


@inner
def _is_repeated(data: Bytes, start: int, stop: int, value: Any, table: Any, bounds: Any, flags: Bytes) -> bool:
    """Whether the window stands earlier without overlap; a first one is put into the table."""
    tag = np.int64(value >> np.uint64(32))
    if tag < bounds[_LOW] or tag >= bounds[_HIGH]:
        return False
    slot = tag * np.int64(0x9E3779B1) & (len(table) - 1)
    while table[slot, 0] != _FREE:
        if table[slot, 1] == tag:
            end = _end_of_equal(data, _signed(table[slot, 0]), start, stop, flags)
            if end >= 0:
                return end <= start
        slot = (slot + 1) & (len(table) - 1)
    if bounds[_ENTRIES] + 1 < len(table):
        table[slot, 0], table[slot, 1] = start, tag
        bounds[_ENTRIES] += 1
    if bounds[_ENTRIES] > _FULL * len(table):
        _confine(table, bounds)
    return False


@inner
def _put_span(spans: Any, count: int, start: int, stop: int) -> Any:
    """Spans with one more, or the last one longer, and their number."""
    if count and start <= spans[count - 1, 1]:
        spans[count - 1, 1] = max(stop, spans[count - 1, 1])
        return spans, count
    spans = longer(spans) if count == len(spans) else spans
    spans[count, 0], spans[count, 1] = start, stop
    return spans, count + 1


@inner
def _space_behind(data: Bytes, at: int, flags: Bytes) -> int:
    """Where the white space that begins at `at` ends; a medium is none."""
    while at < len(data) and not is_medium(data, at, len(data)):
        point, behind = decode(data, at, len(data))
        if flags[point] & SPACE == 0:
            break
        at = behind
    return at


@kernel((BYTES, BYTES, _U64, types.int64, _PAIRS, _U64, _PAIRS, _NUMBERS))
def _find_repeats(
    data: Bytes, flags: Bytes, key: Any, length: int, anchors: Any, again: Any, table: Any, bounds: Any
) -> Any:
    """Spans of the repeated windows with hashes between the bounds; `bounds` says where that was."""
    state, values, starts = np.zeros(STATE_FIELDS, np.int64), np.zeros(length, np.uint64), np.zeros(length, np.int64)
    power, spans, spanned = base_power(length), np.empty((_FIRST_ROOM, 2), np.int64), 0
    number = 0
    while number < len(anchors):
        bit = anchors[number, 0]
        if not _has_bit(again, np.uint64(bit & ~np.uint32(_JOINED_BIT))):
            number += 1
            continue
        begin(data, _signed(anchors[number, 1]), len(data), flags, bit & np.uint32(_JOINED_BIT) != 0, state)
        while number < len(anchors) and _has_bit(again, np.uint64(anchors[number, 0] & ~np.uint32(_JOINED_BIT))):
            number += 1
        behind_run = _signed(anchors[number, 1]) if number < len(anchors) else len(data)
        count, slot, value = 0, 0, np.uint64(0)
        while True:
            start, stop, unit, marks = next_unit(data, len(data), flags, key[0], state)
            if start < 0:
                break
            if marks & PARTED:
                count, slot, value = 0, 0, np.uint64(0)
            value = value * np.uint64(BASE) + unit
            if count >= length:
                value -= power * values[slot]
            values[slot], starts[slot] = unit, start
            slot = slot + 1 if slot + 1 < length else 0
            count += 1
            first = starts[slot] if count >= length else starts[0]
            if first >= behind_run:
                break
            if count >= length and _is_repeated(data, first, stop, mixed(value), table, bounds, flags):
                spans, spanned = _put_span(spans, spanned, first, _space_behind(data, stop, flags))
    return spans[:spanned].copy()


def repeated_spans(data: Bytes, length: int) -> Spans:
    """Spans (n, 2) of bytes that stand in repeated windows of `length` units, with the white space behind; in order."""
    data = np.ascontiguousarray(data)
    bits = max(64, 1 << (len(data) // 2).bit_length())
    met, again = np.zeros(bits // 64, np.uint64), np.zeros(bits // 64, np.uint64)
    anchors = _note_anchors(data, char_flags(), _KEY.copy(), split_window(length)[0], length, met, again)
    del met
    if not again.any():
        return np.empty((0, 2), np.int64)
    table = np.empty((_slots(len(data)), 2), np.uint32)
    bounds = np.zeros(3, np.int64)
    found: list[Spans] = []
    width = _ALL_TAGS
    while bounds[_HIGH] < _ALL_TAGS:
        table[:, 0] = _FREE
        bounds[:] = (0, bounds[_HIGH], min(bounds[_HIGH] + width, _ALL_TAGS))
        found.append(_find_repeats(data, char_flags(), _KEY.copy(), length, anchors, again, table, bounds))
        # As many hashes as will fill the table nearly.
        fill = bounds[_ENTRIES] / (_NEARLY_FULL * len(table))
        width = max(int((bounds[_HIGH] - bounds[_LOW]) / max(fill, 1e-9)), 1)
    return found[0] if len(found) == 1 else _merged(np.concatenate(found))


def _slots(size: int) -> int:
    """How many slots the table of a text has: a power of two."""
    small = min(1 << size.bit_length(), SMALL_SLOTS)
    return max(MIN_SLOTS, small, 1 << ((size // BYTES_PER_SLOT).bit_length() - 1) if size >= BYTES_PER_SLOT else 0)


def _merged(spans: Spans) -> Spans:
    """Spans in order, those that overlap or touch as one."""
    if not len(spans):
        return spans
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    reached = np.maximum.accumulate(spans[:, 1])
    first = np.flatnonzero(np.append(True, spans[1:, 0] > reached[:-1]))
    return np.stack([spans[first, 0], reached[np.append(first[1:], len(spans)) - 1]], axis=1)


@kernel((BYTES, types.Array(types.int64, 2, "C", readonly=True), types.Array(types.uint8, 1, "C")))
def _without_spans(data: Bytes, spans: Any, out: Any) -> int:
    at, put, chars = 0, 0, 0
    for i in range(len(spans) + 1):
        start = spans[i, 0] if i < len(spans) else len(data)
        out[put : put + start - at] = data[at:start]
        put += start - at
        at = start
        stop = spans[i, 1] if i < len(spans) else len(data)
        while at < stop:
            chars += data[at] & 0xC0 != 0x80
            at += 1
    return chars


def without_spans(data: Bytes, spans: Spans) -> tuple[bytearray, int]:
    """The text without these spans (in order, disjoint), and the characters that are gone."""
    out = bytearray(len(data) - int((spans[:, 1] - spans[:, 0]).sum()))
    given = np.ascontiguousarray(data), np.ascontiguousarray(spans)
    return out, _without_spans(*given, np.frombuffer(out, np.uint8))

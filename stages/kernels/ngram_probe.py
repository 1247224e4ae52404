"""Texts probed for the n-grams of a table: which rows hold any, which distinct ones a text holds, and where they stand.

One walk over the bytes; of the words that were seen only the last MAX_NGRAM are held, so the memory does not depend on
a text's length. For each word the polynomial over the last `lengths[0]` words is rolled on and one bit of the bitmap
read; where it is set, the n-gram of each length is looked up by its hash, and its words are compared. All n-grams of
the table that are active are found, and no others. The twin is `ngram_plain`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.jit import BYTES, OFFSETS, helper, inner, kernel
from gristmill.stages.kernels.ngram_fold import Fold
from gristmill.stages.kernels.ngram_index import BASE, FLAGS_IN, GRAMS, SMALL_OUT, Flags, Grams, Small, bit_at, key_of
from gristmill.stages.kernels.ngram_words import FOLD, HASHES_OUT, INTS_OUT, Hashes, Ints, next_word, same_word, signed

MAX_NGRAM = 128
_RING = 2 * MAX_NGRAM
"""Words that are held, a power of 2: those that may stand in an n-gram, and so many that are read ahead. The bitmap is
larger than the nearer caches, and is read for many words at once: 1.6 times as fast as word by word."""

_AT, _WORDS, _CHECKED, _PENDING, _START, _STOP = range(6)
FLAGS_OUT = types.Array(types.uint8, 1, "C")
SPANS_OUT = types.Array(types.int64, 2, "C")


class Ring(NamedTuple):
    """The walk over one text: of the last words the `hashes`, the `keys` of the words up to each (those that the bitmap
    has), where they begin (`starts`) and end (`stops`); `state`: the byte to go on at, words read, words looked up, the
    next length to try for the last of those, the bytes [start, stop) of the n-gram that was found."""

    hashes: Hashes
    keys: Hashes
    starts: Ints
    stops: Ints
    state: Ints


class Cut(NamedTuple):
    """`margin_chars` go at either side of an n-gram; pieces of fewer than `min_piece_chars` between passages, or before
    the first or behind the last, go with them; `most`: passages in a text."""

    margin_chars: int
    min_piece_chars: int
    most: int


RING = types.NamedTuple([HASHES_OUT, HASHES_OUT, INTS_OUT, INTS_OUT, INTS_OUT], Ring)


def _new_ring() -> Ring:
    hashes = np.zeros((2, _RING), np.uint64)
    bounds = np.zeros((2, _RING), np.int64)
    return Ring(hashes[0], hashes[1], bounds[0], bounds[1], np.zeros(6, np.int64))


@inner
def _restart(ring: Ring, at: int) -> None:
    ring.state[_AT], ring.state[_WORDS], ring.state[_CHECKED], ring.state[_PENDING] = at, 0, 0, -1


@helper
def _same_words(data: Bytes, start: int, stop: int, fold: Fold, grams: Grams, gram: int) -> bool:
    place = grams.places[gram]
    for _ in range(grams.sizes[gram]):
        first, last, start, _unused = next_word(data, start, stop, fold.elements, fold.sequences)
        if first < 0:
            return False
        place = same_word(data, first, last, fold, grams.stream, place)
        if place < 0:
            return False
        place += 1
    return True


@helper
def _gram_of(data: Bytes, fold: Fold, grams: Grams, skip: Flags, ring: Ring, length: int) -> int:
    """The n-gram that the last `length` words are, -1 if they are none that is active and not skipped."""
    words = ring.state[_CHECKED]
    rolled = np.uint64(0)
    for i in range(words - length, words):
        rolled = rolled * np.uint64(BASE) + ring.hashes[i & (_RING - 1)]
    key = key_of(rolled, length)
    start = signed(ring.starts[(words - length) & (_RING - 1)])
    stop = signed(ring.stops[(words - 1) & (_RING - 1)])
    mask = len(grams.slots) - 1
    slot = np.int64(key & np.uint64(mask))
    while grams.slots[slot] >= 0:
        gram = grams.slots[slot]
        is_like = grams.keys[slot] == key and grams.sizes[gram] == length and not skip[gram] and grams.active[gram]
        if is_like and _same_words(data, start, stop, fold, grams, gram):
            ring.state[_START], ring.state[_STOP] = start, stop
            return gram
        slot = (slot + 1) & mask
    return -1


@helper
def _next_length(data: Bytes, fold: Fold, grams: Grams, skip: Flags, ring: Ring) -> int:
    """The next n-gram that ends at the last word, -1 behind the last one."""
    lengths = grams.lengths
    while ring.state[_PENDING] < len(lengths):
        length = signed(lengths[ring.state[_PENDING]])
        ring.state[_PENDING] += 1
        if length <= ring.state[_CHECKED]:
            gram = _gram_of(data, fold, grams, skip, ring, length)
            if gram >= 0:
                return gram
    ring.state[_PENDING] = -1
    return -1


@inner
def _read_ahead(data: Bytes, end: int, fold: Fold, grams: Grams, ring: Ring) -> None:
    """Read up to MAX_NGRAM words more."""
    hashes, keys, starts, stops, state = ring.hashes, ring.keys, ring.starts, ring.stops, ring.state
    elements, sequences, shortest = fold.elements, fold.sequences, grams.lengths[0]
    at, words = state[_AT], state[_WORDS]
    oldest, rolled = np.uint64(1), np.uint64(0)
    for i in range(words - min(words, shortest), words):
        rolled = rolled * np.uint64(BASE) + hashes[i & (_RING - 1)]
    for _ in range(shortest):
        oldest *= np.uint64(BASE)
    for _ in range(MAX_NGRAM):
        start, stop, at, found = next_word(data, at, end, elements, sequences)
        if start < 0:
            break
        rolled = rolled * np.uint64(BASE) + found
        if words >= shortest:
            rolled -= hashes[(words - shortest) & (_RING - 1)] * oldest
        place = words & (_RING - 1)
        hashes[place], keys[place], starts[place], stops[place] = found, key_of(rolled, shortest), start, stop
        words += 1
    state[_AT], state[_WORDS] = at, words


@inner
def _next_gram(data: Bytes, end: int, fold: Fold, grams: Grams, skip: Flags, ring: Ring) -> int:
    """The next n-gram in the text that is active and not skipped, its bytes in the state; -1 at its end."""
    state, keys, bits, shortest = ring.state, ring.keys, grams.bits, grams.lengths[0]
    if state[_PENDING] >= 0:
        gram = _next_length(data, fold, grams, skip, ring)
        if gram >= 0:
            return gram
    while True:
        for word in range(max(state[_CHECKED], shortest - 1), state[_WORDS]):
            if bit_at(bits, keys[word & (_RING - 1)]):
                state[_CHECKED], state[_PENDING] = word + 1, 0
                gram = _next_length(data, fold, grams, skip, ring)
                if gram >= 0:
                    return gram
        state[_CHECKED] = state[_WORDS]
        _read_ahead(data, end, fold, grams, ring)
        if state[_CHECKED] == state[_WORDS]:
            return -1


@kernel(types.void(BYTES, OFFSETS, FOLD, GRAMS, FLAGS_IN, RING, FLAGS_OUT))
def _any_rows(data: Bytes, offsets: Offsets, fold: Fold, grams: Grams, skip: Flags, ring: Ring, found: Flags) -> None:
    for row in range(len(offsets) - 1):
        _restart(ring, offsets[row])
        found[row] = _next_gram(data, offsets[row + 1], fold, grams, skip, ring) >= 0


@kernel(types.int64(BYTES, FOLD, GRAMS, RING, FLAGS_OUT, SMALL_OUT, SPANS_OUT))
def _distinct(data: Bytes, fold: Fold, grams: Grams, ring: Ring, seen: Flags, found: Small, spans: Ints) -> int:
    """An n-gram that was seen is skipped from then on: its words need no second comparison."""
    _restart(ring, 0)
    count = 0
    while True:
        gram = _next_gram(data, len(data), fold, grams, seen, ring)
        if gram < 0:
            return count
        seen[gram] = 1
        found[count] = gram
        spans[count, 0], spans[count, 1] = ring.state[_START], ring.state[_STOP]
        count += 1


@helper
def _back(data: Bytes, at: int, floor: int, chars: int) -> int:
    while at > floor and chars > 0:
        at -= 1
        while at > floor and data[at] & 0xC0 == 0x80:
            at -= 1
        chars -= 1
    return at


@helper
def _forward(data: Bytes, at: int, chars: int) -> int:
    while at < len(data) and chars > 0:
        at += 1
        while at < len(data) and data[at] & 0xC0 == 0x80:
            at += 1
        chars -= 1
    return at


@helper
def _are_near(data: Bytes, at: int, start: int, chars: int) -> bool:
    """Whether at most so many characters stand between two places; what lies between is read once in a walk."""
    while at < start and chars > 0:
        at = _forward(data, at, 1)
        chars -= 1
    return at >= start


@helper
def _close(data: Bytes, spans: Ints, number: int, margin: int, least: int) -> None:
    """Set where the cut for a passage begins and ends: with its margins, and the text's own begin if that is near."""
    floor = spans[number - 1, 1] if number > 0 else 0
    first = _back(data, spans[number, 2], floor, margin)
    spans[number, 0] = 0 if number == 0 and _back(data, first, 0, least) == 0 else first
    spans[number, 1] = _forward(data, spans[number, 3], margin)


@kernel(types.int64(BYTES, FOLD, GRAMS, FLAGS_IN, RING, types.int64, types.int64, SPANS_OUT))
def _passages(
    data: Bytes, fold: Fold, grams: Grams, skip: Flags, ring: Ring, margin: int, least: int, spans: Ints
) -> int:
    """Columns of `spans`: where the cut begins and ends, where the n-grams in it do."""
    _restart(ring, 0)
    count = 0
    while True:
        gram = _next_gram(data, len(data), fold, grams, skip, ring)
        if gram < 0:
            break
        start, stop, last = ring.state[_START], ring.state[_STOP], count - 1
        if last >= 0 and _are_near(data, spans[last, 3], start, 2 * margin + least):
            spans[last, 2], spans[last, 3] = min(start, spans[last, 2]), max(stop, spans[last, 3])
            continue
        if last >= 0:
            _close(data, spans, last, margin, least)
        if count == len(spans):
            return count + 1
        spans[count, 2], spans[count, 3] = start, stop
        count += 1
    if count > 0:
        _close(data, spans, count - 1, margin, least)
    return count


def rows_with_grams(data: Bytes, offsets: Offsets, fold: Fold, grams: Grams) -> npt.NDArray[np.bool_]:
    """Which of n texts hold an active n-gram, bool (n); a text is read up to its first one."""
    found = np.zeros(len(offsets) - 1, np.uint8)
    if len(grams.lengths):
        _any_rows(data, offsets, fold, grams, np.zeros(len(grams.sizes), np.uint8), _new_ring(), found)
    return found.view(np.bool_)


def distinct_grams(data: Bytes, fold: Fold, grams: Grams) -> tuple[Small, Ints]:
    """The distinct active n-grams of one text in the order in which they end, and the bytes [start, stop) of the first
    occurrence of each, int64 (k, 2)."""
    most = min(len(grams.sizes), len(data) + 1)
    found, spans = np.empty(most, np.int32), np.empty((most, 2), np.int64)
    seen = np.zeros(len(grams.sizes), np.uint8)
    count = _distinct(data, fold, grams, _new_ring(), seen, found, spans) if len(grams.lengths) else 0
    return found[:count].copy(), spans[:count].copy()


def passages(data: Bytes, fold: Fold, grams: Grams, wanted: Flags, cut: Cut) -> Ints | None:
    """The passages of one text that hold the `wanted` n-grams, as bytes [start, stop), ascending and apart, int64
    (k, 2); None for more than `cut.most`."""
    spans = np.zeros((cut.most, 4), np.int64)
    skip = (wanted == 0).view(np.uint8)
    least = max(cut.min_piece_chars - 1, 0)
    if not len(grams.lengths):
        return spans[:0, :2]
    count = _passages(data, fold, grams, skip, _new_ring(), cut.margin_chars, least, spans)
    if count > cut.most:
        return None
    found = spans[:count, :2].copy()
    if count and _chars(data[found[-1, 1] :], cut.min_piece_chars) < cut.min_piece_chars:
        found[-1, 1] = len(data)
    return found


def _chars(data: Bytes, most: int) -> int:
    """Characters of UTF-8, of no more bytes than so many may have."""
    return int(np.count_nonzero(data[: 4 * most].view(np.int8) >= -64))

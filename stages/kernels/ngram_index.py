"""A table of the n-grams of evaluation texts, by hash, with the words of each for an exact comparison.

An n-gram is a sequence of `ngram` words of one text; a text that has fewer, but `min_words` at least, is one n-gram of
all its words. `Grams` holds each distinct one once. A 64-bit hash leads to it, its words decide: hashes are not keyed,
and the texts that are probed are hostile. `bits` is a bitmap over hashes of the last `lengths[0]` words of the active
n-grams: what most words of a clean text see of the table is one bit.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.jit import KEYS, OFFSETS, helper, inner, kernel
from gristmill.stages.kernels.ngram_words import (
    HASHES_OUT,
    INTS_OUT,
    POINTS,
    Hashes,
    Ints,
    Points,
    mixed,
)

Small = npt.NDArray[np.int32]
Flags = npt.NDArray[np.uint8]

SMALL_IN = types.Array(types.int32, 1, "C", readonly=True)
FLAGS_IN = types.Array(types.uint8, 1, "C", readonly=True)
SMALL_OUT = types.Array(types.int32, 1, "C")

BASE = 0x9FB21C651E98DF25
_LENGTH_FACTOR = 0xD6E8FEB86659FD93
_BITS_PER_GRAM = 32
_MIN_BITS_LOG, _MAX_BITS_LOG = 10, 32


class Words(NamedTuple):
    """Words of texts, as `ngram_words.words_of_texts` gives them."""

    stream: Points
    hashes: Hashes
    bounds: Ints
    firsts: Ints


class Grams(NamedTuple):
    """What the kernels read, all read-only. `places[gram]`, `sizes[gram]`: where its words begin in `stream`, how many
    they are; `keys`, `slots` (a power of 2): an open table of hash and n-gram, -1 where free; `bits`: the bitmap;
    `lengths`: those that occur, ascending; `active[gram]`: 0 for one that is not looked for."""

    stream: Points
    places: Ints
    sizes: Small
    keys: Hashes
    slots: Small
    bits: Hashes
    lengths: Ints
    active: Flags


class Occurrences(NamedTuple):
    """Each distinct pair of n-gram and text that it stands in, int32, sorted by n-gram, then text."""

    grams: Small
    texts: Small


GRAMS = types.NamedTuple([POINTS, OFFSETS, SMALL_IN, KEYS, SMALL_IN, KEYS, OFFSETS, FLAGS_IN], Grams)
WORDS = types.NamedTuple([POINTS, KEYS, OFFSETS, OFFSETS], Words)


@inner
def key_of(rolled: Any, length: int) -> Any:
    """The hash of so many words, from the polynomial in BASE over the words' hashes."""
    return mixed(rolled ^ (np.uint64(length) * np.uint64(_LENGTH_FACTOR)))


@inner
def _place_in(bits: Hashes, key: Any) -> tuple[Any, Any]:
    """The word of the bitmap for a hash, and its three bits there: one read finds them all."""
    one, two, three = key & np.uint64(63), (key >> np.uint64(6)) & np.uint64(63), (key >> np.uint64(12)) & np.uint64(63)
    mask = (np.uint64(1) << one) | (np.uint64(1) << two) | (np.uint64(1) << three)
    return (key >> np.uint64(18)) & np.uint64(len(bits) - 1), mask


@inner
def bit_at(bits: Hashes, key: Any) -> bool:
    """Whether the bitmap holds this hash."""
    place, mask = _place_in(bits, key)
    return bits[place] & mask == mask


@helper
def _rolled(hashes: Hashes, first: int, stop: int) -> Any:
    found = np.uint64(0)
    for i in range(first, stop):
        found = found * np.uint64(BASE) + hashes[i]
    return found


@helper
def _same_stream(stream: Points, one: Any, other: Any, size: Any) -> bool:
    same = 0
    while same < size and stream[one + same] == stream[other + same]:
        same += 1
    return same == size


@kernel(types.int64(WORDS, types.int64, types.int64, HASHES_OUT, SMALL_OUT, INTS_OUT, SMALL_OUT, SMALL_OUT))
def _intern(
    words: Words, ngram: int, min_words: int, keys: Hashes, slots: Small, gram_words: Ints, sizes: Small, pairs: Small
) -> int:
    """Number the n-grams in order; `gram_words[gram]` is the first word of its first occurrence."""
    mask = len(slots) - 1
    grams, seen = 0, 0
    for text in range(len(words.firsts) - 1):
        first, stop = words.firsts[text], words.firsts[text + 1]
        length = min(ngram, stop - first)
        if length < min_words:
            continue
        for at in range(first, stop - length + 1):
            key = key_of(_rolled(words.hashes, at, at + length), length)
            place, size = words.bounds[at], words.bounds[at + length] - words.bounds[at]
            slot = np.int64(key & np.uint64(mask))
            while slots[slot] >= 0:
                known = slots[slot]
                begin = words.bounds[gram_words[known]]
                is_like = keys[slot] == key and sizes[known] == length
                is_like = is_like and words.bounds[gram_words[known] + length] == begin + size
                if is_like and _same_stream(words.stream, begin, place, size):
                    break
                slot = (slot + 1) & mask
            if slots[slot] < 0:
                keys[slot], slots[slot], gram_words[grams], sizes[grams] = key, grams, at, length
                grams += 1
            pairs[2 * seen], pairs[2 * seen + 1] = slots[slot], text
            seen += 1
    return grams


@kernel(types.void(KEYS, INTS_OUT, SMALL_IN, FLAGS_IN, types.int64, HASHES_OUT))
def _set_bits(hashes: Hashes, gram_words: Ints, sizes: Small, active: Flags, shortest: int, bits: Hashes) -> None:
    for gram in range(len(sizes)):
        if active[gram]:
            stop = gram_words[gram] + sizes[gram]
            place, mask = _place_in(bits, key_of(_rolled(hashes, stop - shortest, stop), shortest))
            bits[place] |= mask


def index_grams(words: Words, ngram: int, min_words: int) -> tuple[Grams, Occurrences, Ints]:
    """The table of all n-grams of the texts, all active and without its bitmap (see `with_bits`); where each occurs;
    and the first word of each."""
    counts = np.diff(words.firsts)
    lengths = np.minimum(counts, ngram)
    occurring = int(np.where(lengths >= min_words, counts - lengths + 1, 0).sum())
    slot_count = 1 << max(2 * occurring, 1).bit_length()
    keys, slots = np.zeros(slot_count, np.uint64), np.full(slot_count, -1, np.int32)
    firsts, sizes = np.empty(occurring, np.int64), np.empty(occurring, np.int32)
    pairs = np.empty(2 * occurring, np.int32)
    count = _intern(words, ngram, min_words, keys, slots, firsts, sizes, pairs)
    firsts, sizes = firsts[:count].copy(), sizes[:count].copy()
    found = np.unique(pairs.reshape(-1, 2), axis=0) if occurring else pairs.reshape(-1, 2)
    no_bits, active = np.zeros(1 << _MIN_BITS_LOG - 6, np.uint64), np.ones(count, np.uint8)
    known = np.unique(sizes).astype(np.int64)
    table = Grams(words.stream, words.bounds[firsts], sizes, keys, slots, no_bits, known, active)
    return frozen(table), Occurrences(found[:, 0].copy(), found[:, 1].copy()), firsts


def with_bits(grams: Grams, hashes: Hashes, firsts: Ints, active: Flags) -> Grams:
    """The table with these n-grams active, and its bitmap; `firsts` as `index_grams` gave them."""
    lengths = np.unique(grams.sizes[active != 0]).astype(np.int64)
    log = min(max((int(active.sum()) * _BITS_PER_GRAM).bit_length(), _MIN_BITS_LOG), _MAX_BITS_LOG)
    bits = np.zeros(1 << log - 6, np.uint64)
    if len(lengths):
        _set_bits(hashes, firsts, grams.sizes, active, int(lengths[0]), bits)
    return frozen(grams._replace(bits=bits, lengths=lengths, active=active))


def frozen(grams: Grams) -> Grams:
    """The same table, read-only: what kernels were compiled for."""
    for array in grams:
        array.flags.writeable = False
    return grams

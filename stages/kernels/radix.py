"""Order of rows by unsigned 64-bit words: least significant digit radix sort, then only what still ties.

In: words, uint64 of shape (n), most significant word first. Out: `order`, uint32 (n), such that row `order[0]` comes
first; rows that tie in all words keep their order. Keys of an exchange are hashes, so the first word decides nearly all
of it, and a later word is looked at for the rows alone that tie in those before it. A digit that is the same in all
rows costs no pass. 25 to 32 ns a row for a random word, 10^5 to 10^7 rows; numpy's argsort takes 51 to 155 (one core of
a Zen-4 server). Skew costs nothing: a pass is linear whatever the keys.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.manifests.errors import GristmillError
from gristmill.stages.kernels.jit import KEYS, kernel

Words = npt.NDArray[np.uint64]
Payload = npt.NDArray[np.uint32]

MAX_ROWS = 1 << 32
"""Rows are counted in 32 bits while they are sorted."""

_DIGITS = 8
_VALUES = 256
_WORDS_OUT = types.Array(types.uint64, 1, "C")
_PAYLOAD = types.Array(types.uint32, 1, "C")


@kernel(types.int64(_WORDS_OUT, _PAYLOAD, _WORDS_OUT, _PAYLOAD))
def _radix_kernel(keys: Any, payload: Any, spare_keys: Any, spare_payload: Any) -> Any:
    """Sorts both by the keys, stably, a byte at a time; 1 when the result lies in the spare arrays, else 0.

    An empty payload is none.
    """
    rows = len(keys)
    carries = len(payload) > 0
    counts = np.zeros((_DIGITS, _VALUES), np.int64)
    for i in range(rows):
        key = keys[i]
        for digit in range(_DIGITS):
            counts[digit, np.int64((key >> np.uint64(8 * digit)) & np.uint64(255))] += 1
    swapped = 0
    place = np.empty(_VALUES, np.int64)
    for digit in range(_DIGITS):
        shift = np.uint64(8 * digit)
        if rows == 0 or counts[digit, np.int64((keys[0] >> shift) & np.uint64(255))] == rows:
            continue
        at = 0
        for value in range(_VALUES):
            place[value] = at
            at += counts[digit, value]
        for i in range(rows):
            key = keys[i]
            value = np.int64((key >> shift) & np.uint64(255))
            to = place[value]
            place[value] = to + 1
            spare_keys[to] = key
            if carries:
                spare_payload[to] = payload[i]
        keys, spare_keys = spare_keys, keys
        payload, spare_payload = spare_payload, payload
        swapped = 1 - swapped
    return swapped


@kernel(types.int64(KEYS, _PAYLOAD, _PAYLOAD))
def _tied_kernel(word: Any, at: Any, run: Any) -> Any:
    """Narrows sorted runs of rows, `at` and the number of its `run` for each, to those that tie in a word, too.

    Writes them to the front of both, runs numbered anew, and returns how many rows they are.
    """
    rows = len(word)
    filled = runs = start = 0
    while start < rows:
        stop = start + 1
        while stop < rows and run[stop] == run[start] and word[stop] == word[start]:
            stop += 1
        if stop - start > 1:
            for i in range(start, stop):
                at[filled] = at[i]
                run[filled] = runs
                filled += 1
            runs += 1
        start = stop
    return filled


@kernel(types.int64(KEYS, types.Array(types.uint32, 1, "C", readonly=True)))
def _falls_kernel(word: Any, run: Any) -> Any:
    """Where the word first falls within a run; 0 if nowhere."""
    for i in range(1, len(word)):
        if run[i] == run[i - 1] and word[i] < word[i - 1]:
            return i
    return 0


def sort_pairs(keys: Words, payload: Payload) -> tuple[Words, Payload]:
    """Both arrays (n) sorted by `keys`, stably. Takes as much memory again; the arguments are used up."""
    spare = np.empty_like(keys), np.empty_like(payload)
    return spare if _radix_kernel(keys, payload, *spare) else (keys, payload)


def sort_words(keys: Words) -> Words:
    """The keys sorted; the argument is used up."""
    return sort_pairs(keys, np.zeros(0, np.uint32))[0]


def argsort(keys: Words) -> Payload:
    """The rows in the order of their keys, stably. Raises GristmillError from 2^32 rows on."""
    return argsorted(keys)[1]


def argsorted(keys: Words) -> tuple[Words, Payload]:
    """The keys sorted, and the rows that they are of, stably. Raises GristmillError from 2^32 rows on."""
    if len(keys) >= MAX_ROWS:
        raise GristmillError("more rows than one sort takes", value=len(keys), remedy="sort partitions of them")
    return sort_pairs(keys.copy(), np.arange(len(keys), dtype=np.uint32))


def order_by(words: Iterable[Words]) -> Payload:
    """The rows in the order of their words, the first word first; words are asked for while rows still tie."""
    asked = iter(words)
    here, order = argsorted(next(asked))
    at, run = np.arange(len(order), dtype=np.uint32), np.zeros(len(order), np.uint32)
    tied = int(_tied_kernel(here, at, run))
    while tied and (word := next(asked, None)) is not None:
        at, run = at[:tied], run[:tied]
        held = order[at]
        here = word[held]
        if _falls_kernel(here, run):
            here, by = argsorted(here)
            _, by_run = argsorted(run[by].astype(np.uint64))
            order[at] = held[by[by_run]]
            here = here[by_run]
        tied = int(_tied_kernel(here, at, run))
    return order

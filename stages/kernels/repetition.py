"""Repeated n-grams of tokens: how many characters the most frequent one, and those that repeat, take up.

An n-gram is a pair of the (n-1)-grams that begin at its first and at its second token, so that numbering pairs level by
level compares n-grams exactly, token by token, whatever n is. What occurs once is not numbered, and nothing that holds
it can repeat: on prose hardly anything is left after the third level. The twin is `repetition_plain`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.jit import COUNTS_OUT, helper, kernel
from gristmill.stages.kernels.segments import Tokens
from gristmill.stages.kernels.segments_intern import (
    INTERNED,
    Interned,
    clear,
    entries_of,
    intern_pair,
    interned,
)

Ints = npt.NDArray[np.int64]
Ints32 = npt.NDArray[np.int32]

_TOP, _DUPLICATED = 1, 2
_INTS = types.Array(types.int64, 1, "C")
_INTS32 = types.Array(types.int32, 1, "C")
_TOKENS = (
    types.Array(types.int64, 1, "C", readonly=True),
    types.Array(types.int32, 1, "C", readonly=True),
    types.Array(types.uint8, 1, "C", readonly=True),
    types.Array(types.int64, 1, "C", readonly=True),
    types.Array(types.int32, 1, "C", readonly=True),
)


class _Row(NamedTuple):
    """The tokens of a row; fields as in `segments.Tokens`, `chars` by id."""

    ids: Ints32
    spaced: npt.NDArray[np.uint8]
    chars: Ints32


class _Scratch(NamedTuple):
    """The number of the n-gram that begins at each token, -1 for one that occurs once; how often each occurs."""

    level: Ints32
    counts: Ints32
    table: Interned


_SCRATCH = types.NamedTuple((_INTS32, _INTS32, INTERNED), _Scratch)


@helper
def _drop_single(scratch: Any, grams: int) -> int:
    """Forget what occurs once; how many of the first `grams` positions are left."""
    left = 0
    for i in range(grams):
        if scratch.level[i] >= 0:
            if scratch.counts[scratch.level[i]] < 2:
                scratch.level[i] = -1
            else:
                left += 1
    return left


@helper
def _first_level(row: Any, scratch: Any) -> int:
    scratch.counts[: len(row.chars)] = 0
    for i in range(len(row.ids)):
        scratch.level[i] = row.ids[i]
        scratch.counts[row.ids[i]] += 1
    return _drop_single(scratch, len(row.ids))


@helper
def _next_level(scratch: Any, grams: int, left: int) -> int:
    """From (n-1)-grams, of which `left` repeat, to the n-grams, of which there are `grams`."""
    level, counts, table = scratch.level, scratch.counts, scratch.table
    clear(table, left >> 2)
    for i in range(grams):
        if level[i] < 0 or level[i + 1] < 0:
            level[i] = -1
            continue
        before = entries_of(table)
        number = intern_pair(np.int64(level[i]), np.int64(level[i + 1]), table)
        if number == before:
            counts[number] = 0
        counts[number] += 1
        level[i] = number
    return _drop_single(scratch, grams)


@helper
def _top_chars(row: Any, scratch: Any, grams: int, n: int) -> int:
    """Characters of the text that the most frequent n-gram (of these the first) covers, a gap counted as one."""
    best = 0
    for number in range(1, entries_of(scratch.table)):
        if scratch.counts[number] > scratch.counts[best]:
            best = number
    chars, behind = 0, 0
    for i in range(grams):
        if scratch.level[i] == best:
            for at in range(max(i, behind), i + n):
                chars += row.chars[row.ids[at]]
                if at > i:
                    chars += row.spaced[at]
            behind = i + n
    return chars


@helper
def _duplicate_chars(row: Any, scratch: Any, grams: int, n: int) -> int:
    """Characters of the tokens of the n-grams that stood there before, behind each of which the search goes on."""
    chars, i = 0, 0
    while i < grams:
        number = scratch.level[i]
        if number < 0:
            i += 1
        elif scratch.counts[number] > 0:
            scratch.counts[number] = 0
            i += 1
        else:
            for at in range(i, i + n):
                chars += row.chars[row.ids[at]]
            i += n
    return chars


@kernel(types.void(*_TOKENS, _INTS, _SCRATCH, COUNTS_OUT))
def _measure(
    rows: Any, ids: Any, spaced: Any, vocabulary: Any, chars: Any, wanted: Any, scratch: Any, out: Any
) -> None:
    for number in range(len(rows) - 1):
        first, end = rows[number], rows[number + 1]
        row = _Row(ids[first:end], spaced[first:end], chars[vocabulary[number] : vocabulary[number + 1]])
        left = _first_level(row, scratch)
        for n in range(2, min(len(wanted), end - first + 1)):
            if left == 0:
                break
            grams = end - first - n + 1
            left = _next_level(scratch, grams, left)
            if left and wanted[n] & _TOP:
                out[number, 2 * n] = _top_chars(row, scratch, grams, n)
            if left and wanted[n] & _DUPLICATED:
                out[number, 2 * n + 1] = _duplicate_chars(row, scratch, grams, n)


def n_gram_chars(tokens: Tokens, top: Sequence[int], duplicated: Sequence[int]) -> Ints:
    """Characters, int64 (rows, len(top) + len(duplicated)), for each n of `top` and of `duplicated` (2 or more).

    * top: those that the n-gram of most occurrences (at least two; of several the first) covers, each once however its
      occurrences overlap, and one for each gap of white space in it;
    * duplicated: those of the tokens of n-grams that stood there before, reading on behind each (Rae et al. 2021:
      characters of overlapping n-grams count once).

    Neither is more than the characters of the row. Takes the tokens of any segmenter.
    """
    wanted = np.zeros(max([1, *top, *duplicated]) + 1, np.int64)
    wanted[list(top)] |= _TOP
    wanted[list(duplicated)] |= _DUPLICATED
    out = np.zeros((len(tokens.rows) - 1, 2 * len(wanted)), np.int64)
    most = int(np.diff(tokens.rows).max(initial=0))
    scratch = _Scratch(np.empty(most, np.int32), np.empty(most, np.int32), interned(most))
    fields = tokens.rows, tokens.ids, tokens.spaced, tokens.vocabulary, tokens.chars
    _measure(*fields, wanted, scratch, out)
    return out[:, [*(2 * n for n in top), *(2 * n + 1 for n in duplicated)]]

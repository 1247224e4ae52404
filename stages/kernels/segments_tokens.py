"""Ids of tokens: equal ids are equal texts within a row, byte by byte. The twin is `segments_plain`."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import char_flags
from gristmill.stages.kernels.jit import BYTES, OFFSETS, kernel
from gristmill.stages.kernels.segments import Tokens
from gristmill.stages.kernels.segments_intern import INTERNED, clear, entries_of, intern_bytes, interned
from gristmill.stages.kernels.words import NOTHING, next_token

_DISTINCT_BYTES_LOG2 = 4
"""A text of a few pages has a distinct token in some 16 bytes."""


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


@kernel(types.void(BYTES, OFFSETS, OFFSETS, BYTES, INTERNED, _OUT))
def _tokenize(data: Any, starts: Any, ends: Any, flags: Any, table: Any, out: Any) -> None:
    token, words = 0, 0
    for row in range(len(starts)):
        clear(table, (ends[row] - starts[row]) >> _DISTINCT_BYTES_LOG2)
        start, end = starts[row], ends[row]
        at, joined, behind = start, False, start
        while True:
            kind, first, at, chars, _, _, joined = next_token(data, at, end, flags, joined)
            if kind == NOTHING:
                break
            before = entries_of(table)
            number = intern_bytes(data, start, first, at - first, table)
            if number == before:
                out.chars[words + number] = chars
            out.ids[token] = number
            out.spaced[token] = first > behind
            behind = at
            token += 1
        words += entries_of(table)
        out.rows[row + 1] = token
        out.vocabulary[row + 1] = words


def tokenize(data: Bytes, starts: Offsets, ends: Offsets) -> Tokens:
    """The tokens of the rows `data[starts[i]:ends[i]]`."""
    size, most = int((ends - starts).sum()), int((ends - starts).max(initial=0))
    rows, vocabulary = np.zeros(len(starts) + 1, np.int64), np.zeros(len(starts) + 1, np.int64)
    out = _Out(rows, np.empty(size, np.int32), np.empty(size, np.uint8), vocabulary, np.empty(size, np.int32))
    _tokenize(data, starts, ends, char_flags(), interned(most), out)
    tokens, words = int(rows[-1]), int(vocabulary[-1])
    return Tokens(rows, out.ids[:tokens], out.spaced[:tokens], vocabulary, out.chars[:words])

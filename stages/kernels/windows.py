"""Strong hashes of windows of tokens, which of them are equal, and unions of spans.

The hash of a window of L tokens is made of BLAKE3-128 alone, as a tree with branches of four, so that neighbours share
work: a piece of 16 tokens (64 bytes, little-endian) is hashed as it is, one of 4s tokens from the hashes of its four
quarters, and the window from those of the four largest pieces that fit, which begin at 0, s, 2s and L - s (or earlier,
not to go over the end). Up to 16 tokens are hashed as they are. Two windows of different tokens with one hash were a
collision of BLAKE3-128. It costs two blocks a window of 50 tokens, where a hash of all its bytes costs four (98 against
154 ns). `windows_plain` is the twin.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.blake3_lanes import blake3_128
from gristmill.stages.kernels.jit import helper, kernel
from gristmill.stages.kernels.winnow import Ids, Ints, WindowRuns

PIECE_TOKENS = 16
BRANCHES = 4
_BLOCK_BYTES = 64
CHUNK_WINDOWS = 1 << 15
"""Windows that are hashed together, at most: some 200 bytes of memory each."""

_SIXTEEN_BYTES = np.complex128
"""Digests are moved as numbers of their size: three times as fast as rows of bytes."""

Digests = npt.NDArray[np.uint8]

ROW, FIRST, END, START, STOP, OWNER, TIMES = range(7)
"""Columns of spans (int64): the row; the first token and the one behind the last; their bytes in the row's text; a
number of whoever has the same tokens; how often they stand in the corpus."""
SPAN_FIELDS = 7

_signed = cast(Callable[[Any], int], np.int64)
_DIGESTS = types.Array(types.uint64, 2, "C", readonly=True)
_SPANS = types.Array(types.int64, 2, "C", readonly=True)
_NUMBERS = types.Array(types.int64, 1, "C", readonly=True)
_SLOTS = types.Array(types.int64, 1, "C")
_KEYS = types.Array(types.uint64, 2, "C")


class WindowHashes(NamedTuple):
    """Windows in order: the row, the first token of each in it, its hash (uint8 of shape (n, DIGEST_BYTES))."""

    rows: Ints
    positions: Ints
    hashes: Digests


def window_hashes(ids: Ids, offsets: Ints, runs: WindowRuns, length: int) -> Iterator[WindowHashes]:
    """Hashes of the windows of `length` tokens in these runs, at most CHUNK_WINDOWS at a time, in order."""
    data = np.ascontiguousarray(ids, dtype="<u4").view(np.uint8)
    for part in chunks(runs):
        bases = offsets[part.rows]
        hashes = _hashed(data, part.starts + bases, part.stops + bases, length)
        yield WindowHashes(*windows_of(part), hashes)


def windows_of(runs: WindowRuns) -> tuple[Ints, Ints]:
    """Row and first token of each window."""
    return np.repeat(runs.rows, runs.stops - runs.starts), _ranges(runs.starts, runs.stops)


def chunks(runs: WindowRuns) -> Iterator[WindowRuns]:
    """The runs in groups of at most CHUNK_WINDOWS windows; longer ones are parted, at multiples of CHUNK_WINDOWS."""
    before = runs.starts // CHUNK_WINDOWS
    pieces = np.maximum(-(-runs.stops // CHUNK_WINDOWS) - before, 1)
    rows = np.repeat(runs.rows, pieces)
    number = _ranges(before, before + pieces)
    starts = np.maximum(np.repeat(runs.starts, pieces), CHUNK_WINDOWS * number)
    stops = np.minimum(np.repeat(runs.stops, pieces), CHUNK_WINDOWS * (number + 1))
    first, total = 0, np.concatenate([[0], np.cumsum(stops - starts)])
    while first < len(rows):
        stop = int(np.searchsorted(total, total[first] + CHUNK_WINDOWS, side="right")) - 1
        yield WindowRuns(rows[first:stop], starts[first:stop], stops[first:stop])
        first = stop


def _ranges(starts: Ints, stops: Ints) -> Ints:
    """All numbers of the ranges, one after the other."""
    sizes = stops - starts
    ends = np.cumsum(sizes)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - ends + sizes, sizes)


def _hashed(data: npt.NDArray[np.uint8], starts: Ints, stops: Ints, length: int) -> Digests:
    """Hashes of the windows that begin at the tokens starts[i] to stops[i] - 1 of the data."""
    if length <= PIECE_TOKENS:
        places = _ranges(starts, stops)
        return blake3_128(data, 4 * places, np.full(len(places), 4 * length, np.int64))
    size = PIECE_TOKENS
    places = _ranges(starts, stops + length - size)
    pieces = blake3_128(data, 4 * places, np.full(len(places), 4 * size, np.int64))
    sizes = stops - starts + length - size
    while BRANCHES * size < length:
        fewer = stops - starts + length - BRANCHES * size
        pieces = _joined(pieces, sizes, fewer, [branch * size for branch in range(BRANCHES)])
        size, sizes = BRANCHES * size, fewer
    return _joined(pieces, sizes, stops - starts, [min(branch * size, length - size) for branch in range(BRANCHES)])


def _joined(pieces: Digests, sizes: Ints, wanted: Ints, at: list[int]) -> Digests:
    """Hashes of four pieces each: in each run of `sizes[i]` pieces, `wanted[i]` times those at p + at[0], ..."""
    begins = np.cumsum(sizes) - sizes
    first = _ranges(begins, begins + wanted)
    blocks = np.empty((len(first), BRANCHES), _SIXTEEN_BYTES)
    for branch, by in enumerate(at):
        blocks[:, branch] = pieces.view(_SIXTEEN_BYTES)[first + by, 0]
    places = _BLOCK_BYTES * np.arange(len(first))
    return blake3_128(blocks.reshape(-1).view(np.uint8), places, np.full(len(first), _BLOCK_BYTES, np.int64))


@helper
def _slot_of(slots: Any, keys: Any, one: Any, other: Any) -> int:
    slot = _signed(one & np.uint64(len(slots) - 1))
    while slots[slot] >= 0 and (keys[slots[slot], 0] != one or keys[slots[slot], 1] != other):
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@kernel((_DIGESTS, _NUMBERS, _SLOTS, _KEYS, _SLOTS, types.int64))
def _first_places(digests: Any, places: Any, slots: Any, keys: Any, firsts: Any, count: int) -> Any:
    found = np.empty(len(digests), np.int64)
    for row in range(len(digests)):
        slot = _slot_of(slots, keys, digests[row, 0], digests[row, 1])
        if slots[slot] < 0:
            slots[slot] = count
            keys[count] = digests[row]
            firsts[count] = places[row]
            count += 1
        found[row] = firsts[slots[slot]]
    return found, count


@kernel((_SLOTS, _KEYS, types.int64))
def _fill_slots(slots: Any, keys: Any, count: int) -> None:
    slots[:] = -1
    for entry in range(count):
        slots[_slot_of(slots, keys, keys[entry, 0], keys[entry, 1])] = entry


class FirstPlaces:
    """Where each hash was met first. Takes memory for the hashes that differ."""

    def __init__(self) -> None:
        self._count = 0
        self._keys, self._firsts = np.empty((64, 2), np.uint64), np.empty(64, np.int64)
        self._slots = np.full(128, -1, np.int64)

    def of(self, hashes: Digests, places: Ints) -> Ints:
        """The place of the first hash that is equal to each; hashes that are new have theirs."""
        wanted = self._count + len(hashes)
        if wanted > len(self._firsts):
            room = max(wanted, 2 * len(self._firsts))
            self._keys = np.resize(self._keys, (room, 2))
            self._firsts = np.resize(self._firsts, room)
            self._slots = np.empty(1 << (2 * room).bit_length(), np.int64)
            _fill_slots(self._slots, self._keys, self._count)
        digests = np.ascontiguousarray(hashes).view(np.uint64).reshape(-1, 2)
        given = digests, np.ascontiguousarray(places), self._slots, self._keys, self._firsts, self._count
        found, self._count = _first_places(*given)
        return found


def first_equal(hashes: Digests) -> Ints:
    """For each hash the number of the first one that is equal to it."""
    return FirstPlaces().of(hashes, np.arange(len(hashes)))


@kernel((_SPANS,))
def _union(spans: Any) -> Any:
    out = np.empty((len(spans), SPAN_FIELDS), np.int64)
    count, row, reached, reached_byte = 0, np.int64(-1), np.int64(0), np.int64(0)
    for i in range(len(spans)):
        apart = spans[i, ROW] != row or spans[i, FIRST] > reached
        if not apart and spans[i, END] <= reached:
            continue
        if not apart and out[count - 1, OWNER] == spans[i, OWNER]:
            count -= 1
            out[count, TIMES] = max(out[count, TIMES], spans[i, TIMES])
        else:
            out[count] = spans[i]
            if not apart:
                out[count, FIRST], out[count, START] = reached, reached_byte
        row, reached, reached_byte = spans[i, ROW], spans[i, END], spans[i, STOP]
        out[count, END], out[count, STOP] = reached, reached_byte
        count += 1
    return out[:count].copy()


def union_of_windows(spans: Ints) -> Ints:
    """The same tokens in spans that do not overlap; a token belongs to the first span that it stands in.

    spans: (n, SPAN_FIELDS) by row and first token; what they become is ordered so, too. Spans of one owner that overlap
    or touch are one.
    """
    return _union(np.ascontiguousarray(spans, dtype=np.int64))

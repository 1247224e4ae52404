"""Shingles of rows, one behind the other: what sets of shingles and sketches are made from.

A shingle is a sequence of `size` units; a row of fewer units has none. No row's shingles are held: they pass through a
block of `shingle_words.BLOCK` units.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import char_flags
from gristmill.stages.kernels.jit import BYTES, OFFSETS, helper, inner, kernel
from gristmill.stages.kernels.shingle_fold import fold_table
from gristmill.stages.kernels.shingle_hash import KEYS as KEY_COUNT
from gristmill.stages.kernels.shingle_hash import (
    ROLL_FACTOR,
    SHINGLE_KEY,
    UNIT_KEY,
    drop_factor,
    mix64,
    roll_shingles,
    splitmix64,
)
from gristmill.stages.kernels.shingle_words import (
    BLOCK,
    CURSOR,
    DROP,
    SHINGLE,
    TABLES,
    UNIT,
    ShingleTables,
    begin_row,
    fill_units,
    new_cursor,
    place_of,
)

MAX_SIZE = 1024
"""Units of a shingle at most."""

IDS = types.Array(types.uint32, 1, "C", readonly=True)
signed = cast(Callable[[Any], int], np.int64)
_PLACES_OUT = types.Array(types.int64, 1, "C")
HASHES_OUT = types.Array(types.uint64, 1, "C")

(_ROW, _OPEN, _USED) = range(3)


class Rows(NamedTuple):
    """Text: row i is `data[offsets[i]:offsets[i + 1]]` and has the units of `kinds[i]` (`shingle_words`)."""

    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.uint8]


ROWS = types.NamedTuple((BYTES, OFFSETS, BYTES), Rows)


class Window(NamedTuple):
    """A block of units behind the `size` units before it; `total` (uint64: the sum of the open shingle), `seen` (int64:
    the units of the row so far)."""

    units: npt.NDArray[np.uint64]
    total: npt.NDArray[np.uint64]
    seen: npt.NDArray[np.int64]


WINDOW = types.NamedTuple((HASHES_OUT, HASHES_OUT, _PLACES_OUT), Window)


def shingle_tables(size: int, seed: int) -> ShingleTables:
    """The tables for shingles of `size` units under a seed."""
    keys = splitmix64(seed, KEY_COUNT)
    wanted = np.array([keys[UNIT_KEY], keys[SHINGLE_KEY], drop_factor(size)], np.uint64)
    wanted.flags.writeable = False
    return ShingleTables(char_flags(), fold_table(), wanted)


def new_window(size: int) -> Window:
    """A window for shingles of `size` units."""
    return Window(np.zeros(size + BLOCK, np.uint64), np.zeros(1, np.uint64), np.zeros(1, np.int64))


@inner
def begin_window(window: Any, size: int) -> None:
    """Before the first unit of a row."""
    window.units[:size] = np.uint64(0)
    window.total[0] = np.uint64(0)
    window.seen[0] = 0


@helper
def roll_block(window: Any, count: int, size: int, tables: Any, out: Any) -> int:
    """The shingles that end in the `count` units of the block, into `out`; how many."""
    skip = min(max(size - 1 - window.seen[0], 0), count)
    keys = tables.keys
    window.total[0] = roll_shingles(window.units, count, size, window.total[0], keys[DROP], keys[SHINGLE], skip, out)
    window.seen[0] += count
    for i in range(size):
        window.units[i] = window.units[count + i]
    return count - skip


@inner
def next_shingles(kind: int, data: Bytes, end: int, size: int, tables: Any, cursor: Any, window: Any, out: Any) -> int:
    """The next shingles of a row into `out` (room for BLOCK); how many. It is read at `place_of(cursor) == end`."""
    made = fill_units(kind, data, end, tables, cursor, window.units, size)
    return roll_block(window, made, size, tables, out)


@kernel(types.void(ROWS, types.int64, TABLES, CURSOR, WINDOW, _PLACES_OUT, HASHES_OUT, _PLACES_OUT))
def _list_shingles(
    rows: Any, size: int, tables: Any, cursor: Any, window: Any, progress: Any, out: Any, ends: Any
) -> None:
    data, offsets, kinds = rows.data, rows.offsets, rows.kinds
    row, used = progress[_ROW], progress[_USED]
    while row < len(kinds):
        end = offsets[row + 1]
        if progress[_OPEN] == 0:
            begin_row(cursor, offsets[row])
            begin_window(window, size)
            progress[_OPEN] = 1
        while place_of(cursor) < end and used + BLOCK <= len(out):
            used += next_shingles(signed(kinds[row]), data, end, size, tables, cursor, window, out[used:])
        if place_of(cursor) < end:
            break
        ends[row] = used
        row += 1
        progress[_OPEN] = 0
    progress[_ROW], progress[_USED] = row, used


class Listing:
    """The shingles of rows, listed up to where there is room for them: `step` goes on behind what stands there.

    `ends` (n): where the shingles of a row end in the list that is given to `step`; `row`: the first row that is not
    done; `used`: the places that are taken.
    """

    def __init__(self, rows: Rows, size: int, tables: ShingleTables) -> None:
        self._rows = rows, size, tables
        self._cursor = new_cursor()
        self._window = new_window(size)
        self._progress = np.zeros(3, np.int64)
        self.ends = np.zeros(len(rows.kinds), np.int64)

    @property
    def row(self) -> int:
        return int(self._progress[_ROW])

    @property
    def used(self) -> int:
        return int(self._progress[_USED])

    @used.setter
    def used(self, value: int) -> None:
        self._progress[_USED] = value

    def step(self, out: npt.NDArray[np.uint64]) -> bool:
        """Whether all rows are done; else `out` has no room for BLOCK more."""
        _list_shingles(*self._rows, self._cursor, self._window, self._progress, out, self.ends)
        return self.row == len(self.ends)


@kernel(types.void(IDS, OFFSETS, types.int64, TABLES, HASHES_OUT, _PLACES_OUT))
def _list_of_ids(ids: Any, offsets: Offsets, size: int, tables: Any, out: Any, ends: Any) -> None:
    used, drop = 0, tables.keys[DROP]
    for row in range(len(ends)):
        start = offsets[row]
        total = np.uint64(0)
        for at in range(start, offsets[row + 1]):
            total = total * np.uint64(ROLL_FACTOR) + mix64(tables.keys[UNIT] ^ np.uint64(ids[at]))
            if at - start >= size:
                total -= mix64(tables.keys[UNIT] ^ np.uint64(ids[at - size])) * drop
            if at - start >= size - 1:
                out[used] = mix64(total ^ tables.keys[SHINGLE])
                used += 1
        ends[row] = used


def list_of_ids(
    ids: npt.NDArray[np.uint32], offsets: Offsets, size: int, tables: ShingleTables
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """The shingles of rows of ids (row i is `ids[offsets[i]:offsets[i + 1]]`) in order, and where each row's end."""
    lengths = np.diff(offsets)
    out = np.empty(int(np.maximum(lengths - size + 1, 0).sum()), np.uint64)
    ends = np.zeros(len(lengths), np.int64)
    _list_of_ids(ids, offsets, size, tables, out, ends)
    return out, ends

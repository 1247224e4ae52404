"""Rows from disk into arrays of the caller's, by `pread` from compiled code and without the GIL.

`pread` and not a memory map: each page of a pre-training run is read once, and a map would pay a page fault for every
4 KiB of it, and leave what it has read in the process's resident memory.
"""

from typing import Any

import numpy as np
from numba import types

from gristmill.stages.kernels.jit import helper, kernel

_pread = types.ExternalFunction("pread", types.int64(types.int32, types.uintp, types.uintp, types.int64))
_INTS = types.Array(types.int64, 1, "C", readonly=True)
"""A signature of read-only arrays takes writeable ones, too."""

ENTRY_BYTES = 16
IDS_SHORT, INDEX_SHORT, NOT_OPEN, NO_ROOM = 1, 2, 3, 4
"""What ended a reading: a shard or an index is cut short, a shard is not open, the sides take more room."""
APART = 1
FD, INDEX_FD, ROWS_AT, SIDES_AT, SIDES_BYTES, FIRST_BATCH, STOP_BATCH, FIRST_ROW = range(8)
"""Columns of the table of shards: both files (-1: not open), where tables lie, its record batches in the other table,
and the rows before it."""


@helper
def _read(fd: Any, address: Any, size: Any, at: Any) -> bool:
    """Whether all of it was there."""
    done = 0
    while done < size:
        got = _pread(fd, address + done, size - done, at + done)
        if got <= 0:
            return False
        done += got
    return True


@helper
def _last_at_most(values: Any, low: int, high: int, wanted: int) -> int:
    """The last index of [low, high) whose value is at most `wanted`; values rise, and the first is."""
    while high - low > 1:
        middle = (low + high) // 2
        if values[middle] <= wanted:
            low = middle
        else:
            high = middle
    return low


@kernel(
    types.UniTuple(types.int64, 2)(
        *(_INTS, types.int64[:, ::1], types.int64[:, ::1]),
        *(types.uint8[:, ::1], types.uint8[:, ::1], types.uint8[::1], types.int64[::1], types.int64),
    )
)
def read_rows(
    rows: Any, shards: Any, batches: Any, ids: Any, entries: Any, sides: Any, bounds: Any, start: int
) -> tuple[int, int]:
    """Fill `ids[i]`, `entries[i]` (two of the index's entries) and `sides[bounds[i]:bounds[i + 1]]` of row `rows[i]`,
    for i from `start` on; those before it are filled.

    shards: int64[shards, 8], the columns above; batches: int64[k, 3], the first row within its shard and the place of
    the ids of each record batch, and 0, or APART where the ids are not to be read here: then `ids[i]` stays as it is.
    (0, 0), or what ended it and the index in `rows`, with what is before it filled.
    """
    size = ids.shape[1]
    for i in range(start, len(rows)):
        shard = _last_at_most(shards[:, FIRST_ROW], 0, len(shards), rows[i])
        if shards[shard, FD] < 0:
            return NOT_OPEN, i
        row = rows[i] - shards[shard, FIRST_ROW]
        batch = _last_at_most(batches[:, 0], shards[shard, FIRST_BATCH], shards[shard, STOP_BATCH], row)
        fd, index_fd = np.int32(shards[shard, FD]), np.int32(shards[shard, INDEX_FD])
        both = 2 * ENTRY_BYTES
        if not _read(index_fd, entries.ctypes.data + both * i, both, shards[shard, ROWS_AT] + ENTRY_BYTES * row):
            return INDEX_SHORT, i
        offsets = entries[i].view(np.uint32)
        low, high = np.int64(offsets[2]), np.int64(offsets[6])
        if not 0 <= low <= high <= shards[shard, SIDES_BYTES]:
            return INDEX_SHORT, i
        bounds[i + 1] = bounds[i] + high - low
        if bounds[i + 1] > len(sides):
            return NO_ROOM, i
        if not _read(index_fd, sides.ctypes.data + bounds[i], high - low, shards[shard, SIDES_AT] + low):
            return INDEX_SHORT, i
        if batches[batch, 2] != 0:
            continue
        at = batches[batch, 1] + size * (row - batches[batch, 0])
        if not _read(fd, ids.ctypes.data + size * i, size, at):
            return IDS_SHORT, i
    return 0, 0

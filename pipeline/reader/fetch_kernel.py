"""Rows from disk into arrays of the caller's, held against their hash: `pread` from compiled code, without the GIL.

`pread` and not a memory map: each page of a pre-training run is read once, and a map would pay a page fault for every
4 KiB of it, and leave what it has read in the process's resident memory.
"""

from typing import Any

import numpy as np
from numba import types

from gristmill.stages.kernels.jit import helper, kernel
from gristmill.stages.kernels.xxh3 import BLOCK_BYTES, LANES, LONG_BYTES, begin, finish, take_blocks, xxh3_of

_pread = types.ExternalFunction("pread", types.int64(types.int32, types.uintp, types.uintp, types.int64))
_INTS = types.Array(types.int64, 1, "C", readonly=True)
"""A signature of read-only arrays takes writeable ones, too."""

ENTRY_BYTES = 16
IDS_SHORT, INDEX_SHORT, NOT_OPEN, NO_ROOM, OUTSIDE, IDS_WRONG, SIDE_WRONG = 1, 2, 3, 4, 5, 6, 7
"""What ended a reading: a shard or an index is cut short, a shard is not open, the sides take more room, there is no
such row, its ids or its side are not what they hash to."""
CHUNK_BYTES = 256 * BLOCK_BYTES
"""Read and hashed at once, so that what is hashed still lies in the core's own cache."""
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
def _read_hashed(fd: Any, address: Any, size: int, at: int, lanes: Any) -> tuple[bool, Any]:
    """Whether all of LONG_BYTES or more was there, and its hash."""
    begin(lanes)
    whole = (size - 1) // BLOCK_BYTES
    for start in range(0, size, CHUNK_BYTES):
        stop = min(start + CHUNK_BYTES, size)
        if not _read(fd, address + start, stop - start, at + start):
            return False, np.uint64(0)
        take_blocks(lanes, address + start, min(stop // BLOCK_BYTES, whole) - start // BLOCK_BYTES)
    return True, finish(lanes, address, size)


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
        *(types.uint8[:, ::1], types.uint8[:, ::1], types.uint8[::1], types.int64[::1]),
        types.UniTuple(types.int64, 4),
    )
)
def read_rows(
    rows: Any, shards: Any, batches: Any, ids: Any, entries: Any, sides: Any, bounds: Any, asked: Any
) -> tuple[int, int]:
    """Fill `ids[i]`, `entries[i]` (two of the index's entries) and `sides[bounds[i]:bounds[i + 1]]` of row `rows[i]`,
    for i from `start` to before `stop`; those before are filled. asked: start, stop, the number of all rows, and
    whether each is to be held against its hash.

    shards: int64[shards, 8], the columns above; batches: int64[k, 3], the first row within its shard and the place of
    the ids of each record batch, and 0, or APART where the ids are not to be read here: then `ids[i]` stays as it is.
    (0, 0), or what ended it and the index in `rows`, with what is before it filled.
    """
    start, stop, there_are, verify = asked
    size, lanes = ids.shape[1], np.empty(LANES, np.uint64)
    for i in range(start, stop):
        if not 0 <= rows[i] < there_are:
            return OUTSIDE, i
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
        if verify and np.uint32(xxh3_of(sides, bounds[i], bounds[i + 1] - bounds[i], lanes)) != offsets[3]:
            return SIDE_WRONG, i
        if batches[batch, 2] != 0:
            continue
        at, place = batches[batch, 1] + size * (row - batches[batch, 0]), ids.ctypes.data + size * i
        if verify and size >= LONG_BYTES:
            there, found = _read_hashed(fd, place, size, at, lanes)
        else:
            there = _read(fd, place, size, at)
            found = xxh3_of(ids[i], 0, size, lanes) if there and verify else np.uint64(0)
        if not there:
            return IDS_SHORT, i
        if verify and found != entries[i].view(np.uint64)[0]:
            return IDS_WRONG, i
    return 0, 0

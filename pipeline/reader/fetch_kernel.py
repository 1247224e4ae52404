"""Rows from disk into arrays of the caller's, by `pread` from compiled code and without the GIL.

`pread` and not a memory map: each page of a pre-training run is read once, and a map would pay a page fault for every
4 KiB of it, and leave what it has read in the process's resident memory.
"""

from typing import Any

from numba import types

from gristmill.stages.kernels.jit import helper, kernel

_pread = types.ExternalFunction("pread", types.int64(types.int32, types.uintp, types.uintp, types.int64))
_FDS = types.Array(types.int32, 1, "C", readonly=True)
_PLACES = types.Array(types.int64, 1, "C", readonly=True)

ENTRY_BYTES = 16


@helper
def _read(fd: int, address: int, size: int, at: int) -> bool:
    """Whether all of it was there."""
    done = 0
    while done < size:
        got = _pread(fd, address + done, size - done, at + done)
        if got <= 0:
            return False
        done += got
    return True


@kernel(types.int64(_FDS, _PLACES, types.uint8[:, ::1]))
def read_fixed(fds: Any, places: Any, out: Any) -> int:
    """Fill row i of `out` from `places[i]` of file `fds[i]`; 0, or 1 + the first row that is not whole."""
    size = out.shape[1]
    for i in range(len(fds)):
        if not _read(fds[i], out.ctypes.data + i * size, size, places[i]):
            return i + 1
    return 0


@kernel(types.int64(_FDS, _PLACES, _PLACES, types.uint8[::1]))
def read_ranges(fds: Any, places: Any, bounds: Any, out: Any) -> int:
    """Fill `out[bounds[i]:bounds[i + 1]]` from `places[i]` of file `fds[i]`; 0, or 1 + the first that is not whole."""
    for i in range(len(fds)):
        if not _read(fds[i], out.ctypes.data + bounds[i], bounds[i + 1] - bounds[i], places[i]):
            return i + 1
    return 0

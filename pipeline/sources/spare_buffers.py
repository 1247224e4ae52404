"""Buffers for the texts of batches, used again as soon as nobody holds the batch any more.

A page that is touched for the first time costs the kernel (and on a virtual machine the host) far more than the copy
into it: fresh buffers of 16 MiB took 0.5 to 1.5 ms a MiB, used ones 0.1. What Arrow frees it gives back
to the system. So a few buffers are kept, and one is handed out only when its reference count says that no array, slice
or view of it is left.
"""

import sys

import numpy as np
import numpy.typing as npt

_KEPT = 3
_spare: list[npt.NDArray[np.uint8]] = []


def _references(buffers: list[npt.NDArray[np.uint8]], at: int) -> int:
    return sys.getrefcount(buffers[at])


# What this interpreter counts for one that nobody but the list refers to.
_FREE_REFERENCES = _references([np.empty(1, np.uint8)], 0)


def take_buffer(size: int) -> npt.NDArray[np.uint8]:
    """A buffer of `size` bytes of any content, which belongs to the caller and to whoever it is passed on to."""
    for at in range(len(_spare)):
        if _references(_spare, at) == _FREE_REFERENCES and len(_spare[at]) == size:
            return _spare[at]
    fresh = np.empty(size, np.uint8)
    while len(_spare) >= _KEPT:
        _spare.pop(0)
    _spare.append(fresh)
    return fresh

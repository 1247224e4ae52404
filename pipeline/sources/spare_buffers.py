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
# References to a buffer that is free: the list's, the loop variable's, the argument's of getrefcount.
_FREE_REFERENCES = 3


def take_buffer(size: int) -> npt.NDArray[np.uint8]:
    """A buffer of `size` bytes of any content, which belongs to the caller and to whoever it is passed on to."""
    for buffer in _spare:
        if len(buffer) == size and sys.getrefcount(buffer) == _FREE_REFERENCES:
            return buffer
    fresh = np.empty(size, np.uint8)
    while len(_spare) >= _KEPT:
        _spare.pop(0)
    _spare.append(fresh)
    return fresh

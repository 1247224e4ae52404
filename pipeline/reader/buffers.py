"""Arrays of ids for batches: new ones, or those that a trainer has given back.

A batch that is released hands its array to the next of its shape. None is taken back on its own: a trainer that keeps
batches keeps them. Arrays are torch's in page-locked memory where that is asked for, so that copies to a device run
beside its work.
"""

from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int32]

MAX_FREE = 64
"""Arrays of one shape that are kept; more than a trainer has batches under way."""


class Buffers:
    """See the module. `pinned` is torch's module where arrays are to be page-locked, else None."""

    def __init__(self, pinned: Any = None) -> None:
        self._pinned = pinned
        self._free: dict[tuple[int, int], deque[Ids]] = {}

    def take(self, rows: int, context: int) -> Ids:
        """int32[rows, context], its content undefined."""
        free = self._free.get((rows, context))
        if free:
            try:
                return free.pop()
            except IndexError:  # another thread was faster
                pass
        if self._pinned is None:
            return np.empty((rows, context), dtype=np.int32)
        return self._pinned.empty((rows, context), dtype=self._pinned.int32, pin_memory=True).numpy()

    def give(self, array: Ids) -> None:
        """Take an array back that nobody reads any more."""
        shape = (array.shape[0], array.shape[1])
        self._free.setdefault(shape, deque(maxlen=MAX_FREE)).append(array)

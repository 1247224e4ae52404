"""When reading goes by numba kernels rather than by libraries.

Importing them takes half a second (many, where they have to be compiled), which only pays where much is read: so they
are used once numba is here for another reason, or ENOUGH_BYTES have been handled without them. The result is the same.
"""

import sys

ENOUGH_BYTES = 512 << 20
_NUMBA_IN_USE = "gristmill.stages.kernels.jit"
_handled = 0


def kernels_pay(more_bytes: int) -> bool:
    """Whether to use a kernel for the next `more_bytes` bytes."""
    global _handled  # noqa: PLW0603  a count of this process, of which no result depends
    if _NUMBA_IN_USE in sys.modules:
        return True
    _handled += more_bytes
    return _handled > ENOUGH_BYTES

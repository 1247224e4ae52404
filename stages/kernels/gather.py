"""Rows of fixed width brought into another order: what sorting an exchange comes down to.

In: rows, uint8 (n, width). `gather`: the rows of some numbers, uint32 (m). `scatter`: all rows, bucket by bucket, in
their order within each. Rows are copied eight bytes at a time, the last eight overlapping those before, wherever a row
begins. 2 to 4 ns a row of 9 to 33 bytes while what is jumped about in fits the second cache; beyond some 10 MB, where
each jump misses the table of pages, 23 to 40 (one core of a Zen-4 server): so large tables are scattered first.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from gristmill.stages.kernels.jit import inner, kernel

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.uint32]

_WORD = 8
ROWS = types.Array(types.uint8, 2, "C", readonly=True)
ROWS_OUT = types.Array(types.uint8, 2, "C")
NUMBERS = types.Array(types.uint32, 1, "C", readonly=True)


@intrinsic
def _copy_word(_: Any, source: Any, at: Any, target: Any, to: Any) -> Any:
    """Eight bytes from byte `at` of one array to byte `to` of another; neither need be a multiple of eight."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64).as_pointer()
        places: list[Any] = []
        for kind, array, offset in zip(signature.args[::2], arguments[::2], arguments[1::2], strict=True):
            data = cgutils.create_struct_proxy(kind)(context, builder, value=array).data
            places.append(builder.bitcast(builder.gep(data, [offset]), word))
        builder.store(builder.load(places[0], align=1), places[1], align=1)
        return context.get_dummy_value()

    return types.void(source, types.int64, target, types.int64), generate


_copy: Any = _copy_word  # numba gives the first argument


@inner
def _copy_row(rows: Any, number: Any, out: Any, to: Any) -> Any:
    """One row to the place `to`."""
    width = np.int64(rows.shape[1])
    if width < _WORD:
        for at in range(width):
            out[to, at] = rows[number, at]
        return
    for at in range(0, width - _WORD, _WORD):
        _copy(rows, number * width + at, out, to * width + at)
    last = width - _WORD
    _copy(rows, number * width + last, out, to * width + last)


@kernel(types.void(ROWS, NUMBERS, ROWS_OUT))
def _gather_kernel(rows: Any, numbers: Any, out: Any) -> Any:
    """Fills `out`."""
    for i in range(len(numbers)):
        _copy_row(rows, np.int64(numbers[i]), out, np.int64(i))


@kernel(types.void(ROWS, NUMBERS, types.Array(types.int64, 1, "C"), ROWS_OUT))
def _scatter_kernel(rows: Any, bucket: Any, place: Any, out: Any) -> Any:
    """Puts each row to the place of its bucket, which goes on by one."""
    for i in range(len(bucket)):
        to = place[bucket[i]]
        place[bucket[i]] = to + 1
        _copy_row(rows, np.int64(i), out, to)


def gather(rows: Bytes, numbers: Numbers, out: Bytes | None = None) -> Bytes:
    """The rows of these numbers, each below n; into `out` (m, width) where one is given."""
    out = np.empty((len(numbers), rows.shape[1]), np.uint8) if out is None else out
    _gather_kernel(np.ascontiguousarray(rows), numbers, out)
    return out


def scatter(rows: Bytes, bucket: Numbers, starts: npt.NDArray[np.int64]) -> Bytes:
    """All rows, those of bucket b from `starts[b]` on."""
    out = np.empty(rows.shape, np.uint8)
    _scatter_kernel(np.ascontiguousarray(rows), bucket, starts.copy(), out)
    return out

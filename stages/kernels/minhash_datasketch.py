"""The lanes of datasketch (Zhu et al., MIT), computed as it does, so that signatures are the same bit for bit.

* `legacy` (all before 2.0): ((a * h + b) mod 2^64) mod (2^61 - 1), its lower 32 bits. What is written there as a hash
  modulo 2^61 - 1 is not one: the product wraps at 2^64 first.
* `affine32` (since 2.0): a * fmix32(h) + b mod 2^32, a odd; `affine64`: the same with 64 bits.

fmix32 and fmix64 are the finalisers of MurmurHash3 (Appleby). Each row's lane is the least value over its hashes; one
without hashes has all bits set. The twin is datasketch itself, in the tests.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Offsets
from gristmill.stages.kernels.jit import BITS_OUT, KEYS, OFFSETS, inner, kernel

_PRIME = (1 << 61) - 1
_PRIME_BITS = 61
_LOW_32 = (1 << 32) - 1
_ALL = (1 << 64) - 1


@inner
def _fmix32(value: Any) -> Any:
    low = np.uint64(_LOW_32)
    value = (value ^ (value >> np.uint64(16))) * np.uint64(0x85EBCA6B) & low
    value = (value ^ (value >> np.uint64(13))) * np.uint64(0xC2B2AE35) & low
    return value ^ (value >> np.uint64(16))


@inner
def _fmix64(value: Any) -> Any:
    value = (value ^ (value >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    value = (value ^ (value >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(33))


@inner
def _legacy_value(value: Any) -> Any:
    """A number of 64 bits modulo 2^61 - 1, of which the lower 32 bits."""
    prime = np.uint64(_PRIME)
    value = (value & prime) + (value >> np.uint64(_PRIME_BITS))
    if value >= prime:
        value -= prime
    return value & np.uint64(_LOW_32)


@kernel(types.void(KEYS, OFFSETS, KEYS, KEYS, BITS_OUT))
def _legacy(hashes: Any, offsets: Offsets, a: Any, b: Any, out: Any) -> None:
    for row in range(len(offsets) - 1):
        out[row, :] = np.uint64(_LOW_32)
        for at in range(offsets[row], offsets[row + 1]):
            for lane in range(len(a)):
                out[row, lane] = min(out[row, lane], _legacy_value(a[lane] * hashes[at] + b[lane]))


@kernel(types.void(KEYS, OFFSETS, KEYS, KEYS, BITS_OUT))
def _affine32(hashes: Any, offsets: Offsets, a: Any, b: Any, out: Any) -> None:
    for row in range(len(offsets) - 1):
        out[row, :] = np.uint64(_LOW_32)
        for at in range(offsets[row], offsets[row + 1]):
            mixed = _fmix32(hashes[at])
            for lane in range(len(a)):
                out[row, lane] = min(out[row, lane], a[lane] * mixed + b[lane] & np.uint64(_LOW_32))


@kernel(types.void(KEYS, OFFSETS, KEYS, KEYS, BITS_OUT))
def _affine64(hashes: Any, offsets: Offsets, a: Any, b: Any, out: Any) -> None:
    for row in range(len(offsets) - 1):
        out[row, :] = np.uint64(_ALL)
        for at in range(offsets[row], offsets[row + 1]):
            mixed = _fmix64(hashes[at])
            for lane in range(len(a)):
                out[row, lane] = min(out[row, lane], a[lane] * mixed + b[lane])


_KERNELS = {"legacy": _legacy, "affine32": _affine32, "affine64": _affine64}


def datasketch_lanes(
    hashes: npt.NDArray[np.uint64],
    offsets: npt.NDArray[np.int64],
    permutations: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]],
    scheme: str,
) -> npt.NDArray[np.uint64]:
    """Lanes (n, lanes) of rows of hashes (row i: `hashes[offsets[i]:offsets[i + 1]]`; below 2^32 for affine32)."""
    arrays = [np.ascontiguousarray(array).view() for array in (hashes, offsets, *permutations)]
    for array in arrays:
        array.flags.writeable = False
    out = np.empty((len(offsets) - 1, len(permutations[0])), np.uint64)
    _KERNELS[scheme](*arrays, out)
    return out

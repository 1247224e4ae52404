"""A permutation of [0, n) as a function: no table, no state, the same on every machine.

A Feistel network of ROUNDS rounds over 2 h bits, 4^h >= n, whose round function is SplitMix64's finisher (Steele, Lea
and Flood, OOPSLA 2014) of the right half and a round key; values of n or more are permuted again until they fall below
n (cycle walking: Black and Rogaway, CT-RSA 2002), less than four times on average. Round keys are the first 64 ROUNDS
bits of BLAKE3 over `seed`, the source's name and the epoch, so each epoch of each source has an order of its own.

Test vectors stand in tests/pipeline/reader/test_permute.py; `permuted_plain` is the twin of the kernel.
"""

import numpy as np
import numpy.typing as npt
from blake3 import blake3
from numba import types

from gristmill.stages.kernels.jit import KEYS, OFFSETS, helper, kernel

ROUNDS = 6
_MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_MASK = (1 << 64) - 1

Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]


def round_keys(seed: int, source: str, epoch: int) -> Keys:
    """uint64[ROUNDS] of an epoch of a source."""
    digest = blake3(f"gristmill order 1\0{seed}\0{source}\0{epoch}".encode()).digest(8 * ROUNDS)
    return np.frombuffer(digest, dtype="<u8")


def half_bits(n: int) -> int:
    """The smallest h with 4^h >= n, at least 1."""
    return max(1, -(-(n - 1).bit_length() // 2))


@helper
def _finish(x: np.uint64) -> np.uint64:
    z = x + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel(types.int64[::1](OFFSETS, types.int64, types.int64, KEYS))
def _permuted(counters: Ints, n: int, half: int, keys: Keys) -> Ints:
    low = (np.uint64(1) << np.uint64(half)) - np.uint64(1)
    out = np.empty(len(counters), dtype=np.int64)
    for i in range(len(counters)):
        x = np.uint64(counters[i])
        while True:
            left, right = x >> np.uint64(half), x & low
            for key in keys:
                left, right = right, left ^ (_finish(right ^ key) & low)
            x = (left << np.uint64(half)) | right
            if x < np.uint64(n):
                break
        out[i] = np.int64(x)
    return out


def permuted(counters: Ints, n: int, keys: Keys) -> Ints:
    """Where each of the counters, int64 in [0, n), goes: a bijection of [0, n)."""
    fixed = np.ascontiguousarray(counters)
    if len(fixed) and not 0 <= int(fixed.min()) <= int(fixed.max()) < n:
        raise IndexError(f"counters must be in [0, {n})")
    fixed.flags.writeable = False
    return _permuted(fixed, n, half_bits(n), keys)


def permuted_plain(counter: int, n: int, keys: Keys) -> int:
    """`permuted` of one counter, in plain Python."""
    half = half_bits(n)
    low = (1 << half) - 1
    x = counter
    while True:
        left, right = x >> half, x & low
        for key in keys.tolist():
            left, right = right, left ^ (_finish_plain(right ^ key) & low)
        x = (left << half) | right
        if x < n:
            return x


def _finish_plain(x: int) -> int:
    z = (x + _MIX[0]) & _MASK
    z = ((z ^ (z >> 30)) * _MIX[1]) & _MASK
    z = ((z ^ (z >> 27)) * _MIX[2]) & _MASK
    return z ^ (z >> 31)

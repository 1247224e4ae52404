"""A permutation of [0, n) as a function: no table, no state, the same on every machine.

A Feistel network of ROUNDS rounds over 2 h bits, 4^h >= n, whose round function is SplitMix64's finisher (Steele, Lea
and Flood, OOPSLA 2014) of the right half and a round key; values of n or more are permuted again until they fall below
n (cycle walking: Black and Rogaway, CT-RSA 2002), less than four times on average. Round keys are the first 64 ROUNDS
bits of BLAKE3 over `seed`, the source's name and the epoch, so each epoch of each source has an order of its own.

Test vectors stand in tests/pipeline/reader/test_permute.py; `permuted_plain` is the twin of the kernel.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from blake3 import blake3
from numba import types

from gristmill.stages.kernels.jit import KEYS, OFFSETS, inner, kernel
from gristmill.stages.kernels.shingle_hash import GOLDEN, mix64, splitmix64

ROUNDS = 6

Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]


def round_keys(seed: int, source: str, epoch: int) -> Keys:
    """uint64[ROUNDS] of an epoch of a source."""
    digest = blake3(f"gristmill order 1\0{seed}\0{source}\0{epoch}".encode()).digest(8 * ROUNDS)
    return np.frombuffer(digest, dtype="<u8")


def half_bits(n: int) -> int:
    """The smallest h with 4^h >= n, at least 1."""
    return max(1, -(-(n - 1).bit_length() // 2))


@inner
def feistel(x: Any, n: Any, half: int, keys: Any) -> Any:
    """Where one counter goes; all uint64."""
    low = (np.uint64(1) << np.uint64(half)) - np.uint64(1)
    while True:
        left, right = x >> np.uint64(half), x & low
        for key in keys:
            left, right = right, left ^ (mix64((right ^ key) + np.uint64(GOLDEN)) & low)
        x = (left << np.uint64(half)) | right
        if x < n:
            return x


@kernel(types.int64[::1](OFFSETS, types.int64, types.int64, KEYS))
def _permuted(counters: Ints, n: int, half: int, keys: Keys) -> Ints:
    out = np.empty(len(counters), dtype=np.int64)
    for i in range(len(counters)):
        out[i] = np.int64(feistel(np.uint64(counters[i]), np.uint64(n), half, keys))
    return out


def permuted(counters: Ints, n: int, keys: Keys) -> Ints:
    """Where each of the counters, int64 in [0, n), goes: a bijection of [0, n)."""
    if len(counters) and not 0 <= int(counters.min()) <= int(counters.max()) < n:
        raise IndexError(f"counters must be in [0, {n})")
    return _permuted(np.ascontiguousarray(counters), n, half_bits(n), keys)


def permuted_plain(counter: int, n: int, keys: Keys) -> int:
    """`permuted` of one counter, in plain Python."""
    half = half_bits(n)
    low = (1 << half) - 1
    x = counter
    while True:
        left, right = x >> half, x & low
        for key in keys.tolist():
            left, right = right, left ^ (int(splitmix64(right ^ key, 1)[0]) & low)
        x = (left << half) | right
        if x < n:
            return x

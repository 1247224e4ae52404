"""The arithmetic of units and shingles, modulo 2^64 throughout; docs/minhash.md is its specification.

`mix64` is the finaliser of splitmix64 (Steele, Lea, Flood 2014; Stafford's variant 13). Keys come from a seed by
splitmix64. A unit of bytes (a word, a chunk) is hashed eight bytes at a time, little-endian, the last ones filled up
with zeros: each is multiplied with a factor that nobody knows without the key, and the two halves of the product are
folded, so that no two words have one hash whatever the key. A unit that is a number (a character, a token) is hashed by
`mix64` alone. This is a keyed hash, not a cryptographic one: who knows the key can make two words with one hash.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gristmill.stages.kernels.jit import helper, inner
from gristmill.stages.kernels.segments_intern import WORD_BYTES, word_at

_intrinsic: Any = intrinsic  # a caller gives one argument less than the function has

GOLDEN = 0x9E3779B97F4A7C15
MIX_ONE, MIX_TWO = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
ROLL_FACTOR = 0xD1342543DE82EF95
"""5 modulo 8, so that no power of it is near 1 modulo a large power of two (multiplier of Steele, Vigna 2021)."""

UNIT_KEY, SHINGLE_KEY, BAND_KEY = range(3)
"""The first values of the seed's stream; from KEYS on it holds a factor (made odd) and an addend for each lane."""
KEYS = 3


@inner
def mix64(value: Any) -> Any:
    """A bijection of the 64-bit numbers in which each bit depends on all."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(MIX_ONE)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(MIX_TWO)
    return value ^ (value >> np.uint64(31))


@_intrinsic
def folded_product(_typing: Any, _a: Any, _b: Any) -> Any:
    """Of two uint64: the high half of their product in 128 bits, exclusive or the low half."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))
        return builder.xor(high, builder.trunc(product, ir.IntType(64)))

    return types.uint64(types.uint64, types.uint64), generate


@inner
def factor_of(key: Any) -> Any:
    """What the blocks of a unit are multiplied with; odd."""
    return mix64(key) | np.uint64(1)


@inner
def add_block(value: Any, block: Any, factor: Any) -> Any:
    """The hash of a unit so far with the next eight bytes."""
    return folded_product(value ^ block, factor)


@inner
def hash_bytes(data: Any, start: int, stop: int, key: Any) -> Any:
    """Hash of the bytes `data[start:stop]`, as they are."""
    value, factor = key, factor_of(key)
    for at in range(start, stop, WORD_BYTES):
        value = add_block(value, word_at(data, at, stop - at), factor)
    return mix64(value ^ np.uint64(stop - start))


@_intrinsic
def low_zeros(_typing: Any, value: Any) -> Any:
    """How many of the low bits of a uint64 are zero: 64 of 0."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@helper
def roll_shingles(units: Any, count: int, size: int, total: Any, drop: Any, key: Any, skip: int, out: Any) -> Any:
    """Hashes of the shingles of `size` units that end in `units[size:size + count]`, but the first `skip`, into `out`.

    `units[:size]` are the units before (0 where there is none), `total` the sum so far, which is returned; `drop` is
    ROLL_FACTOR to the power of `size`.
    """
    for i in range(count):
        total = total * np.uint64(ROLL_FACTOR) + units[size + i] - units[i] * drop
        if i >= skip:
            out[i - skip] = mix64(total ^ key)
    return total


_MASK = (1 << 64) - 1


def splitmix64(seed: int, count: int) -> npt.NDArray[np.uint64]:
    """The first `count` values of splitmix64 from `seed` (taken modulo 2^64)."""
    values = np.empty(count, np.uint64)
    for i in range(count):
        value = (seed + (i + 1) * GOLDEN) & _MASK
        value = (value ^ (value >> 30)) * MIX_ONE & _MASK
        value = (value ^ (value >> 27)) * MIX_TWO & _MASK
        values[i] = value ^ (value >> 31)
    return values


def drop_factor(size: int) -> np.uint64:
    """What a unit that leaves a shingle of `size` units is multiplied with."""
    return np.uint64(pow(ROLL_FACTOR, size, 1 << 64))

"""XXH3 of 64 bits without a seed, for kernels that read and check in one go, without the GIL.

The same numbers as the package `xxhash`; https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md, section XXH3, has
algorithm and constants. An input of LONG_BYTES or more may come in parts: `begin`, `take_blocks` for all whole blocks
before its last byte, in order, `finish`. Their lanes are vectors in LLVM's own language, of which it makes what the
machine has: 40 to 60 GB/s with AVX-512, twice what the package does. Words are read little endian, as all machines but
IBM's have them.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gristmill.stages.kernels.jit import helper, inner, kernel
from gristmill.stages.kernels.shingle_hash import folded_product

_intrinsic: Any = intrinsic  # a caller gives one argument less than the function has

BLOCK_BYTES, STRIPE_BYTES, LANES = 1024, 64, 8
LONG_BYTES = 241
"""From so many bytes on an input goes through blocks."""

_SECRET_BYTES = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_SECRET = np.frombuffer(_SECRET_BYTES, np.uint8).copy()
_SCRAMBLE_AT, _LAST_STRIPE_AT, _MERGE_AT, _MIDDLE_AT, _LAST_MIDDLE_AT = 128, 121, 11, 3, 119
_P32_1, _P32_2, _P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_P64_1, _P64_2, _P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P64_4, _P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_MX1, _MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
_START = np.array([_P32_3, _P64_1, _P64_2, _P64_3, _P64_4, _P32_2, _P64_5, _P32_1], dtype=np.uint64)

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, LANES)


def _same(value: int) -> Any:
    return ir.Constant(_VECTOR, [value] * LANES)


def _loaded(builder: Any, address: Any, kind: Any) -> Any:
    return builder.load(builder.inttoptr(address, kind.as_pointer()), align=1)


def _added(builder: Any, lanes: Any, words: Any, secret: Any) -> Any:
    """A stripe taken into the lanes."""
    keyed = builder.xor(words, secret)
    product = builder.mul(builder.and_(keyed, _same(0xFFFFFFFF)), builder.lshr(keyed, _same(32)))
    order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [1, 0, 3, 2, 5, 4, 7, 6])
    crossed = builder.shuffle_vector(words, ir.Constant(_VECTOR, ir.Undefined), order)
    return builder.add(builder.add(lanes, crossed), product)


def _secret_at(at: int) -> Any:
    return ir.Constant(_VECTOR, np.frombuffer(_SECRET_BYTES, "<u8", LANES, at).tolist())


@_intrinsic
def _block(_typing: Any, _lanes: Any, _data: Any) -> Any:
    """Take a block of 1,024 bytes at an address into the lanes at another."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        lanes = _loaded(builder, args[0], _VECTOR)
        for stripe in range(BLOCK_BYTES // STRIPE_BYTES):
            at = builder.add(args[1], ir.Constant(_WORD, STRIPE_BYTES * stripe))
            lanes = _added(builder, lanes, _loaded(builder, at, _VECTOR), _secret_at(8 * stripe))
        lanes = builder.xor(builder.xor(lanes, builder.lshr(lanes, _same(47))), _secret_at(_SCRAMBLE_AT))
        lanes = builder.mul(lanes, _same(_P32_1))
        builder.store(lanes, builder.inttoptr(args[0], _VECTOR.as_pointer()), align=1)
        return ir.Constant(_WORD, 0)

    return types.uint64(types.uintp, types.uintp), generate


@_intrinsic
def _stripe(_typing: Any, _lanes: Any, _data: Any, _secret: Any) -> Any:
    """Take 64 bytes at an address into the lanes at another, with the secret at a third."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        lanes, words, secret = (_loaded(builder, address, _VECTOR) for address in args)
        lanes = _added(builder, lanes, words, secret)
        builder.store(lanes, builder.inttoptr(args[0], _VECTOR.as_pointer()), align=1)
        return ir.Constant(_WORD, 0)

    return types.uint64(types.uintp, types.uintp, types.uintp), generate


@_intrinsic
def _word(_typing: Any, _address: Any) -> Any:
    """The uint64 at an address."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return _loaded(builder, args[0], _WORD)

    return types.uint64(types.uintp), generate


@_intrinsic
def _half_word(_typing: Any, _address: Any) -> Any:
    """The uint32 at an address, as uint64."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.zext(_loaded(builder, args[0], ir.IntType(32)), _WORD)

    return types.uint64(types.uintp), generate


@_intrinsic
def _swapped(_typing: Any, _value: Any) -> Any:
    """A uint64 with its bytes in the other order."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bswap(args[0])

    return types.uint64(types.uint64), generate


@inner
def _avalanche(value: Any) -> Any:
    value = (value ^ (value >> np.uint64(37))) * np.uint64(_MX1)
    return value ^ (value >> np.uint64(32))


@inner
def _avalanche_of_xxh64(value: Any) -> Any:
    value = (value ^ (value >> np.uint64(33))) * np.uint64(_P64_2)
    value = (value ^ (value >> np.uint64(29))) * np.uint64(_P64_3)
    return value ^ (value >> np.uint64(32))


@inner
def _turned(value: Any, bits: int) -> Any:
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))


@inner
def _mixed(data: Any, secret: Any) -> Any:
    """Of 16 bytes."""
    return folded_product(_word(data) ^ _word(secret), _word(data + 8) ^ _word(secret + 8))


@helper
def _up_to_16(data: Any, size: int) -> Any:
    secret = np.uintp(_SECRET.ctypes.data)
    if size > 8:
        low = _word(data) ^ (_word(secret + 24) ^ _word(secret + 32))
        high = _word(data + size - 8) ^ (_word(secret + 40) ^ _word(secret + 48))
        return _avalanche(np.uint64(size) + _swapped(low) + high + folded_product(low, high))
    if size >= 4:
        value = _half_word(data + size - 4) + (_half_word(data) << np.uint64(32))
        value ^= _word(secret + 8) ^ _word(secret + 16)
        value = (value ^ _turned(value, 49) ^ _turned(value, 24)) * np.uint64(_MX2)
        value = (value ^ ((value >> np.uint64(35)) + np.uint64(size))) * np.uint64(_MX2)
        return value ^ (value >> np.uint64(28))
    return np.uint64(0)


@helper
def _up_to_3(data: Any, at: int, size: int) -> Any:
    """Of `data[at : at + size]`: a word of it would reach beyond its end."""
    secret = np.uintp(_SECRET.ctypes.data)
    if size == 0:
        return _avalanche_of_xxh64(_word(secret + 56) ^ _word(secret + 64))
    first, middle, last = np.uint64(data[at]), np.uint64(data[at + size // 2]), np.uint64(data[at + size - 1])
    value = (first << np.uint64(16)) | (middle << np.uint64(24)) | last | (np.uint64(size) << np.uint64(8))
    return _avalanche_of_xxh64(value ^ (_half_word(secret) ^ _half_word(secret + 4)))


@helper
def _up_to_240(data: Any, size: int) -> Any:
    secret = np.uintp(_SECRET.ctypes.data)
    value = np.uint64(size) * np.uint64(_P64_1)
    if size <= 128:
        for i in range((size - 1) // 32 + 1):
            value += _mixed(data + 16 * i, secret + 32 * i)
            value += _mixed(data + size - 16 * (i + 1), secret + 32 * i + 16)
        return _avalanche(value)
    for i in range(8):
        value += _mixed(data + 16 * i, secret + 16 * i)
    value = _avalanche(value)
    for i in range(8, size // 16):
        value += _mixed(data + 16 * i, secret + 16 * (i - 8) + _MIDDLE_AT)
    return _avalanche(value + _mixed(data + size - 16, secret + _LAST_MIDDLE_AT))


@inner
def begin(lanes: Any) -> None:
    """Set lanes, uint64[8], to where an input of LONG_BYTES or more begins."""
    for i in range(LANES):
        lanes[i] = _START[i]


@inner
def take_blocks(lanes: Any, data: Any, blocks: int) -> None:
    """Take so many blocks at an address into the lanes."""
    at = np.uintp(lanes.ctypes.data)
    for i in range(blocks):
        _block(at, data + np.uintp(BLOCK_BYTES * i))


@helper
def finish(lanes: Any, data: Any, size: int) -> Any:
    """The hash of `size` bytes at an address, (size - 1) // BLOCK_BYTES blocks of which the lanes have taken."""
    at, secret = np.uintp(lanes.ctypes.data), np.uintp(_SECRET.ctypes.data)
    done = (size - 1) // BLOCK_BYTES * BLOCK_BYTES
    for i in range((size - 1 - done) // STRIPE_BYTES):
        _stripe(at, data + done + STRIPE_BYTES * i, secret + 8 * i)
    _stripe(at, data + size - STRIPE_BYTES, secret + _LAST_STRIPE_AT)
    value = np.uint64(size) * np.uint64(_P64_1)
    for i in range(4):
        low, high = lanes[2 * i], lanes[2 * i + 1]
        value += folded_product(low ^ _word(secret + _MERGE_AT + 16 * i), high ^ _word(secret + _MERGE_AT + 16 * i + 8))
    return _avalanche(value)


@helper
def xxh3_of(data: Any, at: int, size: int, lanes: Any) -> Any:
    """Of `data[at : at + size]`, an array of bytes; `lanes`, uint64[8], is room to work in."""
    address = np.uintp(data.ctypes.data) + np.uintp(at)
    if size < 4:
        return _up_to_3(data, at, size)
    if size <= 16:
        return _up_to_16(address, size)
    if size < LONG_BYTES:
        return _up_to_240(address, size)
    begin(lanes)
    take_blocks(lanes, address, (size - 1) // BLOCK_BYTES)
    return finish(lanes, address, size)


@kernel(types.uint64(types.Array(types.uint8, 1, "C", readonly=True), types.int64, types.int64))
def xxh3(data: Any, at: int, size: int) -> int:
    """Of `data[at : at + size]`, an array of bytes."""
    return xxh3_of(data, at, size, np.empty(LANES, np.uint64))

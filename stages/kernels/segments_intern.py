"""Numbers for equal things, 0, 1, ... in order of first occurrence: open addressing with growth, for kernels.

Things are compared in full, so a hash that collides costs time and changes nothing. Hashes are keyed, and the key is
drawn anew in each process: no text can be made to collide, and no result depends on the key. Tables are made as large
as could be needed and only their first slots are in use: memory that nobody touches is not taken. Little-endian
machines only.
"""

import os
import sys
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gristmill.stages.kernels.jit import helper, inner

assert sys.byteorder == "little"

_FIRST_SLOTS = 64
WORD_BYTES = 8
_intrinsic: Any = intrinsic  # a caller gives one argument less than the function has
_SIZE, _ENTRIES = range(2)
_KEY = np.frombuffer(os.urandom(8), np.uint64) | np.uint64(1)
_GOLDEN = 0x9E3779B97F4A7C15


class Interned(NamedTuple):
    """A table. `slots` holds numbers of entries, -1 where it is free; `known` the place and the size of each entry;
    `hashes` its hash; `state` how many slots (a power of two) are in use and how many entries there are; `key` (one
    value, odd) keys the hashes."""

    slots: npt.NDArray[np.int32]
    known: npt.NDArray[np.int32]
    hashes: npt.NDArray[np.uint32]
    state: npt.NDArray[np.int64]
    key: npt.NDArray[np.uint64]


INTERNED = types.NamedTuple(
    (
        types.Array(types.int32, 1, "C"),
        types.Array(types.int32, 2, "C"),
        types.Array(types.uint32, 1, "C"),
        types.Array(types.int64, 1, "C"),
        types.Array(types.uint64, 1, "C"),
    ),
    Interned,
)


def interned(entries: int) -> Interned:
    """A table for so many entries."""
    slots = max(_FIRST_SLOTS, 1 << (3 * (entries + 1) // 2).bit_length())
    return Interned(
        np.empty(slots, np.int32),
        np.empty((entries, 2), np.int32),
        np.empty(entries, np.uint32),
        np.zeros(2, np.int64),
        _KEY,
    )


@inner
def _mixed(value: Any, key: Any) -> Any:
    """A keyed hash of a uint64."""
    value = (value ^ (value >> np.uint64(32))) * key
    value = (value ^ (value >> np.uint64(29))) * np.uint64(_GOLDEN)
    return value ^ (value >> np.uint64(32))


@helper
def clear(table: Any, expected: int) -> None:
    """Forget all entries; there will be some `expected` ones, of which most differ."""
    size = _FIRST_SLOTS
    while size < 2 * expected and 2 * size <= len(table.slots):
        size *= 2
    table.state[_SIZE], table.state[_ENTRIES] = size, 0
    table.slots[:size] = -1


@inner
def entries_of(table: Any) -> int:
    """How many entries a table has."""
    return table.state[_ENTRIES]


@helper
def _grow(table: Any) -> None:
    size = 2 * table.state[_SIZE]
    table.state[_SIZE] = size
    table.slots[:size] = -1
    for entry in range(table.state[_ENTRIES]):
        slot = np.int64(table.hashes[entry]) & (size - 1)
        while table.slots[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table.slots[slot] = entry


@inner
def _put(table: Any, slot: int, start: int, size: int, tag: Any) -> None:
    entry = table.state[_ENTRIES]
    table.slots[slot] = entry
    table.known[entry, 0], table.known[entry, 1], table.hashes[entry] = start, size, tag
    table.state[_ENTRIES] = entry + 1
    if 3 * (entry + 1) > 2 * table.state[_SIZE]:
        _grow(table)


@_intrinsic
def _load(_typing: Any, data: Any, at: Any) -> Any:
    """The 8 bytes of `data` from `at` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(first, [args[1]]), ir.IntType(64).as_pointer())
        word = builder.load(place)
        word.align = 1
        return word

    return types.uint64(data, types.int64), generate


@inner
def word_at(data: Any, at: int, size: int) -> Any:
    """The bytes from `at` on, at most 8 of `size`, as a number."""
    if at + WORD_BYTES <= len(data):
        word = _load(data, at)
        return word if size >= WORD_BYTES else word & ((np.uint64(1) << np.uint64(8 * size)) - np.uint64(1))
    word = np.uint64(0)
    for i in range(min(size, WORD_BYTES)):
        word |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return word


@inner
def _same_bytes(data: Any, one: int, other: int, size: int) -> bool:
    for i in range(0, size, WORD_BYTES):
        if word_at(data, one + i, size - i) != word_at(data, other + i, size - i):
            return False
    return True


@inner
def intern_bytes(data: Any, base: int, start: int, size: int, table: Any) -> Any:
    """The number of the bytes `data[start:start + size]` (below 2^31 behind `base`) among the table's entries, one of
    which they are then."""
    key = table.key[0]
    value = np.uint64(size)
    for i in range(0, size, WORD_BYTES):
        value = _mixed(value ^ word_at(data, start + i, size - i), key)
    tag = np.uint32(value >> np.uint64(32))
    mask = table.state[_SIZE] - 1
    slot = np.int64(tag) & mask
    while table.slots[slot] >= 0:
        entry = table.slots[slot]
        alike = table.hashes[entry] == tag and table.known[entry, 1] == size
        if alike and _same_bytes(data, base + table.known[entry, 0], start, size):
            return np.int64(entry)
        slot = (slot + 1) & mask
    number = table.state[_ENTRIES]
    _put(table, slot, start - base, size, tag)
    return number


@inner
def _same_values(values: Any, one: int, other: int, size: int) -> bool:
    for i in range(size):  # noqa: SIM110  all() with a generator is no kernel
        if values[one + i] != values[other + i]:
            return False
    return True


@inner
def intern_values(values: Any, start: int, size: int, table: Any) -> Any:
    """The same for the sequence `values[start:start + size]` of integers."""
    key = table.key[0]
    value = np.uint64(size)
    for at in range(start, start + size):
        value = _mixed(value ^ np.uint64(values[at]), key)
    tag = np.uint32(value >> np.uint64(32))
    mask = table.state[_SIZE] - 1
    slot = np.int64(tag) & mask
    while table.slots[slot] >= 0:
        entry = table.slots[slot]
        alike = table.hashes[entry] == tag and table.known[entry, 1] == size
        if alike and _same_values(values, table.known[entry, 0], start, size):
            return np.int64(entry)
        slot = (slot + 1) & mask
    number = table.state[_ENTRIES]
    _put(table, slot, start, size, tag)
    return number


@inner
def intern_pair(one: Any, other: Any, table: Any) -> Any:
    """The number of a pair of integers from 0 to 2^31 among the table's entries, one of which it is then."""
    tag = np.uint32(_mixed(np.uint64(one) << np.uint64(32) | np.uint64(other), table.key[0]) >> np.uint64(32))
    mask = table.state[_SIZE] - 1
    slot = np.int64(tag) & mask
    while table.slots[slot] >= 0:
        entry = table.slots[slot]
        if table.known[entry, 0] == one and table.known[entry, 1] == other:
            return np.int64(entry)
        slot = (slot + 1) & mask
    number = table.state[_ENTRIES]
    _put(table, slot, one, other, tag)
    return number

"""Numbers for equal things, 0, 1, ... in order of first occurrence: open addressing with growth, for kernels.

Things are compared in full, so a hash that collides costs time and changes nothing. Hashes are keyed by `hash_key`,
drawn anew in each process: no text can be made to collide, and no result depends on the key. Tables are made as large
as could be needed and only their first slots are in use: memory that nobody touches is not taken.
"""

import os
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.jit import helper

_FIRST_SLOTS = 64
_SIZE, _ENTRIES = range(2)
_KEY = int.from_bytes(os.urandom(8), "little") | 1
_GOLDEN = 0x9E3779B97F4A7C15


class Interned(NamedTuple):
    """A table. `slots` holds numbers of entries, -1 where it is free; `known` the place and the size of each entry;
    `hashes` its hash; `state` how many slots (a power of two) are in use and how many entries there are."""

    slots: npt.NDArray[np.int32]
    known: npt.NDArray[np.int32]
    hashes: npt.NDArray[np.uint32]
    state: npt.NDArray[np.int64]


INTERNED = types.NamedTuple(
    (
        types.Array(types.int32, 1, "C"),
        types.Array(types.int32, 2, "C"),
        types.Array(types.uint32, 1, "C"),
        types.Array(types.int64, 1, "C"),
    ),
    Interned,
)


def interned(entries: int) -> Interned:
    """A table for so many entries."""
    slots = max(_FIRST_SLOTS, 1 << (2 * max(entries, 1) - 1).bit_length())
    return Interned(
        np.empty(slots, np.int32),
        np.empty((entries, 2), np.int32),
        np.empty(entries, np.uint32),
        np.zeros(2, np.int64),
    )


def hash_key() -> int:
    """The key of this process, odd, less than 2^64."""
    return _KEY


@helper
def mixed(value: Any, key: Any) -> Any:
    """A keyed hash of a uint64."""
    value = (value ^ (value >> np.uint64(32))) * key
    value = (value ^ (value >> np.uint64(29))) * np.uint64(_GOLDEN)
    return value ^ (value >> np.uint64(32))


@helper
def clear(table: Any) -> None:
    """Forget all entries."""
    table.state[_SIZE], table.state[_ENTRIES] = _FIRST_SLOTS, 0
    table.slots[:_FIRST_SLOTS] = -1


@helper
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


@helper
def _put(table: Any, slot: int, start: int, size: int, tag: Any) -> None:
    entry = table.state[_ENTRIES]
    table.slots[slot] = entry
    table.known[entry, 0], table.known[entry, 1], table.hashes[entry] = start, size, tag
    table.state[_ENTRIES] = entry + 1
    if 2 * (entry + 1) > table.state[_SIZE]:
        _grow(table)


@helper
def _same(data: Any, one: int, other: int, size: int) -> bool:
    for i in range(size):  # noqa: SIM110  all() with a generator is no kernel
        if data[one + i] != data[other + i]:
            return False
    return True


@helper
def intern_slice(data: Any, base: int, start: int, size: int, key: Any, table: Any) -> Any:
    """The number of `data[start:start + size]` (integers; below 2^31 behind `base`) among the table's entries, one of
    which it is then."""
    value = key
    for at in range(start, start + size):
        value = (value ^ np.uint64(data[at])) * key
    tag = np.uint32(mixed(value ^ np.uint64(size), key) >> np.uint64(32))
    mask = table.state[_SIZE] - 1
    slot = np.int64(tag) & mask
    while table.slots[slot] >= 0:
        entry = table.slots[slot]
        alike = table.hashes[entry] == tag and table.known[entry, 1] == size
        if alike and _same(data, base + table.known[entry, 0], start, size):
            return np.int64(entry)
        slot = (slot + 1) & mask
    number = table.state[_ENTRIES]
    _put(table, slot, start - base, size, tag)
    return number

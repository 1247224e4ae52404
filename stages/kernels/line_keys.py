"""Keys of short lines: lines that differ in case, numbers, spaces and marks of punctuation alone share a key.

A line ends at "\\n", "\\r\\n", "\\r" or a form feed, which belongs to it. Its normal form: ASCII letters in lower case,
a sequence of ASCII digits as `#`, bytes of other characters as they are; every other ASCII byte and U+3000 separates
words, which are joined by one space. "Chapter 12." gives `chapter #`; "- 7 -" gives `#`. The key is the 64-bit FNV-1a
hash of the normal form: a collision could at most cut a line that its own document made to collide.

`line_key` is the plain twin of `_key_of`, the helper that kernels call, and makes the tables that they search.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.jit import helper

signed = cast(Callable[[Any], int], np.int64)
"""numba makes uint8 an unsigned integer under `int`, and an unsigned with a signed one a float."""

KNOWN = types.Array(types.int64, 2, "C", readonly=True)
"""Type of a KeyTable."""
MAX_KEY_BYTES = 96
"""A longer line has no key: no page header and no heading that is known is longer."""

FNV_OFFSET = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3
_MASK = (1 << 64) - 1
_HASH = 0x23

KeyTable = npt.NDArray[np.int64]
"""Known lines (n, 2): their keys, ascending, and a value above 0 for each; read-only."""


def normal_form(line: bytes) -> bytes:
    """The normal form of a line."""
    out = bytearray()
    gap = False
    at = 0
    while at < len(line):
        byte = line[at]
        if line[at : at + 3] == b"\xe3\x80\x80":
            gap, at = bool(out), at + 3
            continue
        at += 1
        if byte < 0x80 and not chr(byte).isalnum():
            gap = bool(out)
            continue
        if gap:
            out += b" "
            gap = False
        if byte < 0x80 and chr(byte).isdigit():
            if not out.endswith(b"#"):
                out += b"#"
        else:
            out.append(ord(chr(byte).lower()) if byte < 0x80 else byte)
    return bytes(out)


def line_key(line: bytes) -> int:
    """FNV-1a of the normal form, as a signed number of 64 bits."""
    value = FNV_OFFSET
    for byte in normal_form(line):
        value = (value ^ byte) * FNV_PRIME & _MASK
    return value - (1 << 64) if value >> 63 else value


def key_table(lines: Mapping[str, int] | Iterable[str]) -> KeyTable:
    """The table of known lines, given as they might stand in a text; the value is 1 where none is given."""
    values = lines if isinstance(lines, Mapping) else dict.fromkeys(lines, 1)
    return table_of({line_key(line.encode()): value for line, value in values.items()})


def table_of(values: Mapping[int, int]) -> KeyTable:
    """The table of some keys with their values."""
    table = np.array(sorted(values.items()), np.int64).reshape(-1, 2)
    table.flags.writeable = False
    return table


@helper
def line_end(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """End of the line's text and begin of the next line."""
    while at < end:
        byte = data[at]
        if byte in (10, 12):
            return at, at + 1
        if byte == 13:
            return at, at + 2 if at + 1 < end and data[at + 1] == 10 else at + 1
        at += 1
    return end, end


@helper
def trimmed_line(data: Bytes, at: int, end: int) -> tuple[int, int, int]:
    """Begin and end of the line's text without what is below U+0021 at its ends, and begin of the next line."""
    stop, behind = line_end(data, at, end)
    while at < stop and data[at] <= 0x20:
        at += 1
    while stop > at and data[stop - 1] <= 0x20:
        stop -= 1
    return at, stop, behind


@helper
def ends_paragraph(data: Bytes, at: int, end: int) -> bool:
    """Whether the line that begins at `at` has nothing in it, or none begins there."""
    return at >= end or data[at] in (10, 12, 13)


@helper
def key_of(data: Bytes, at: int, end: int, words: int) -> int:
    """Key of `data[at:end]`, or of its first words when `words` is positive."""
    value = np.uint64(0xCBF29CE484222325)
    prime = np.uint64(0x100000001B3)
    gap, empty, in_digits = False, True, False
    count = 0
    while at < end:
        byte = signed(data[at])
        if byte == 0xE3 and at + 2 < end and data[at + 1] == 0x80 and data[at + 2] == 0x80:
            gap = not empty
            at += 3
            continue
        at += 1
        digit = 0x30 <= byte <= 0x39
        lower = byte | 0x20
        if byte < 0x80 and not digit and not 0x61 <= lower <= 0x7A:
            gap = not empty
            continue
        if gap or empty:
            count += 1
            if words > 0 and count > words:
                break
        if gap:
            value = (value ^ np.uint64(0x20)) * prime
            in_digits = False
        gap = empty = False
        if digit:
            if not in_digits:
                value = (value ^ np.uint64(0x23)) * prime
            in_digits = True
        else:
            in_digits = False
            value = (value ^ np.uint64(lower if byte < 0x80 else byte)) * prime
    return signed(value)


@helper
def keys_of(data: Bytes, at: int, end: int) -> tuple[int, int, int, int]:
    """Keys of `data[at:end]`, which begins with no separator, and of its first one, two, three words, in one pass.

    A key of more words than there are is that of all of them.
    """
    value = np.uint64(0xCBF29CE484222325)
    prime = np.uint64(0x100000001B3)
    one, two, three = value, value, value
    gap, in_digits = False, False
    count = 0
    while at < end:
        byte = signed(data[at])
        if byte == 0xE3 and at + 2 < end and data[at + 1] == 0x80 and data[at + 2] == 0x80:
            gap = count > 0
            at += 3
            continue
        at += 1
        digit = 0x30 <= byte <= 0x39
        lower = byte | 0x20
        if byte < 0x80 and not digit and not 0x61 <= lower <= 0x7A:
            gap = count > 0
            continue
        if gap or count == 0:
            count += 1
            in_digits = False
            if gap:
                value = (value ^ np.uint64(0x20)) * prime
            gap = False
        if not digit:
            value = (value ^ np.uint64(lower if byte < 0x80 else byte)) * prime
        elif not in_digits:
            value = (value ^ np.uint64(0x23)) * prime
        in_digits = digit
        one = value if count <= 1 else one
        two = value if count <= 2 else two
        three = value if count <= 3 else three
    return signed(value), signed(one), signed(two), signed(three)


@helper
def known_value(known: KeyTable, key: int) -> int:
    """The value of a key in a table, 0 where it is not."""
    low, high = 0, len(known)
    while low < high:
        middle = (low + high) // 2
        if known[middle, 0] < key:
            low = middle + 1
        else:
            high = middle
    return known[low, 1] if low < len(known) and known[low, 0] == key else 0

"""Characters, lines and encoded data of source files, counted over bytes; the twin in `code_shape_plain` is the oracle.

A line ends with LF, CR or CR LF. A line is *dense* when it has DENSE_CHARS or more characters, nearly all of them
ASCII, and white space is less than a twelfth: so are lines of minified code, and neither prose nor tables of numbers.

Encoded data comes in two shapes. A *base64 run* is 64 or more characters of that alphabet that hold digits and either
both cases of letters or hexadecimal digits alone; it goes over a line end behind 32 or more characters of a line. A
*hex run* is eight or more items (`\\x1b`, `\\u00e9`, `0x1b`, or two hexadecimal digits standing alone) with nothing
between them but white space, commas and quotes. Both are after StarCoder 2 (arXiv 2402.19173, section 3.2), whose
patterns also take rulers (`=====`, `/////`) and long names for base64. Tables of numbers (`0x1b`, or two digits) count
in `encoded_chars`, but not for the longest run: a cipher's S-box is code.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.char_table import ALPHA, SPACE, char_flags
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, helper, kernel

SHAPE_COUNTS = (
    "chars",
    "lines",
    "line_chars",
    "longest_line_chars",
    "alpha_chars",
    "digit_chars",
    "space_chars",
    "dense_chars",
    "encoded_chars",
    "longest_encoded_chars",
)
"""Columns: characters; lines, their characters (line ends apart), those of the longest; letters; ASCII digits; white
space; characters of dense lines; of encoded data, of its longest run."""

DENSE_CHARS = 256
MIN_BASE64_CHARS = 64
MIN_JOINED_CHARS = 32
MIN_HEX_ITEMS = 8

(_CHARS, _LINES, _LINE_CHARS, _LONGEST_LINE, _ALPHA, _DIGITS, _SPACES, _DENSE, _ENCODED, _LONGEST_RUN) = range(10)
_UPPER, _LOWER, _DIGIT, _NO_HEX, _BASE64, _HEX, _NAME = 1, 2, 4, 8, 16, 32, 64
_LF, _CR, _BACKSLASH, _ZERO = 0x0A, 0x0D, 0x5C, 0x30

Counts = npt.NDArray[np.int64]
Files = npt.NDArray[np.int64]

_FILES = types.Array(types.int64, 2, "C", readonly=True)


def _class_of(byte: int) -> int:
    """Bits of a byte: what it is in base64, in hexadecimal numbers, in names."""
    if byte >= 0x80:
        return _NAME
    char = chr(byte)
    if char.isalnum():
        is_hex = char in "0123456789abcdefABCDEF"
        case = _DIGIT if char.isdigit() else _UPPER if char.isupper() else _LOWER
        return _BASE64 | _NAME | case | (_HEX if is_hex else _NO_HEX)
    return _NAME if char == "_" else _BASE64 if char in "+/=" else 0


_CLASSES = np.array([_class_of(byte) for byte in range(256)], dtype=np.uint8)

_signed = cast(Callable[[Any], int], np.int64)


@helper
def _code_point(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Code point at `at` and the byte behind it; 0 where the text breaks off or goes wrong."""
    first = _signed(data[at])
    size = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if first < 0xC2 or first > 0xF4 or at + size > end:
        return 0, at + 1
    point = first & (0x7F >> size)
    for i in range(at + 1, at + size):
        byte = _signed(data[i])
        if byte & 0xC0 != 0x80:
            return 0, at + 1
        point = point << 6 | byte & 0x3F
    return (point, at + size) if point < 0x110000 else (0, at + 1)


@helper
def _close_line(chars: int, spaces: int, ascii_chars: int, counts: Counts) -> None:
    counts[_LINES] += 1
    counts[_CHARS] += chars
    counts[_SPACES] += spaces
    counts[_LINE_CHARS] += chars
    counts[_LONGEST_LINE] = max(counts[_LONGEST_LINE], chars)
    if chars >= DENSE_CHARS and 12 * spaces < chars and 5 * ascii_chars >= 4 * chars:
        counts[_DENSE] += chars


@helper
def _count_lines(data: Bytes, start: int, end: int, flags: Bytes, counts: Counts) -> None:
    chars, spaces, ascii_chars = 0, 0, 0
    alpha, digits = 0, 0
    at = start
    while at < end:
        byte = _signed(data[at])
        if byte in (_LF, _CR):
            behind = at + 1
            if byte == _CR and behind < end and data[behind] == _LF:
                behind += 1
            counts[_CHARS] += behind - at
            counts[_SPACES] += behind - at
            at = behind
            _close_line(chars, spaces, ascii_chars, counts)
            chars, spaces, ascii_chars = 0, 0, 0
            continue
        point = byte
        behind = at + 1
        if byte >= 0x80:
            point, behind = _code_point(data, at, end)
        else:
            ascii_chars += 1
        flag = _signed(flags[point])
        chars += 1
        alpha += flag & ALPHA != 0
        digits += 0x30 <= byte <= 0x39
        spaces += flag & SPACE != 0
        at = behind
    counts[_ALPHA] += alpha
    counts[_DIGITS] += digits
    if end > start and data[end - 1] not in (_LF, _CR):
        _close_line(chars, spaces, ascii_chars, counts)


@helper
def _count_base64(data: Bytes, start: int, end: int, counts: Counts) -> None:
    at = start
    while at < end:
        chars, on_line, seen = 0, 0, 0
        while at < end:
            byte = _signed(data[at])
            found = _signed(_CLASSES[byte])
            if found & _BASE64:
                chars += 1
                on_line += 1
                seen |= found
                at += 1
                continue
            if byte not in (_LF, _CR) or on_line < MIN_JOINED_CHARS:
                break
            behind = at + 1
            if byte == _CR and behind < end and data[behind] == _LF:
                behind += 1
            if behind >= end or not _CLASSES[data[behind]] & _BASE64:
                break
            on_line = 0
            at = behind
        varied = seen & _DIGIT and (not seen & _NO_HEX or (seen & _UPPER and seen & _LOWER))
        if chars >= MIN_BASE64_CHARS and varied:
            counts[_ENCODED] += chars
            counts[_LONGEST_RUN] = max(counts[_LONGEST_RUN], chars)
        at += 1


@helper
def _is_hex(byte: int) -> bool:
    return _CLASSES[byte] & _HEX != 0


@helper
def _is_name(byte: int) -> bool:
    return _CLASSES[byte] & _NAME != 0


@helper
def _hex_digits(data: Bytes, at: int, end: int) -> int:
    count = 0
    while at + count < end and _is_hex(_signed(data[at + count])):
        count += 1
    return count


@helper
def _hex_item(data: Bytes, at: int, start: int, end: int) -> tuple[int, bool]:
    """The byte behind the item at `at` (`at` where there is none), and whether it is part of a table of numbers."""
    byte = _signed(data[at])
    following = _signed(data[at + 1]) if at + 1 < end else 0
    if byte == _BACKSLASH:
        size = 2 if following == 0x78 else 4 if following == 0x75 else 0
        return (at + 2 + size, False) if size and _hex_digits(data, at + 2, end) >= size else (at, False)
    if not _is_hex(byte) or (at > start and _is_name(_signed(data[at - 1]))):
        return at, False
    if byte == _ZERO and following in (0x78, 0x58):
        behind = at + 2 + _hex_digits(data, at + 2, end)
        while behind < end and data[behind] in (0x55, 0x75, 0x4C, 0x6C):
            behind += 1
        fits = behind > at + 3 and (behind >= end or not _is_name(_signed(data[behind])))
        return (behind, True) if fits else (at, False)
    if not _is_hex(following) or (at + 2 < end and _is_name(_signed(data[at + 2]))):
        return at, False
    return at + 2, byte <= 0x39 and following <= 0x39


@helper
def _count_hex(data: Bytes, start: int, end: int, counts: Counts) -> None:
    at = start
    while at < end:
        if data[at] != _BACKSLASH and not _is_hex(_signed(data[at])):
            at += 1
            continue
        first, last, items = at, at, 0
        is_table = True
        while at < end:
            behind, numeric = _hex_item(data, at, start, end)
            if behind == at:
                break
            items += 1
            is_table = is_table and numeric
            last = at = behind
            while at < end and _signed(data[at]) in (0x20, 0x09, _LF, _CR, 0x2C, 0x22, 0x27):
                at += 1
        if items >= MIN_HEX_ITEMS:
            counts[_ENCODED] += last - first
            if not is_table:
                counts[_LONGEST_RUN] = max(counts[_LONGEST_RUN], last - first)
        if items == 0:
            at = first + 1
            # No item begins inside a name; most of the text is names. Behind a backslash a name may begin.
            while data[first] != _BACKSLASH and at < end and _is_name(_signed(data[at])):
                at += 1


@kernel((BYTES, _FILES, BYTES, COUNTS_OUT))
def _shape_files(data: Bytes, files: Files, flags: Bytes, counts: Counts) -> None:
    for i in range(len(files)):
        _count_lines(data, files[i, 0], files[i, 1], flags, counts[i])
        _count_base64(data, files[i, 0], files[i, 1], counts[i])
        _count_hex(data, files[i, 0], files[i, 1], counts[i])


def shape_files(data: Bytes, files: Files) -> Counts:
    """Counts (n, len(SHAPE_COUNTS)) of the files `data[start:end]`; `files` is int64 (n, 3), read-only: start, end."""
    counts = np.zeros((len(files), len(SHAPE_COUNTS)), dtype=np.int64)
    _shape_files(data, files, char_flags(), counts)
    return counts

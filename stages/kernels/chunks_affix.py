"""The parts of spaCy's loop over one chunk: prefix, suffix, infix, special case. Helpers for `chunks`.

A string is the half-open range `[lo, hi)` of valid UTF-8 without white space; nothing outside of it is looked at, as
spaCy's expressions see a slice. Each helper takes time linear in what it consumes; `spacy_rules` says where the
classes come from.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from gristmill.stages.kernels.chunks_tables import (
    BYTES_AT,
    GATE_AT,
    GATE_WIDTH,
    HASH_PRIME,
    HASH_SEED,
    HEADER,
    INFIX,
    LETTER,
    LOWER,
    MAX_STRING_BYTES,
    PREFIX,
    QUOTE,
    SLOT_MASK,
    SLOTS_AT,
    STARTS_AT,
    STOP_AFTER,
    SUFFIX,
    UNIT_END,
    UNITS,
    UPPER,
)
from gristmill.stages.kernels.jit import helper

Data = Any
Flags = Any

# numba makes uint8 an unsigned integer under `int`, and an unsigned with a signed one a float.
signed = cast(Callable[[Any], int], np.int64)

_MALFORMED = 0xDC00
_DOLLAR, _STAR, _PLUS, _COMMA, _HYPHEN, _STOP, _SLASH = 0x24, 0x2A, 0x2B, 0x2C, 0x2D, 0x2E, 0x2F
_ZERO, _NINE, _COLON, _LESS, _EQUALS, _GREATER = 0x30, 0x39, 0x3A, 0x3C, 0x3D, 0x3E
_CARET, _TILDE, _APOSTROPHE, _QUOTE_RIGHT = 0x5E, 0x7E, 0x27, 0x2019
_EN_DASH, _EM_DASH, _ELLIPSIS, _DEGREE = 0x2013, 0x2014, 0x2026, 0xB0
_MAX_UNIT_CHARS = 5


@helper
def decode(data: Data, at: int, end: int) -> tuple[int, int]:
    """Code point at `at` and the byte behind it; a lone byte of what is cut is U+DC00."""
    first = signed(data[at])
    if first < 0x80:
        return first, at + 1
    size = 2 + (first >= 0xE0) + (first >= 0xF0)
    if first < 0xC2 or at + size > end:
        return _MALFORMED, at + 1
    point = first & (0x7F >> size)
    for i in range(at + 1, at + size):
        byte = signed(data[i])
        if byte & 0xC0 != 0x80:
            return _MALFORMED, at + 1
        point = point << 6 | byte & 0x3F
    if point > 0x10FFFF:
        return _MALFORMED, at + 1
    return point, at + size


@helper
def before(data: Data, lo: int, at: int) -> tuple[int, int]:
    """Code point that ends at `at`, which is above `lo`, and its first byte."""
    start = at - 1
    while start > lo and start > at - 4 and data[start] & 0xC0 == 0x80:
        start -= 1
    point, behind = decode(data, start, at)
    if behind != at:
        return _MALFORMED, at - 1
    return point, start


@helper
def find(data: Data, lo: int, hi: int, t: Any, which: int) -> int:
    """The number of the string `[lo, hi)` in one of the sets, or -1."""
    size = hi - lo
    if size > MAX_STRING_BYTES:
        return -1
    header = which * HEADER
    gate = t.numbers[header + GATE_AT] + size
    if not t.octets[gate + data[lo] * GATE_WIDTH] & 1 or not t.octets[gate + data[hi - 1] * GATE_WIDTH] & 2:
        return -1
    value = np.uint64(HASH_SEED)
    for i in range(lo, hi):
        value = (value ^ np.uint64(data[i])) * np.uint64(HASH_PRIME)
    mask = t.numbers[header + SLOT_MASK]
    slot = signed((value ^ value >> np.uint64(32)) & np.uint64(mask))
    while t.numbers[t.numbers[header + SLOTS_AT] + slot] >= 0:
        number = t.numbers[t.numbers[header + SLOTS_AT] + slot]
        start = t.numbers[t.numbers[header + STARTS_AT] + number]
        if t.numbers[t.numbers[header + STARTS_AT] + number + 1] - start == size:
            same = 0
            while same < size and t.octets[t.numbers[header + BYTES_AT] + start + same] == data[lo + same]:
                same += 1
            if same == size:
                return number
        slot = (slot + 1) & mask
    return -1


@helper
def is_ascii_digit(byte: int) -> bool:
    """0 to 9."""
    return _ZERO <= byte <= _NINE


@helper
def _stops_end(data: Data, at: int, hi: int) -> int:
    """Behind the full stops that begin at `at`."""
    while at < hi and data[at] == _STOP:
        at += 1
    return at


@helper
def prefix_end(data: Data, lo: int, hi: int, flags: Flags) -> int:
    """Behind the prefix of the string; `lo` where it has none."""
    point, behind = decode(data, lo, hi)
    if flags[point] & PREFIX:
        return behind
    if point == _PLUS:
        return lo if behind < hi and is_ascii_digit(data[behind]) else behind
    if point == _STOP:
        stops = _stops_end(data, lo, hi)
        return stops if stops - lo >= 2 else lo
    if hi - lo >= 2 and data[lo + 1] == _DOLLAR and point in (0x41, 0x43):
        return lo + 2
    if hi - lo >= 3 and point == 0x55 and data[lo + 1] == 0x53 and data[lo + 2] == _DOLLAR:
        return lo + 3
    return lo


@helper
def _unit_start(data: Data, lo: int, hi: int, t: Any) -> int:
    """Where the longest unit behind an ASCII digit at the end begins; `hi` where none does."""
    found = hi
    at = hi
    for _ in range(_MAX_UNIT_CHARS):
        if at <= lo:
            break
        _, at = before(data, lo, at)
        if at > lo and is_ascii_digit(data[at - 1]) and find(data, at, hi, t, UNITS) >= 0:
            found = at
    return found


@helper
def _stop_start(data: Data, lo: int, hi: int, flags: Flags) -> int:
    """Where the full stops at the end of the string begin that are a suffix; `hi` where they are none."""
    at = hi - 1
    while at > lo and data[at - 1] == _STOP:
        at -= 1
    if hi - at >= 2:
        return at
    if at == lo:
        return hi
    point, start = before(data, lo, at)
    if flags[point] & STOP_AFTER:
        return at
    if start > lo:
        second, _ = before(data, lo, start)
        if flags[point] & UPPER and flags[second] & UPPER:
            return at
        if second == _DEGREE and point | 0x20 in (0x63, 0x66, 0x6B):
            return at
    return hi


@helper
def suffix_start(data: Data, lo: int, hi: int, t: Any) -> int:
    """Where the suffix of the string begins, the longest that any rule gives; `hi` where it has none."""
    if lo == hi:
        return hi
    point, at = before(data, lo, hi)
    flag = t.flags[point]
    found = hi
    if flag & SUFFIX:
        found = at
        if point == _ELLIPSIS and at > lo:
            second, start = before(data, lo, at)
            found = start if second == _ELLIPSIS else at
    elif point == _STOP:
        found = _stop_start(data, lo, hi, t.flags)
    elif point == _PLUS:
        found = at if at > lo and is_ascii_digit(data[at - 1]) else hi
    elif point in (0x73, 0x53) and at > lo:
        second, start = before(data, lo, at)
        found = start if second in (_APOSTROPHE, _QUOTE_RIGHT) else hi
    if flag & UNIT_END:
        found = min(found, _unit_start(data, lo, hi, t))
    return found


@helper
def _is_letter(data: Data, at: int, hi: int, flags: Flags) -> bool:
    if at >= hi:
        return False
    point, _ = decode(data, at, hi)
    return flags[point] & LETTER != 0


@helper
def _hyphen_end(data: Data, at: int, behind: int, hi: int, point: int, flags: Flags) -> int:
    """Behind a hyphen, or the two or three that are one, before a letter; `at` where there is none."""
    most = 3 if point == _HYPHEN else 2 if point == _EM_DASH else 1
    for _ in range(most):
        if _is_letter(data, behind, hi, flags):
            return behind
        if behind >= hi:
            return at
        following, after = decode(data, behind, hi)
        if following != point:
            return at
        behind = after
    return at


@helper
def infix_end(data: Data, lo: int, at: int, hi: int, flags: Flags) -> int:
    """Behind the infix at `at`; `at` where there is none. The rules are tried in spaCy's order."""
    point, behind = decode(data, at, hi)
    if point == _STOP and behind < hi and data[behind] == _STOP:
        return _stops_end(data, at, hi)
    if flags[point] & INFIX:
        return behind
    if at == lo:
        return at
    previous, _ = before(data, lo, at)
    is_digit = is_ascii_digit(previous)
    letter = flags[previous] & LETTER != 0
    is_sign = is_digit and behind < hi and point in (_PLUS, _HYPHEN, _STAR, _CARET)
    if is_sign and (is_ascii_digit(data[behind]) or data[behind] == _HYPHEN):
        return behind
    if point == _STOP:
        if behind >= hi or not flags[previous] & (LOWER | QUOTE):
            return at
        following, _ = decode(data, behind, hi)
        return behind if flags[following] & (UPPER | QUOTE) else at
    if point == _COMMA:
        return behind if letter and _is_letter(data, behind, hi, flags) else at
    if not letter and not is_digit:
        return at
    if point in (_HYPHEN, _EN_DASH, _EM_DASH, _TILDE):
        return _hyphen_end(data, at, behind, hi, point, flags)
    if point in (_COLON, _LESS, _GREATER, _EQUALS, _SLASH):
        return behind if _is_letter(data, behind, hi, flags) else at
    return at

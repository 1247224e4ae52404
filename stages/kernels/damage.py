"""Characters that may have to be repaired, counted in one pass over Arrow's bytes: text without any is told at once.

What is counted is listed at COUNTS; `damage_plain` says the same in plain Python. A suspected sequence of mojibake is
a character that a lead byte of UTF-8 becomes in a one-byte encoding, followed by one that a continuation byte
becomes: such pairs are frequent only in damaged text, and whether they are damage is not decided here.
Input is UTF-8; other bytes give some count and are never read past their document.
"""

import functools
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import CODE_POINTS
from gristmill.stages.kernels.damage_points import INVISIBLE_POINTS, JOINED, UNSPACED
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, OFFSETS, helper, kernel
from gristmill.stages.kernels.scripts import next_point

COUNTS = ("chars", "controls", "breaks", "replacements", "invisibles", "suspects")
"""Columns: characters; controls of C0 and C1 but for tab, line feed and `breaks`; line ends that are not a single line
feed (those of `str.splitlines`; CR LF counts once); U+FFFD; noncharacters and
the other invisible characters of INVISIBLE_POINTS, where they mean nothing; pairs that may be mojibake."""

(LEAD2_1252, LEAD3_1252, TAIL_1252, LEAD2_1251, TAIL_1251, LEAD2_OTHER, TAIL_OTHER, INVISIBLE) = (
    1 << n for n in range(8)
)
"""Classes of characters: leads of two-byte and of longer sequences, and tails, by the family of encodings."""

_TAILS = range(0x80, 0xC0)
_SEEN_AS = (
    ("cp1252", range(0xC2, 0xE0), LEAD2_1252, TAIL_1252),
    ("cp1252", range(0xE0, 0xF5), LEAD3_1252, TAIL_1252),
    ("latin-1", range(0xC2, 0xC3), LEAD2_1252, TAIL_1252),
    ("cp1250", range(0xC3, 0xC6), LEAD2_1252, TAIL_1252),
    ("cp1251", range(0xD0, 0xD2), LEAD2_1251, TAIL_1251),
    ("mac-roman", range(0xC3, 0xC4), LEAD2_OTHER, TAIL_OTHER),
    ("cp437", range(0xC3, 0xC4), LEAD2_OTHER, TAIL_OTHER),
)
"""Encoding, lead bytes, classes. Leads are those that damaged text is full of and that sound text has no tails after:
"náš" has a lead of three bytes and one tail; Central European letters, quotes and line-drawing are lead bytes, too."""

Counts = npt.NDArray[np.int64]
Ranges = tuple[tuple[int, int], ...]

# numba makes uint8 an unsigned integer under `int`, and an unsigned with a signed one a float.
_signed = cast(Callable[[Any], int], np.int64)

(_CHARS, _CONTROLS, _BREAKS, _REPLACEMENTS, _INVISIBLES, _SUSPECTS) = range(len(COUNTS))
_TAB, _LF, _CR, _NEL, _LS, _PS = 0x09, 0x0A, 0x0D, 0x85, 0x2028, 0x2029
_LEADS = LEAD2_1252 | LEAD3_1252 | LEAD2_1251 | LEAD2_OTHER
_REPLACEMENT, _ZWSP, _ZWJ = 0xFFFD, 0x200B, 0x200D
_CYRILLIC, _IF_LEAD_1251 = 0xD0, 2


def _decoded(encoding: str, byte: int) -> int:
    try:
        return ord(bytes([byte]).decode(encoding))
    except UnicodeDecodeError:
        return byte  # programs take what an encoding leaves undefined for the control character


@functools.lru_cache(maxsize=1)
def damage_table() -> npt.NDArray[np.uint8]:
    """Classes of each code point, uint8 (CODE_POINTS), read-only."""
    table = np.zeros(CODE_POINTS, dtype=np.uint8)
    for encoding, leads, lead, tail in _SEEN_AS:
        table[[_decoded(encoding, byte) for byte in leads]] |= lead
        table[[_decoded(encoding, byte) for byte in _TAILS]] |= tail
    table[list(INVISIBLE_POINTS)] |= INVISIBLE
    table.flags.writeable = False
    return table


@functools.lru_cache(maxsize=1)
def byte_table() -> npt.NDArray[np.uint8]:
    """For each byte 1 where it begins a character that may be counted beyond `chars`, 2 where the next byte tells."""
    table = np.zeros(256, dtype=np.uint8)
    table[:0x20] = 1
    table[[_TAB, _LF]] = 0
    table[0x7F] = 1
    points = np.flatnonzero(damage_table() & ~np.uint8(TAIL_1252 | TAIL_1251 | TAIL_OTHER))
    c1_and_breaks = [*range(0x80, 0xA0), 0x2028, 0x2029]
    for point in [*points[(points >= 0x80) & ~((points >= 0xD800) & (points < 0xE000))].tolist(), *c1_and_breaks]:
        table[chr(point).encode()[0]] = 1
    table[chr(_REPLACEMENT).encode()[0]] = 1
    # Of Cyrillic only the leads of cp1251 are looked at: they are a small part of it, and decoding costs.
    table[_CYRILLIC] = _IF_LEAD_1251
    table.flags.writeable = False
    return table


@helper
def _class_at(data: Bytes, at: int, end: int, table: Bytes) -> tuple[int, int]:
    """Classes of the character at `at`, 0 at the end of the document, and the byte behind it."""
    if at >= end:
        return 0, end
    point, behind = next_point(data, at, end)
    return _signed(table[point]), behind


@helper
def _is_suspect(data: Bytes, flags: int, behind: int, end: int, table: Bytes) -> bool:
    """Whether a lead with these classes is followed by what its sequence would need."""
    second, behind = _class_at(data, behind, end, table)
    if flags & LEAD2_1252 and second & TAIL_1252:
        return True
    if flags & LEAD2_OTHER and second & TAIL_OTHER:
        return True
    third, behind = _class_at(data, behind, end, table)
    if flags & LEAD3_1252 and second & TAIL_1252 and third & TAIL_1252:
        return True
    if not (flags & LEAD2_1251 and second & TAIL_1251 and third & LEAD2_1251):
        return False
    fourth, _ = _class_at(data, behind, end, table)
    return fourth & TAIL_1251 != 0


@helper
def _point_before(data: Bytes, at: int, start: int) -> int:
    first = at - 1
    while first > start and first > at - 4 and data[first] & 0xC0 == 0x80:
        first -= 1
    return next_point(data, first, at)[0] if first >= start else 0


@helper
def _within(point: int, ranges: Ranges) -> bool:
    found = False
    for first, end in ranges:
        found |= first <= point < end
    return found


@helper
def _means_something(data: Bytes, point: int, start: int, at: int, behind: int, end: int) -> bool:
    """Whether a zero width space or joiner stands where it is kept."""
    if not _ZWSP <= point <= _ZWJ or behind >= end:
        return False
    before, after = _point_before(data, at, start), next_point(data, behind, end)[0]
    if point == _ZWSP:
        return _within(before, UNSPACED) and _within(after, UNSPACED)
    return _within(before, JOINED) and _within(after, JOINED)


@helper
def _count_point(data: Bytes, point: int, behind: int, end: int, table: Bytes, counts: Counts) -> None:
    flags = _signed(table[point])
    if point < 0xA0:
        if 0x0B <= point <= _CR or 0x1C <= point <= 0x1E or point == _NEL:
            counts[_BREAKS] += 1
        elif point < 0x20 or point >= 0x7F:
            counts[_CONTROLS] += 1
    elif point == _REPLACEMENT:
        counts[_REPLACEMENTS] += 1
    elif point in (_LS, _PS):
        counts[_BREAKS] += 1
    if flags & _LEADS and _is_suspect(data, flags, behind, end, table):
        counts[_SUSPECTS] += 1


@kernel((BYTES, OFFSETS, BYTES, BYTES, COUNTS_OUT))
def _count_damage(data: Bytes, offsets: Offsets, first: Bytes, table: Bytes, counts: Counts) -> None:
    for row in range(len(offsets) - 1):
        at, end = offsets[row], offsets[row + 1]
        chars = 0
        while at < end:
            byte = data[at]
            chars += (byte & 0xC0) != 0x80
            if first[byte] == 1 or (first[byte] == _IF_LEAD_1251 and at + 1 < end and data[at + 1] & 0xFE == 0xA0):
                point, behind = next_point(data, at, end)
                _count_point(data, point, behind, end, table, counts[row])
                if table[point] & INVISIBLE and not _means_something(data, point, offsets[row], at, behind, end):
                    counts[row, _INVISIBLES] += 1
            at += 1
        counts[row, _CHARS] = chars


def count_damage(data: Bytes, offsets: Offsets) -> npt.NDArray[np.int64]:
    """Counts (n, len(COUNTS)) of each document."""
    counts = np.zeros((len(offsets) - 1, len(COUNTS)), dtype=np.int64)
    _count_damage(data, offsets, byte_table(), damage_table(), counts)
    return counts

"""Whether a string is an address for spaCy's tokenizer: its expression as linear code. Helpers for `chunks`.

A string is the half-open range `[lo, hi)` of valid UTF-8 without white space. The expression is: a scheme or none, a
user part or none, an IPv4 address or a name with a top level, a port or none, a path or none. Not followed: octets
written in digits that are not ASCII.
"""

from typing import Any

from gristmill.stages.kernels.chunks_affix import decode, is_ascii_digit, signed
from gristmill.stages.kernels.chunks_tables import DIGIT, LOWER, WORD
from gristmill.stages.kernels.jit import helper

Data = Any
Flags = Any

_HASH, _PLUS, _HYPHEN, _STOP, _SLASH, _ZERO, _COLON = 0x23, 0x2B, 0x2D, 0x2E, 0x2F, 0x30, 0x3A
_QUESTION, _AT, _UNDERSCORE = 0x3F, 0x40, 0x5F
_MAX_LABEL_CHARS = 64
_MAX_TOP_CHARS = 63
_MAX_PORT_DIGITS = 5


@helper
def _in_label(point: int) -> bool:
    return 0x30 <= point <= 0x39 or 0x41 <= point <= 0x5A or 0x61 <= point <= 0x7A or 0xA1 <= point <= 0xFFFF


@helper
def _name_end(data: Data, lo: int, hi: int, flags: Flags) -> int:
    """Behind a name with a top level at `lo`, which goes as far as its characters do; -1 where there is none."""
    at, labels, chars = lo, 0, 0
    begins, inside, ends, lower = True, True, True, True
    while at < hi:
        point, behind = decode(data, at, hi)
        if point == _STOP:
            if not (1 <= chars <= _MAX_LABEL_CHARS and begins and inside and ends):
                return -1
            labels += 1
            chars, begins, inside, ends, lower = 0, True, True, True, True
        else:
            in_label, is_lower = _in_label(point), flags[point] & LOWER != 0
            if not in_label and not is_lower and point not in (_UNDERSCORE, _HYPHEN):
                break
            begins = in_label if chars == 0 else begins
            inside = inside and (in_label or point in (_UNDERSCORE, _HYPHEN))
            ends = in_label
            lower = lower and is_lower
            chars += 1
        at = behind
    return at if labels > 0 and lower and 2 <= chars <= _MAX_TOP_CHARS else -1


@helper
def _octet_is_good(data: Data, lo: int, size: int, place: int) -> bool:
    """Whether `size` digits are the octet of an address at `place` 0 to 3, as spaCy has it."""
    first = signed(data[lo])
    if size < 3:
        return first > _ZERO or place in (1, 2)
    second, third = signed(data[lo + 1]), signed(data[lo + 2])
    if first == 0x31:
        return True
    if first != 0x32:
        return False
    if place == 0:
        return second <= 0x31 or (second == 0x32 and third <= 0x33)
    if second == 0x35:
        return third <= (0x34 if place == 3 else 0x35)
    return second <= 0x34


@helper
def _is_private(first: int, second: int) -> bool:
    """Of the networks that spaCy leaves out."""
    if first in (10, 127) or (first == 169 and second == 254) or (first == 192 and second == 168):
        return True
    return first == 172 and 16 <= second <= 31


@helper
def _address_end(data: Data, lo: int, hi: int) -> int:
    """Behind four octets of ASCII digits at `lo`; -1 where there are none."""
    at, first, second = lo, 0, 0
    for place in range(4):
        start, value = at, 0
        while at < hi and at - start < 3 and is_ascii_digit(data[at]):
            value = value * 10 + signed(data[at]) - _ZERO
            at += 1
        if at == start or not _octet_is_good(data, start, at - start, place):
            return -1
        first = value if place == 0 else first
        second = value if place == 1 else second
        if place < 3:
            if at >= hi or data[at] != _STOP:
                return -1
            at += 1
    return -1 if _is_private(first, second) else at


@helper
def _ends_url(data: Data, at: int, hi: int, flags: Flags) -> bool:
    """Whether a port, a path or nothing follows a host."""
    if at == hi:
        return True
    if data[at] == _COLON:
        digits = 0
        at += 1
        while at < hi and digits <= _MAX_PORT_DIGITS:
            point, behind = decode(data, at, hi)
            if not flags[point] & DIGIT:
                break
            digits += 1
            at = behind
        if digits < 2 or digits > _MAX_PORT_DIGITS:
            return False
    return at == hi or data[at] == _SLASH or data[at] == _QUESTION or data[at] == _HASH


@helper
def _host_matches(data: Data, lo: int, hi: int, flags: Flags) -> bool:
    if lo >= hi:
        return False
    end = _address_end(data, lo, hi)
    if end >= 0 and _ends_url(data, end, hi, flags):
        return True
    end = _name_end(data, lo, hi, flags)
    return end >= 0 and _ends_url(data, end, hi, flags)


@helper
def _behind_scheme(data: Data, lo: int, hi: int, flags: Flags) -> int:
    """Behind "scheme://"; `lo` where there is none."""
    at, chars = lo, 0
    while at < hi:
        point, behind = decode(data, at, hi)
        if not flags[point] & WORD and point not in (_PLUS, _HYPHEN, _STOP):
            break
        chars += 1
        at = behind
    if chars >= 2 and hi - at >= 3 and data[at] == _COLON and data[at + 1] == _SLASH and data[at + 2] == _SLASH:
        return at + 3
    return lo


@helper
def is_url(data: Data, lo: int, hi: int, flags: Flags) -> bool:
    """Whether spaCy's expression for addresses matches the whole string.

    Its user part takes anything up to an at sign, so that a host may begin at the start, behind the scheme, or behind
    any at sign but the first character. Linear: hosts hold no at sign.
    """
    if _host_matches(data, lo, hi, flags):
        return True
    scheme = _behind_scheme(data, lo, hi, flags)
    if scheme > lo and _host_matches(data, scheme, hi, flags):
        return True
    found = False
    for at in range(lo + 1, hi):
        found = found or (data[at] == _AT and _host_matches(data, at + 1, hi, flags))
    return found

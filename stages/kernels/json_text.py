"""JSON lines taken apart: one string field of each goes, unescaped, straight into a buffer; the rest stays JSON.

For each line `data[starts[i]:ends[i]]` that is plainly an object (RFC 8259) with the field at its top level: the
field's string is written to `text` as UTF-8, and the line with "" in its place to `rest`, behind a comma. A line
is left to a slower reader (and with it all of the call) where anything is out of the ordinary: no such field, the field
twice, a value that is no string, an escape in a key of the top level, a lone surrogate, a control character in the
string, brackets that do not close where the line ends. What is inside `rest` is checked by whoever parses it: every
line in it is balanced and its strings are closed, so a parser can part the lines nowhere else.

Strings are passed over LANES bytes at once. `split_lines_plain` is the oracle in the tests.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gristmill.stages.kernels.jit import BYTES, OFFSETS, helper, kernel

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

LANES = 32
_VECTOR = ir.VectorType(ir.IntType(8), LANES)
_signed: Any = np.int64  # numba makes an unsigned with a signed integer a float
_intrinsic: Any = intrinsic  # a caller gives one argument less than the function has
_BYTES_OUT = types.Array(types.uint8, 1, "C")
_INTS_OUT = types.Array(types.int64, 1, "C")

_QUOTE, _BACKSLASH, _COLON, _COMMA = 0x22, 0x5C, 0x3A, 0x2C
_OPEN, _CLOSE, _OPEN_LIST, _CLOSE_LIST = 0x7B, 0x7D, 0x5B, 0x5D
_LETTER_N = 0x6E
_FAULT = -1


def _place(context: Any, builder: Any, signature: Any, args: Any, array: int, at: int) -> Any:
    data = context.make_array(signature.args[array])(context, builder, args[array]).data
    return builder.bitcast(builder.gep(data, [args[at]]), _VECTOR.as_pointer())


def _load(builder: Any, place: Any) -> Any:
    value = builder.load(place)
    value.align = 1
    return value


@_intrinsic
def _plain_bytes(_typing: Any, data: Any, at: Any) -> Any:
    """How many of the LANES bytes from `at` on come before the first quote, backslash or control character."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = _load(builder, _place(context, builder, signature, args, 0, 1))

        def splat(byte: int) -> Any:
            return ir.Constant(_VECTOR, [byte] * LANES)

        quote = builder.icmp_unsigned("==", value, splat(_QUOTE))
        escape = builder.icmp_unsigned("==", value, splat(_BACKSLASH))
        control = builder.icmp_unsigned("<", value, splat(0x20))
        mask = builder.bitcast(builder.or_(builder.or_(quote, escape), control), ir.IntType(LANES))
        return builder.zext(builder.cttz(mask, ir.Constant(ir.IntType(1), 0)), ir.IntType(64))

    return types.int64(data, types.int64), generate


@_intrinsic
def _copy_lanes(_typing: Any, data: Any, at: Any, out: Any, to: Any) -> Any:
    """Copies LANES bytes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = _load(builder, _place(context, builder, signature, args, 0, 1))
        stored = builder.store(value, _place(context, builder, signature, args, 2, 3))
        stored.align = 1
        return context.get_dummy_value()

    return types.void(data, types.int64, out, types.int64), generate


@helper
def _end_of_string(data: Any, at: int, end: int) -> tuple[int, bool]:
    """Where the string whose inside begins at `at` ends (its closing quote), or _FAULT; whether it has an escape."""
    escaped = False
    while at < end:
        if at + LANES <= end:
            plain = _plain_bytes(data, at)
            at += plain
            if plain == LANES:
                continue
        byte = data[at]
        if byte == _QUOTE:
            return at, escaped
        if byte == _BACKSLASH:
            escaped = True
            at += 2
        elif byte < 0x20:
            return _FAULT, escaped
        else:
            at += 1
    return _FAULT, escaped


@helper
def _hex4(data: Any, at: int, end: int) -> int:
    """The four hexadecimal digits at `at`, or _FAULT."""
    if at + 4 > end:
        return _FAULT
    value = 0
    for i in range(at, at + 4):
        byte = _signed(data[i])
        if 0x30 <= byte <= 0x39:
            digit = byte - 0x30
        elif 0x41 <= byte <= 0x46:
            digit = byte - 0x37
        elif 0x61 <= byte <= 0x66:
            digit = byte - 0x57
        else:
            return _FAULT
        value = value << 4 | digit
    return value


@helper
def _encode(point: int, out: Any, to: int) -> int:
    """Writes a code point as UTF-8; where the next one goes."""
    if point < 0x80:
        out[to] = point
        return to + 1
    if point < 0x800:
        out[to] = 0xC0 | point >> 6
        out[to + 1] = 0x80 | point & 0x3F
        return to + 2
    if point < 0x10000:
        out[to] = 0xE0 | point >> 12
        out[to + 1] = 0x80 | point >> 6 & 0x3F
        out[to + 2] = 0x80 | point & 0x3F
        return to + 3
    out[to] = 0xF0 | point >> 18
    out[to + 1] = 0x80 | point >> 12 & 0x3F
    out[to + 2] = 0x80 | point >> 6 & 0x3F
    out[to + 3] = 0x80 | point & 0x3F
    return to + 4


@helper
def _short_escape(byte: int) -> int:
    """What a backslash and this byte stand for, or _FAULT."""
    if byte in (_QUOTE, _BACKSLASH, 0x2F):
        return byte
    if byte == _LETTER_N:
        return 0x0A
    if byte == 0x74:
        return 0x09
    if byte == 0x72:
        return 0x0D
    if byte == 0x62:
        return 0x08
    return 0x0C if byte == 0x66 else _FAULT


@helper
def _unescape_one(data: Any, at: int, end: int, out: Any, to: int) -> tuple[int, int]:
    """The escape whose backslash is at `at`: behind it, and behind what was written; _FAULT where it is none."""
    if at + 1 >= end:
        return _FAULT, to
    byte = _signed(data[at + 1])
    if byte != 0x75:
        short = _short_escape(byte)
        if short == _FAULT:
            return _FAULT, to
        out[to] = short
        return at + 2, to + 1
    point = _hex4(data, at + 2, end)
    at += 6
    if 0xD800 <= point < 0xDC00:
        if at + 1 >= end or data[at] != _BACKSLASH or data[at + 1] != 0x75:
            return _FAULT, to
        low = _hex4(data, at + 2, end)
        if not 0xDC00 <= low < 0xE000:
            return _FAULT, to
        point = 0x10000 + ((point - 0xD800) << 10) + low - 0xDC00
        at += 6
    if point == _FAULT or 0xDC00 <= point < 0xE000:
        return _FAULT, to
    return at, _encode(point, out, to)


@helper
def _unescape(data: Any, at: int, end: int, out: Any, to: int) -> tuple[int, int]:
    """Writes the string whose inside begins at `at`: where its closing quote is (or _FAULT), and behind the text."""
    while at < end:
        if at + LANES <= end:
            _copy_lanes(data, at, out, to)
            plain = _plain_bytes(data, at)
            at += plain
            to += plain
            if plain == LANES:
                continue
        byte = data[at]
        if byte == _QUOTE:
            return at, to
        if byte == _BACKSLASH and at + 1 < end and data[at + 1] == _LETTER_N:
            # By far the commonest escape of prose and code.
            out[to] = 0x0A
            at += 2
            to += 1
        elif byte == _BACKSLASH:
            at, to = _unescape_one(data, at, end, out, to)
            if at == _FAULT:
                return _FAULT, to
        elif byte < 0x20:
            return _FAULT, to
        else:
            out[to] = byte
            at += 1
            to += 1
    return _FAULT, to


@helper
def _skip_space(data: Any, at: int, end: int) -> int:
    while at < end and data[at] in (0x20, 0x09, 0x0D):
        at += 1
    return at


@helper
def _is_key(data: Any, start: int, end: int, key: Any) -> bool:
    equal = end - start == len(key)
    for i in range(len(key) if equal else 0):
        equal &= data[start + i] == key[i]
    return equal


@helper
def _split_line(data: Any, start: int, end: int, key: Any, text: Any, to: int) -> tuple[int, int, int]:
    """Inside of the field's string, [first, last), and behind the text that was written; first is _FAULT without."""
    at = _skip_space(data, start, end)
    if at >= end or data[at] != _OPEN:
        return _FAULT, 0, to
    at += 1
    depth, first, last, wants_key = 1, _FAULT, 0, True
    while at < end and depth > 0:
        byte = data[at]
        if byte == _QUOTE:
            close, escaped = _end_of_string(data, at + 1, end)
            if close == _FAULT:
                return _FAULT, 0, to
            if depth == 1 and wants_key:
                if escaped:
                    return _FAULT, 0, to
                found = _is_key(data, at + 1, close, key)
                at = _skip_space(data, close + 1, end)
                if at >= end or data[at] != _COLON:
                    return _FAULT, 0, to
                at += 1
                wants_key = False
                if found:
                    at = _skip_space(data, at, end)
                    if first != _FAULT or at >= end or data[at] != _QUOTE:
                        return _FAULT, 0, to
                    first = at + 1
                    last, to = _unescape(data, first, end, text, to)
                    if last == _FAULT:
                        return _FAULT, 0, to
                    at = last + 1
            else:
                at = close + 1
            continue
        if byte in (_OPEN, _OPEN_LIST):
            depth += 1
        elif byte in (_CLOSE, _CLOSE_LIST):
            depth -= 1
        elif byte == _COMMA and depth == 1:
            wants_key = True
        at += 1
    if depth != 0 or _skip_space(data, at, end) != end:
        return _FAULT, 0, to
    return first, last, to


@helper
def _copy(data: Any, start: int, end: int, out: Any, to: int) -> int:
    while start + LANES <= end:
        _copy_lanes(data, start, out, to)
        start += LANES
        to += LANES
    while start < end:
        out[to] = data[start]
        start += 1
        to += 1
    return to


@kernel(types.int64(BYTES, OFFSETS, OFFSETS, BYTES, _BYTES_OUT, types.int64, _INTS_OUT, _BYTES_OUT))
def _split_lines(data: Any, starts: Any, ends: Any, key: Any, text: Any, at: int, sizes: Any, rest: Any) -> int:
    to = 0
    for row in range(len(starts)):
        first, last, behind = _split_line(data, starts[row], ends[row], key, text, at)
        if first == _FAULT:
            return _FAULT
        # A text that begins with a continuation byte could borrow the end of the one before it.
        if behind > at and text[at] & 0xC0 == 0x80:
            return _FAULT
        sizes[row] = behind - at
        at = behind
        rest[to] = _OPEN_LIST if row == 0 else _COMMA
        to = _copy(data, starts[row], first, rest, to + 1)
        to = _copy(data, last, ends[row], rest, to)
    rest[to] = _CLOSE_LIST
    return to + 1


def split_lines(
    data: Bytes, starts: Ints, ends: Ints, key: bytes, text: Bytes, at: int
) -> tuple[Ints, memoryview] | None:
    """Take lines apart; their texts go to `text[at:]`, which must have room for the lines' bytes and LANES more.

    Returns the bytes of each text and the lines without them as one JSON array; None if any line is out of
    the ordinary. `key` is the field's name as UTF-8. Whether the texts are UTF-8 is not looked at.
    """
    sizes = np.empty(len(starts), np.int64)
    rest = np.empty(int((ends - starts).sum()) + len(starts) + 2 + LANES, np.uint8)
    used = _split_lines(data, starts, ends, np.frombuffer(key, np.uint8), text, at, sizes, rest)
    return None if used == _FAULT else (sizes, memoryview(rest.data)[:used])


def split_lines_plain(lines: Sequence[bytes], key: str) -> list[tuple[str, dict[str, Any]]] | None:
    """The twin: text and rest of each line; None if any line is no object with such a field, or has it twice."""
    found: list[tuple[str, dict[str, Any]]] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {"\0pairs": pairs}

    for line in lines:
        try:
            value = json.loads(line.decode(), object_pairs_hook=once)
        except (ValueError, RecursionError):
            return None
        pairs = value.get("\0pairs") if isinstance(value, dict) else None
        texts = [item for name, item in pairs or () if name == key]
        if len(texts) != 1 or not isinstance(texts[0], str):
            return None
        found.append((texts[0], json.loads(line.decode()) | {key: ""}))
    return found

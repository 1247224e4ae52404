"""Whether bytes are UTF-8 (RFC 3629), told LANES bytes at once.

Each byte is held against the three before it: it must be a continuation exactly where one of them calls for it. Beyond
that only four pairs of bytes are wrong (overlong forms of three and four bytes, surrogates, above U+10FFFF), and
thirteen bytes anywhere: no branch depends on what a character is. Ten times as fast as Arrow or decoding on text that
is not ASCII; stretches of ASCII are passed over at several times that speed. U+FFFC, which the texts of no source may
hold, is told in the same pass. The decoder of Python is the oracle in the tests.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gristmill.stages.kernels.jit import BYTES, helper, kernel

Bytes = npt.NDArray[np.uint8]

LANES = 64
NOT_UTF8, PLAIN, WITH_MEDIUM = -1, 0, 1
_BACK = 3
_MEDIUM = (0xEF, 0xBF, 0xBC)  # U+FFFC, which stands for a medium
_BYTE = ir.IntType(8)
_VECTOR = ir.VectorType(_BYTE, LANES)
_intrinsic: Any = intrinsic  # a caller gives one argument less than the function has


def _faulty(builder: Any, byte: Any, last: Any, second: Any, third: Any) -> Any:
    """Per lane, whether `byte` cannot follow the three bytes before it."""

    def splat(value: int) -> Any:
        return ir.Constant(_VECTOR, [value] * LANES)

    def is_(op: str, vector: Any, value: int) -> Any:
        return builder.icmp_unsigned(op, vector, splat(value))

    def both(first: Any, other: Any) -> Any:
        return builder.and_(first, other)

    def any_(*conditions: Any) -> Any:
        found = conditions[0]
        for condition in conditions[1:]:
            found = builder.or_(found, condition)
        return found

    continues = builder.icmp_unsigned("==", builder.and_(byte, splat(0xC0)), splat(0x80))
    called_for = any_(is_(">=", last, 0xC0), is_(">=", second, 0xE0), is_(">=", third, 0xF0))
    return any_(
        builder.xor(continues, called_for),
        builder.icmp_unsigned("==", builder.and_(byte, splat(0xFE)), splat(0xC0)),
        is_(">=", byte, 0xF5),
        both(is_("==", last, 0xE0), is_("<", byte, 0xA0)),
        both(is_("==", last, 0xED), is_(">=", byte, 0xA0)),
        both(is_("==", last, 0xF0), is_("<", byte, 0x90)),
        both(is_("==", last, 0xF4), is_(">=", byte, 0x90)),
    )


def _load(builder: Any, array: Any, at: Any, offset: int) -> Any:
    """The LANES bytes of `array` from `at + offset` on."""
    place = builder.gep(array, [builder.add(at, ir.Constant(ir.IntType(64), offset))])
    value = builder.load(builder.bitcast(place, _VECTOR.as_pointer()))
    value.align = 1
    return value


@_intrinsic
def _check(_typing: Any, data: Any, at: Any, found: Any) -> Any:
    """Checks the LANES bytes of `data` from `at` (>= 3) on: sets those of the first LANES bytes of `found` that are
    wrong, and those of the next LANES that end a U+FFFC."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bytes_at, found_at = (context.make_array(signature.args[i])(context, builder, args[i]).data for i in (0, 2))
        byte, last, second, third = (_load(builder, bytes_at, args[1], -back) for back in range(_BACK + 1))
        equal = [
            builder.icmp_unsigned("==", vector, ir.Constant(_VECTOR, [value] * LANES))
            for vector, value in zip((second, last, byte), _MEDIUM, strict=True)
        ]
        medium = builder.and_(builder.and_(equal[0], equal[1]), equal[2])
        for offset, bits in ((0, _faulty(builder, byte, last, second, third)), (LANES, medium)):
            place = builder.gep(found_at, [ir.Constant(ir.IntType(64), offset)])
            total = builder.bitcast(place, _VECTOR.as_pointer())
            before = _load(builder, place, ir.Constant(ir.IntType(64), 0), 0)
            stored = builder.store(builder.or_(before, builder.zext(bits, _VECTOR)), total)
            stored.align = 1
        return context.get_dummy_value()

    return types.void(data, types.int64, found), generate


@_intrinsic
def _is_ascii(_typing: Any, data: Any, at: Any) -> Any:
    """Whether none of the 2 * LANES bytes of `data` from `at` on is beyond ASCII."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bytes_at = context.make_array(signature.args[0])(context, builder, args[0]).data
        both = builder.or_(*(_load(builder, bytes_at, args[1], offset) for offset in (0, LANES)))
        high = builder.icmp_signed("<", both, ir.Constant(_VECTOR, [0] * LANES))
        return builder.icmp_unsigned("==", builder.bitcast(high, ir.IntType(LANES)), ir.Constant(ir.IntType(LANES), 0))

    return types.boolean(data, types.int64), generate


@helper
def _is_fault(byte: int, last: int, second: int, third: int) -> bool:
    """The same for one byte; 0 where there is none before it."""
    if ((byte & 0xC0) == 0x80) != (last >= 0xC0 or second >= 0xE0 or third >= 0xF0):
        return True
    if (byte & 0xFE) == 0xC0 or byte >= 0xF5:
        return True
    if (last == 0xE0 and byte < 0xA0) or (last == 0xED and byte >= 0xA0):
        return True
    return (last == 0xF0 and byte < 0x90) or (last == 0xF4 and byte >= 0x90)


@helper
def _fault_at(data: Any, at: int) -> bool:
    """The same for the byte at a place, before which there may be fewer than three."""
    last = data[at - 1] if at > 0 else 0
    second = data[at - 2] if at > 1 else 0
    third = data[at - 3] if at > 2 else 0
    return _is_fault(data[at], last, second, third)


@helper
def _is_medium_at(data: Any, at: int) -> bool:
    """Whether a U+FFFC ends at a place."""
    return at > 1 and data[at] == _MEDIUM[2] and data[at - 1] == _MEDIUM[1] and data[at - 2] == _MEDIUM[0]


@helper
def _is_unfinished(data: Any, size: int) -> bool:
    """Whether the last character of `data[:size]` is cut."""
    cut = size > 0 and data[size - 1] >= 0xC0
    cut |= size > 1 and data[size - 2] >= 0xE0
    return cut or (size > 2 and data[size - 3] >= 0xF0)


@kernel(types.int64(BYTES, types.int64, types.int64))
def _classify(whole: Any, start: int, end: int) -> int:
    data = whole[start:end]
    size = len(data)
    found = np.zeros(2 * LANES, np.uint8)
    medium = False
    scalar = size if size < LANES + _BACK else _BACK
    for at in range(scalar):
        if _fault_at(data, at):
            return NOT_UTF8
        medium |= _is_medium_at(data, at)
    if _is_unfinished(data, size):
        return NOT_UTF8
    if scalar < size:
        at = _BACK
        plain = False
        while at + 2 * LANES <= size:
            # Behind ASCII nothing is called for, so of plain text nothing but that is looked at.
            before = plain
            plain = _is_ascii(data, at)
            if not (plain and before):
                _check(data, at, found)
                _check(data, at + LANES, found)
            at += 2 * LANES
        if at + LANES <= size:
            _check(data, at, found)
        _check(data, size - LANES, found)
    if found[:LANES].any():
        return NOT_UTF8
    return WITH_MEDIUM if medium or found[LANES:].any() else PLAIN


@_intrinsic
def _lines_to_go(_typing: Any, out: Any, at: Any) -> Any:
    """How many bytes `out[at]` is away from where a vector may be written past the cache."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])
        address = builder.ptrtoint(place, ir.IntType(64))
        return builder.and_(builder.neg(address), ir.Constant(ir.IntType(64), LANES - 1))

    return types.int64(out, types.int64), generate


@_intrinsic
def _move(_typing: Any, data: Any, at: Any, out: Any, to: Any) -> Any:
    """Copies 2 * LANES bytes past the cache; tells whether they all are ASCII."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bytes_at, out_at = (context.make_array(signature.args[i])(context, builder, args[i]).data for i in (0, 2))
        both = [_load(builder, bytes_at, args[1], offset) for offset in (0, LANES)]
        past = builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)])
        for value, offset in zip(both, (0, LANES), strict=True):
            place = builder.gep(out_at, [builder.add(args[3], ir.Constant(ir.IntType(64), offset))])
            stored = builder.store(value, builder.bitcast(place, _VECTOR.as_pointer()))
            stored.align = LANES
            stored.set_metadata("nontemporal", past)
        high = builder.icmp_signed("<", builder.or_(*both), ir.Constant(_VECTOR, [0] * LANES))
        return builder.icmp_unsigned("==", builder.bitcast(high, ir.IntType(LANES)), ir.Constant(ir.IntType(LANES), 0))

    return types.boolean(data, types.int64, out, types.int64), generate


@_intrinsic
def _fence(_typing: Any) -> Any:
    """What was written past the cache is seen by all threads before what is written later."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate


@kernel(types.int64(BYTES, types.Array(types.uint8, 1, "C"), types.int64, types.int64, types.boolean))
def _copy(data: Any, buffer: Any, first: int, at: int, is_last: bool) -> int:
    out, to, size = buffer[first:], at - first, len(data)
    found = np.zeros(2 * LANES, np.uint8)
    medium = False
    head = _lines_to_go(buffer, at)
    head = min(head if head >= _BACK else head + LANES, size)
    for i in range(head):
        out[to + i] = data[i]
        if _fault_at(out, to + i):
            return NOT_UTF8
        medium |= _is_medium_at(out, to + i)
    i = head
    plain = False
    while i + 2 * LANES <= size:
        before = plain
        plain = _move(data, i, out, to + i)
        if not (plain and before):
            _check(data, i, found)
            _check(data, i + LANES, found)
        i += 2 * LANES
    _fence()
    while i < size:
        out[to + i] = data[i]
        if _is_fault(data[i], data[i - 1], data[i - 2], data[i - 3]):
            return NOT_UTF8
        medium |= data[i] == _MEDIUM[2] and data[i - 1] == _MEDIUM[1] and data[i - 2] == _MEDIUM[0]
        i += 1
    if found[:LANES].any() or (is_last and _is_unfinished(out, to + size)):
        return NOT_UTF8
    return WITH_MEDIUM if medium or found[LANES:].any() else PLAIN


def classify(data: Bytes, start: int, end: int) -> int:
    """NOT_UTF8, PLAIN or WITH_MEDIUM (a U+FFFC is in it) for `data[start:end]`, which
    must lie within `data`."""
    return int(_classify(data, start, end))


def copy_utf8(parts: Sequence[memoryview], out: Bytes, at: int) -> int:
    """Copies `parts` one behind the other to `out[at:]`, which has room for them, and classifies them as one text.

    They are looked at where they come from, and written past the cache: a buffer that does not fit into it is as slow
    to write as to read. On NOT_UTF8 less may have been written."""
    if len(parts) == 1:
        return _copy(np.frombuffer(parts[0], np.uint8), out, at, at, True)
    kind, first, last = PLAIN, at, len(parts) - 1
    for number, part in enumerate(parts):
        found = _copy(np.frombuffer(part, np.uint8), out, first, at, number == last)
        if found == NOT_UTF8:
            return found
        kind |= found
        at += len(part)
    return kind


def is_utf8(data: Bytes) -> bool:
    """Whether `data` is UTF-8 from its first to its last byte."""
    return classify(data, 0, len(data)) != NOT_UTF8

"""What 64 bytes are, one bit each: they are compared all at once, and words are found by arithmetic on the bits."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.jit import helper

_intrinsic: Any = intrinsic  # a caller gives one argument less than the function has

LANES = 64
_BYTE = ir.IntType(8)
_VECTOR = ir.VectorType(_BYTE, LANES)
_JOINERS = b".,'"


@_intrinsic
def _masks(_typing: Any, data: Any, at: Any) -> Any:
    """Of the LANES bytes from `at` on: letters, digits and underscores of ASCII; underscores; `.,'`; what is beyond
    ASCII."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(first, [args[1]]), _VECTOR.as_pointer())
        value = builder.load(place)
        value.align = 1

        def splat(number: int) -> Any:
            return ir.Constant(_VECTOR, [number] * LANES)

        def within(vector: Any, start: int, count: int) -> Any:
            return builder.icmp_unsigned("<", builder.sub(vector, splat(start)), splat(count))

        def equal(number: int) -> Any:
            return builder.icmp_unsigned("==", value, splat(number))

        underscore = equal(ord("_"))
        letter = within(builder.or_(value, splat(0x20)), ord("a"), 26)
        word = builder.or_(builder.or_(letter, within(value, ord("0"), 10)), underscore)
        joiner = equal(_JOINERS[0])
        for other in _JOINERS[1:]:
            joiner = builder.or_(joiner, equal(other))
        wide = builder.icmp_signed("<", value, splat(0))
        bits = [builder.bitcast(mask, ir.IntType(LANES)) for mask in (word, underscore, joiner, wide)]
        return context.make_tuple(builder, signature.return_type, bits)

    return types.UniTuple(types.uint64, 4)(data, types.int64), generate


@helper
def _masks_of_rest(data: Bytes, at: int) -> Any:
    rest = np.zeros(LANES, np.uint8)
    rest[: len(data) - at] = data[at:]
    return _masks(rest, 0)


@helper
def plain_words(data: Bytes, at: int, end: int) -> Any:
    """The words of ASCII in the LANES bytes from `at` on, at which none is open: bits where they start, bits behind
    their ends, and the first place that only `words.next_token` can judge (LANES without one).

    Words that end before that place are words; the last one may have no end here. Nothing at `end` or behind it counts.
    """
    word, underscore, joiner, wide = _masks(data, at) if at + LANES <= len(data) else _masks_of_rest(data, at)
    one = np.uint64(1)
    unknown = np.uint64(1) << np.uint64(LANES - 1)
    if end - at < LANES:
        inside = (one << np.uint64(end - at)) - one
        word, joiner, wide, unknown = word & inside, joiner & inside, wide & inside, np.uint64(0)
    starts = word & ~(word << one)
    goes_on = joiner & (word << one) & (((word | wide) >> one) | unknown)
    return starts, ~word & (word << one), goes_on | wide | (starts & underscore)

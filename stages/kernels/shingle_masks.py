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
_MASKS = 8


@_intrinsic
def _masks(_typing: Any, data: Any, at: Any) -> Any:
    """Of the LANES bytes from `at` on: letters, digits and underscores of ASCII; letters; capitals; underscores; full
    stops; commas; apostrophes; what is beyond ASCII."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(first, [args[1]]), _VECTOR.as_pointer())
        value = builder.load(place)
        value.align = 1

        def splat(number: int) -> Any:
            return ir.Constant(_VECTOR, [number] * LANES)

        def within(vector: Any, start: str, count: int) -> Any:
            return builder.icmp_unsigned("<", builder.sub(vector, splat(ord(start))), splat(count))

        underscore, stop, comma, apostrophe = (builder.icmp_unsigned("==", value, splat(byte)) for byte in b"_.,'")
        letter = within(builder.or_(value, splat(0x20)), "a", 26)
        word = builder.or_(builder.or_(letter, within(value, "0", 10)), underscore)
        wide = builder.icmp_signed("<", value, splat(0))
        found = (word, letter, within(value, "A", 26), underscore, stop, comma, apostrophe, wide)
        bits = [builder.bitcast(mask, ir.IntType(LANES)) for mask in found]
        return context.make_tuple(builder, signature.return_type, bits)

    return types.UniTuple(types.uint64, _MASKS)(data, types.int64), generate


@helper
def _masks_of_rest(data: Bytes, at: int) -> Any:
    rest = np.zeros(LANES, np.uint8)
    rest[: len(data) - at] = data[at:]
    return _masks(rest, 0)


@helper
def plain_words(data: Bytes, at: int, end: int) -> Any:
    """The runs of `words` in the LANES bytes from `at` on, at which none is open, as far as they are ASCII: bits where
    they start, bits behind their ends, the ends of those that are underscores alone (and no words), the starts at an
    apostrophe, and the first places that only `words.next_token` can judge.

    Runs that end before the first of these places are as they are there; the last one may have no end here.
    """
    one = np.uint64(1)
    word, letter, capital, underscore, stop, comma, apostrophe, wide = (
        _masks(data, at) if at + LANES <= len(data) else _masks_of_rest(data, at)
    )
    unseen = one << np.uint64(LANES - 1)
    if end - at < LANES:
        inside, unseen = (one << np.uint64(end - at)) - one, np.uint64(0)
        word, letter, underscore, wide = word & inside, letter & inside, underscore & inside, wide & inside
    other, small = word & ~letter, letter & ~capital
    begins = apostrophe & (letter << one) & (letter >> one)
    over = stop & (word << one) & (word >> one) & ~((small << one) & (capital >> one))
    over |= comma & (other << one) & (other >> one)
    joiner = (stop | comma | apostrophe) & (word << one)
    # What stands behind the last byte, and so whether that joins, is seen when its run is read from its start.
    run = word | over | begins | (joiner & unseen)
    starts, ends = (run & ~(run << one)) | begins, (~run & (run << one)) | begins
    idle = (underscore + (starts & underscore)) & ~underscore & ends
    return starts, ends, idle, begins, wide | (joiner & (wide >> one))

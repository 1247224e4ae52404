"""BLAKE3-128 of pieces of text in a normal form: equal digests are equal forms.

* `PROSE`: the canonical caseless form of Unicode as `shingle_fold` writes it (accents however they are encoded, no
  difference of case, no format characters), white space as one blank, none at the ends. Digits and punctuation stay.
* `EXACT`: white space as one blank, none at the ends; all else as it is.

White space is the SPACE of `char_table` but for U+FFFC, which stands for a medium and is a character like others. ASCII
goes LANES bytes at a time. The form passes through a block of BLOCK bytes and is never held as a whole, so that a piece
of any size takes no memory; pieces that lie within a block are hashed in lockstep. The twin is `normal_form_plain`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from blake3 import blake3
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gristmill.stages.kernels.blake3_lanes import DIGEST_BYTES, blake3_128
from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import SPACE, char_flags
from gristmill.stages.kernels.jit import BYTES, OFFSETS, helper, inner, kernel
from gristmill.stages.kernels.lines import point_at, signed
from gristmill.stages.kernels.segments_intern import word_at
from gristmill.stages.kernels.shingle_fold import MAX_MARKS, fold_table
from gristmill.stages.kernels.shingle_folding import (
    CURSOR_PLACES,
    MAX_POINTS,
    POINTS,
    WAITING,
    end_marks,
    fold_char,
    stands_for_itself,
)
from gristmill.stages.kernels.shingle_hash import low_zeros

_T = TypeVar("_T", bound=np.generic)

PROSE, EXACT = 0, 1
BLOCK = 1 << 18
"""Bytes of the block that forms pass through: it stays in the cache until it has been hashed."""

_MARGIN = 4 * (MAX_POINTS + MAX_MARKS + 1) + 32
_ROW, _AT, _AFTER_BLANK, _OPEN, _USED = range(5)
_STATE = 5
LANES = 32
_ALL_LANES = (1 << LANES) - 1
_MEDIUM = 0xFFFC
_BLANK = 0x20

_ONES = 0x0101010101010101
_TOP, _LOW, _BLANKS = 0x80 * _ONES, 0x7F * _ONES, _BLANK * _ONES
_FROM_TAB, _ABOVE_CR = (0x80 - 0x09) * _ONES, (0x80 - 0x0E) * _ONES
_FROM_FS, _ABOVE_US = (0x80 - 0x1C) * _ONES, (0x80 - 0x20) * _ONES
_PACKING = 0x0102040810204080
_FROM_CAPITAL_A, _ABOVE_CAPITAL_Z = (0x80 - 0x41) * _ONES, (0x80 - 0x5B) * _ONES

_STATE_OUT = types.Array(types.int64, 1, "C")
_BYTES_OUT = types.Array(types.uint8, 1, "C")

_BYTE = ir.IntType(8)
_VECTOR = ir.VectorType(_BYTE, LANES)
_intrinsic: Any = intrinsic  # a caller gives one argument less than the function has


@_intrinsic
def _store(_typing: Any, out: Any, at: Any, word: Any) -> Any:
    """Writes 8 bytes to `out` from `at` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(first, [args[1]]), ir.IntType(64).as_pointer())
        stored = builder.store(args[2], place)
        stored.align = 1
        return context.get_dummy_value()

    return types.void(out, types.int64, types.uint64), generate


@_intrinsic
def _store_lanes(_typing: Any, data: Any, at: Any, out: Any, to: Any, case: Any) -> Any:
    """Writes the LANES bytes of `data` from `at` on to `out` from `to` on, as ASCII is written: white space as blanks,
    letters in lower case where `case` is 0x20, else 0. Bits 0-31: which are white space, 32-63: beyond ASCII."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def splat(value: int) -> Any:
            return ir.Constant(_VECTOR, [value] * LANES)

        def place(i: int) -> Any:
            first = context.make_array(signature.args[i])(context, builder, args[i]).data
            return builder.bitcast(builder.gep(first, [args[i + 1]]), _VECTOR.as_pointer())

        def within(vector: Any, first: int, size: int) -> Any:
            return builder.icmp_unsigned("<", builder.sub(vector, splat(first)), splat(size))

        def bits(vector: Any) -> Any:
            return builder.zext(builder.bitcast(vector, ir.IntType(LANES)), ir.IntType(64))

        byte = builder.load(place(0))
        byte.align = 1
        space = builder.or_(builder.or_(within(byte, 0x09, 5), within(byte, 0x1C, 4)), within(byte, _BLANK, 1))
        one = builder.insert_element(splat(0), builder.trunc(args[4], _BYTE), ir.Constant(ir.IntType(32), 0))
        case = builder.shuffle_vector(one, splat(0), ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))
        lower = builder.select(within(byte, 0x41, 26), builder.or_(byte, case), byte)
        stored = builder.store(builder.select(space, splat(_BLANK), lower), place(2))
        stored.align = 1
        high = builder.icmp_signed("<", byte, splat(0))
        return builder.or_(bits(space), builder.shl(bits(high), ir.Constant(ir.IntType(64), LANES)))

    return types.uint64(data, types.int64, out, types.int64, types.uint64), generate


@inner
def _space_bits(word: Any) -> Any:
    """Bit 7 of each of eight bytes that is white space of ASCII."""
    low = word & np.uint64(_LOW)
    blanks = ~((low ^ np.uint64(_BLANKS)) + np.uint64(_LOW))
    lines = (low + np.uint64(_FROM_TAB)) & ~(low + np.uint64(_ABOVE_CR))
    separators = (low + np.uint64(_FROM_FS)) & ~(low + np.uint64(_ABOVE_US))
    return (blanks | lines | separators) & ~word & np.uint64(_TOP)


@inner
def _packed(bits: Any) -> Any:
    """Bits 7, 15, ..., 63 as bits 0 to 7."""
    return (bits >> np.uint64(7)) * np.uint64(_PACKING) >> np.uint64(56)


@inner
def _written(word: Any, spaces: Any, prose: bool) -> Any:
    """Eight bytes with those of `spaces` as blanks, the letters of ASCII in lower case for prose."""
    low = word & np.uint64(_LOW)
    capital = (low + np.uint64(_FROM_CAPITAL_A)) & ~(low + np.uint64(_ABOVE_CAPITAL_Z)) & np.uint64(_TOP)
    mask = (spaces - (spaces >> np.uint64(7))) | spaces
    lower = word | (capital >> np.uint64(2)) if prose else word
    return (lower & ~mask) | (np.uint64(_BLANKS) & mask)


@inner
def _put_point(out: Any, used: int, point: int) -> int:
    """One code point as UTF-8; where the next one goes."""
    if point < 0x80:
        out[used] = point
        return used + 1
    if point < 0x800:
        out[used] = 0xC0 | point >> 6
    else:
        if point < 0x10000:
            out[used] = 0xE0 | point >> 12
        else:
            out[used] = 0xF0 | point >> 18
            used += 1
            out[used] = 0x80 | point >> 12 & 0x3F
        used += 1
        out[used] = 0x80 | point >> 6 & 0x3F
    out[used + 1] = 0x80 | point & 0x3F
    return used + 2


@inner
def _end_marks(folding: Any, out: Any, used: int) -> int:
    if folding[WAITING]:
        for i in range(end_marks(folding)):
            used = _put_point(out, used, folding[POINTS + i])
    return used


@inner
def _decoded(data: Bytes, at: int, stop: int) -> tuple[int, int]:
    """The code point at `at`, which is beyond ASCII, and the byte behind it."""
    first = signed(data[at])
    if 0xC2 <= first < 0xE0 and at + 2 <= stop:
        return (first & 0x1F) << 6 | (signed(data[at + 1]) & 0x3F), at + 2
    if 0xE0 <= first < 0xF0 and at + 3 <= stop:
        point = (first & 0x0F) << 12 | (signed(data[at + 1]) & 0x3F) << 6 | (signed(data[at + 2]) & 0x3F)
        return point, at + 3
    return point_at(data, at, stop)


@inner
def _store_word(data: Bytes, at: int, left: int, last: Any, prose: bool, out: Any, used: int) -> Any:
    """Writes up to eight of `left` bytes so: which are white space (bits 0 to 7), how many of them stand, how many
    go where none does; `last` is 1 behind a blank."""
    word = word_at(data, at, left)
    spaces = _space_bits(word)
    ends = (spaces & (spaces << np.uint64(8) | last << np.uint64(7))) | (word & np.uint64(_TOP))
    _store(out, used, _written(word, spaces, prose))
    skipped = low_zeros(~spaces & np.uint64(_TOP)) >> 3
    return _packed(spaces), min(low_zeros(ends) >> 3, left), skipped


@helper
def _put_form(data: Bytes, stop: int, prose: bool, flags: Any, fold: Any, folding: Any, out: Any, state: Any) -> None:
    """Goes on with a piece that ends at `stop` until it is read or `out` is nearly full."""
    at, used, after_blank = state[_AT], state[_USED], state[_AFTER_BLANK] != 0
    room = len(out) - _MARGIN
    case = np.uint64(0x20 if prose else 0)
    while at < stop and used < room:
        if data[at] < 0x80:
            used = _end_marks(folding, out, used)
            last = np.uint64(1 if after_blank else 0)
            if at + LANES <= stop:
                spaces = _store_lanes(data, at, out, used, case)
                high = spaces >> np.uint64(LANES)
                spaces &= np.uint64(_ALL_LANES)
                ends = (spaces & (spaces << np.uint64(1) | last)) | high
                if not ends:
                    # The commonest case by itself: the next step need not wait for the size of this one.
                    at += LANES
                    used += LANES
                    after_blank = spaces >> np.uint64(LANES - 1) != np.uint64(0)
                    continue
                size, skipped = low_zeros(ends), low_zeros(~spaces)
            else:
                spaces, size, skipped = _store_word(data, at, stop - at, last, prose, out, used)
            at += size if size else skipped
            used += size
            if size:
                after_blank = spaces >> np.uint64(size - 1) & np.uint64(1) != np.uint64(0)
            continue
        point, behind = _decoded(data, at, stop)
        if signed(flags[point]) & SPACE and point != _MEDIUM:
            if not after_blank:
                used = _end_marks(folding, out, used)
                out[used] = _BLANK
                used += 1
                after_blank = True
        elif not prose or stands_for_itself(point, fold):
            used = _end_marks(folding, out, used)
            for i in range(at, behind):
                out[used] = data[i]
                used += 1
            after_blank = False
        else:
            before = used
            for i in range(fold_char(point, fold, folding)):
                used = _put_point(out, used, folding[POINTS + i])
            # What the form leaves out does not part white space.
            after_blank = after_blank and used == before and folding[WAITING] == 0
        at = behind
    state[_AT], state[_USED], state[_AFTER_BLANK] = at, used, after_blank


class _Pieces(NamedTuple):
    data: Bytes
    starts: Offsets
    stops: Offsets
    kinds: npt.NDArray[np.uint8]


_PIECES = types.NamedTuple((BYTES, OFFSETS, OFFSETS, BYTES), _Pieces)
_FOLD = types.Array(types.int32, 1, "C", readonly=True)


@kernel(types.void(_PIECES, BYTES, _FOLD, _STATE_OUT, _STATE_OUT, _BYTES_OUT, _STATE_OUT))
def _forms(pieces: Any, flags: Any, fold: Any, folding: Any, state: Any, out: Any, ends: Any) -> None:
    data, starts, stops, kinds = pieces
    first = state[_ROW]
    while state[_ROW] < len(starts):
        row = state[_ROW]
        if state[_OPEN] == 0:
            if state[_USED] >= len(out) - _MARGIN:
                return
            folding[WAITING] = 0
            state[_AT], state[_AFTER_BLANK], state[_OPEN] = starts[row], 1, 1
        begin = ends[row - 1] if row > first else 0
        _put_form(data, stops[row], kinds[row] == PROSE, flags, fold, folding, out, state)
        if state[_AT] < stops[row]:
            return
        used = _end_marks(folding, out, state[_USED])
        if state[_AFTER_BLANK] and used > begin and out[used - 1] == _BLANK:
            used -= 1
        ends[row] = state[_USED] = used
        state[_ROW], state[_OPEN] = row + 1, 0


def _read_only(array: npt.NDArray[Any], kind: type[_T]) -> npt.NDArray[_T]:
    view = np.ascontiguousarray(array, kind).view()
    view.flags.writeable = False
    return view


class _Forms:
    """The forms of pieces, block by block."""

    def __init__(self, data: Bytes, starts: Offsets, stops: Offsets, kinds: npt.NDArray[np.uint8]) -> None:
        bounds = _read_only(starts, np.int64), _read_only(stops, np.int64)
        pieces = _Pieces(_read_only(data, np.uint8), *bounds, _read_only(kinds, np.uint8))
        self._given = pieces, char_flags(), fold_table(), np.zeros(CURSOR_PLACES, np.int64)
        self._state = np.zeros(_STATE, np.int64)
        self.block = np.empty(BLOCK, np.uint8)
        self.ends = np.zeros(len(starts), np.int64)

    @property
    def done(self) -> int:
        """Pieces that are done."""
        return int(self._state[_ROW])

    @property
    def used(self) -> int:
        """Bytes of the block."""
        return int(self._state[_USED])

    def fill(self) -> bool:
        """Fills the block anew. Whether a piece goes on behind it: what there is of it stands at the block's end, but
        for a blank, with which the next block begins."""
        state, held = self._state, 0
        if state[_OPEN] and self.used and state[_AFTER_BLANK] and self.block[self.used - 1] == _BLANK:
            held = 1
        self.block[:held] = _BLANK
        state[_USED] = held
        _forms(*self._given, state, self.block, self.ends)
        return bool(state[_OPEN])

    def holds_blank(self) -> bool:
        """Whether the last byte of the block belongs to the next one."""
        return bool(self._state[_AFTER_BLANK]) and self.used > 0 and self.block[self.used - 1] == _BLANK


def form_digests(
    data: Bytes,
    starts: Offsets,
    stops: Offsets,
    kinds: npt.NDArray[np.uint8],
    tails: Mapping[int, bytes] | None = None,
) -> npt.NDArray[np.uint8]:
    """BLAKE3-128 of the normal form (`PROSE` or `EXACT`, by `kinds`) of `data[start:stop]`, with the bytes of `tails`
    behind that of some: uint8 (n, 16)."""
    digests = np.empty((len(starts), DIGEST_BYTES), np.uint8)
    behind = tails or {}
    tailed = np.array(sorted(behind), np.int64)
    forms = _Forms(data, starts, stops, kinds)
    long_one: Any = None
    while forms.done < len(starts):
        first = forms.done
        goes_on = forms.fill()
        ends = np.concatenate([np.zeros(1, np.int64), forms.ends[first : forms.done]])
        digests[first : forms.done] = blake3_128(forms.block, ends[:-1], np.diff(ends))
        low, high = np.searchsorted(tailed, [first, forms.done])
        one_by_one = tailed[low:high].tolist()
        if long_one is not None and forms.done > first:
            one_by_one = [first, *(piece for piece in one_by_one if piece != first)]
        for piece in one_by_one:
            hasher = long_one if piece == first and long_one is not None else blake3()
            hasher.update(forms.block[ends[piece - first] : ends[piece - first + 1]].data)
            hasher.update(behind.get(piece, b""))
            digests[piece] = np.frombuffer(hasher.digest(DIGEST_BYTES), np.uint8)
        if forms.done > first:
            long_one = None
        if goes_on:
            long_one = long_one or blake3()
            long_one.update(forms.block[ends[-1] : forms.used - forms.holds_blank()].data)
    return digests

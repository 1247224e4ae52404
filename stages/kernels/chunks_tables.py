"""The arrays by which `chunks` splits text as spaCy's English tokenizer does; `text.compat.spacy_rules` fills them.

Three arrays only (each array that is handed through numba's helpers costs seconds of compilation): the flags of the
code points, all small numbers and all others. `numbers` begins with SETS headers of HEADER numbers, one for each set of
strings (special cases, pieces of patterns, units): where its bytes (`octets`), its starts (n + 1), its slots (a power
of two of them; -1 is free), the slots' mask and its gate (`octets`) are; then comes a header of the rest. A gate tells
by first byte, last byte and length that a string is not in the set.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from numba import types

PREFIX = 1
"""A prefix by itself."""
SUFFIX = 2
"""A suffix by itself."""
INFIX = 4
"""An infix by itself."""
LETTER = 8
"""In spaCy's ALPHA."""
LOWER = 16
"""In its ALPHA_LOWER, which has letters without case, too."""
UPPER = 32
"""In its ALPHA_UPPER, which has letters without case, too."""
STOP_AFTER = 64
"""A full stop at the end is a suffix after it."""
QUOTE = 128
"""In CONCAT_QUOTES."""
UNIT_END = 256
"""The last character of a unit or a currency."""
SPACE = 512
"""`str.isspace`."""
PUNCT = 1024
"""Of a category P."""
SENTENCE_END = 2048
"""Among the sentencizer's characters."""
WORDLIKE = 4096
"""Not in datatrove's PUNCTUATION_SET."""
ALPHA = 8192
"""`str.isalpha`."""
WORD = 16384
r"""`\w`."""
DIGIT = 32768
r"""`\d`."""
SCAN = 65536
"""May begin an infix."""

MAX_STRING_BYTES = 31
GATE_WIDTH = MAX_STRING_BYTES + 1
HASH_SEED = 0xCBF29CE484222325
HASH_PRIME = 0x100000001B3
"""FNV-1a, 64 bits (Fowler, Noll, Vo). The sets are fixed, so nobody can crowd them."""

SPECIALS, PIECES, UNITS = 0, 1, 2
"""The sets."""
SETS = 3
HEADER = 5
BYTES_AT, STARTS_AT, SLOTS_AT, SLOT_MASK, GATE_AT = range(HEADER)
"""The header of a set. A gate is `octets[gate + byte * GATE_WIDTH + length]`: 1 first byte, 2 last byte."""
LAYOUT_STARTS_AT, LAYOUT_AT, TRIE_AT, TRIE_WIDTH, ACCEPTS_AT = range(SETS * HEADER, SETS * HEADER + 5)
"""Sizes in bytes of the tokens of special case i: `numbers[layout + j]` for the j of `[starts[i], starts[i + 1])`. The
patterns of several tokens as a trie: `numbers[trie + state * width + piece]` is the next state or -1,
`numbers[accepts + state]` the special case or -1."""

U8 = npt.NDArray[np.uint8]
I32 = npt.NDArray[np.int32]
U32 = npt.NDArray[np.uint32]

_T = TypeVar("_T", bound=np.generic)


class SplitTables(NamedTuple):
    """`flags` of each code point, as above; `octets` and `numbers` as the module says. All read-only."""

    flags: U32
    octets: U8
    numbers: I32


SPLIT_TABLES = types.NamedTuple(
    [types.Array(kind, 1, "C", readonly=True) for kind in (types.uint32, types.uint8, types.int32)], SplitTables
)


class Patterns(NamedTuple):
    """The trie over `pieces` (strings): `steps` (int32, (states, pieces)) and `accepts` (int32, states)."""

    pieces: Sequence[str]
    steps: npt.NDArray[np.int32]
    accepts: npt.NDArray[np.int32]


def pack(
    flags: U32, specials: Sequence[str], layouts: Sequence[Sequence[int]], patterns: Patterns, units: Sequence[str]
) -> SplitTables:
    """The tables; `layouts` are the sizes of the tokens of each special case.

    Raises ValueError on a string that is empty or of more than MAX_STRING_BYTES bytes.
    """
    octets, numbers = bytearray(), list[int]()
    header = SETS * HEADER + 5
    numbers.extend([0] * header)
    for number, strings in enumerate((specials, patterns.pieces, units)):
        numbers[number * HEADER : (number + 1) * HEADER] = _add_set([s.encode() for s in strings], octets, numbers)
    starts = np.cumsum([0, *map(len, layouts)]).tolist()
    parts = (starts, [size for sizes in layouts for size in sizes], patterns.steps.ravel().tolist())
    places = list[int]()
    for part in (*parts, patterns.accepts.tolist()):
        places.append(len(numbers))
        numbers.extend(part)
    numbers[SETS * HEADER : header] = [*places[:3], patterns.steps.shape[1], places[3]]
    return SplitTables(
        frozen(flags), frozen(np.frombuffer(bytes(octets), np.uint8)), frozen(np.array(numbers, dtype=np.int32))
    )


def _add_set(strings: Sequence[bytes], octets: bytearray, numbers: list[int]) -> tuple[int, int, int, int, int]:
    """Append a set's arrays; its header."""
    if any(not 0 < len(one) <= MAX_STRING_BYTES for one in strings):
        raise ValueError(f"strings of 1 to {MAX_STRING_BYTES} bytes are wanted")
    mask = (1 << (2 * len(strings)).bit_length()) - 1
    slots = [-1] * (mask + 1)
    gate = bytearray(256 * GATE_WIDTH)
    for number, one in enumerate(strings):
        slot = string_hash(one) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = number
        gate[one[0] * GATE_WIDTH + len(one)] |= 1
        gate[one[-1] * GATE_WIDTH + len(one)] |= 2
    bytes_at, starts_at = len(octets), len(numbers)
    octets.extend(b"".join(strings))
    numbers.extend(np.cumsum([0, *map(len, strings)]).tolist())
    slots_at, gate_at = len(numbers), len(octets)
    numbers.extend(slots)
    octets.extend(gate)
    return bytes_at, starts_at, slots_at, mask, gate_at


def string_hash(raw: bytes) -> int:
    """What `chunks_affix.find` computes of a string's bytes."""
    value = HASH_SEED
    for byte in raw:
        value = (value ^ byte) * HASH_PRIME % 2**64
    return value ^ value >> 32


def frozen(array: npt.NDArray[_T]) -> npt.NDArray[_T]:
    """The array, read-only."""
    array.flags.writeable = False
    return array

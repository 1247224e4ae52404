"""What each character counts as when n-grams are compared: the normalisation of `decontaminate`.

GPT-3 (Brown et al. 2020, appendix C) lowers the case, drops punctuation and splits at white space; decon.py of Marin,
GPT-NeoX and Megatron-LM do much the same. Here, so that a copy is found whatever a page made of its spelling:

* letters, digits and marks make words, digits are kept; every other character parts words, also the underscore;
* a word is compared in the form of Unicode's NFKD and full case folding (ligatures, full width, superscripts, "SS" for
  sharp s), without accents (marks of the canonical combining classes 10-36 and 200-240), variation selectors and format
  characters (soft hyphens, joiners), so that NFC, NFD and text that lost its accents are equal; vowel signs, nuktas,
  viramas and the voicing marks of kana stay;
* apostrophes are dropped and part nothing: "don't", "don’t" and "dont" are one word;
* so are commas between digits before exactly three digits: "80,000" is "80000", "1,2" are two words;
* a letter of a script without spaces (Han, kana, Thai, ...) is a word by itself, with its marks.

Characters are those of Unicode 14 (`char_table`), whose normalisation and case folding never change by Unicode's
stability policy: the table is the same under every Python. A character whose form would hold a separator, or a second
letter without spaces, stands for itself.
"""

import functools
import unicodedata
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gristmill.stages.kernels.char_table import ALPHA, ATTACHED, CODE_POINTS, SOLO, WORD, char_flags

SEPARATOR, LETTER, SOLO_LETTER, MARK, DROPPED, COMMA, MANY, MANY_SOLO, MANY_MARKS = range(9)
"""Kinds of elements: MANY, MANY_SOLO and MANY_MARKS stand for a sequence that begins with a LETTER, a SOLO_LETTER or a
MARK."""

KIND_SHIFT = 24
POINT_MASK = (1 << KIND_SHIFT) - 1
APOSTROPHES = "'\u2018\u2019\u02bc\uff07"

_ACCENTS = ((10, 37), (200, 241))
_VARIATION = ((0x034F, 0x0350), (0x180B, 0x1810), (0xFE00, 0xFE10), (0xE0100, 0xE01F0))
_MANY_OF = {LETTER: MANY, SOLO_LETTER: MANY_SOLO, MARK: MANY_MARKS}


class Fold(NamedTuple):
    """`elements[point]` is kind << 24 | code point, or for MANY... an index into `sequences`: a count, then so many
    code points. uint32, read-only."""

    elements: npt.NDArray[np.uint32]
    sequences: npt.NDArray[np.uint32]


def element_of(char: str) -> tuple[int, str]:
    """Kind and form of one character; the form is "" unless it belongs to words."""
    flags = _flags(char)
    if char in APOSTROPHES:
        return DROPPED, ""
    if not flags & (ALPHA | WORD | ATTACHED) or char == "_":
        return (COMMA if char == "," else SEPARATOR), ""
    kinds = [(_kind(part), part) for part in _folded(char)]
    kept = [(kind, part) for kind, part in kinds if kind != DROPPED]
    if any(kind == SEPARATOR for kind, _ in kept) or any(kind == SOLO_LETTER for kind, _ in kept[1:]):
        kept = [(_kind(char), char)]
    if not kept or kept[0][0] == DROPPED:
        return DROPPED, ""
    return kept[0][0], "".join(part for _, part in kept)


def _folded(char: str) -> str:
    """The character's NFKD form with full case folding, to the fixpoint (Unicode, D146)."""
    before = ""
    while char != before:
        before, char = char, unicodedata.normalize("NFKD", char.casefold())
    return char


def _kind(char: str) -> int:
    flags, point, combining = _flags(char), ord(char), unicodedata.combining(char)
    if char in APOSTROPHES:
        return DROPPED
    if flags & SOLO:
        return SOLO_LETTER
    if flags & (ALPHA | WORD):
        return LETTER if char != "_" else SEPARATOR
    if not flags & ATTACHED:
        return SEPARATOR
    is_format = unicodedata.category(char) == "Cf" or any(first <= point < end for first, end in _VARIATION)
    return DROPPED if is_format or any(first <= combining < end for first, end in _ACCENTS) else MARK


def _flags(char: str) -> int:
    return int(char_flags()[ord(char)])


@functools.lru_cache(maxsize=1)
def fold() -> Fold:
    """The table, made once in a process (0.3 s)."""
    elements = np.zeros(CODE_POINTS, np.uint32)
    sequences: list[int] = []
    wanted = np.flatnonzero(char_flags() & (ALPHA | WORD | ATTACHED)).tolist()
    for point in [*wanted, *map(ord, APOSTROPHES), ord(",")]:
        kind, form = element_of(chr(point))
        if len(form) < 2:
            elements[point] = kind << KIND_SHIFT | (ord(form) if form else 0)
            continue
        elements[point] = _MANY_OF[kind] << KIND_SHIFT | len(sequences)
        sequences += [len(form), *map(ord, form)]
    found = Fold(elements, np.array(sequences, np.uint32))
    for array in found:
        array.flags.writeable = False
    return found

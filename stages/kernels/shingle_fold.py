"""How the words of prose are written before they are hashed: the canonical caseless form of Unicode.

Two spellings of one word that Unicode calls a canonical caseless match (D145: NFD(casefold(NFD(word)))) have one form;
format characters (soft hyphens, joiners, byte order marks) are left out before. The form is made one character after
another, so that a word of any length takes no memory: each character gives up to MAX_FOLDED code points, marks are put
into canonical order in a buffer of MAX_MARKS; a longer sequence of marks, which no language has, is ordered in parts of
so many.

`char_fold_unicode14.npy` holds int32 rows (code point, up to MAX_FOLDED elements, -1 for none) of all characters that
do not stand for themselves or are marks; an element is a code point and, from bit 21, its combining class. Hangul
syllables are parted by arithmetic. `build_fold` made it under Unicode 14.0.0; a new one gets a new name and raises the
`version` of the stages that use it.
"""

import functools
import unicodedata
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gristmill.stages.kernels.char_table import CODE_POINTS

FOLD_PATH = Path(__file__).with_name("char_fold_unicode14.npy")
MAX_FOLDED = 4
MAX_MARKS = 32
CLASS_SHIFT = 21
POINT_MASK = (1 << CLASS_SHIFT) - 1
_NONE = -1

HANGUL_FIRST, HANGUL_END = 0xAC00, 0xD7A4
HANGUL_L, HANGUL_V, HANGUL_T = 0x1100, 0x1161, 0x11A7
HANGUL_VOWELS, HANGUL_TAILS = 21, 28
"""Unicode, section 3.12: a syllable is (leading * 21 + vowel) * 28 + tail."""


@functools.lru_cache(maxsize=1)
def fold_table() -> npt.NDArray[np.int32]:
    """The table that ships with the code, as one array, which kernels hand on at no cost; read-only.

    At a code point's place stands 0 where it stands for itself, else the place, behind those of all code points, of
    how many elements it gives; they follow.
    """
    listed = np.load(FOLD_PATH)
    table = np.zeros(CODE_POINTS + len(listed) * (1 + MAX_FOLDED), np.int32)
    table[listed[:, 0]] = np.arange(CODE_POINTS, len(table), 1 + MAX_FOLDED)
    given = table[CODE_POINTS:].reshape(-1, 1 + MAX_FOLDED)
    given[:, 0] = (listed[:, 1:] != _NONE).sum(axis=1)
    given[:, 1:] = listed[:, 1:]
    table.flags.writeable = False
    return table


def build_fold() -> npt.NDArray[np.int32]:
    """The table, made anew from the running Python's `unicodedata`."""
    rows: list[list[int]] = []
    for point in range(CODE_POINTS):
        if HANGUL_FIRST <= point < HANGUL_END:
            continue
        elements = _elements(chr(point))
        if elements != [point]:
            rows.append([point, *elements, *[_NONE] * (MAX_FOLDED - len(elements))])
    return np.array(rows, np.int32)


def _elements(char: str) -> list[int]:
    if unicodedata.category(char) == "Cf":
        return []
    found: list[int] = []
    for part in unicodedata.normalize("NFD", char):
        # A mark folds to one code point (U+0345 to a letter, which keeps the mark's place); letters fold to no marks.
        for number, folded in enumerate(part.casefold()):
            found.append(ord(folded) | (unicodedata.combining(part) if number == 0 else 0) << CLASS_SHIFT)
    return found

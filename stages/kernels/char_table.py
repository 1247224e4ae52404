"""Character classes by code point, from a table that ships with the code.

The classes must not change with the Python that runs a recipe, whose `str.isalpha` follows its own Unicode
version. `char_ranges_unicode14.npy` holds int32 rows (first code point, flags), ascending, each valid up to the next
row; it was made by `build_ranges` under Unicode 14.0.0, and a new one gets a new name and raises the `version` of every
stage that uses it.
"""

import functools
import unicodedata
from pathlib import Path

import numpy as np
import numpy.typing as npt

UNICODE_VERSION = "14.0.0"
RANGES_PATH = Path(__file__).with_name("char_ranges_unicode14.npy")
CODE_POINTS = 0x110000

SPACE = 1
"""`str.isspace`, and U+FFFC, which stands for a medium."""
ALPHA = 2
"""`str.isalpha`."""
WORD = 4
"""Part of words besides letters: what is `str.isalnum` but no letter, and the underscore."""
ATTACHED = 8
"""Belongs to the character before it: marks (Mn, Mc, Me) and format characters (Cf)."""
SOLO = 16
"""A letter of a script that is written without spaces: a word by itself."""
BREAK = 32
"""Ends a line for `str.splitlines`."""
UPPER = 64
"""`str.isupper`."""
LATIN = 128
"""A letter of the Latin script."""

_MEDIUM = 0xFFFC
_SOLO_BLOCKS = (
    (0x0E00, 0x0F00),  # Thai, Lao
    (0x1000, 0x10A0),  # Myanmar
    (0x1780, 0x1800),  # Khmer
    (0x1950, 0x19E0),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AB0),  # Tai Tham
    (0x3005, 0x3008),  # ideographic iteration mark, closing mark, zero
    (0x3031, 0x3036),  # kana repeat marks
    (0x3041, 0x3130),  # Hiragana, Katakana, Bopomofo
    (0x31A0, 0x3200),  # Bopomofo extended, CJK strokes, Katakana extensions
    (0x3400, 0x4DC0),  # CJK extension A
    (0x4E00, 0xA4D0),  # CJK unified ideographs, Yi
    (0xA9E0, 0xAA00),  # Myanmar extended B
    (0xAA60, 0xAA80),  # Myanmar extended A
    (0xF900, 0xFB00),  # CJK compatibility ideographs
    (0xFF66, 0xFFA0),  # halfwidth Katakana
    (0x1AFF0, 0x1B170),  # Kana extended and supplement
    (0x20000, 0x32400),  # CJK extensions B and on
)


@functools.lru_cache(maxsize=1)
def char_flags() -> npt.NDArray[np.uint8]:
    """Flags of each code point, uint8 (CODE_POINTS), read-only."""
    ranges = np.load(RANGES_PATH)
    first = np.append(ranges[:, 0], CODE_POINTS)
    flags = np.repeat(ranges[:, 1].astype(np.uint8), np.diff(first))
    flags.flags.writeable = False
    return flags


def build_ranges() -> npt.NDArray[np.int32]:
    """The table, made anew from the running Python's `unicodedata`."""
    flags = np.array([_flags_of(point) for point in range(CODE_POINTS)], dtype=np.int32)
    starts = np.flatnonzero(np.diff(flags, prepend=-1))
    return np.stack([starts.astype(np.int32), flags[starts]], axis=1)


def _flags_of(point: int) -> int:
    char = chr(point)
    category = unicodedata.category(char)
    attached = category in ("Mn", "Mc", "Me", "Cf")
    solo = char.isalpha() and any(first <= point < end for first, end in _SOLO_BLOCKS)
    latin = char.isalpha() and unicodedata.name(char, "").startswith(("LATIN ", "FULLWIDTH LATIN "))
    return (
        SPACE * (char.isspace() or point == _MEDIUM)
        | ALPHA * char.isalpha()
        | WORD * ((char.isalnum() and not char.isalpha()) or char == "_")
        | ATTACHED * attached
        | SOLO * solo
        | BREAK * (len(f"{char}x".splitlines()) > 1)
        | UPPER * char.isupper()
        | LATIN * latin
    )

"""Which characters end a sentence, close a quotation, separate links: small tables by code point.

TERMINAL are the sentence ends that datatrove 0.10 has for FineWeb (TERMINAL_PUNCTUATION: those of spaCy's `sentencizer`
and 31 more): full stops, question and exclamation marks of some 60 scripts, among them Chinese, Arabic, Devanagari.
"""

import functools
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

CODE_POINTS = 0x110000

TERMINAL = 1
CLOSER = 2
"""Closes a quotation or a bracket: goes with the sentence before it."""
QUOTE = 4
"""A closing quotation mark: ends a line as well as a full stop does (Raffel et al. 2020, section 2.2)."""
SEPARATOR = 8
"""Stands between links on a line."""

_TERMINAL_RANGES = """
    21 2E 3F 589 61D-61F 6D4 700-702 7F9 837 839 83D-83E 964-965 104A-104B 1362 1367-1368 166E 1735-1736
    17D4-17D6 17D9-17DA 1803 1809 1944-1945 1AA8-1AAB 1B5A-1B5B 1B5E-1B5F 1B7D-1B7E 1C3B-1C3C 1C7E-1C7F
    203C-203D 2047-2049 2E2E 2E3C 2E53-2E54 3002 A4FF A60E-A60F A6F3 A6F7 A876-A877 A8CE-A8CF A92F A9C8-A9C9
    AA5D-AA5F AAF0-AAF1 ABEB FE52 FE56-FE57 FF01 FF0E FF1F FF61 10A56-10A57 10F55-10F59 10F86-10F89
    11047-11048 110BE-110C1 11141-11143 111C5-111C6 111CD 111DE-111DF 11238-11239 1123B-1123C 112A9
    1144B-1144C 115C2-115C3 115C9-115D7 11641-11642 1173C-1173E 11944 11946 11A42-11A43 11A9B-11A9C
    11C41-11C42 11EF7-11EF8 11F43-11F44 16A6E-16A6F 16AF5 16B37-16B38 16B44 16E98 1BC9F 1DA88
"""
"""Code points in hexadecimal."""

_CLOSING_QUOTES = "\"'\u2019\u201d\u00bb\u203a\u300d\u300f\uff02\uff07"
_CLOSING_BRACKETS = ")]}\uff09\u3015\u3011\u300b\u3009"
_SEPARATORS = "|>/\u00b7\u00bb\u203a\u2022\u2192\u25b6\u25b8\uff5c\u2219\u22c5\u30fb\u00ab\u2039\u2190"


def terminal_points() -> tuple[int, ...]:
    """The code points of TERMINAL, ascending."""
    found: list[int] = []
    for item in _TERMINAL_RANGES.split():
        first, _, last = item.partition("-")
        found += range(int(first, 16), int(last or first, 16) + 1)
    return tuple(found)


@functools.lru_cache(maxsize=8)
def end_classes(stop_chars: str | None = None) -> npt.NDArray[np.uint8]:
    """Classes of each code point, uint8 (CODE_POINTS), read-only; `stop_chars` takes the place of TERMINAL."""
    classes = np.zeros(CODE_POINTS, dtype=np.uint8)
    _mark(classes, terminal_points() if stop_chars is None else map(ord, stop_chars), TERMINAL)
    _mark(classes, map(ord, _CLOSING_QUOTES + _CLOSING_BRACKETS), CLOSER)
    _mark(classes, map(ord, _CLOSING_QUOTES), QUOTE)
    _mark(classes, map(ord, _SEPARATORS), SEPARATOR)
    classes.flags.writeable = False
    return classes


def _mark(classes: npt.NDArray[np.uint8], points: Iterable[int], flag: int) -> None:
    classes[list(points)] |= flag

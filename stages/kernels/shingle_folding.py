"""Folding of characters in kernels: `shingle_fold` says what the form is, and holds the table.

A character goes in by `fold_char`, code points come out in `Folding.points`; marks come out when what follows them is
known, or at `end_marks`. The twin is in `shingle_plain`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.jit import helper, inner
from gristmill.stages.kernels.shingle_fold import (
    CLASS_SHIFT,
    HANGUL_END,
    HANGUL_FIRST,
    HANGUL_L,
    HANGUL_T,
    HANGUL_TAILS,
    HANGUL_V,
    HANGUL_VOWELS,
    MAX_FOLDED,
    MAX_MARKS,
    POINT_MASK,
    FoldTable,
)

MAX_POINTS = MAX_MARKS + MAX_FOLDED
"""Code points that come out at once at most."""

# numba makes uint8 an unsigned integer under `int`, and an unsigned with a signed one a float.
_signed = cast(Callable[[Any], int], np.int64)


class Folding(NamedTuple):
    """`marks` that wait, by their class; `waiting` (1): how many; `points`: what came out."""

    marks: npt.NDArray[np.int64]
    waiting: npt.NDArray[np.int64]
    points: npt.NDArray[np.int64]


_NUMBERS = types.Array(types.int64, 1, "C")
FOLDING = types.NamedUniTuple(_NUMBERS, 3, Folding)
FOLD = types.NamedTuple(
    (
        types.Array(types.uint16, 1, "C", readonly=True),
        types.Array(types.uint8, 1, "C", readonly=True),
        types.Array(types.int32, 2, "C", readonly=True),
    ),
    FoldTable,
)


def new_folding() -> Folding:
    """A folding, for one text after another."""
    return Folding(np.zeros(MAX_MARKS, np.int64), np.zeros(1, np.int64), np.zeros(MAX_POINTS, np.int64))


@inner
def begin_folding(folding: Any) -> None:
    """Before the first character of a text."""
    folding.waiting[0] = 0


@inner
def is_left_out(point: int, fold: Any) -> bool:
    """Whether a character is none of the form's."""
    row = _signed(fold.row_of[point])
    return row > 0 and fold.sizes[row] == 0


@inner
def _put_mark(folding: Any, element: int) -> None:
    """A mark behind the others of its class, before those of a higher one."""
    at = folding.waiting[0]
    while at > 0 and folding.marks[at - 1] >> CLASS_SHIFT > element >> CLASS_SHIFT:
        folding.marks[at] = folding.marks[at - 1]
        at -= 1
    folding.marks[at] = element
    folding.waiting[0] += 1


@inner
def _end_marks(folding: Any, count: int) -> int:
    for i in range(folding.waiting[0]):
        folding.points[count + i] = folding.marks[i] & POINT_MASK
    count += folding.waiting[0]
    folding.waiting[0] = 0
    return count


@helper
def _part_syllable(syllable: int, points: Any, count: int) -> int:
    points[count] = HANGUL_L + syllable // (HANGUL_VOWELS * HANGUL_TAILS)
    points[count + 1] = HANGUL_V + syllable // HANGUL_TAILS % HANGUL_VOWELS
    points[count + 2] = HANGUL_T + syllable % HANGUL_TAILS
    return count + (3 if syllable % HANGUL_TAILS else 2)


@helper
def fold_char(point: int, fold: Any, folding: Any) -> int:
    """Takes a character; how many code points of the form came out in `folding.points`."""
    if HANGUL_FIRST <= point < HANGUL_END:
        return _part_syllable(point - HANGUL_FIRST, folding.points, _end_marks(folding, 0))
    row = _signed(fold.row_of[point])
    if row == 0:
        count = _end_marks(folding, 0)
        folding.points[count] = point
        return count + 1
    count = 0
    for i in range(_signed(fold.sizes[row])):
        element = _signed(fold.elements[row, i])
        if element >> CLASS_SHIFT == 0 or folding.waiting[0] == MAX_MARKS:
            count = _end_marks(folding, count)
        if element >> CLASS_SHIFT == 0:
            folding.points[count] = element
            count += 1
        else:
            _put_mark(folding, element)
    return count


@helper
def end_marks(folding: Any) -> int:
    """At the end of a text: how many marks came out in `folding.points`."""
    return _end_marks(folding, 0)

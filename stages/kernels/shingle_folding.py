"""Folding of characters in kernels: `shingle_fold` says what the form is, and holds the table.

A character goes in by `fold_char`, code points come out in the cursor from POINTS on; marks come out when what follows
them is known, or at `end_marks`. The cursor is one array of int64, of which the first CURSOR_STATE places are its
user's: numba counts each array that a loop takes out of a tuple, which took longer than the folding.
The twin is in `shingle_plain`.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from gristmill.stages.kernels.jit import inner
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
)

MAX_POINTS = MAX_MARKS + MAX_FOLDED
"""Code points that come out at once at most."""

CURSOR_STATE = 4
WAITING = CURSOR_STATE
_MARKS = WAITING + 1
POINTS = _MARKS + MAX_MARKS
CURSOR_PLACES = POINTS + MAX_POINTS

# numba makes uint8 an unsigned integer under `int`, and an unsigned with a signed one a float.
_signed = cast(Callable[[Any], int], np.int64)


@inner
def is_left_out(point: int, fold: Any) -> bool:
    """Whether a character is none of the form's."""
    row = _signed(fold[point])
    return row > 0 and fold[row] == 0


@inner
def stands_for_itself(point: int, fold: Any) -> bool:
    """Whether a character has no other form, and no mark before it is concerned."""
    return fold[point] == 0 and not HANGUL_FIRST <= point < HANGUL_END


@inner
def _put_mark(cursor: Any, element: int) -> None:
    """A mark behind the others of its class, before those of a higher one."""
    at = _MARKS + cursor[WAITING]
    while at > _MARKS and cursor[at - 1] >> CLASS_SHIFT > element >> CLASS_SHIFT:
        cursor[at] = cursor[at - 1]
        at -= 1
    cursor[at] = element
    cursor[WAITING] += 1


@inner
def _end_marks(cursor: Any, count: int) -> int:
    for i in range(cursor[WAITING]):
        cursor[POINTS + count + i] = cursor[_MARKS + i] & POINT_MASK
    count += cursor[WAITING]
    cursor[WAITING] = 0
    return count


@inner
def _part_syllable(syllable: int, cursor: Any, count: int) -> int:
    at = POINTS + count
    cursor[at] = HANGUL_L + syllable // (HANGUL_VOWELS * HANGUL_TAILS)
    cursor[at + 1] = HANGUL_V + syllable // HANGUL_TAILS % HANGUL_VOWELS
    cursor[at + 2] = HANGUL_T + syllable % HANGUL_TAILS
    return count + (3 if syllable % HANGUL_TAILS else 2)


@inner
def fold_char(point: int, fold: Any, cursor: Any) -> int:
    """Takes a character; how many code points of the form came out."""
    if HANGUL_FIRST <= point < HANGUL_END:
        return _part_syllable(point - HANGUL_FIRST, cursor, _end_marks(cursor, 0))
    row = _signed(fold[point])
    if row == 0:
        count = _end_marks(cursor, 0)
        cursor[POINTS + count] = point
        return count + 1
    count = 0
    for i in range(row + 1, row + 1 + _signed(fold[row])):
        element = _signed(fold[i])
        if element >> CLASS_SHIFT == 0 or cursor[WAITING] == MAX_MARKS:
            count = _end_marks(cursor, count)
        if element >> CLASS_SHIFT == 0:
            cursor[POINTS + count] = element
            count += 1
        else:
            _put_mark(cursor, element)
    return count


@inner
def end_marks(cursor: Any) -> int:
    """At the end of a text: how many marks came out."""
    return _end_marks(cursor, 0)

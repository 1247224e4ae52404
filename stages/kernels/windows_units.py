"""Units: the words of a text, each with the marks that stand at it, one after the other.

A unit is a word (a run or solo of `words`) with the symbols that follow it without white space, and with those that
stand before it behind white space or at the begin of the text: `He said: "No."` has `He`, `said:` and `"No."`, `x - y`
has `x` and `-y`. Symbols behind which no word comes belong to no unit, nor do marks that follow white space. Nothing
but white space is between units; U+FFFC, which stands for a medium, parts the text: no run of units goes over one.

The value of a unit is a hash of its tokens under a key of 64 bits; it finds candidates and decides nothing.
`windows_units_plain` is the twin.
"""

from typing import Any

import numpy as np

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.jit import helper, inner
from gristmill.stages.kernels.segments_intern import WORD_BYTES, word_at
from gristmill.stages.kernels.winnow import mixed
from gristmill.stages.kernels.words import NOTHING, SYMBOL, next_token

KIND, AT, BEHIND, GOES_ON, MARKS = range(5)
"""Fields of the state: the token that was read last, which belongs to the next unit; whether an apostrophe behind it
begins a run; its marks."""
STATE_FIELDS = 5
PARTED, JOINED = 1, 2
"""Marks: a medium stands before it; an apostrophe with which a run begins stands first in it."""
MEDIUM = (0xEF, 0xBF, 0xBC)


@inner
def is_medium(data: Bytes, at: int, end: int) -> bool:
    """Whether U+FFFC stands there."""
    return at + 3 <= end and data[at] == MEDIUM[0] and data[at + 1] == MEDIUM[1] and data[at + 2] == MEDIUM[2]


@helper
def _holds_medium(data: Bytes, at: int, end: int) -> bool:
    while at + 3 <= end:
        if is_medium(data, at, end):
            return True
        at += 1
    return False


@inner
def _read(data: Bytes, at: int, end: int, flags: Bytes, joined: bool, state: Any) -> None:
    kind, first, behind, _, _, _, goes_on = next_token(data, at, end, flags, joined)
    state[KIND], state[AT], state[BEHIND], state[GOES_ON] = kind, first, behind, goes_on
    state[MARKS] = JOINED if joined else 0
    if first - at >= len(MEDIUM) and _holds_medium(data, at, first):
        state[MARKS] |= PARTED


@inner
def begin(data: Bytes, at: int, end: int, flags: Bytes, joined: bool, state: Any) -> None:
    """Set the state for the units of `data[at:end]`; `joined` where the unit at `at` is marked so."""
    _read(data, at, end, flags, joined, state)


@inner
def _added(data: Bytes, at: int, end: int, value: Any) -> Any:
    """The value with the token `data[at:end]` added."""
    value ^= np.uint64(end - at)
    for i in range(at, end, WORD_BYTES):
        value = mixed(value ^ word_at(data, i, end - i))
    return value


@inner
def next_unit(data: Bytes, end: int, flags: Bytes, key: Any, state: Any) -> tuple[int, int, Any, int]:
    """The next unit: start, stop, value, marks; start is -1 behind the last."""
    start, stop, value, marks, has_word = -1, -1, key, 0, False
    while state[KIND] != NOTHING:
        at, behind, is_word = state[AT], state[BEHIND], state[KIND] != SYMBOL
        if has_word and (is_word or at > stop):
            return start, stop, value, marks
        if state[MARKS] & PARTED:
            start, value, marks = -1, key, PARTED
        if start < 0:
            start, marks = at, marks | state[MARKS]
        value = _added(data, at, behind, value)
        stop, has_word = behind, has_word or is_word
        _read(data, behind, end, flags, state[GOES_ON] != 0, state)
    return (start if has_word else -1), stop, value, marks

"""Sentences within a line (or a text), by a rule that fits on a screen and knows few abbreviations.

A sentence ends behind a TERMINAL of `lines_chars` and the closing marks that follow it at once, and the next one begins
there; it must hold a letter or digit, so that what has none belongs to the sentence before. A terminal above ASCII (。
！ ؟ ।) ends one wherever it stands; `.`, `!`, `?` only before white space, closing marks or the end, and `.`
between a small letter and a capital, too ("end.Next"). A full stop ends none
* as part of an ellipsis ("...");
* behind a capital that stands alone ("J. S. Bach", "the U.S. economy");
* behind one of ABBREVIATIONS.
spaCy's sentencizer, which datatrove uses, decides likewise but for more abbreviations.
"""

from typing import Any

from gristmill.stages.kernels.char_table import ALPHA, SPACE, UPPER, WORD
from gristmill.stages.kernels.jit import helper
from gristmill.stages.kernels.lines import last_point, point_at, signed
from gristmill.stages.kernels.lines_chars import CLOSER, TERMINAL

ABBREVIATIONS = ("mr", "mrs", "ms", "dr", "prof", "st", "vs", "eg", "ie", "e.g", "i.e", "fig", "eq", "cf")
MAX_ABBREVIATION_BYTES = 4
_KEYS = tuple(int.from_bytes(word.encode(), "little") for word in ABBREVIATIONS)
_STOP = 0x2E


@helper
def next_sentence(data: Any, at: int, end: int, flags: Any, ends: Any) -> int:
    """Where the sentence after the one at `at` begins; `end` when there is none."""
    start, mark, pending = at, at, False
    while at < end:
        byte = signed(data[at])
        point, behind = byte, at + 1
        if byte >= 0x80:
            point, behind = point_at(data, at, end)
        if signed(flags[point]) & (ALPHA | WORD):
            if pending:
                return mark
        else:
            kind = signed(ends[point])
            if kind & TERMINAL and _ends_sentence(data, start, at, behind, end, point, flags, ends):
                pending, mark = True, behind
            elif pending and kind & CLOSER and mark == at:
                mark = behind
        at = behind
    return end


@helper
def count_sentences(data: Any, start: int, end: int, flags: Any, ends: Any) -> int:
    """Sentences in a range; one at least where it holds anything."""
    sentences = 0
    while start < end:
        start = next_sentence(data, start, end, flags, ends)
        sentences += 1
    return sentences


@helper
def _ends_sentence(data: Any, start: int, at: int, behind: int, end: int, point: int, flags: Any, ends: Any) -> bool:
    if point >= 0x80:
        return True
    following, after = 0x20, 0x20
    if behind < end:
        following, _ = point_at(data, behind, end)
        after = signed(flags[following])
    if behind < end and not after & SPACE and not signed(ends[following]) & (CLOSER | TERMINAL):
        if point != _STOP or not after & UPPER:
            return False
        before, _ = last_point(data, start, at, flags)
        return before >= 0 and signed(flags[before]) & (ALPHA | UPPER) == ALPHA
    if point != _STOP:
        return True
    if following == _STOP or (at > start and data[at - 1] == _STOP):
        return False
    return not _abbreviates(data, start, at, flags)


@helper
def _abbreviates(data: Any, start: int, at: int, flags: Any) -> bool:
    """Whether what stands before `at` is a capital alone, or an abbreviation."""
    before, place = last_point(data, start, at, flags)
    if before < 0 or not signed(flags[before]) & ALPHA:
        return False
    if signed(flags[before]) & UPPER:
        earlier, _ = last_point(data, start, place, flags)
        return earlier < 0 or not signed(flags[earlier]) & ALPHA
    first = at
    while first > start and at - first <= MAX_ABBREVIATION_BYTES and _is_letter_or_stop(signed(data[first - 1])):
        first -= 1
    key = 0
    if at - first <= MAX_ABBREVIATION_BYTES:
        for i in range(first, at):
            byte = signed(data[i])
            key |= (byte + 32 if 65 <= byte <= 90 else byte) << (8 * (i - first))
    return key in _KEYS


@helper
def _is_letter_or_stop(byte: int) -> bool:
    return 65 <= byte <= 90 or 97 <= byte <= 122 or byte >= 0x80 or byte == _STOP

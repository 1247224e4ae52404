"""Tokens of a line as `page_lines` counts them: junk of optical character recognition, single letters, broken words."""

import numpy as np
import numpy.typing as npt

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.jit import helper
from gristmill.stages.kernels.line_keys import signed

_SPACE, _VOWEL, _CONSONANT, _UPPER_VOWEL, _UPPER, _DIGIT, _BREAKER, _SYMBOL, _OTHER = range(9)

MAX_SAME = 3
MAX_CONSONANTS = 6
MIN_VOWELLESS = 5
BREAKERS = b"~|!;"

_TOKENS, _JUNK, _SINGLES, _HYPHENS = 1, 2, 3, 4


def _class_of(byte: int) -> int:
    char = chr(byte)
    if byte >= 0x80:
        return _OTHER
    if byte <= 0x20:
        return _SPACE
    if char.isdigit():
        return _DIGIT
    if char.isalpha():
        vowel = char.lower() in "aeiouy"
        return (_VOWEL if vowel else _CONSONANT) if char.islower() else (_UPPER_VOWEL if vowel else _UPPER)
    return _BREAKER if byte in BREAKERS else _SYMBOL


CLASSES: npt.NDArray[np.uint8] = np.array([_class_of(byte) for byte in range(256)], np.uint8)
"""Class of each byte."""
CLASSES.flags.writeable = False


@helper
def _is_letter(kind: int) -> bool:
    return _VOWEL <= kind <= _UPPER


@helper
def _is_small(kind: int) -> bool:
    return kind in (_VOWEL, _CONSONANT)


@helper
def _is_junk(data: Bytes, first: int, last: int) -> bool:
    """Whether ASCII `data[first:last]`, which begins and ends with a letter or digit, is junk."""
    letters, digits, vowels, capitals = 0, 0, 0, 0
    same, consonants = 1, 0
    for at in range(first, last):
        kind = CLASSES[signed(data[at])]
        if _is_letter(kind):
            letters += 1
            vowels += kind in (_VOWEL, _UPPER_VOWEL)
            capitals += at > first and kind >= _UPPER_VOWEL
            same = same + 1 if at > first and data[at] == data[at - 1] else 1
            consonants = consonants + 1 if kind == _CONSONANT else 0
            if same > MAX_SAME or consonants > MAX_CONSONANTS:
                return True
            continue
        same, consonants = 1, 0
        digits += kind == _DIGIT
        if first < at < last - 1:
            before, after = CLASSES[signed(data[at - 1])], CLASSES[signed(data[at + 1])]
            if kind == _DIGIT and _is_small(before) and _is_small(after):
                return True
            if kind == _BREAKER and _is_letter(before) and _is_letter(after):
                return True
    if 2 * (letters + digits) < last - first:
        return True
    return letters == last - first and letters >= MIN_VOWELLESS and vowels == 0 and capitals == 0


@helper
def count_tokens(data: Bytes, start: int, end: int, counts: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Count what stands in one line (neither blank at its ends); its junk tokens and its tokens."""
    junk, tokens = 0, 0
    at = start
    while at < end:
        if CLASSES[signed(data[at])] == _SPACE:
            at += 1
            continue
        first, last, letters, other = -1, -1, 0, 0
        while at < end and CLASSES[signed(data[at])] != _SPACE:
            kind = CLASSES[signed(data[at])]
            if _VOWEL <= kind <= _DIGIT:
                first = at if first < 0 else first
                last = at + 1
                letters += kind != _DIGIT
            other += kind == _OTHER
            at += 1
        tokens += 1
        if other == 0 and first >= 0:
            counts[_SINGLES] += letters == 1 and last - first == 1
            junk += _is_junk(data, first, last)
    counts[_TOKENS] += tokens
    counts[_JUNK] += junk
    counts[_HYPHENS] += data[end - 1] == 0x2D and end - start > 1 and _is_letter(CLASSES[signed(data[end - 2])])
    return junk, tokens

"""Words, symbols and lines of documents, counted in one pass over Arrow's bytes.

Segmentation (our own; the twin in `words_plain` is its oracle). Classes of characters are those of
`char_table`. A document is a sequence of tokens, which are words and symbols:

* a *run* is a maximal sequence of letters, digits and underscores; it goes over a comma between digits and
  over a full stop before a letter or digit, but for one between a letter that is not a capital and a capital
  ("end.Next" is two words, "e.g", "3.14", "os.path" are one); an apostrophe (' U+2019) between letters begins a
  new run ("don" "'t", "l" "'eau");
* a *solo* is one letter of a script without spaces (Han, kana, Thai, Lao, Khmer, Myanmar, Yi, ...): a word by
  itself, so that such text is not short for want of spaces;
* a *symbol* is any other character that is not white space; a sequence of one repeated symbol is one token,
  except that each `#` is one;
* marks and format characters belong to what they follow: they lengthen a run and are else passed over.

Lines end as for `str.splitlines`; a line's first and last character are found without white space. Bytes
that are not UTF-8 count as symbols and are never read past their document.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.char_table import (
    ALPHA,
    ATTACHED,
    BREAK,
    LATIN,
    SOLO,
    SPACE,
    UPPER,
    WORD,
    char_flags,
)
from gristmill.stages.kernels.jit import BITS_OUT, BYTES, COUNTS_OUT, KEYS, OFFSETS, SMALL, helper, kernel
from gristmill.stages.kernels.stop_table import HASH_FACTOR, HASH_SHIFT, MAX_WORD_BYTES, SLOTS, StopTable

COUNTS = (
    "chars",
    "runs",
    "run_chars",
    "solos",
    "symbols",
    "alpha_runs",
    "hashes",
    "ellipses",
    "lines",
    "bullet_lines",
    "ellipsis_lines",
    "letters",
    "latin_letters",
)
"""Columns of the counts: characters; runs, their characters, solos, symbols; runs with a letter; `#`; sequences
of three or more full stops, or of U+2026; lines, those that begin with U+2022 or `-`, those that end with
"..." or U+2026; letters, those of the Latin script."""

(_CHARS, _RUNS, _RUN_CHARS, _SOLOS, _SYMBOLS, _ALPHA_RUNS, _HASHES, _ELLIPSES) = range(8)
(_LINES, _BULLET_LINES, _ELLIPSIS_LINES, _LETTERS, _LATIN) = range(8, 13)

Counts = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]
Keys = npt.NDArray[np.uint64]
Ids = npt.NDArray[np.int16]

# numba makes uint8 an unsigned integer under `int`, and an unsigned with a signed one a float.
_signed = cast(Callable[[Any], int], np.int64)

_NOTHING, _RUN, _SYMBOL, _SOLO = range(4)
_HASH, _APOSTROPHE, _COMMA, _HYPHEN, _STOP, _CR, _LF = 0x23, 0x27, 0x2C, 0x2D, 0x2E, 0x0D, 0x0A
_QUOTE, _BULLET, _ELLIPSIS = 0x2019, 0x2022, 0x2026
_MALFORMED = 0xDC00


@helper
def _decode(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Code point at `at` and the byte behind it; _MALFORMED and one byte where there is no UTF-8."""
    first = _signed(data[at])
    if first < 0x80:
        return first, at + 1
    size = 0
    point = 0
    if 0xC2 <= first < 0xE0:
        size, point = 2, first & 0x1F
    elif 0xE0 <= first < 0xF0:
        size, point = 3, first & 0x0F
    elif 0xF0 <= first < 0xF5:
        size, point = 4, first & 0x07
    if size == 0 or at + size > end:
        return _MALFORMED, at + 1
    for i in range(at + 1, at + size):
        byte = _signed(data[i])
        if byte & 0xC0 != 0x80:
            return _MALFORMED, at + 1
        point = point << 6 | byte & 0x3F
    if point >= 0x110000:
        return _MALFORMED, at + 1
    return point, at + size


@helper
def _joins(point: int, before: int, after: int) -> bool:
    """Whether a run goes on over this character, given the flags of its neighbours."""
    if after & SOLO or not after & (ALPHA | WORD):
        return False
    if point == _STOP:
        return not (after & UPPER and before & ALPHA and not before & UPPER)
    if point == _COMMA:
        return not before & ALPHA and not after & ALPHA
    return before & ALPHA != 0 and after & ALPHA != 0


@helper
def _mark_stop_word(data: Bytes, start: int, end: int, keys: Keys, ids: Ids, bits: Bits) -> None:
    """Set the bit of the stop word that these bytes are, if any; ASCII letters in either case."""
    if end - start > MAX_WORD_BYTES:
        return
    key = np.uint64(0)
    for i in range(start, end):
        byte = np.uint64(data[i])
        if np.uint64(65) <= byte <= np.uint64(90):
            byte += np.uint64(32)
        key |= byte << np.uint64(8 * (i - start))
    slot = _signed(key * np.uint64(HASH_FACTOR) >> np.uint64(HASH_SHIFT))
    while keys[slot] != np.uint64(0):
        if keys[slot] == key:
            bits[ids[slot] >> 6] |= np.uint64(1) << np.uint64(ids[slot] & 63)
            return
        slot = (slot + 1) & (SLOTS - 1)


@helper
def _count_lines(data: Bytes, start: int, end: int, flags: Bytes, counts: Counts) -> None:
    first = -1
    stops, after_space, after_ellipsis, is_open = 0, True, False, False
    at = start
    while at < end:
        point, at = _decode(data, at, end)
        flag = _signed(flags[point])
        if flag & BREAK:
            if point == _CR and at < end and data[at] == _LF:
                at += 1
            _close_line(first, stops >= 3 or after_ellipsis, counts)
            first = -1
            stops, after_space, after_ellipsis, is_open = 0, True, False, False
        elif flag & SPACE:
            after_space = True
            is_open = True
        else:
            if first < 0:
                first = point
            # Full stops on either side of a space are no ellipsis.
            stops = (1 if after_space else stops + 1) if point == _STOP else 0
            after_ellipsis = point == _ELLIPSIS
            after_space = False
            is_open = True
    if is_open:
        _close_line(first, stops >= 3 or after_ellipsis, counts)


@helper
def _close_line(first: int, with_ellipsis: bool, counts: Counts) -> None:
    counts[_LINES] += 1
    counts[_BULLET_LINES] += first in (_BULLET, _HYPHEN)
    counts[_ELLIPSIS_LINES] += with_ellipsis


@helper
def _continues_run(data: Bytes, point: int, flag: int, before: int, behind: int, end: int, flags: Bytes) -> bool:
    """Whether a character that is no letter, digit or underscore goes on with the run before it."""
    if flag & ATTACHED:
        return True
    if point not in (_STOP, _APOSTROPHE, _QUOTE, _COMMA) or behind >= end:
        return False
    following, _ = _decode(data, behind, end)
    return _joins(point, before, _signed(flags[following]))


@helper
def _count_symbol(point: int, repeats: int, counts: Counts) -> None:
    """Count the `repeats`-th of a sequence of one symbol."""
    counts[_SYMBOLS] += repeats == 1 or point == _HASH
    counts[_HASHES] += point == _HASH
    counts[_ELLIPSES] += (point == _STOP and repeats == 3) or (point == _ELLIPSIS and repeats == 1)


@helper
def _count_tokens(
    data: Bytes, start: int, end: int, flags: Bytes, keys: Keys, ids: Ids, counts: Counts, bits: Bits
) -> None:
    state, run_start, run_end, run_alpha = _NOTHING, start, start, False
    before = 0
    symbol = -1
    repeats = 0
    at = start
    while at < end:
        point, behind = _decode(data, at, end)
        flag = _signed(flags[point])
        counts[_CHARS] += 1
        counts[_LETTERS] += flag & ALPHA != 0
        counts[_LATIN] += flag & LATIN != 0
        in_run = flag & (ALPHA | WORD) != 0 and flag & SOLO == 0
        if not in_run and state == _RUN:
            in_run = _continues_run(data, point, flag, before, behind, end, flags)
        if in_run:
            if state == _RUN and point in (_APOSTROPHE, _QUOTE):
                _mark_stop_word(data, run_start, run_end, keys, ids, bits)
                state = _NOTHING
            if state != _RUN:
                state, run_start, run_alpha = _RUN, at, False
                counts[_RUNS] += 1
            run_end = behind
            counts[_RUN_CHARS] += 1
            counts[_ALPHA_RUNS] += flag & ALPHA != 0 and not run_alpha
            run_alpha = run_alpha or flag & ALPHA != 0
            before = before if flag & ATTACHED else flag
        elif flag & ATTACHED == 0:
            if state == _RUN:
                _mark_stop_word(data, run_start, run_end, keys, ids, bits)
            if flag & SPACE:
                state = _NOTHING
            elif flag & SOLO:
                state = _SOLO
                counts[_SOLOS] += 1
            else:
                repeats = repeats + 1 if state == _SYMBOL and point == symbol else 1
                state, symbol = _SYMBOL, point
                _count_symbol(point, repeats, counts)
        at = behind
    if state == _RUN:
        _mark_stop_word(data, run_start, run_end, keys, ids, bits)


@kernel((BYTES, OFFSETS, BYTES, KEYS, SMALL, COUNTS_OUT, BITS_OUT))
def _count_documents(
    data: Bytes, offsets: Offsets, flags: Bytes, keys: Keys, ids: Ids, counts: Counts, bits: Bits
) -> None:
    for row in range(len(offsets) - 1):
        start, end = offsets[row], offsets[row + 1]
        _count_lines(data, start, end, flags, counts[row])
        _count_tokens(data, start, end, flags, keys, ids, counts[row], bits[row])


def count_documents(
    data: Bytes, offsets: Offsets, stop: StopTable
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Counts (n, len(COUNTS)) of each document, and the stop words in it as bits (n, stop.words // 64)."""
    rows = len(offsets) - 1
    counts = np.zeros((rows, len(COUNTS)), dtype=np.int64)
    bits = np.zeros((rows, stop.bit_words), dtype=np.uint64)
    _count_documents(data, offsets, char_flags(), stop.keys, stop.ids, counts, bits)
    return counts, bits

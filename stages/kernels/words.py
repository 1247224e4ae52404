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
from gristmill.stages.kernels.jit import BITS_OUT, BYTES, COUNTS_OUT, KEYS, OFFSETS, SMALL, helper, inner, kernel
from gristmill.stages.kernels.segments_intern import word_at
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

NOTHING, RUN, SOLO_LETTER, SYMBOL = range(4)
HASH, _APOSTROPHE, _COMMA, _HYPHEN, _STOP, _CR, _LF = 0x23, 0x27, 0x2C, 0x2D, 0x2E, 0x0D, 0x0A
_QUOTE, _BULLET, _ELLIPSIS = 0x2019, 0x2022, 0x2026
_MALFORMED = 0xDC00


@inner
def decode(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Code point at `at` and the byte behind it; _MALFORMED and one byte where there is no UTF-8."""
    first = _signed(data[at])
    # Short enough to be compiled into the loops that call it: twice as fast on ASCII.
    if first < 0x80:
        return first, at + 1
    return _decode_wide(data, at, end, first)


@helper
def _decode_wide(data: Bytes, at: int, end: int, first: int) -> tuple[int, int]:
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
    overlong = (size == 3 and point < 0x800) or (size == 4 and point < 0x10000)
    if overlong or 0xD800 <= point < 0xE000 or point >= 0x110000:
        return _MALFORMED, at + 1
    return point, at + size


@inner
def _joins(point: int, before: int, after: int) -> bool:
    """Whether a run goes on over this character, given the flags of its neighbours."""
    if after & SOLO or not after & (ALPHA | WORD):
        return False
    if point == _STOP:
        return not (after & UPPER and before & ALPHA and not before & UPPER)
    if point == _COMMA:
        return not before & ALPHA and not after & ALPHA
    return before & ALPHA != 0 and after & ALPHA != 0


@inner
def _lowered(key: Any) -> Any:
    """Eight bytes with the ASCII letters in lower case, all at once: bit 7 of a sum tells what is above a bound."""
    low = key & np.uint64(0x7F7F7F7F7F7F7F7F)
    from_a = low + np.uint64(0x3F3F3F3F3F3F3F3F)
    above_z = low + np.uint64(0x2525252525252525)
    capital = (from_a ^ above_z) & ~key & np.uint64(0x8080808080808080)
    return key | (capital >> np.uint64(2))


@inner
def _mark_stop_word(data: Bytes, start: int, end: int, keys: Keys, ids: Ids, bits: Bits) -> None:
    """Set the bit of the stop word that these bytes are, if any; ASCII letters in either case."""
    if end - start > MAX_WORD_BYTES:
        return
    key = _lowered(word_at(data, start, end - start))
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
    chars, letters, latin = 0, 0, 0
    at = start
    while at < end:
        point, at = decode(data, at, end)
        flag = _signed(flags[point])
        chars += 1
        letters += flag & ALPHA != 0
        latin += flag & LATIN != 0
        if flag & BREAK:
            if point == _CR and at < end and data[at] == _LF:
                chars += 1
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
    counts[_CHARS], counts[_LETTERS], counts[_LATIN] = chars, letters, latin


@helper
def _close_line(first: int, with_ellipsis: bool, counts: Counts) -> None:
    counts[_LINES] += 1
    counts[_BULLET_LINES] += first in (_BULLET, _HYPHEN)
    counts[_ELLIPSIS_LINES] += with_ellipsis


@inner
def _end_of_run(data: Bytes, first: int, stop: int, end: int, flags: Bytes) -> tuple[int, int, int, bool]:
    """A run whose first character (with flags `first`) ends at `stop`: its end, characters, the flags that occur in
    it, and whether an apostrophe behind it begins a run."""
    before, seen, chars = first, first, 1
    while stop < end:
        point, behind = decode(data, stop, end)
        flag = _signed(flags[point])
        if flag & (ALPHA | WORD) and not flag & SOLO:
            before = flag
        elif flag & ATTACHED == 0:
            if point not in (_STOP, _APOSTROPHE, _QUOTE, _COMMA) or behind >= end:
                break
            following, _ = decode(data, behind, end)
            if not _joins(point, before, _signed(flags[following])):
                break
            if point in (_APOSTROPHE, _QUOTE):
                return stop, chars, seen, True
            before = flag
        seen |= flag
        chars += 1
        stop = behind
    return stop, chars, seen, False


@inner
def _end_of_symbol(data: Bytes, symbol: int, stop: int, end: int, flags: Bytes) -> tuple[int, int, int]:
    """A symbol whose first character ends at `stop`: the end of its repetitions and their marks, characters, how often
    it stands there."""
    chars, repeats = 1, 1
    while stop < end:
        point, behind = decode(data, stop, end)
        again = point == symbol and symbol != HASH
        if not again and _signed(flags[point]) & ATTACHED == 0:
            break
        repeats += again
        chars += 1
        stop = behind
    return stop, chars, repeats


@inner
def next_token(data: Bytes, at: int, end: int, flags: Bytes, joined: bool) -> tuple[int, int, int, int, int, int, bool]:
    """The first token at or behind `at`: kind, start, end, characters, detail, repeats, joined.

    Kind is NOTHING at the end, RUN (detail: the flags of its characters, or-ed), SOLO or SYMBOL (detail: its code
    point; repeats: how often it stands there). `joined` goes into the next call, and is False in the first: whether
    an apostrophe that begins a run follows at once.
    """
    while at < end:
        point, behind = decode(data, at, end)
        flag = _signed(flags[point])
        if joined or (flag & (ALPHA | WORD) and flag & SOLO == 0):
            stop, chars, seen, joined = _end_of_run(data, flag, behind, end, flags)
            return RUN, at, stop, chars, seen, 1, joined
        if flag & (SPACE | ATTACHED) == 0:
            kind = SOLO_LETTER if flag & SOLO else SYMBOL
            stop, chars, repeats = _end_of_symbol(data, -1 if flag & SOLO else point, behind, end, flags)
            return kind, at, stop, chars, point, repeats, False
        at = behind
    return NOTHING, end, end, 0, 0, 0, False


@helper
def _count_tokens(
    data: Bytes, start: int, end: int, flags: Bytes, keys: Keys, ids: Ids, counts: Counts, bits: Bits
) -> None:
    at, joined = start, False
    while True:
        kind, first, at, chars, detail, repeats, joined = next_token(data, at, end, flags, joined)
        if kind == NOTHING:
            return
        if kind == SYMBOL:
            counts[_SYMBOLS] += 1
            counts[_HASHES] += detail == HASH
            counts[_ELLIPSES] += (detail == _STOP and repeats >= 3) or detail == _ELLIPSIS
            continue
        _mark_stop_word(data, first, at, keys, ids, bits)
        if kind == RUN:
            counts[_RUNS] += 1
            counts[_RUN_CHARS] += chars
            counts[_ALPHA_RUNS] += detail & ALPHA != 0
        else:
            counts[_SOLOS] += 1


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

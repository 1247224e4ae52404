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
* a *compound* is one run, or several with the symbols between them that `words_join` does not part; a solo, white space
  and the apostrophe that begins a run part them, too ("foo(bar", "a@b.c" and "https://a.b/c" are one, "path/to" two);
  a run of underscores alone counts as a symbol there;
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
from gristmill.stages.kernels.segments_intern import WORD_BYTES, word_at
from gristmill.stages.kernels.stop_table import HASH_FACTOR, HASH_SHIFT, MAX_WORD_BYTES, SLOTS, StopTable
from gristmill.stages.kernels.words_join import begins_address, separates

COUNTS = (
    "chars",
    "runs",
    "compounds",
    "compound_chars",
    "alpha_compounds",
    "solos",
    "symbols",
    "hashes",
    "ellipses",
    "lines",
    "bullet_lines",
    "ellipsis_lines",
    "letters",
    "latin_letters",
)
"""Columns of the counts: characters; runs; compounds, their characters, those with a letter; solos, symbols; `#`;
sequences of three or more full stops, or of U+2026; lines, those that begin with U+2022 or `-`, those that end with
"..." or U+2026; letters, those of the Latin script."""

(_CHARS, _RUNS, _COMPOUNDS, _COMPOUND_CHARS, _ALPHA_COMPOUNDS, _SOLOS, _SYMBOLS, _HASHES, _ELLIPSES) = range(9)
(_LINES, _BULLET_LINES, _ELLIPSIS_LINES, _LETTERS, _LATIN) = range(9, 14)

Counts = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]
Keys = npt.NDArray[np.uint64]
Ids = npt.NDArray[np.int16]

# numba makes uint8 an unsigned integer under `int`, and an unsigned with a signed one a float.
_signed = cast(Callable[[Any], int], np.int64)

NOTHING, RUN, SOLO_LETTER, SYMBOL = range(4)
HASH, UNDERSCORE, _APOSTROPHE, _COMMA, _HYPHEN, _STOP, _CR, _LF = 0x23, 0x5F, 0x27, 0x2C, 0x2D, 0x2E, 0x0D, 0x0A
_QUOTE, _BULLET, _ELLIPSIS = 0x2019, 0x2022, 0x2026
_ELLIPSIS_BYTES = (0xE2, 0x80, 0xA6)
_MALFORMED = 0xDC00
_MAX_SIZE = 4

# Eight bytes at once: a byte below 0x80 plus 0x80 - X has its top bit where it is X or more.
_ONES = 0x0101010101010101
_SPACES, _TOP_BITS = 0x20 * _ONES, 0x80 * _ONES
_FROM_A, _ABOVE_Z = (0x80 - 0x61) * _ONES, (0x80 - 0x7B) * _ONES
_FROM_CAPITAL_A, _ABOVE_CAPITAL_Z = (0x80 - 0x41) * _ONES, (0x80 - 0x5B) * _ONES


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
    low = key & ~np.uint64(_TOP_BITS)
    capital = ((low + np.uint64(_FROM_CAPITAL_A)) ^ (low + np.uint64(_ABOVE_CAPITAL_Z))) & ~key & np.uint64(_TOP_BITS)
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


@inner
def next_break(data: Bytes, at: int, end: int, flags: Bytes) -> tuple[int, int, int, int, int, int]:
    """The line at `at`: where its end stands, the byte behind that, its characters, those of its end (0 to 2), letters
    and Latin letters."""
    chars, letters, latin = 0, 0, 0
    while at < end:
        word = word_at(data, at, WORD_BYTES)
        # Eight at a time where they are ASCII without control characters: three times as fast.
        if at + WORD_BYTES <= end and _is_printable(word):
            found = _count_ascii_letters(word)
            chars, letters, latin, at = chars + WORD_BYTES, letters + found, latin + found, at + WORD_BYTES
            continue
        here = at
        point, at = decode(data, at, end)
        flag = _signed(flags[point])
        if flag & BREAK:
            if point == _CR and at < end and data[at] == _LF:
                return here, at + 1, chars, 2, letters, latin
            return here, at, chars, 1, letters, latin
        chars += 1
        letters += flag & ALPHA != 0
        latin += flag & LATIN != 0
    return end, end, chars, 0, letters, latin


@inner
def _is_printable(word: Any) -> bool:
    """Whether eight bytes are all from 0x20 to 0x7F (Warren, Hacker's Delight, section 6-1)."""
    return (((word - np.uint64(_SPACES)) | word) & np.uint64(_TOP_BITS)) == np.uint64(0)


@inner
def _count_ascii_letters(word: Any) -> int:
    """Letters in eight bytes below 0x80: bit 7 of a sum tells what is above a bound."""
    low = word | np.uint64(_SPACES)
    found = ((low + np.uint64(_FROM_A)) ^ (low + np.uint64(_ABOVE_Z))) & np.uint64(_TOP_BITS)
    return _signed(((found >> np.uint64(7)) * np.uint64(_ONES)) >> np.uint64(56))


@helper
def strip_end(data: Bytes, start: int, end: int, flags: Bytes) -> tuple[int, int]:
    """Where the white space at the end of a line begins, and how many characters it has."""
    chars = 0
    while end > start:
        at = end - 1
        while at > start and end - at < _MAX_SIZE and data[at] & 0xC0 == 0x80:
            at -= 1
        point, behind = decode(data, at, end)
        if behind != end or _signed(flags[point]) & SPACE == 0:
            return end, chars
        chars += 1
        end = at
    return end, chars


@helper
def _first_point(data: Bytes, at: int, end: int, flags: Bytes) -> int:
    """The first character that is not white space, -1 without one."""
    while at < end:
        point, at = decode(data, at, end)
        if _signed(flags[point]) & SPACE == 0:
            return point
    return -1


@inner
def _ends_in_ellipsis(data: Bytes, start: int, end: int) -> bool:
    if end - start < len(_ELLIPSIS_BYTES):
        return False
    one, two, three = data[end - 3], data[end - 2], data[end - 1]
    return (one == _STOP and two == _STOP and three == _STOP) or (one, two, three) == _ELLIPSIS_BYTES


@helper
def _count_lines(data: Bytes, start: int, end: int, flags: Bytes, counts: Counts) -> None:
    at = start
    while at < end:
        line = at
        stop, at, chars, ends, letters, latin = next_break(data, at, end, flags)
        counts[_CHARS] += chars + ends
        counts[_LETTERS] += letters
        counts[_LATIN] += latin
        counts[_LINES] += 1
        counts[_BULLET_LINES] += _first_point(data, line, stop, flags) in (_BULLET, _HYPHEN)
        stop, _ = strip_end(data, line, stop, flags)
        counts[_ELLIPSIS_LINES] += _ends_in_ellipsis(data, line, stop)


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
def _is_underscores(data: Bytes, at: int, stop: int) -> bool:
    while at < stop and data[at] == UNDERSCORE:
        at += 1
    return at == stop


@inner
def next_token(data: Bytes, at: int, end: int, flags: Bytes, joined: bool) -> tuple[int, int, int, int, int, int, bool]:
    """The first token at or behind `at`: kind, start, end, characters, detail, repeats, joined.

    Kind is NOTHING at the end, RUN (detail: the flags of its characters, or-ed), SOLO or SYMBOL (detail: its code
    point; repeats: how often it stands there), which underscores alone are, too. `joined` goes into the next call, and
    is False in the first: whether an apostrophe that begins a run follows at once.
    """
    while at < end:
        point, behind = decode(data, at, end)
        flag = _signed(flags[point])
        if joined or (flag & (ALPHA | WORD) and flag & SOLO == 0):
            stop, chars, seen, joined = _end_of_run(data, flag, behind, end, flags)
            if point == UNDERSCORE and _is_underscores(data, behind, stop):
                return SYMBOL, at, stop, chars, point, chars, False
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
    # Of the chunk so far, which white space or a solo ends: its runs, the byte behind the last one, the symbols since,
    # their characters, the last one and how often it stands there; whether the open compound has a letter.
    runs, stop, symbols, symbol_chars, symbol, times, lettered, address = 0, start, 0, 0, 0, 0, False, False
    at, joined = start, False
    while True:
        before = at
        kind, first, at, chars, detail, repeats, joined = next_token(data, at, end, flags, joined)
        if first > before or kind == SOLO_LETTER:
            runs, symbols, symbol_chars, address = 0, 0, 0, False
        if kind == NOTHING:
            return
        if kind == SYMBOL:
            symbols, symbol_chars, symbol, times = symbols + 1, symbol_chars + chars, detail, repeats
            counts[_SYMBOLS] += 1
            counts[_HASHES] += detail == HASH
            counts[_ELLIPSES] += (detail == _STOP and repeats >= 3) or detail == _ELLIPSIS
            continue
        _mark_stop_word(data, first, at, keys, ids, bits)
        if kind == SOLO_LETTER:
            counts[_SOLOS] += 1
            continue
        address = address or begins_address(runs, symbols, symbol, times)
        counts[_RUNS] += 1
        counts[_COMPOUND_CHARS] += chars
        goes_on = runs > 0 and symbols > 0
        if goes_on and symbols == 1 and not address:
            goes_on = not separates(symbol, times, data[stop - 1], data[first], flags)
        if goes_on:
            counts[_COMPOUND_CHARS] += symbol_chars
        else:
            counts[_COMPOUNDS] += 1
            lettered = False
        counts[_ALPHA_COMPOUNDS] += detail & ALPHA != 0 and not lettered
        lettered = lettered or detail & ALPHA != 0
        runs, stop, symbols, symbol_chars = runs + 1, at, 0, 0


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

"""Counts over the tokens of `chunks`, as datatrove's filters take them.

A word is a token (none is white space). Stop words are told by case, as a set of the words' texts tells them.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.chunks_affix import signed
from gristmill.stages.kernels.chunks_marks import (
    ALL_PUNCT,
    ENDS_SENTENCE,
    HAS_ALPHA,
    HAS_WORDLIKE,
    TOKENS,
    Tokens,
)
from gristmill.stages.kernels.jit import BYTES, COUNTS_OUT, OFFSETS, helper, kernel

WORD_COUNTS = ("words", "wordlike", "wordlike_chars", "alpha", "stop_bits")
"""Columns: tokens; those that are not punctuation alone, and their characters; those with an alphabetic character;
a bit for each stop word that occurs."""
(_WORDS, _WORDLIKE, _WORDLIKE_CHARS, _ALPHA, _STOP_BITS) = range(len(WORD_COUNTS))

MAX_STOP_WORD_BYTES = 7
_LF, _BLANK = 0x0A, 0x20

Counts = npt.NDArray[np.int64]


class Spans(NamedTuple):
    """Pieces of texts: bytes `[starts[i], ends[i])`, in order, of row `rows[i]`; all int64. White space that parts two
    pieces belongs to the second."""

    starts: Offsets
    ends: Offsets
    rows: Offsets


@helper
def count_chars(data: Any, start: int, end: int) -> int:
    """Characters of valid UTF-8."""
    chars = 0
    for i in range(start, end):
        chars += data[i] & 0xC0 != 0x80
    return chars


@helper
def _stop_bit(data: Any, start: int, size: int, stops: Any) -> int:
    if size > MAX_STOP_WORD_BYTES:
        return 0
    key = signed(0)
    for i in range(size):
        key |= signed(data[start + i]) << (8 * i)
    bits = signed(0)
    for i in range(len(stops)):
        bits |= signed(stops[i] == key) << i
    return bits


@kernel((BYTES, OFFSETS, OFFSETS, TOKENS, OFFSETS, COUNTS_OUT))
def _count_words(data: Any, firsts: Any, rows: Any, tokens: Any, stops: Any, counts: Any) -> None:
    for span in range(len(rows)):
        row = counts[rows[span]]
        for i in range(firsts[span], firsts[span + 1]):
            mark, start, size = tokens.marks[i], tokens.starts[i], tokens.sizes[i]
            row[_WORDS] += 1
            row[_ALPHA] += mark & HAS_ALPHA != 0
            if mark & HAS_WORDLIKE:
                row[_WORDLIKE] += 1
                row[_WORDLIKE_CHARS] += count_chars(data, start, start + size)
            row[_STOP_BITS] |= _stop_bit(data, start, size, stops)


def count_words(
    data: Bytes, spans: Spans, firsts: Offsets, tokens: Tokens, stops: tuple[str, ...], counts: Counts
) -> None:
    """Add to `counts` (int64, (n, len(WORD_COUNTS))) the tokens of spans.

    At most 63 stop words, of at most MAX_STOP_WORD_BYTES bytes each.
    """
    keys = np.array([int.from_bytes(word.encode(), "little") for word in stops], dtype=np.int64)
    keys.flags.writeable = False
    _count_words(data, firsts, spans.rows, tokens, keys, counts)


_BREAKS, _SEEN = 0, 1


@helper
def _line_end(data: Any, start: int, end: int) -> int:
    """The first line feed in `[start, end)`, else `end`."""
    while start < end and data[start] != _LF:
        start += 1
    return start


@helper
def _is_token(data: Any, start: int, end: int) -> bool:
    """Whether white space makes a token: all but a single blank does."""
    return end > start and not (end - start == 1 and data[start] == _BLANK)


@helper
def _pass_space(data: Any, start: int, end: int, row: Any) -> None:
    """White space between two tokens, or at the end of a line."""
    line_end = _line_end(data, start, end)
    if row[_SEEN] != 0 and _is_token(data, start, line_end):
        row[_BREAKS] += 1
        row[_SEEN] = 0
    if line_end < end:
        row[_SEEN] = 0


@helper
def _pass_token(mark: int, row: Any) -> None:
    if mark & ENDS_SENTENCE:
        row[_SEEN] = 1
    elif row[_SEEN] != 0 and not mark & ALL_PUNCT:
        row[_BREAKS] += 1
        row[_SEEN] = 0


@kernel((BYTES, OFFSETS, OFFSETS, OFFSETS, OFFSETS, TOKENS, COUNTS_OUT))
def _count_breaks(data: Any, starts: Any, ends: Any, firsts: Any, rows: Any, tokens: Any, counts: Any) -> None:
    for span in range(len(rows)):
        row = counts[rows[span]]
        at = starts[span]
        for i in range(firsts[span], firsts[span + 1]):
            _pass_space(data, at, tokens.starts[i], row)
            _pass_token(tokens.marks[i], row)
            at = tokens.starts[i] + tokens.sizes[i]
        _pass_space(data, at, ends[span], row)


def count_breaks(data: Bytes, spans: Spans, firsts: Offsets, tokens: Tokens, counts: Counts) -> None:
    """Add to `counts` (int64, (n, 2)) where spaCy's sentencizer begins a sentence inside a line; the second column
    carries over, from a span to the next one of its row, whether a sentence has ended.

    Each line, up to a line feed, is a text by itself, of one sentence more than it has breaks.
    """
    _count_breaks(data, spans.starts, spans.ends, firsts, spans.rows, tokens, counts)

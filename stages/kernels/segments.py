"""What filters ask of a text, made once for a column of texts and shared by the filters of a chain.

All of it rests on the tokens and lines of `kernels.words`. Each function takes the column `text`; what it gives is held
by `stages.shared.derived` and follows the rows that stay, so that a filter simply asks:

| function | gives | extra memory |
|---|---|---|
| `word_counts(text)` | counts of each row and its stop words | 150 bytes a row |
| `repeats(text)` | how many lines and paragraphs, and their characters, stood there before | 60 bytes a row |
| `token_table(text)` | ids of the tokens; made anew at each call, in parts | some 100 MB |

Rows: `rows` (int64, n + 1) says which entries are a row's: `[rows[i], rows[i + 1])`. numba is imported when the first
of these is called.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.stages.kernels.buffers import Bytes, Offsets, text_buffers
from gristmill.stages.kernels.stop_table import StopTable, stop_table
from gristmill.stages.shared import derived

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Ints32 = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

REPEAT_COLUMNS = ("lines", "dup_lines", "dup_line_chars", "paras", "dup_paras", "dup_para_chars")
"""Columns of `Repeats.table`; lines and paragraphs that are blank count nowhere."""

STICKY = "-/@\\^|~"
"""Symbols that stay with the word that they stand beside; in a sequence they are one token, as full stops are."""

SEPARATORS = "-~–—.,:<>=/…"
HYPHENS = "-~–—"
"""Symbols that part two words, alone between them, and those of them that part digits; see `words_join`."""

MAX_SINGLE_SYMBOLS = 3
"""So many equal symbols are as many tokens ("::" is two, ">>>" three); more are a line that is drawn, and one token."""

PART_BYTES = 1 << 23
"""Rows are tokenized in parts of at most so many bytes; a longer row is cut, at white space where it has some."""


@dataclass(frozen=True)
class WordCounts:
    """`counts` (int64, (n, len(words.COUNTS))), `bits` (uint64, (n, stop.bit_words)): stop words that occur."""

    counts: Ints
    bits: npt.NDArray[np.uint64]
    stop: StopTable

    def take(self, kept: Mask) -> Self:
        """The counts of the rows that stay."""
        return type(self)(self.counts[kept], self.bits[kept], self.stop)

    def count(self, name: str) -> Floats:
        """One column of `words.COUNTS`, float64 (n)."""
        from gristmill.stages.kernels.words import COUNTS

        return self.counts[:, COUNTS.index(name)].astype(np.float64)

    def by_name(self) -> dict[str, Floats]:
        """All columns by their names in `words.COUNTS`."""
        from gristmill.stages.kernels.words import COUNTS

        return {name: self.count(name) for name in COUNTS}

    @property
    def words(self) -> Floats:
        """Runs and solos, float64 (n)."""
        return self.count("runs") + self.count("solos")

    def distinct_stop_words(self, words: tuple[str, ...]) -> Floats:
        """How many of these stop words occur, in any case of ASCII letters; float64 (n)."""
        return np.bitwise_count(self.bits & self.stop.mask(words)).sum(axis=1, dtype=np.float64)


@dataclass(frozen=True)
class Repeats:
    """`table` is int64 (n, len(REPEAT_COLUMNS)). A line is its text without the white space around it, a paragraph the
    sequence of its lines, joined by one character; one that stood in its row before is a duplicate."""

    table: Ints

    def take(self, kept: Mask) -> Self:
        """Those of the rows that stay."""
        return type(self)(self.table[kept])

    def count(self, name: str) -> Floats:
        """One of REPEAT_COLUMNS, float64 (n)."""
        return self.table[:, REPEAT_COLUMNS.index(name)].astype(np.float64)


@dataclass(frozen=True)
class Tokens:
    """Tokens of some rows. `ids` (int32): in a row, equal ids are equal texts, 0, 1, ... in order of first occurrence;
    `spaced` (uint8): 1 where white space stands before it. `chars` (int32) are the characters of each id:
    a row's are `[vocabulary[i], vocabulary[i + 1])`, so a token has `chars[vocabulary[i] + ids[t]]`."""

    rows: Ints
    ids: Ints32
    spaced: npt.NDArray[np.uint8]
    vocabulary: Ints
    chars: Ints32


def word_counts(text: pa.Array) -> WordCounts:
    """Counts and stop words (those of all languages that have some)."""
    return derived(text, "word_counts", _word_counts)


def repeats(text: pa.Array) -> Repeats:
    """Duplicate lines and paragraphs."""
    return derived(text, "repeats", _repeats)


def token_table(text: pa.Array) -> Iterator[tuple[Ints, Tokens]]:
    """The tokens in parts: the index of the row that each of the part's rows is, or is a piece of, and the tokens.

    A row of up to PART_BYTES comes in one piece. Nothing is held: only `gopher_repetition` needs them.
    """
    data, offsets = text_buffers(text)
    for rows, starts, ends in _parts(data, offsets):
        yield rows, tokens_of(data, starts, ends)


def tokens_of(data: Bytes, starts: Offsets, ends: Offsets) -> Tokens:
    """The tokens of the rows `data[starts[i]:ends[i]]`, each of less than 2^31 bytes."""
    from gristmill.stages.kernels.segments_tokens import tokenize

    return tokenize(data, starts, ends)


@functools.lru_cache(maxsize=1)
def all_stop_words() -> StopTable:
    """The one table of the stop words of all languages, so that counts are shared whoever asks."""
    from gristmill.stages.text.stop_words import LATIN_SCRIPT, OTHER_SCRIPTS

    return stop_table([word for words in (*LATIN_SCRIPT.values(), *OTHER_SCRIPTS.values()) for word in words])


def _word_counts(text: pa.Array) -> WordCounts:
    from gristmill.stages.kernels.words import count_documents

    stop = all_stop_words()
    return WordCounts(*count_documents(*text_buffers(text), stop), stop)


def _repeats(text: pa.Array) -> Repeats:
    from gristmill.stages.kernels.segments_lines import count_repeats

    return Repeats(count_repeats(*text_buffers(text)))


def _parts(data: Bytes, offsets: Offsets) -> Iterator[tuple[Ints, Offsets, Offsets]]:
    """Rows, starts and ends of parts of at most PART_BYTES, or of one piece of a row."""
    row, last = 0, len(offsets) - 1
    while row < last:
        behind = int(np.searchsorted(offsets, offsets[row] + PART_BYTES, side="right")) - 1
        if behind > row:
            yield np.arange(row, behind), offsets[row:behind], offsets[row + 1 : behind + 1]
            row = behind
            continue
        yield from _pieces(data, row, int(offsets[row]), int(offsets[row + 1]))
        row += 1


def _pieces(data: Bytes, row: int, start: int, end: int) -> Iterator[tuple[Ints, Offsets, Offsets]]:
    while start < end:
        cut = end if end - start <= PART_BYTES else _cut_before(data, start, start + PART_BYTES)
        yield np.array([row]), np.array([start]), np.array([cut])
        start = cut


def _cut_before(data: Bytes, start: int, end: int) -> int:
    """The last place before `end` where ASCII white space ends in the upper half of the piece, else where a character
    begins."""
    middle = (start + end) // 2
    spaces = np.flatnonzero(data[middle:end] <= 0x20)
    if len(spaces):
        return middle + int(spaces[-1]) + 1
    while end > middle and data[end] & 0xC0 == 0x80:
        end -= 1
    return end

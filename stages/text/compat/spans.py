"""The words of a column of texts, part by part, and what all of datatrove's filters ask of them.

A part is some rows together, or a piece of a row that is longer than PART_BYTES; a piece ends before white space, so
that the words are those of the whole text (but for emoticons that a single space parts at that very place).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.stages.kernels.buffers import Bytes, Offsets, text_buffers
from gristmill.stages.kernels.chunks import split_spans
from gristmill.stages.kernels.chunks_counts import WORD_COUNTS, Counts, Spans, count_words
from gristmill.stages.kernels.chunks_marks import Tokens
from gristmill.stages.protocol import Floats
from gristmill.stages.shared import derived
from gristmill.stages.text.compat.spacy_rules import split_tables

PART_BYTES = 1 << 22
"""Some 16 bytes are taken for each byte of a part while it is split."""
STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")
"""Gopher's (Rae et al. 2021, section A.1.1), as datatrove has them."""

_SPACES = np.array([9, 10, 11, 12, 13, 32], dtype=np.uint8)


class Part(NamedTuple):
    """Spans of text, and the tokens `[firsts[i], firsts[i + 1])` of each."""

    spans: Spans
    firsts: Offsets
    tokens: Tokens


@dataclass(frozen=True)
class WordTable:
    """`counts` is int64 (n, len(WORD_COUNTS))."""

    counts: Counts

    def take(self, kept: npt.NDArray[np.bool_]) -> Self:
        """Those of the rows that stay."""
        return type(self)(self.counts[kept])

    def count(self, name: str) -> Floats:
        """One of WORD_COUNTS, float64 (n)."""
        return self.counts[:, WORD_COUNTS.index(name)].astype(np.float64)


def word_table(text: pa.Array) -> WordTable:
    """Counts of the words of each row; shared by the filters of a chain."""
    return derived(text, "compat_words", _word_table)


def offer(text: pa.Array, counts: Counts) -> None:
    """Hold counts that came with other work for the filters that ask `word_table`."""
    derived(text, "compat_words", lambda _: WordTable(counts))


def _word_table(text: pa.Array) -> WordTable:
    data, offsets = text_buffers(text)
    counts = no_counts(len(text))
    for part in parts(data, offsets):
        count_part(data, part, counts)
    return WordTable(counts)


def no_counts(rows: int) -> Counts:
    """Zeros for `count_part` to add to, int64 (rows, len(WORD_COUNTS))."""
    return np.zeros((rows, len(WORD_COUNTS)), dtype=np.int64)


def count_part(data: Bytes, part: Part, counts: Counts) -> None:
    """Add the words of a part."""
    count_words(data, part.spans, part.firsts, part.tokens, STOP_WORDS, counts)


def parts(data: Bytes, offsets: Offsets) -> Iterator[Part]:
    """The words of all rows `data[offsets[i]:offsets[i + 1]]`, in order."""
    for spans in cut(data, offsets):
        tokens, firsts = split_spans(data, spans.starts, spans.ends, split_tables())
        yield Part(spans, firsts, tokens)


def cut(data: Bytes, offsets: Offsets) -> Iterator[Spans]:
    """The spans of each part; those of a part are of one row or are whole rows."""
    row, last = 0, len(offsets) - 1
    while row < last:
        behind = int(np.searchsorted(offsets, offsets[row] + PART_BYTES, side="right")) - 1
        if behind > row:
            yield Spans(offsets[row:behind], offsets[row + 1 : behind + 1], _fixed(np.arange(row, behind)))
            row = behind
            continue
        yield from _pieces(data, row, int(offsets[row]), int(offsets[row + 1]))
        row += 1


def _pieces(data: Bytes, row: int, start: int, end: int) -> Iterator[Spans]:
    while start < end:
        stop = end if end - start <= PART_BYTES else _before_space(data, start, end)
        yield Spans(_fixed(np.array([start])), _fixed(np.array([stop])), _fixed(np.array([row])))
        start = stop


def _before_space(data: Bytes, start: int, end: int) -> int:
    """Before the last line feed in the upper half of the part, else the last ASCII white space, else the next one."""
    middle, stop = start + PART_BYTES // 2, start + PART_BYTES
    for spaces in (_SPACES[1:2], _SPACES):
        found = np.flatnonzero(np.isin(data[middle:stop], spaces))
        if len(found):
            return middle + int(found[-1])
    for at in range(stop, end, PART_BYTES):
        found = np.flatnonzero(np.isin(data[at : min(at + PART_BYTES, end)], _SPACES))
        if len(found):
            return at + int(found[0])
    return end


def _fixed(array: npt.NDArray[np.int64]) -> Offsets:
    array.flags.writeable = False
    return array

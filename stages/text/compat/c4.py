"""datatrove's C4 rules over lines (`C4QualityFilter`), step by step as it takes them, on strings of one line at a time.

In and out as for `kernels.lines_c4.clean`, whose counts these are. A line that stays has its citations cut and nothing
else; sentences are those of spaCy's sentencizer, a line being a text by itself. One deviation: a line with the mark of
a medium (U+FFFC) stays whole, as datatrove has no media and ours must not be lost. Sentences in the place of lines
(`split_paragraph: false`) are not offered.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gristmill.manifests.errors import UsageError
from gristmill.stages.kernels import lines_c4
from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.chunks_counts import count_breaks
from gristmill.stages.kernels.chunks_lines import strip_texts
from gristmill.stages.kernels.lines_c4 import COUNTS, CURLY, LOREM, POLICY_PHRASES, C4Limits
from gristmill.stages.text.compat.spacy_rules import split_tables
from gristmill.stages.text.compat.spans import parts

Ints = npt.NDArray[np.int64]

_CITATION = re.compile(r"\[\d*]|\[edit]|\[citation needed]")
_END_PUNCTUATION = (".", "?", "!", '"', "'")
_ELLIPSIS = "..."
_MEDIUM = "\ufffc"
_DROPS_LOREM, _DROPS_CURLY = -1, -2
_COLUMN = {name: number for number, name in enumerate(COUNTS)}
_SLAB_BYTES = 1 << 20
_WINDOW_CHARS = 1 << 20
"""A longer line is searched for phrases in windows that overlap by more than a phrase has characters."""
_OVERLAP_CHARS = 64


def clean(data: Bytes, offsets: Offsets, limits: C4Limits) -> tuple[Bytes, Offsets, Ints]:
    """The texts of lines that stay, as bytes and offsets, and the counts (int64, (n, len(COUNTS))).

    Raises UsageError for limits that are to hold for sentences in the place of lines.
    """
    if limits.by_sentence:
        where, remedy = "stage c4.split_paragraph", "leave it at true, or use words: fast"
        raise UsageError("words: compat judges lines only", where, False, remedy)
    judge = _Judge(limits)
    counts = np.zeros((len(offsets) - 1, len(COUNTS)), dtype=np.int64)
    out, ends = bytearray(), [0]
    for row in range(len(offsets) - 1):
        _clean_row(data, int(offsets[row]), int(offsets[row + 1]), judge, out, counts[row])
        ends.append(len(out))
    written, written_ends = np.frombuffer(out, dtype=np.uint8), np.array(ends, dtype=np.int64)
    written_ends.flags.writeable = False
    _count_sentences(written, written_ends, counts)
    stripped = strip_texts(written, written_ends, split_tables().flags)
    return written[: stripped[-1]], stripped, counts


def _clean_row(data: Bytes, start: int, end: int, judge: "_Judge", out: bytearray, count: Ints) -> None:
    """Write a row's lines that stay behind `out`, each with a line feed; none where the row goes."""
    first = len(out)
    for line in _lines(data, start, end):
        stripped = line.strip()
        kept, fault = judge.kept(stripped)
        if fault in (_DROPS_LOREM, _DROPS_CURLY):
            count[_COLUMN["dropped_for"]] = LOREM if fault == _DROPS_LOREM else CURLY
            del out[first:]
            return
        if kept is None:
            count[fault] += len(line)
            continue
        count[_COLUMN["kept_lines"]] += 1
        count[_COLUMN["long_lines"]] += len(kept) >= judge.limits.min_paragraph_chars
        count[_COLUMN["citation"]] += len(stripped) - len(kept)
        out += kept.encode("utf-8", "surrogateescape")
        out += b"\n"


def _lines(data: Bytes, start: int, end: int) -> Iterator[str]:
    """The lines of `str.splitlines`, with their ends; some MB at a time."""
    while start < end:
        stop = start + _SLAB_BYTES
        while stop < end:
            feeds = np.flatnonzero(data[max(start, stop - _SLAB_BYTES) : stop] == 0x0A)
            if len(feeds):
                stop = max(start, stop - _SLAB_BYTES) + int(feeds[-1]) + 1
                break
            stop += _SLAB_BYTES
        stop = min(stop, end)
        yield from data[start:stop].tobytes().decode("utf-8", "surrogateescape").splitlines(keepends=True)
        start = stop


@dataclass(frozen=True)
class _Judge:
    limits: C4Limits

    def kept(self, line: str) -> tuple[str | None, int]:
        """What stays of a line; None, and the column of the reason that it is cut for, or one of _DROPS."""
        limits = self.limits
        if _MEDIUM in line:
            return line, 0
        if -1 < limits.max_word_chars < len(line) and _has_long_word(line, limits.max_word_chars):
            return None, _COLUMN["too_long_word"]
        few = limits.min_line_words > 0 and len(line.split(None, limits.min_line_words - 1)) < limits.min_line_words
        if limits.on & lines_c4.CITATIONS and "[" in line:
            line = _CITATION.sub("", line)
        if limits.terminal and (not line.endswith(_END_PUNCTUATION) or line.endswith(_ELLIPSIS)):
            return None, _COLUMN["no_terminal_punc"]
        if few:
            return None, _COLUMN["too_few_words"]
        fault = self._phrase(line)
        return (line, 0) if fault == 0 else (None, fault)

    def _phrase(self, line: str) -> int:
        on = self.limits.on
        if on & LOREM and _holds(line, lambda part: "lorem ipsum" in part):
            return _DROPS_LOREM
        if on & lines_c4.JAVASCRIPT and _holds(line, lambda part: "javascript" in part):
            return _COLUMN["javascript"]
        if on & CURLY and "{" in line:
            return _DROPS_CURLY
        if on & lines_c4.POLICY and _holds(line, lambda part: any(phrase in part for phrase in POLICY_PHRASES)):
            return _COLUMN["policy"]
        return 0


def _has_long_word(line: str, most: int) -> bool:
    return re.search(rf"\S{{{most + 1}}}", line) is not None


def _holds(line: str, holds: Callable[[str], bool]) -> bool:
    """Whether the line, in small letters, holds what `holds` looks for."""
    if len(line) <= _WINDOW_CHARS:
        return holds(line.lower())
    starts = range(0, len(line), _WINDOW_CHARS)
    return any(holds(line[at : at + _WINDOW_CHARS + _OVERLAP_CHARS].lower()) for at in starts)


def _count_sentences(data: Bytes, offsets: Offsets, counts: Ints) -> None:
    found = np.zeros((len(offsets) - 1, 2), dtype=np.int64)
    for part in parts(data, offsets):
        count_breaks(data, part.spans, part.firsts, part.tokens, found)
    counts[:, _COLUMN["sentences"]] = counts[:, _COLUMN["kept_lines"]] + found[:, 0]

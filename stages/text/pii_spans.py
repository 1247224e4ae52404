"""Spans of a text found by several finders, and the text with a replacement for each: what `pii` and `secrets` share.

A finder is a lazy iterator of `Span` in ascending order over UTF-8 bytes; `rewrite` merges finders, so that no list of
matches is ever held, and the memory is that of the text before and after. Of spans that overlap, the one that begins
first counts; of those that begin together, that of the finder that stands first. The marks of media (U+FFFC) that a
span covers stay, behind its replacement.

Removing a span may bring neighbours together that look like another one. So a text is gone over until nothing is
found, at most MAX_ROUNDS times: running a stage twice changes nothing more. Patterns are re2's, which takes linear
time, over bytes as Latin-1: with Unicode classes its automaton grows beyond its memory and falls back to a search that
is 60 times slower (8 MB/s instead of 580 on the standard library's sources). Bytes above 0x7F stand in no class
that could end a match inside a character.
"""

import heapq
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import re2

from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.columns import char_counts, with_column, with_rows
from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.protocol import Floats
from gristmill.stages.text.pii_places import Edit, Places

MAX_ROUNDS = 32

_MEDIUM = MEDIUM_CHAR.encode()

Ints = npt.NDArray[np.int64]


class Span(NamedTuple):
    """Bytes `[start, end)` of a text that become `replacement` (ASCII)."""

    start: int
    end: int
    kind: str
    replacement: bytes


Finder = Callable[[bytes], Iterator[Span]]


class FinderSet:
    """Finders in order of precedence, each with its hint; pure but for the automaton's cache."""

    def __init__(self, hinted: Sequence[tuple[str, Finder]]) -> None:
        self._finders = [finder for _, finder in hinted]
        self._hints = byte_pattern_set(hint for hint, _ in hinted)

    def hinted(self, text: bytes | memoryview) -> list[Finder]:
        """The finders that may find something in this text."""
        if not self._finders:
            return []
        return [self._finders[index] for index in sorted(self._hints.Match(text) or ())]


@dataclass(frozen=True)
class Rewritten:
    """A text with its spans replaced; `counts` by kind; `written` are the characters of the replacements."""

    text: bytes
    counts: Mapping[str, int]
    written: int


@dataclass(frozen=True)
class RewrittenBatch:
    """`batch` with new texts; characters `cut` from and `written` to each row's text; `counts[kind]` by row."""

    batch: pa.RecordBatch
    cut: Ints
    written: Ints
    counts: Mapping[str, Floats]


def byte_pattern(pattern: str) -> Any:
    """A re2 pattern over bytes: each byte is a character, classes and `\\b` are those of ASCII."""
    return re2.compile(pattern.encode("latin-1"), _options())


def byte_pattern_set(patterns: Iterable[str]) -> Any:
    """A set of such patterns; `Match(text)` gives the numbers of those that match somewhere, None for none."""
    found = re2.Set.SearchSet(_options())
    for pattern in patterns:
        found.Add(pattern.encode("latin-1"))
    found.Compile()
    return found


def _options() -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = 64 << 20
    return options


def rewrite(text: bytes, finders: FinderSet, places: Places | None = None) -> Rewritten | None:
    """The text with every span replaced; None if there is none. `places` follow."""
    counts: dict[str, int] = {}
    written, changed = 0, False
    for _ in range(MAX_ROUNDS):
        edits: list[Edit] | None = None if places is None else []
        after, more = _round(text, finders.hinted(text), counts, edits)
        if after is None:
            break
        if places is not None and edits is not None:
            places.moved(text, edits)
        text, written, changed = after, written + more, True
    return Rewritten(text, counts, written) if changed else None


def _round(
    text: bytes, finders: Sequence[Finder], counts: dict[str, int], edits: list[Edit] | None
) -> tuple[bytes | None, int]:
    # Its value is handed out without a copy, unlike a bytearray's.
    out, at, written = io.BytesIO(), 0, 0
    for span in heapq.merge(*(finder(text) for finder in finders), key=lambda found: found.start):
        if span.start < at:
            continue
        out.write(memoryview(text)[at : span.start])
        out.write(span.replacement)
        media = text.count(_MEDIUM, span.start, span.end)
        out.write(_MEDIUM * media)
        new_chars = len(span.replacement) + media
        at, written = span.end, written + new_chars
        counts[span.kind] = counts.get(span.kind, 0) + 1
        if edits is not None:
            edits.append(Edit(span.start, span.end, new_chars))
    if at == 0:
        return None, 0
    out.write(memoryview(text)[at:])
    return out.getvalue(), written


def rewrite_batch(batch: pa.RecordBatch, finders: FinderSet, kinds: Sequence[str]) -> RewrittenBatch:
    """Rewrite the texts in which something is found; `kinds` are all that the finders may give."""
    text = batch.column("text")
    data, offsets = text_buffers(text)
    view, bounds = data.data, offsets.tolist()
    rows = batch.num_rows
    counts = {kind: np.zeros(rows, dtype=np.float64) for kind in kinds}
    written = np.zeros(rows, dtype=np.int64)
    texts, metas = dict[int, bytes](), dict[int, str]()
    for row in range(rows):
        part = view[bounds[row] : bounds[row + 1]]
        if not finders.hinted(part):
            continue
        places = Places.of(batch.column("meta")[row].as_py())
        found = rewrite(bytes(part), finders, places)
        if found is None:
            continue
        texts[row], written[row] = found.text, found.written
        if places is not None:
            metas[row] = places.meta()
        for kind, count in found.counts.items():
            counts[kind][row] = count
    if not texts:
        return RewrittenBatch(batch, np.zeros(rows, dtype=np.int64), written, counts)
    changed = with_rows(text, texts)
    after = with_column(batch, "text", changed)
    if metas:
        meta = batch.column("meta").to_pylist()
        after = with_column(
            after, "meta", pa.array([metas.get(row, was) for row, was in enumerate(meta)], pa.large_string())
        )
    return RewrittenBatch(after, char_counts(text) - char_counts(changed) + written, written, counts)

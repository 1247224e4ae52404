"""Documents as sequences of atoms: the pieces between which records may be planted and documents permuted.

An atom is a stretch of the text that ends in a blank line and is followed by a character that is no white space: such
a join leaves the ids on both sides what they are (reference 4.5: 0 of 3,000 joins differ). White space in front of the
first atom is left out, and the last one ends in two line breaks. No atom ends inside a fenced block of code.

`prepare` proves the joins of each document: its atoms encoded one by one give the ids of its whole text, or the
document is refused (`unsafe_joins`). Positions are characters (Unicode code points) of `Prepared.text`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.errors import InputError
from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.manifests.tokenizer import Tokenizer

Ids = npt.NDArray[np.uint32]

ATOM_CHARS = 900
"""Paragraphs are gathered up to so many characters, some 200 to 300 tokens: 1M tokens have 4,000 places for records."""
LONG_CHARS = 8000
"""A stretch without a blank line is cut at lines that are not indented when it is longer."""

_BLANK = re.compile(r"\n[ \t\r]*\n(?:[ \t\r]*\n)*(?=[ \t]*\S)")
_LINE = re.compile(r"\n(?=\S)")
_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)

REFUSED: Mapping[str, str] = {
    "has_media": "the document holds pictures or video, which planted tasks cannot stand between yet",
    "no_tokens": "nothing but white space",
    "unsafe_joins": "its paragraphs give other ids one by one than together",
    "tokenizer_failed": "the tokenizer crashed, hung or needed too much memory",
}
"""Why a document is no part of sequences."""


@dataclass(frozen=True)
class Source:
    """A document as it comes: `cluster` is its cluster of near duplicates, its own hash where it has none."""

    id: str
    source: str
    domain: str
    license: str
    content_hash: bytes
    cluster: bytes
    text: str


@dataclass(frozen=True)
class Prepared:
    """A document's atoms: `bounds[i]:bounds[i + 1]` of `text` is atom i, of `tokens[i]` ids.

    It is its metadata (all but the text) that plans are made of.
    """

    source: Source
    text: str
    bounds: tuple[int, ...]
    tokens: tuple[int, ...]

    @property
    def total(self) -> int:
        """Its tokens."""
        return sum(self.tokens)

    def atom(self, index: int) -> str:
        """The text of an atom."""
        return self.text[self.bounds[index] : self.bounds[index + 1]]


def whole_text(text: str) -> str:
    """The text as sequences hold it: no white space in front, one blank line behind; "" for white space alone."""
    inner = text.strip()
    return inner + "\n\n" if inner else ""


def cut(text: str) -> tuple[int, ...]:
    """Bounds of the atoms of a `whole_text`; (0,) for an empty one."""
    if not text:
        return (0,)
    fences = [match.start() for match in _FENCE.finditer(text)]
    bounds, inside, at = [0], 0, 0
    for place in _places(text):
        while at < len(fences) and fences[at] < place:
            inside, at = 1 - inside, at + 1
        if not inside and place - bounds[-1] >= ATOM_CHARS:
            bounds.append(place)
    if len(bounds) > 1 and len(text) - bounds[-1] < ATOM_CHARS // 2:
        bounds.pop()
    return (*bounds, len(text))


def _places(text: str) -> list[int]:
    """Where an atom may begin, ascending."""
    blank = [match.end() for match in _BLANK.finditer(text)]
    out: list[int] = []
    for first, last in zip([0, *blank], [*blank, len(text)], strict=True):
        if last - first > LONG_CHARS:
            out += [match.end() for match in _LINE.finditer(text, first, last)]
        out += [last] if last < len(text) else []
    return out


def encode(texts: Sequence[str], tokenizer: Tokenizer) -> list[Ids]:
    """Ids of each text. Raises InputError where the tokenizer fails on one: they are parts of what it could encode."""
    encoded = tokenizer.encode_batch(pa.array(texts, pa.large_string()))
    if encoded.failures:
        fault = encoded.failures[0]
        raise InputError("the tokenizer failed on a part of a document", "synth", f"{fault.kind}: {fault.detail}")
    return [encoded.ids[a:b] for a, b in zip(encoded.offsets[:-1], encoded.offsets[1:], strict=True)]


def prepare(sources: Sequence[Source], tokenizer: Tokenizer) -> tuple[list[Prepared], dict[str, str]]:
    """The documents that sequences can be made of, in their order, and of the others the reason by id."""
    wholes = [whole_text(source.text) for source in sources]
    cuts = [cut(whole) for whole in wholes]
    parts = [whole[a:b] for whole, c in zip(wholes, cuts, strict=True) for a, b in pairwise(c)]
    encoded = tokenizer.encode_batch(pa.array([*wholes, *parts], pa.large_string()))
    failed = {failure.row for failure in encoded.failures}
    counts = np.diff(encoded.offsets)
    prepared: list[Prepared] = []
    refused: dict[str, str] = {}
    at = len(wholes)
    for row, (source, whole, bounds) in enumerate(zip(sources, wholes, cuts, strict=True)):
        rows, at = range(at, at + len(bounds) - 1), at + len(bounds) - 1
        if MEDIUM_CHAR in source.text:
            refused[source.id] = "has_media"
        elif not whole:
            refused[source.id] = "no_tokens"
        elif failed & {row, *rows}:
            refused[source.id] = "tokenizer_failed"
        elif not _same(encoded.ids, encoded.offsets, row, rows):
            refused[source.id] = "unsafe_joins"
        else:
            prepared.append(Prepared(source, whole, bounds, tuple(counts[rows.start : rows.stop].tolist())))
    return prepared, refused


def _same(ids: Ids, offsets: npt.NDArray[np.int64], row: int, rows: range) -> bool:
    """Whether the parts' ids are those of the whole."""
    whole = ids[offsets[row] : offsets[row + 1]]
    return np.array_equal(whole, ids[offsets[rows.start] : offsets[rows.stop]])

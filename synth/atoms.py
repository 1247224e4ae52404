"""Documents as sequences of atoms: the pieces between which records may be planted and documents permuted.

An atom is a stretch of the text that ends in a blank line and is followed by a character that is no white space: such
a join leaves the ids on both sides what they are (reference 4.5: 0 of 3,000 joins differ). White space in front of the
first atom is left out, and the last one ends in two line breaks. No atom ends inside a fenced block of code.

A medium is one U+FFFC of the text and stands inside of an atom, with its caption (`holds`); the places that it takes
are counted among the atom's tokens.

`prepare` proves the joins of each document: its atoms encoded one by one give the ids of its whole text, or the
document is refused (`unsafe_joins`). Positions are characters (Unicode code points) of `Prepared.text`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import InputError
from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.manifests.tokenizer import Encoded, Tokenizer
from gristmill.synth.holds import free_places
from gristmill.synth.media import Bits, Ids, Shown, bits_of, is_whole, without

ATOM_CHARS = 900
"""Paragraphs are gathered up to so many characters, some 200 to 300 tokens: 1M tokens have 4,000 places for records."""
LONG_CHARS = 8000
"""A stretch without a blank line is cut at lines that are not indented when it is longer."""

_BLANK = re.compile(r"\n[ \t\r]*\n(?:[ \t\r]*\n)*(?=[ \t]*\S)")
_LINE = re.compile(r"\n(?=\S)")
_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)

REFUSED: Mapping[str, str] = {
    "media_miscounted": "the text has another number of U+FFFC than the document has media",
    "medium_damaged": "the bytes of a medium do not have the sha256 that stands beside them",
    "no_tokens": "nothing but white space",
    "unsafe_joins": "its paragraphs give other ids one by one than together",
    "tokenizer_failed": "the tokenizer crashed, hung or needed too much memory",
}
"""Why a document is no part of sequences."""


@dataclass(frozen=True)
class Source:
    """A document as it comes: `cluster` is its cluster of near duplicates, its own hash where it has none.

    `media` are those of each U+FFFC of the text, in order; None for one without bytes or size, which is left out.
    """

    id: str
    source: str
    domain: str
    license: str
    content_hash: bytes
    cluster: bytes
    text: str
    media: tuple[Shown | None, ...] = ()


@dataclass(frozen=True)
class Prepared:
    """A document's atoms: `bounds[i]:bounds[i + 1]` of `text` is atom i, of `tokens[i]` ids.

    `media` stand in the places of U+FFFC in `text`, in order; `uncut` are the tokens of its longest atom that shows
    one, which no budget may cut. It is its metadata (all but text, bounds and media) that plans are made of.
    """

    source: Source
    text: str
    bounds: tuple[int, ...]
    tokens: tuple[int, ...]
    media: tuple[Shown, ...] = ()
    uncut: int = 0

    @property
    def total(self) -> int:
        """Its tokens."""
        return sum(self.tokens)

    def atom(self, index: int) -> str:
        """The text of an atom."""
        return self.text[self.bounds[index] : self.bounds[index + 1]]

    def media_by_atom(self) -> list[tuple[Shown, ...]]:
        """The media of each atom."""
        counts = [self.text.count(MEDIUM_CHAR, a, b) for a, b in pairwise(self.bounds)] if self.media else []
        ends = list(accumulate(counts))
        return [self.media[end - n : end] for end, n in zip(ends, counts, strict=True)] or [()] * len(self.tokens)


def whole_text(text: str) -> str:
    """The text as sequences hold it: no white space in front, one blank line behind; "" for white space alone."""
    inner = text.strip()
    return inner + "\n\n" if inner else ""


def cut(text: str) -> tuple[int, ...]:
    """Bounds of the atoms of a `whole_text`; (0,) for an empty one. A medium counts as ATOM_CHARS characters."""
    if not text:
        return (0,)
    bounds = [0]
    for place in free_places(text, _outside_fences(text)):
        if _size(text, bounds[-1], place) >= ATOM_CHARS:
            bounds.append(place)
    if len(bounds) > 1 and _size(text, bounds[-1], len(text)) < ATOM_CHARS // 2:
        bounds.pop()
    return (*bounds, len(text))


def _size(text: str, first: int, last: int) -> int:
    return last - first + text.count(MEDIUM_CHAR, first, last) * ATOM_CHARS


def _outside_fences(text: str) -> list[int]:
    fences = [match.start() for match in _FENCE.finditer(text)]
    found: list[int] = []
    inside, at = 0, 0
    for place in _places(text):
        while at < len(fences) and fences[at] < place:
            inside, at = 1 - inside, at + 1
        if not inside:
            found.append(place)
    return found


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


def encode_shown(
    texts: Sequence[str], media: Sequence[Sequence[Shown]], tokenizer: Tokenizer, cost: ImageCost
) -> list[Bits]:
    """Ids of each text with media in the places of U+FFFC. Raises InputError as `encode`."""
    stretches = [text.split(MEDIUM_CHAR) if own else [text] for text, own in zip(texts, media, strict=True)]
    ids = iter(encode([stretch for own in stretches for stretch in own], tokenizer))
    pad = tokenizer.identity.pad_id
    both = zip(stretches, media, strict=True)
    return [bits_of([next(ids) for _ in own], shown, pad, cost) for own, shown in both]


@dataclass(frozen=True)
class _Draft:
    """A document before it is encoded; one with a `fault` has an empty text."""

    source: Source
    text: str
    bounds: tuple[int, ...]
    media: tuple[Shown, ...]
    fault: str = ""

    def stretches(self) -> Iterator[list[str]]:
        """Texts to encode: those of the whole around its media, then those of each atom."""
        yield self.text.split(MEDIUM_CHAR)
        for first, last in pairwise(self.bounds):
            yield self.text[first:last].split(MEDIUM_CHAR)


def prepare(
    sources: Sequence[Source], tokenizer: Tokenizer, cost: ImageCost | None = None
) -> tuple[list[Prepared], dict[str, str]]:
    """The documents that sequences can be made of, in their order, and of the others the reason by id.

    `cost` (that of ImageCost() where it is None) must be that of the rows.
    """
    drafts = [_draft(source) for source in sources]
    stretches = [list(draft.stretches()) for draft in drafts]
    flat = [text for own in stretches for part in own for text in part]
    encoded = tokenizer.encode_batch(pa.array(flat, pa.large_string()))
    failed = {failure.row for failure in encoded.failures}
    prepared: list[Prepared] = []
    refused: dict[str, str] = {}
    at = 0
    for draft, own in zip(drafts, stretches, strict=True):
        rows = [range(at + a, at + b) for a, b in pairwise([0, *accumulate(map(len, own))])]
        at += sum(map(len, own))
        fault = draft.fault or ("" if draft.text else "no_tokens")
        if not fault and failed and failed & set(range(rows[0].start, at)):
            fault = "tokenizer_failed"
        if not fault and not _same(encoded, rows[0], rows[1:]):
            fault = "unsafe_joins"
        if fault:
            refused[draft.source.id] = fault
        else:
            prepared.append(_prepared(draft, encoded, rows[1:], cost or ImageCost()))
    return prepared, refused


def _draft(source: Source) -> _Draft:
    try:
        text, media = without(source.text, source.media)
    except ValueError:
        return _Draft(source, "", (0,), (), "media_miscounted")
    if not all(map(is_whole, media)):
        return _Draft(source, "", (0,), (), "medium_damaged")
    whole = whole_text(text)
    return _Draft(source, whole, cut(whole), media)


def _prepared(draft: _Draft, encoded: Encoded, rows: Sequence[range], cost: ImageCost) -> Prepared:
    whole = Prepared(draft.source, draft.text, draft.bounds, (0,) * len(rows), draft.media)
    text = [int(encoded.offsets[own.stop] - encoded.offsets[own.start]) for own in rows]
    places = [sum(shown.tokens(cost) for shown in media) for media in whole.media_by_atom()]
    tokens = tuple(a + b for a, b in zip(text, places, strict=True))
    uncut = max((all_of for all_of, shown in zip(tokens, places, strict=True) if shown), default=0)
    return Prepared(draft.source, draft.text, draft.bounds, tokens, draft.media, uncut)


def _same(encoded: Encoded, whole: range, atoms: Sequence[range]) -> bool:
    """Whether the atoms' ids are those of the whole, with the media in the same places."""
    ids, offsets = encoded.ids, encoded.offsets
    one = ids[offsets[whole.start] : offsets[whole.stop]]
    other = ids[offsets[atoms[0].start] : offsets[atoms[-1].stop]]
    marks = offsets[whole.start + 1 : whole.stop] - offsets[whole.start]
    found = [int(offsets[row + 1] - offsets[atoms[0].start]) for own in atoms for row in own[:-1]]
    return np.array_equal(one, other) and marks.tolist() == found

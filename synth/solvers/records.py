"""Which segments of a row are one record, and what records say.

A record is a segment of kind record; a picture that belongs to it stands in front of its words, or behind them with
white space alone behind the picture. That a picture is a record's is told by its document, which is the record's own.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gristmill.synth.solvers.asking import Records, Unproved
from gristmill.synth.solvers.reading import Reading, Span, bytes_fault
from gristmill.synth.solvers.words import names_in


class RecordPiece(NamedTuple):
    """A record: its tokens, its first segment, its words, and the number of its picture in the row's media."""

    span: Span
    segment: int
    text: str
    medium: int | None = None


def record_pieces(reading: Reading) -> list[RecordPiece]:
    """All records of a row, in order."""
    kinds, docs, spans = reading.kinds, reading.docs, reading.spans
    texts = {i: reading.piece(*spans[i]) for i, kind in enumerate(kinds) if kind == "record"}
    found: list[RecordPiece] = []
    at = 0
    while at < len(kinds):
        size = _segments(at, kinds, docs, texts)
        words = [i for i in range(at, at + size) if kinds[i] == "record"]
        if words:
            medium = next((reading.media_idx[i] for i in range(at, at + size) if kinds[i] != "record"), None)
            span = (spans[at][0], spans[at + size - 1][1])
            found.append(RecordPiece(span, at, "".join(texts[i] for i in words), medium))
        at += size
    return found


def _segments(at: int, kinds: tuple[str, ...], docs: tuple[int, ...], texts: Mapping[int, str]) -> int:
    """Of how many segments the piece is that begins with segment `at`."""
    here = kinds[at : at + 3]
    if here[:2] == ("image", "record") and docs[at] == docs[at + 1]:
        return 2
    if here == ("record", "image", "record") and docs[at] == docs[at + 1] and not texts[at + 2].strip():
        return 3
    return 1


def read_records(reading: Reading, pieces: Sequence[RecordPiece]) -> Records:
    """These records, with the files of their pictures. Raises Unproved where one is not at hand."""
    pictures: dict[int, bytes] = {}
    for piece in pieces:
        if piece.medium is not None:
            sha256 = reading.media[piece.medium]["sha256"]
            fault = bytes_fault(reading, sha256)
            if fault:
                raise Unproved("media", f"medium {piece.medium}, of a record: {fault}")
            pictures[piece.span[0]] = reading.media_bytes[sha256]
    return records_of({piece.span[0]: piece.text for piece in pieces}, pictures)


def records_of(texts: Mapping[int, str], pictures: Mapping[int, bytes] | None = None) -> Records:
    """Records with the places of their names."""
    found: dict[str, set[int]] = {}
    for start, text in texts.items():
        for name in names_in(text):
            found.setdefault(name, set()).add(start)
    return Records(texts, {name: frozenset(starts) for name, starts in found.items()}, pictures or {})

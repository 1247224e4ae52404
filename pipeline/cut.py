"""Where documents longer than a row are cut: at the best place that their structure offers near the row's end.

In: lengths in tokens, and the `Structure` of those that are longer than a row; out: `Parts`, pieces in document order.

Rules, for a piece that begins at token `start` of a document with more than `context` tokens left:

* it ends at the candidate of the highest level in its last quarter, tokens [start + context - context // 4,
  start + context], the latest among equals; where there is none, at start + context;
* no piece ends inside a medium, nor inside a hold (a medium with its caption): a place inside gives way to the begin of
  what it stands in;
* of a hold that is longer than a row each medium stays with what is before it in the hold, or, where these are longer
  than a row, with what is behind it.

What is left and fits into a row is one piece. A document that fits into a row is never cut.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

WINDOW_DIVISOR = 4
"""A piece may end in the last quarter of its row. Stretches of 256 tokens have one candidate each, so the quarter of
the shortest row in use (8,192) offers 8, a heading or a blank line nearly always among them."""


@dataclass(frozen=True)
class Structure:
    """What packing knows of the inside of n documents; one that fits into a row needs none.

    breaks: int64, candidates and marks as in `TOKENISED.breaks`, ascending within a document, those of document i at
    [breaks_of[i], breaks_of[i + 1]). media_start, media_len: int64, tokens, ascending and apart, likewise by media_of.
    """

    breaks_of: Ints
    breaks: Ints
    media_of: Ints
    media_start: Ints
    media_len: Ints

    @staticmethod
    def unknown(documents: int) -> "Structure":
        """Of documents of which nothing is known."""
        none, bounds = np.zeros(0, np.int64), np.zeros(documents + 1, np.int64)
        return Structure(bounds, none, bounds, none, none)

    def take(self, docs: Ints) -> "Structure":
        """Of the documents with these indices."""
        breaks_of, breaks = _ranges(self.breaks_of, docs)
        media_of, media = _ranges(self.media_of, docs)
        return Structure(breaks_of, self.breaks[breaks], media_of, self.media_start[media], self.media_len[media])


def _ranges(bounds: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """(bounds of the ranges taken, index of each item in them)."""
    sizes = bounds[rows + 1] - bounds[rows]
    taken = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    return taken, np.arange(taken[-1]) + np.repeat(bounds[rows] - taken[:-1], sizes)


@dataclass(frozen=True)
class Parts:
    """Pieces before they have a place: document, token of it at which the piece begins, tokens, whether it is the
    last, whether a separator follows, and the tokens of both."""

    doc: Ints
    doc_offset: Ints
    length: Ints
    ends_doc: Bools
    separator: Bools

    @property
    def size(self) -> Ints:
        """Tokens with the separator."""
        return self.length + self.separator

    def take(self, at: Ints) -> "Parts":
        """The pieces at these indices."""
        kept = (self.doc[at], self.doc_offset[at], self.length[at], self.ends_doc[at], self.separator[at])
        return Parts(*kept)

    def followed_by(self, other: "Parts") -> "Parts":
        """These pieces, then others."""
        return Parts(
            np.concatenate((self.doc, other.doc)),
            np.concatenate((self.doc_offset, other.doc_offset)),
            np.concatenate((self.length, other.length)),
            np.concatenate((self.ends_doc, other.ends_doc)),
            np.concatenate((self.separator, other.separator)),
        )


def cut(lengths: Ints, context: int, structure: Structure) -> Parts:
    """Pieces of all documents; see the module."""
    from gristmill.pipeline.cut_kernel import piece_offsets

    known = (structure.breaks_of, structure.breaks, structure.media_of, structure.media_start, structure.media_len)
    return parts_of(lengths, context, *piece_offsets(lengths, context, *known))


def parts_of(lengths: Ints, context: int, counts: Ints, offset: Ints) -> Parts:
    """Parts from the number of pieces of each document and the offset of each piece."""
    doc = np.repeat(np.arange(len(lengths), dtype=np.int64), counts)
    ends = np.ones(len(doc), np.bool_)
    ends[:-1] = doc[1:] != doc[:-1]
    stop = lengths[doc]
    stop[:-1] = np.where(ends[:-1], stop[:-1], offset[1:])
    length = stop - offset
    return Parts(doc, offset, length, ends, ends & (length < context))

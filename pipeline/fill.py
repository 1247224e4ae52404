"""Filling what cuts at structure leave open, where the corpus has nothing that is small enough.

A document that is cut leaves some room in each of its rows. Short documents and remainders fill it (best fit); a
bucket of long documents alone has too few of them, and 1 to 2 % of it would be padding. Then whole rows are
taken apart, those with the fewest tokens first, and what stood in them goes into the rooms of the others, largest room
first, cut to measure. Taken apart are rows of text alone, of documents that are longer than a row and so are cut
anyway; as many as bring the padding under PADDING_PER_MILLION, no more, and none that the rooms could not take.
"""

from dataclasses import dataclass

import numpy as np

from gristmill.pipeline.cut import Bools, Ints, Parts

PADDING_PER_MILLION = 100
"""0.01 %: a corpus with short documents is packed to less without this (0.001 to 0.003 % of 10^6 documents)."""


@dataclass(frozen=True)
class Placed:
    """Pieces and the row of each; opener int64[rows]: the piece by which a row goes, its largest."""

    parts: Parts
    row_of: Ints
    opener: Ints


def fill(placed: Placed, order: Ints, liquid: Bools, context: int, max_pieces: int) -> Placed:
    """The same tokens in fewer rows, or `placed` itself where that is not called for.

    order: int64, the pieces in the order of content; liquid: bool, pieces that may be cut to any measure; max_pieces:
    in a row, at least 1.
    """
    from gristmill.pipeline.fill_kernel import pour

    rows = len(placed.opener)
    pieces = np.bincount(placed.row_of, minlength=rows)
    room = context - _sums(placed.row_of, placed.parts.size, rows)
    is_open = (room > 0) & (pieces < max_pieces)
    gone = taken_apart(room, is_open, _sums(placed.row_of, ~liquid, rows) == 0, context)
    if not gone.any():
        return placed
    roomy = np.flatnonzero(is_open & ~gone)
    roomy = roomy[np.argsort(-room[roomy], kind="stable")]
    moving = order[gone[placed.row_of[order]]]
    moved = placed.parts.take(moving)
    slots = max_pieces - pieces[roomy]
    poured = pour(moved.length, moved.ends_doc, room[roomy], slots, context, max_pieces)
    return _joined(placed, gone, roomy, moved, poured)


def _joined(
    placed: Placed, gone: Bools, roomy: Ints, moved: Parts, poured: tuple[Ints, Ints, Ints, Ints, Bools]
) -> Placed:
    """What stays where it is, and the fragments; `placed` itself where that saves no row."""
    source, shift, taken, slot, separator = poured
    kept, stay, number = np.flatnonzero(~gone), ~gone[placed.row_of], np.cumsum(~gone) - 1
    added = np.arange(len(roomy), int(slot.max()) + 1)
    if len(kept) + len(added) >= len(gone):
        return placed
    ends = moved.ends_doc[source] & (shift + taken == moved.length[source])
    fragments = Parts(moved.doc[source], moved.doc_offset[source] + shift, taken, ends, separator)
    row_of_slot = np.concatenate((number[roomy], len(kept) + np.arange(len(added))))
    row_of = np.concatenate((number[placed.row_of[stay]], row_of_slot[slot]))
    old_openers = (np.cumsum(stay) - 1)[placed.opener[kept]]
    opener = np.concatenate((old_openers, int(stay.sum()) + np.searchsorted(slot, added)))
    return Placed(placed.parts.take(np.flatnonzero(stay)).followed_by(fragments), row_of, opener)


def _sums(row_of: Ints, values: Ints | Bools, rows: int) -> Ints:
    """int64[rows] sums by row. (numpy's bincount would weigh in float64, exact to 2^53: rows are shorter.)"""
    return np.bincount(row_of, weights=values, minlength=rows).astype(np.int64)


def taken_apart(room: Ints, is_open: Bools, is_liquid: Bools, context: int) -> Bools:
    """bool[rows]: the rows to take apart."""
    gone = np.zeros(len(room), np.bool_)
    candidates = np.flatnonzero(is_liquid)
    candidates = candidates[np.argsort(-room[candidates], kind="stable")]
    excess = 1_000_000 * int(room.sum()) - PADDING_PER_MILLION * len(room) * context
    wanted = -(-excess // ((1_000_000 - PADDING_PER_MILLION) * context))
    if wanted <= 0 or not len(candidates):
        return gone
    left = int(room[is_open].sum()) - np.cumsum(room[candidates] * is_open[candidates])
    possible = int((np.cumsum(context - room[candidates]) <= left).sum())
    gone[candidates[: min(wanted, possible)]] = True
    return gone

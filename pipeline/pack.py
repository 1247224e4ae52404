"""Packing: which piece of which document stands where in rows of `context` tokens.

In: the token length of each document, its order key, which comes from content, and what is known of its inside; out:
a `Pack`, arrays over pieces sorted by (row, start). Pure: the result depends on the set of (key, length, structure)
alone, not on their order (documents whose keys are equal throughout are told apart by position, so keys should be
unique).

Rules:

* A document is cut only where it must be: one longer than `context`, where its structure has it (`pipeline.cut`);
  any other stays whole. `doc_offset` says where in the document a piece starts.
* Behind the end of a document stands one separator, unless the document ends exactly at the row's end.
* Pieces (with their separator) are packed best-fit-decreasing: by falling size, each into the row with the
  least room that takes it. "Fewer Truncations Improve Language Modeling" (Ding et al., ICML 2024,
  arXiv:2404.10830), section 3. A row of `max_segments` pieces takes no more.
* Room that nothing is small enough for is filled from rows that are taken apart (`pipeline.fill`).
* Best-fit-decreasing makes rows of like lengths in falling order, so rows, and the pieces within a row, are put
  into the order of a hash of the key afterwards; a row goes by its largest piece.
* Documents without tokens are placed nowhere: `empty` names them.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gristmill.pipeline.cut import Bools, Ints, Parts, Structure, cut
from gristmill.pipeline.fill import Placed, fill

Keys = npt.NDArray[np.uint64]

NO_LIMIT = (1 << 63) - 1
"""Of pieces in a row."""

_MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
"""SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""


@dataclass(frozen=True)
class Pack:
    """Pieces in their places. All arrays but `empty` have one entry a piece, sorted by (row, start).

    row, start: the piece stands at tokens [start, start + length) of row `row`; doc: index into the lengths
    given; doc_offset: index of its first token in the document; ends_doc: it is the document's last piece;
    separator: one separator follows at start + length. empty: int64, documents with no tokens.
    """

    context: int
    rows: int
    row: Ints
    start: Ints
    doc: Ints
    doc_offset: Ints
    length: Ints
    ends_doc: Bools
    separator: Bools
    empty: Ints

    @property
    def padding_tokens(self) -> int:
        """Places that hold neither token nor separator."""
        return self.rows * self.context - int(self.length.sum()) - int(self.separator.sum())

    @property
    def padding_frac(self) -> float:
        """Padding over all places; 0 when there are no rows."""
        return self.padding_tokens / (self.rows * self.context) if self.rows else 0.0

    @property
    def cut_docs(self) -> int:
        """Documents in more than one piece; all of them are longer than `context`."""
        return int((self.ends_doc & (self.doc_offset > 0)).sum())

    @property
    def needless_cuts(self) -> int:
        """Documents in more than one piece that would have fitted into a row: 0, measured."""
        whole = self.doc_offset + self.length <= self.context
        return int((self.ends_doc & (self.doc_offset > 0) & whole).sum())

    def row_bounds(self) -> Ints:
        """int64[rows + 1]: pieces of row r are [bounds[r], bounds[r + 1])."""
        return np.searchsorted(self.row, np.arange(self.rows + 1)).astype(np.int64)


def pack(
    lengths: Ints,
    order_key: Keys,
    context: int,
    structure: Structure | None = None,
    max_segments: int | None = None,
) -> Pack:
    """Pack documents into rows.

    lengths: int64[n] tokens; order_key: uint64[n] or uint64[n, k], compared lexicographically, the first
    column close to uniform (a content hash); context: tokens in a row, at least 1; max_segments: pieces in a row, at
    least 1, None for any number. Raises ValueError on anything else, and on a medium longer than a row.
    """
    from gristmill.pipeline.pack_kernel import best_fit, bitset_levels, lay_out, stable_by_decreasing_size

    known = Structure.unknown(len(lengths)) if structure is None else structure
    limit = NO_LIMIT if max_segments is None else max_segments
    keys = checked_keys(lengths, order_key, context, known, limit)
    parts = cut(lengths, context, known)
    order = content_order(parts, keys)
    size = parts.size
    falling = stable_by_decreasing_size(size, order, context)
    row_of = np.empty(len(falling), dtype=np.int64)
    rows = best_fit(size[falling], context, bitset_levels(context), limit)
    row_of[falling] = rows
    opener = falling[np.flatnonzero(np.diff(np.maximum.accumulate(rows), prepend=-1))]
    placed = Placed(parts, row_of, opener)
    filled = fill(placed, order, liquid_pieces(parts, lengths, context, known), context, limit)
    if filled is not placed:
        order = tight_last(content_order(filled.parts, keys), filled.parts, context)
    places = lay_out(order, filled.opener, filled.row_of, filled.parts.size)
    return in_places(filled.parts, places, len(filled.opener), lengths, context)


def checked_keys(lengths: Ints, order_key: Keys, context: int, structure: Structure, limit: int) -> Keys:
    """uint64[n, k]. Raises ValueError where the arguments of `pack` do not go together."""
    keys = order_key if order_key.ndim == 2 else order_key.reshape(-1, 1)
    if len(keys) != len(lengths) or lengths.ndim != 1:
        raise ValueError(f"{len(lengths)} lengths but {len(keys)} order keys")
    if len(structure.breaks_of) != len(lengths) + 1 or len(structure.media_of) != len(lengths) + 1:
        raise ValueError(f"{len(lengths)} lengths but structure of {len(structure.breaks_of) - 1} documents")
    if context < 1 or limit < 1:
        raise ValueError(f"context and max_segments must be at least 1, not {context} and {limit}")
    if len(lengths) and int(lengths.min()) < 0:
        raise ValueError("a length is negative")
    if len(structure.media_len) and int(structure.media_len.max()) > context:
        raise ValueError(f"a medium of {int(structure.media_len.max())} tokens is longer than a row of {context}")
    return keys


def liquid_pieces(parts: Parts, lengths: Ints, context: int, structure: Structure) -> Bools:
    """bool: the piece may be cut anywhere, since its document is cut anyway and holds no medium."""
    return ((lengths > context) & (np.diff(structure.media_of) == 0))[parts.doc]


def content_order(parts: Parts, keys: Keys) -> Ints:
    """Pieces by a hash of (first key column, offset); the keys themselves decide where hashes are equal."""
    from gristmill.stages.kernels.radix import argsorted

    ordered, order = argsorted(_splitmix(keys[parts.doc, 0] ^ _splitmix(parts.doc_offset.astype(np.uint64))))
    if bool((ordered[1:] == ordered[:-1]).any()):
        hashed = _splitmix(keys[parts.doc, 0] ^ _splitmix(parts.doc_offset.astype(np.uint64)))
        columns = [keys[parts.doc, k] for k in range(keys.shape[1] - 1, -1, -1)]
        order = np.lexsort((parts.doc_offset, *columns, hashed))
    return order.astype(np.int64)


def tight_last(order: Ints, parts: Parts, context: int) -> Ints:
    """The order with those pieces last that end a document at a row's end, and have no separator."""
    tight = (parts.ends_doc & ~parts.separator & (parts.length < context))[order]
    return np.concatenate((order[~tight], order[tight]))


def _splitmix(x: Keys) -> Keys:
    with np.errstate(over="ignore"):
        z = x + np.uint64(_MIX[0])
        z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX[1])
        z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX[2])
        return z ^ (z >> np.uint64(31))


def in_places(parts: Parts, places: tuple[Ints, Ints, Ints], rows: int, lengths: Ints, context: int) -> Pack:
    """The pack of pieces whose (index, row, start) are these."""
    piece, row, start = places
    return Pack(
        context=context,
        rows=rows,
        row=row,
        start=start,
        doc=parts.doc[piece],
        doc_offset=parts.doc_offset[piece],
        length=parts.length[piece],
        ends_doc=parts.ends_doc[piece],
        separator=parts.separator[piece],
        empty=np.flatnonzero(lengths == 0).astype(np.int64),
    )

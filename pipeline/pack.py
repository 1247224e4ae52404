"""Packing: which piece of which document stands where in rows of `context` tokens.

In: the token length of each document and its order key, which comes from content; out: a `Pack`, arrays over
pieces sorted by (row, start). Pure: the result depends on the set of (key, length) alone, not on their
order (documents whose keys are equal throughout are told apart by position, so keys should be unique).

Rules:

* A document is cut only where it must be: one longer than `context` gives pieces of exactly `context` tokens and
  a last one of 1..context; any other stays whole. `doc_offset` says where in the document a piece starts.
* Behind the end of a document stands one separator, unless the document ends exactly at the row's end.
* Pieces (with their separator) are packed best-fit-decreasing: by falling size, each into the row with the
  least room that takes it. "Fewer Truncations Improve Language Modeling" (Ding et al., ICML 2024,
  arXiv:2404.10830), section 3.
* Best-fit-decreasing makes rows of like lengths in falling order, so rows, and the pieces within a row, are put
  into the order of a hash of the key afterwards; a row goes by its largest piece.
* Documents without tokens are placed nowhere: `empty` names them.
"""

from bisect import bisect_left, insort
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]

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


@dataclass(frozen=True)
class _Pieces:
    """Pieces before packing, in document order."""

    doc: Ints
    doc_offset: Ints
    length: Ints
    ends_doc: Bools
    separator: Bools
    size: Ints


def pack(lengths: Ints, order_key: Keys, context: int) -> Pack:
    """Pack documents into rows.

    lengths: int64[n] tokens; order_key: uint64[n] or uint64[n, k], compared lexicographically, the first
    column close to uniform (a content hash); context: tokens in a row, at least 1.
    """
    from gristmill.pipeline.pack_kernel import best_fit, bitset_levels, lay_out, stable_by_decreasing_size

    keys = _checked_keys(lengths, order_key, context)
    pieces = _cut(lengths, context)
    order = _content_order(pieces, keys)
    falling = stable_by_decreasing_size(pieces.size, order, context)
    row_of = np.empty(len(falling), dtype=np.int64)
    rows = best_fit(pieces.size[falling], context, bitset_levels(context))
    row_of[falling] = rows
    opener = falling[np.flatnonzero(np.diff(np.maximum.accumulate(rows), prepend=-1))]
    return _placed(pieces, lay_out(order, opener, row_of, pieces.size), len(opener), lengths, context)


def pack_plain(lengths: Ints, order_key: Keys, context: int) -> Pack:
    """`pack` in plain Python, as its oracle: the same result, O(n log n) with a large constant."""
    keys = _checked_keys(lengths, order_key, context)
    pieces = _cut(lengths, context)
    order = _content_order(pieces, keys)
    size = pieces.size.tolist()
    placed = _best_fit_plain(sorted(order.tolist(), key=lambda i: -size[i]), size, context)
    rank = {piece: i for i, piece in enumerate(order.tolist())}
    rows: dict[int, list[int]] = {}
    for piece, row in placed:
        rows.setdefault(row, []).append(piece)
    members = [sorted(row, key=rank.__getitem__) for row in sorted(rows.values(), key=lambda row: rank[row[0]])]
    places = [(p, r, sum(size[q] for q in row[:i])) for r, row in enumerate(members) for i, p in enumerate(row)]
    columns = np.array(places, dtype=np.int64).reshape(-1, 3).T
    return _placed(pieces, (columns[0], columns[1], columns[2]), len(members), lengths, context)


def _best_fit_plain(falling: list[int], size: list[int], context: int) -> list[tuple[int, int]]:
    """(piece, row) of each piece."""
    rooms: list[int] = []
    open_rows: dict[int, list[int]] = {}
    placed: list[tuple[int, int]] = []
    opened = 0
    for piece in falling:
        at = bisect_left(rooms, size[piece])
        if at == len(rooms):
            row, room = opened, context
            opened += 1
        else:
            room = rooms[at]
            row = open_rows[room].pop()
            if not open_rows[room]:
                del rooms[at]
        placed.append((piece, row))
        room -= size[piece]
        if room:
            if not open_rows.setdefault(room, []):
                insort(rooms, room)
            open_rows[room].append(row)
    return placed


def _checked_keys(lengths: Ints, order_key: Keys, context: int) -> Keys:
    keys = order_key if order_key.ndim == 2 else order_key.reshape(-1, 1)
    if len(keys) != len(lengths) or lengths.ndim != 1:
        raise ValueError(f"{len(lengths)} lengths but {len(keys)} order keys")
    if context < 1:
        raise ValueError(f"context must be at least 1, not {context}")
    if len(lengths) and int(lengths.min()) < 0:
        raise ValueError("a length is negative")
    return keys


def _cut(lengths: Ints, context: int) -> _Pieces:
    counts = -(-lengths // context)
    doc = np.repeat(np.arange(len(lengths), dtype=np.int64), counts)
    first = np.cumsum(counts) - counts
    offset = (np.arange(len(doc), dtype=np.int64) - first[doc]) * context
    length = np.minimum(lengths[doc] - offset, context)
    ends = offset + length == lengths[doc]
    separator = ends & (length < context)
    return _Pieces(doc, offset, length, ends, separator, length + separator)


def _content_order(pieces: _Pieces, keys: Keys) -> Ints:
    """Pieces by a hash of (first key column, offset); the keys themselves decide where hashes are equal."""
    hashed = _splitmix(keys[pieces.doc, 0] ^ _splitmix(pieces.doc_offset.astype(np.uint64)))
    order = np.argsort(hashed)
    ordered = hashed[order]
    if bool((ordered[1:] == ordered[:-1]).any()):
        columns = [keys[pieces.doc, k] for k in range(keys.shape[1] - 1, -1, -1)]
        order = np.lexsort((pieces.doc_offset, *columns, hashed))
    return order.astype(np.int64)


def _splitmix(x: Keys) -> Keys:
    with np.errstate(over="ignore"):
        z = x + np.uint64(_MIX[0])
        z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX[1])
        z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX[2])
        return z ^ (z >> np.uint64(31))


def _placed(pieces: _Pieces, places: tuple[Ints, Ints, Ints], rows: int, lengths: Ints, context: int) -> Pack:
    piece, row, start = places
    return Pack(
        context=context,
        rows=rows,
        row=row,
        start=start,
        doc=pieces.doc[piece],
        doc_offset=pieces.doc_offset[piece],
        length=pieces.length[piece],
        ends_doc=pieces.ends_doc[piece],
        separator=pieces.separator[piece],
        empty=np.flatnonzero(lengths == 0).astype(np.int64),
    )

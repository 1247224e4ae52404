"""Rows of the trainer's schema from packed pieces.

In: a `Pieces` table for whole rows, the tokens of each piece, and the documents that it names; out: a RecordBatch
of `packed_schema`. A piece gives one segment, of kind `code` where its document's domain is code and `text`
elsewhere, one attention group and one entry of `docs`; the end of a document also gives a separator segment.
media, loss_spans and tasks are empty.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.row_id import row_ids
from gristmill.manifests.schema import ID_BYTES
from gristmill.manifests.trainer_schema import (
    LOSS_SPAN,
    ROW_DOCUMENT,
    ROW_MEDIUM,
    SEGMENT,
    SEGMENT_KINDS,
    TASK,
    TrainerFormat,
    packed_schema,
)
from gristmill.pipeline.pack import Bools, Ints, Pack

Ids = npt.NDArray[np.uint32]

_TEXT, _CODE, _SEPARATOR = (SEGMENT_KINDS.index(k) for k in ("text", "code", "separator"))
_KNOWN_OF_DOC = [f for f in ROW_DOCUMENT if f.name != "use_no"]


@dataclass(frozen=True)
class Pieces:
    """The pieces of `rows` whole rows, sorted by (row, start); fields as in `Pack`.

    row counts from 0 within this table; doc indexes the documents that come with it.
    """

    rows: int
    row: Ints
    start: Ints
    doc: Ints
    doc_offset: Ints
    length: Ints
    separator: Bools

    @staticmethod
    def of(pack: Pack, first_row: int, stop_row: int) -> "Pieces":
        """The rows [first_row, stop_row) of a pack; `doc` indexes the documents that were packed."""
        lo, hi = np.searchsorted(pack.row, (first_row, stop_row))
        return Pieces(
            rows=stop_row - first_row,
            row=pack.row[lo:hi] - first_row,
            start=pack.start[lo:hi],
            doc=pack.doc[lo:hi],
            doc_offset=pack.doc_offset[lo:hi],
            length=pack.length[lo:hi],
            separator=pack.separator[lo:hi],
        )


@dataclass(frozen=True)
class _Segments:
    """Segments of all rows, in order; `of_row` int64[rows + 1] bounds those of each row."""

    of_row: Ints
    start: Ints
    end: Ints
    kind: Ints
    doc_idx: Ints
    doc_offset: Ints


def build_rows(pieces: Pieces, tokens: Sequence[Ids], docs: pa.RecordBatch, form: TrainerFormat) -> pa.RecordBatch:
    """Rows of `packed_schema(form)`.

    tokens: for each piece its `length` ids; docs: the columns id, content_hash, source, domain, license and
    n_tokens of TOKENISED; other columns make it slower. Raises ValueError where a piece and its ids differ in length.
    """
    n_tokens = np.zeros(pieces.rows, dtype=np.int64)
    np.maximum.at(n_tokens, pieces.row, pieces.start + pieces.length + pieces.separator)
    ids = _fill(pieces, tokens, form)
    first_piece = np.searchsorted(pieces.row, np.arange(pieces.rows + 1)).astype(np.int64)
    named = docs.take(pa.array(pieces.doc))
    segments = _segments(pieces, first_piece, _is_code(named.column("domain")))
    flat = pa.array(ids.reshape(-1))
    schema = packed_schema(form)
    columns: list[Any] = [
        pa.nulls(pieces.rows, pa.binary(ID_BYTES)),
        pa.FixedSizeListArray.from_arrays(flat, type=schema.field("input_ids").type),
        pa.array(n_tokens.astype(np.int32)),
        _segment_lists(segments),
        _doc_lists(first_piece, named),
        *(_empty_lists(pieces.rows, item) for item in (ROW_MEDIUM, LOSS_SPAN, TASK)),
    ]
    columns[0] = row_ids(pa.RecordBatch.from_arrays(columns, names=schema.names))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _fill(pieces: Pieces, tokens: Sequence[Ids], form: TrainerFormat) -> Ids:
    """uint32[rows, context]: tokens, separators and padding in place."""
    ids = np.full((pieces.rows, form.context), form.tokenizer.pad_id, dtype=np.uint32)
    place = pieces.row * form.context + pieces.start
    flat = ids.reshape(-1)
    for at, length, piece in zip(place.tolist(), pieces.length.tolist(), tokens, strict=True):
        if len(piece) != length:
            raise ValueError(f"a piece of {length} tokens came with {len(piece)} ids")
        flat[at : at + length] = piece
    flat[(place + pieces.length)[pieces.separator]] = form.tokenizer.eos_id
    return ids


def _is_code(domain: pa.Array) -> Bools:
    return pc.fill_null(pc.equal(domain.cast(pa.string()), "code"), False).to_numpy(zero_copy_only=False)


def _segments(pieces: Pieces, first_piece: Ints, is_code: Bools) -> _Segments:
    """Two segments a piece with a separator, one for others."""
    count = 1 + pieces.separator.astype(np.int64)
    before = np.concatenate(([0], np.cumsum(count)))
    of = np.repeat(np.arange(len(count)), count)
    second = np.arange(len(of)) > before[of]
    end = pieces.start + pieces.length
    return _Segments(
        of_row=before[first_piece],
        start=np.where(second, end[of], pieces.start[of]),
        end=end[of] + second,
        kind=np.where(second, _SEPARATOR, np.where(is_code[of], _CODE, _TEXT)),
        doc_idx=(np.arange(len(count)) - first_piece[pieces.row])[of],
        doc_offset=pieces.doc_offset[of] + np.where(second, pieces.length[of], 0),
    )


def _segment_lists(segments: _Segments) -> pa.ListArray:
    kinds = pa.DictionaryArray.from_arrays(pa.array(segments.kind), pa.array(SEGMENT_KINDS))
    columns = [
        pa.array(segments.start.astype(np.int32)),
        pa.array(segments.end.astype(np.int32)),
        kinds.cast(pa.string()),
        pa.array(segments.doc_idx.astype(np.int32)),
        pa.array(segments.doc_idx.astype(np.int32)),
        pa.array(segments.doc_offset),
        pa.nulls(len(segments.start), pa.int32()),
    ]
    return _lists(segments.of_row, columns, SEGMENT)


def _doc_lists(first_piece: Ints, named: pa.RecordBatch) -> pa.ListArray:
    columns = [named.column("n_tokens" if f.name == "n_tokens_total" else f.name).cast(f.type) for f in _KNOWN_OF_DOC]
    use_no = pa.array(np.zeros(named.num_rows, dtype=np.int32))
    return _lists(first_piece, [*columns, use_no], ROW_DOCUMENT)


def _lists(bounds: Ints, columns: list[pa.Array], item: pa.DataType) -> pa.ListArray:
    values = pa.StructArray.from_arrays(columns, fields=list(item))
    return pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), values)


def _empty_lists(rows: int, item: pa.DataType) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(np.zeros(rows + 1, dtype=np.int32)), pa.array([], item))

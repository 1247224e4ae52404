"""Rows of the trainer's schema from packed pieces.

In: a `Pieces` table for whole rows, the tokens of each piece, and the documents that it names; out: a RecordBatch
of `packed_schema`. A piece gives one attention group, one entry of `docs`, and segments: of kind `code` where its
document's domain is code and `text` elsewhere, and between them one for each of its media (`row_media`); the end of a
document also gives a separator segment. tasks are empty.
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
    ROW_DOCUMENT,
    SEGMENT,
    SEGMENT_KINDS,
    TASK,
    TrainerFormat,
    packed_schema,
)
from gristmill.pipeline.pack import Bools, Ints, Pack
from gristmill.pipeline.row_media import Shown, lists, row_loss, row_media, shown_media, stretches_of

Ids = npt.NDArray[np.uint32]

_TEXT, _CODE, _SEPARATOR, _IMAGE, _VIDEO = map(SEGMENT_KINDS.index, ("text", "code", "separator", "image", "video"))
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
    medium: Ints
    """Its number in the row's media, -1 for none."""


def build_rows(pieces: Pieces, tokens: Sequence[Ids], docs: pa.RecordBatch, form: TrainerFormat) -> pa.RecordBatch:
    """Rows of `packed_schema(form)`.

    tokens: for each piece its `length` ids; docs: the columns id, content_hash, source, domain, license, n_tokens and
    media of TOKENISED; other columns make it slower. Raises ValueError where a piece and its ids differ in length, and
    where a piece begins or ends inside of a medium.
    """
    n_tokens = np.zeros(pieces.rows, dtype=np.int64)
    np.maximum.at(n_tokens, pieces.row, pieces.start + pieces.length + pieces.separator)
    ids = _fill(pieces, tokens, form)
    first_piece = np.searchsorted(pieces.row, np.arange(pieces.rows + 1)).astype(np.int64)
    named = docs.drop_columns(["media"]).take(pa.array(pieces.doc))
    shown = shown_media(pieces.doc, pieces.doc_offset, pieces.length, docs)
    segments = _segments(pieces, first_piece, _is_code(named.column("domain")), shown)
    place = pieces.start[shown.piece] + shown.start
    of_row = np.searchsorted(pieces.row[shown.piece], np.arange(pieces.rows + 1)).astype(np.int64)
    flat = pa.array(ids.reshape(-1))
    schema = packed_schema(form)
    columns: list[Any] = [
        pa.nulls(pieces.rows, pa.binary(ID_BYTES)),
        pa.FixedSizeListArray.from_arrays(flat, type=schema.field("input_ids").type),
        pa.array(n_tokens.astype(np.int32)),
        _segment_lists(segments),
        _doc_lists(first_piece, named),
        row_media(shown, place, of_row),
        row_loss(shown, place, of_row),
        _empty_lists(pieces.rows, TASK),
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


def _segments(pieces: Pieces, first_piece: Ints, is_code: Bools, shown: Shown) -> _Segments:
    """Text and media of each piece in turn, then its separator."""
    parts = stretches_of(pieces.length, pieces.separator, shown)
    of = parts.piece
    medium_kind = np.append(np.where(shown.is_video(), _VIDEO, _IMAGE), -1)[parts.medium]
    text_kind = np.where(parts.is_separator, _SEPARATOR, np.where(is_code[of], _CODE, _TEXT))
    first_medium = np.cumsum(shown.per_piece) - shown.per_piece
    of_row = np.append(first_medium, len(shown.piece))[first_piece[pieces.row[of]]]
    return _Segments(
        of_row=np.searchsorted(pieces.row[of], np.arange(pieces.rows + 1)).astype(np.int64),
        start=pieces.start[of] + parts.start,
        end=pieces.start[of] + parts.end,
        kind=np.where(parts.medium < 0, text_kind, medium_kind),
        doc_idx=(np.arange(len(pieces.row)) - first_piece[pieces.row])[of],
        doc_offset=pieces.doc_offset[of] + parts.start,
        medium=np.where(parts.medium < 0, -1, parts.medium - of_row),
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
        pa.array(segments.medium.astype(np.int32), mask=segments.medium < 0),
    ]
    return lists(segments.of_row, columns, SEGMENT)


def _doc_lists(first_piece: Ints, named: pa.RecordBatch) -> pa.ListArray:
    columns = [named.column("n_tokens" if f.name == "n_tokens_total" else f.name).cast(f.type) for f in _KNOWN_OF_DOC]
    use_no = pa.array(np.zeros(named.num_rows, dtype=np.int32))
    return lists(first_piece, [*columns, use_no], ROW_DOCUMENT)


def _empty_lists(rows: int, item: pa.DataType) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(np.zeros(rows + 1, dtype=np.int32)), pa.array([], item))

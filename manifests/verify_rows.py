"""What stands inside the shards of trainer rows, and whether it is what was tokenised.

Each row: the schema of its own metadata; `row_id` computed anew; ids inside the vocabulary; segments that tile `[0,
n_tokens)`; padding that is the pad id; indices into `docs` and `media` that exist; loss spans inside the row; places
of media (`verify_row_media`). Each shard: the index that follows from it. All rows together: each document stands in
rows with exactly the tokens that it has, the totals are those of the manifest, and so are the buckets
(`verify_buckets`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.file_faults import FileFaults, is_valid, schema_difference
from gristmill.manifests.ipc_layout import batch_buffers, file_blocks
from gristmill.manifests.ipc_zstd import codec_said, refuse_bombs
from gristmill.manifests.row_id import row_ids
from gristmill.manifests.row_index import index_of_shard
from gristmill.manifests.scan import (
    Part,
    Words,
    doc_ids,
    id_words,
    parts_for,
    read_columns,
    sort_by_id,
    valid_ids,
    words_to_id,
)
from gristmill.manifests.trainer_schema import BREAK_LEVELS, HOLD_END, TOKENISED, TrainerFormat, packed_schema
from gristmill.manifests.verify_books import Dataset
from gristmill.manifests.verify_buckets import BucketCount
from gristmill.manifests.verify_files import Fault, Named
from gristmill.manifests.verify_indexes import index_faults, indexes_of
from gristmill.manifests.verify_media import media_faults
from gristmill.manifests.verify_row_media import media_places

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_SEPARATOR = "separator"
_REQUIRED = {
    "segments": ("start", "end", "kind", "attn_group", "doc_idx", "doc_offset"),
    "docs": ("id", "content_hash", "n_tokens_total", "use_no"),
    "media": ("sha256", "width", "height", "token_start", "token_len"),
    "loss_spans": ("start", "end"),
}
"""What must have a value; no column of a row may be null."""


@dataclass(frozen=True)
class _Lists:
    """A list column flattened: `row` of each item, and the first item of each row."""

    row: Ints
    bounds: Ints
    items: pa.StructArray

    @staticmethod
    def of(column: pa.ListArray) -> "_Lists":
        lengths = column.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        return _Lists(np.repeat(np.arange(len(column)), lengths), bounds, column.flatten())

    def ints(self, name: str, null: int = -1) -> Ints:
        """A number of each item."""
        values = pc.fill_null(self.items.field(name), null)
        return values.to_numpy(zero_copy_only=False).astype(np.int64)

    def rows_where(self, wrong: Bools) -> Bools:
        """The rows with an item that is wrong."""
        out = np.zeros(len(self.bounds) - 1, np.bool_)
        out[self.row[wrong]] = True
        return out


@dataclass
class _Pieces:
    """Documents' tokens, piece by piece: in rows (positive) and as tokenised (negative)."""

    part: Part
    columns: list[tuple[Words, Words, Ints]] = field(default_factory=list[tuple[Words, Words, Ints]])

    def add(self, ids: pa.StringArray, tokens: Ints) -> None:
        valid = valid_ids(ids)
        first, second = id_words(ids.filter(pa.array(valid)))
        mine = self.part.holds(first)
        self.columns.append((first[mine], second[mine], tokens[valid][mine]))


def rows_faults(dataset: Dataset, whole: set[str]) -> Iterator[Fault]:
    """Everything that is wrong in the whole files of a dataset of rows."""
    tokens, complete, buckets = 0, True, BucketCount(dataset)
    indexes = indexes_of(dataset, whole, "shards", "row_indexes")
    if len(dataset.manifest.get("row_indexes", [])) not in (0, len(dataset.manifest["shards"])):
        yield Fault(dataset.name, "index", "not every shard of rows has one")
    for named in dataset.sound("shards", whole):
        found = FileFaults(named)
        try:
            counted = _shard(dataset, named, found, buckets)
        except (VerifyError, pa.ArrowException, OSError, ValueError) as error:
            found.whole("unreadable", " ".join(str(error).split())[:200])
            counted = None
        mine = list(found.faults()) or list(index_faults(named, indexes.get(named.entry.path), index_of_shard))
        yield from mine
        tokens, complete = tokens + (counted or 0), complete and not mine
    for named in dataset.sound("tokenised", whole):
        found = FileFaults(named)
        _tokenised(named, found)
        mine = list(found.faults())
        complete = complete and not mine
        yield from mine
    yield from media_faults(dataset, whole, complete)
    named_files = len(dataset.manifest["shards"]) + len(dataset.manifest["tokenised"])
    sound = len(dataset.sound("shards", whole)) + len(dataset.sound("tokenised", whole))
    if complete and sound == named_files:
        if tokens != dataset.manifest["totals"]["tokens"]:
            said = dataset.manifest["totals"]["tokens"]
            yield Fault(dataset.name, "books", f"totals.tokens is {said}, the rows hold {tokens}")
        yield from buckets.faults()
        yield from _placement(dataset)


def _shard(dataset: Dataset, named: Named, found: FileFaults, buckets: BucketCount) -> int | None:
    """Check a shard of rows; its tokens, None when they cannot be told."""
    tokens = 0
    whole = pa.memory_map(str(named.path)).read_buffer()
    view, said = memoryview(whole), codec_said(named.entry.extra) != "none"
    with pa.ipc.open_file(whole) as reader:
        form = _form(reader.schema, dataset, found)
        if form is None:
            return None
        for index, block in enumerate(file_blocks(view)):
            if batch_buffers(view, block)[1] != said:
                found.whole("schema", "its codec is not that of the manifest")
                return None
            refuse_bombs(view, block, reader.schema)
            batch = reader.get_batch(index)
            if not is_valid(batch, found) or not _has_no_nulls(batch, found):
                return None
            n_tokens = batch.column("n_tokens").to_numpy().astype(np.int64)
            outside = (n_tokens < 0) | (n_tokens > form.context)
            found.rows("row", outside, "n_tokens is outside the row")
            if outside.any():
                return None
            _ids(batch, n_tokens, form, found)
            _segments(batch, n_tokens, found)
            _loss_spans(batch, n_tokens, found)
            buckets.add(batch, found)
            if not found.any():  # places are looked up by what was just found sound
                media_places(batch, form, found)
            tokens += int(n_tokens.sum())
            found.first += batch.num_rows
    return tokens


def _form(schema: pa.Schema, dataset: Dataset, found: FileFaults) -> TrainerFormat | None:
    try:
        form = TrainerFormat.from_metadata(schema.metadata or {})
    except (KeyError, ValueError) as error:
        found.whole("schema", f"the metadata of trainer rows are not there: {error}")
        return None
    if not schema.equals(packed_schema(form), check_metadata=False):
        found.whole("schema", schema_difference(schema, packed_schema(form)))
        return None
    said = dataset.manifest["facts"].get("context")
    if said is not None and said != form.context:
        found.whole("schema", f"context is {form.context}, in the manifest {said}")
    return form


def _has_no_nulls(batch: pa.RecordBatch, found: FileFaults) -> bool:
    nulls = sum(column.null_count for column in batch.columns)
    for name, fields in _REQUIRED.items():
        items = batch.column(name).flatten()
        nulls += items.null_count + sum(items.field(f).null_count for f in fields)
    if nulls:
        found.whole("row", "null where there must be a value")
    return not nulls


def _ids(batch: pa.RecordBatch, n_tokens: Ints, form: TrainerFormat, found: FileFaults) -> None:
    ids = batch.column("input_ids").flatten().to_numpy().reshape(batch.num_rows, form.context)
    padding = np.arange(form.context) >= n_tokens[:, None]
    wrong = (padding & (ids != form.tokenizer.pad_id)).any(axis=1)
    found.rows("row", wrong, "padding is not the pad id")
    found.rows("row", (ids >= form.tokenizer.vocab_size).any(axis=1), "an id outside the vocabulary")
    try:
        same = pc.equal(row_ids(batch), batch.column("row_id")).to_numpy(zero_copy_only=False)
    except ValueError as error:
        found.whole("row", str(error))
        return
    found.rows("row", ~same, "row_id is not that of the content")


def _segments(batch: pa.RecordBatch, n_tokens: Ints, found: FileFaults) -> None:
    segments = _Lists.of(batch.column("segments"))
    start, end = segments.ints("start"), segments.ints("end")
    is_first = np.zeros(len(start) + 1, np.bool_)
    is_first[segments.bounds[:-1]] = True
    before = np.where(is_first[:-1], 0, np.concatenate(([0], end[:-1]))[: len(end)])
    wrong = segments.rows_where((start != before) | (end <= start))
    filled = np.zeros(batch.num_rows, np.int64)
    np.maximum.at(filled, segments.row, end)
    found.rows("row", wrong | (filled != n_tokens), "segments do not tile the tokens")
    docs = _Lists.of(batch.column("docs"))
    found.rows("id", docs.rows_where(~valid_ids(docs.items.field("id"))), "an id is not 32 hex digits")
    doc_count = np.diff(docs.bounds)[segments.row]
    doc = segments.ints("doc_idx")
    bad = (doc < 0) | (doc >= doc_count)
    found.rows("row", segments.rows_where(bad), "a segment of a document that is not there")
    media_count = np.diff(_Lists.of(batch.column("media")).bounds)[segments.row]
    medium = segments.ints("media_idx")
    found.rows("row", segments.rows_where(medium >= media_count), "a segment of a medium that is not there")


def _loss_spans(batch: pa.RecordBatch, n_tokens: Ints, found: FileFaults) -> None:
    spans = _Lists.of(batch.column("loss_spans"))
    start, end = spans.ints("start"), spans.ints("end")
    wrong = (start < 0) | (end <= start) | (end > n_tokens[spans.row])
    found.rows("row", spans.rows_where(wrong), "a loss span outside the tokens")


def _tokenised(named: Named, found: FileFaults) -> None:
    try:
        with pa.memory_map(str(named.path)) as source, pa.ipc.open_file(source) as reader:
            if not reader.schema.equals(TOKENISED, check_metadata=False):
                found.whole("schema", schema_difference(reader.schema, TOKENISED))
                return
            for index in range(reader.num_record_batches):
                batch = reader.get_batch(index)
                if not is_valid(batch, found):
                    return
                found.rows("id", ~valid_ids(batch.column("id")), "an id is not 32 hex digits")
                lengths = pc.list_value_length(batch.column("input_ids"))
                same = pc.fill_null(pc.equal(lengths, batch.column("n_tokens")), False)
                found.rows("row", ~same.to_numpy(zero_copy_only=False), "n_tokens is not the number of ids")
                found.rows("row", _wrong_breaks(batch), "breaks do not ascend inside the document")
                found.first += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        found.whole("unreadable", " ".join(str(error).split())[:200])


def _wrong_breaks(batch: pa.RecordBatch) -> Bools:
    lists = batch.column("breaks")
    row = np.repeat(np.arange(batch.num_rows), pc.list_value_length(lists).to_numpy(zero_copy_only=False))
    values = lists.flatten().to_numpy()
    place, level = values // BREAK_LEVELS, values % BREAK_LEVELS
    n_tokens = batch.column("n_tokens").to_numpy()[row]
    bad = (level == 0) | np.where(
        level < HOLD_END, (place <= 0) | (place >= n_tokens), (place < 0) | (place > n_tokens)
    )
    bad[1:] |= (row[1:] == row[:-1]) & (values[1:] <= values[:-1])
    wrong = np.zeros(batch.num_rows, np.bool_)
    wrong[row[bad]] = True
    return wrong


def _placement(dataset: Dataset) -> Iterator[Fault]:
    """Whether each tokenised document stands in the rows with all its tokens, and no other does."""
    manifest = dataset.manifest
    if not manifest["tokenised"]:
        return
    for part in parts_for(sum(e["rows"] for e in (*manifest["tokenised"], *manifest["shards"]))):
        pieces = _Pieces(part)
        _placed_pieces(dataset.folder, manifest["shards"], pieces)
        for entry in manifest["tokenised"]:
            for batch in read_columns(dataset.folder / entry["path"], ("id", "n_tokens")):
                pieces.add(batch.column("id"), -batch.column("n_tokens").to_numpy().astype(np.int64))
        first = np.concatenate([np.zeros(0, np.uint64), *(c[0] for c in pieces.columns)])
        second = np.concatenate([np.zeros(0, np.uint64), *(c[1] for c in pieces.columns)])
        tokens = np.concatenate([np.zeros(0, np.int64), *(c[2] for c in pieces.columns)])
        order = sort_by_id(first, second)
        first, second, tokens = first[order], second[order], tokens[order]
        if not len(first):
            continue
        new = np.concatenate(([True], (first[1:] != first[:-1]) | (second[1:] != second[:-1])))
        starts = np.flatnonzero(new)
        off = np.flatnonzero(np.add.reduceat(tokens, starts))
        if len(off):
            at = starts[off[0]]
            example = words_to_id(int(first[at]), int(second[at]))
            detail = f"{len(off)} documents do not stand in the rows with the tokens that they have"
            yield Fault(dataset.name, "row", f"{detail}, for instance {example}")


def _placed_pieces(folder: Path, shards: list[dict[str, str]], pieces: _Pieces) -> None:
    for entry in shards:
        for batch in read_columns(folder / entry["path"], ("segments", "docs")):
            segments, docs = _Lists.of(batch.column("segments")), _Lists.of(batch.column("docs"))
            kinds = pc.equal(segments.items.field("kind"), _SEPARATOR).to_numpy(zero_copy_only=False)
            length = np.where(kinds, 0, segments.ints("end") - segments.ints("start"))
            at = docs.bounds[segments.row] + segments.ints("doc_idx")
            tokens = np.zeros(len(docs.items), np.int64)
            np.add.at(tokens, at, length)
            pieces.add(doc_ids(batch.column("docs")), tokens)

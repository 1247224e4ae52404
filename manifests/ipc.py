"""Arrow IPC files for trainers: deterministic bytes, uncompressed with each buffer at a multiple of 64 bytes, or for
cold storage compressed with a row a batch (`ipc_zstd`).

Rows go in as RecordBatches of any size; record batches in the file are cut at BATCH_BYTES (one larger row makes a
batch alone) and files at SHARD_BYTES. Sizes are those of the values of a row, so the bytes of the files depend
on the sequence of rows alone, never on how they were batched. Columns of dictionary type are not supported.
"""

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.commit import HashingFile, ObjectWriter
from gristmill.manifests.errors import VerifyError
from gristmill.manifests.ipc_layout import FILE_HEAD, Block, aligned_batch, aligned_schema, file_blocks, file_tail
from gristmill.manifests.ipc_zstd import BUFFERS_BEFORE_IDS, codec, codec_of, refuse_bombs
from gristmill.manifests.row_index import BatchPlace, IndexWriter, aux_hash

BATCH_BYTES = 4 << 20
SHARD_BYTES = 256 << 20
SMALL_BYTES = 64 << 10

Ids = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]


class IpcShards:
    """Writes one role's rows of one object as numbered Arrow IPC files; of trainer rows with an `index_role` also the
    index of each (`manifests.row_index`). `compression`: none, or zstd, of trainer rows alone."""

    def __init__(
        self, writer: ObjectWriter, role: str, schema: pa.Schema, index_role: str = "", compression: str = "none"
    ) -> None:
        self._writer = writer
        self._role = role
        self._schema = schema
        self._index_role = index_role
        self._compression = compression
        self._codec = None if compression == "none" else codec()
        self._batch_bytes = BATCH_BYTES if self._codec is None else 1
        self._index: IndexWriter | None = None
        self._pending: list[pa.RecordBatch] = []
        self._pending_bytes = 0
        self._file: HashingFile | None = None
        self._blocks: list[Block] = []
        self._file_rows = 0
        self._file_bytes = 0
        self._files = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows. Raises ValueError when the batch is not of the schema."""
        if not batch.schema.equals(self._schema):
            raise ValueError(f"rows of another schema than that of role {self._role!r}")
        start = 0
        for row, size in enumerate(row_bytes(batch).tolist()):
            if self._pending_bytes and self._pending_bytes + size > self._batch_bytes:
                self._take(batch, start, row)
                self._flush_batch()
                start = row
            self._pending_bytes += size
        self._take(batch, start, batch.num_rows)

    def close(self) -> None:
        """Write what is pending. A role without rows leaves no file."""
        self._flush_batch()
        self._close_file()

    def _take(self, batch: pa.RecordBatch, start: int, stop: int) -> None:
        if stop > start:
            self._pending.append(batch.slice(start, stop - start))

    def _flush_batch(self) -> None:
        if not self._pending:
            return
        # Even one slice is made anew: written as it is, it may drag the rest of its buffers along.
        whole = _compact(self._pending[0]) if len(self._pending) == 1 else pa.concat_batches(self._pending)
        file = self._file or self._open()
        chunks, block = aligned_batch(whole, file.bytes, self._codec)
        if self._index is not None:
            self._index.add(whole, *_places(chunks, block))
        for chunk in _joined(chunks):
            file.write(chunk)
        self._blocks.append(block)
        self._file_rows += whole.num_rows
        self._file_bytes += self._pending_bytes
        self._pending, self._pending_bytes = [], 0
        if self._file_bytes >= SHARD_BYTES:
            self._close_file()

    def _open(self) -> HashingFile:
        self._file = self._writer.create()
        self._file.write(FILE_HEAD)
        if self._index_role:
            self._index = IndexWriter(self._schema.field("input_ids").type.list_size, self._compression)
        self._file.write(aligned_schema(self._schema, self._file.bytes))
        return self._file

    def _close_file(self) -> None:
        if self._file is None:
            return
        self._file.write(file_tail(self._schema, self._blocks))
        name, said = f"{self._role}-{self._files:05d}.arrow", codec_of(self._compression)
        self._writer.add(self._file, self._role, name, self._file_rows, said)
        if self._index is not None:
            file = self._writer.create()
            file.write(self._index.finish(self._writer.files[-1].digest))
            self._writer.add(file, self._index_role, f"{self._role}-{self._files:05d}.idx", self._file_rows)
        self._files += 1
        self._file, self._blocks = None, []
        self._file_rows = self._file_bytes = 0


def _joined(chunks: Sequence[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """The same bytes with small chunks as one: a batch has some 300, and each write and hash costs a call."""
    small: list[bytes | memoryview] = []
    for chunk in chunks:
        if len(chunk) < SMALL_BYTES:
            small.append(chunk)
            continue
        yield b"".join(small)
        yield chunk
        small = []
    yield b"".join(small)


def _places(chunks: Sequence[bytes | memoryview], block: Block) -> tuple[BatchPlace, int]:
    """Where a batch of trainer rows and its ids come to stand, and the hash of all but the ids."""
    at = 1 + 2 * BUFFERS_BEFORE_IDS
    ids_at = block.offset + sum(len(chunk) for chunk in chunks[:at])
    place = BatchPlace(block.offset, ids_at, len(chunks[at]), block.offset + block.metadata_bytes + block.body_bytes)
    return place, aux_hash([*chunks[:at], *chunks[at + 1 :]])


def _compact(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of a slice in buffers of their own. Ids stay where they are, of large lists where their buffer is theirs
    alone: of a long document's, a copy would be the peak of a worker's memory."""
    return pa.RecordBatch.from_arrays([_compact_column(c) for c in batch.columns], schema=batch.schema)


def _copied(column: pa.Array) -> pa.Array:
    return pa.concat_arrays([column, column.slice(0, 0)])  # one array alone would be given back as it is


def _compact_column(column: pa.Array) -> pa.Array:
    kind = column.type
    fixed = pa.types.is_fixed_size_list(kind)
    if not (fixed or pa.types.is_large_list(kind)) or not pa.types.is_primitive(kind.value_type) or column.null_count:
        return _copied(column)
    values, width = column.flatten(), kind.value_type.bit_width // 8
    buffer = values.buffers()[1]
    if fixed and buffer is not None and width and not values.null_count:
        own = buffer.slice(values.offset * width, len(values) * width)
        values = pa.Array.from_buffers(kind.value_type, len(values), [None, own])
        return pa.FixedSizeListArray.from_arrays(values, type=kind)
    whole = buffer is not None and buffer.size == len(values) * width
    if fixed or values.null_count or values.offset or not whole:
        return _copied(column)
    lengths = column.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    return pa.LargeListArray.from_arrays(pa.array(np.concatenate(([0], np.cumsum(lengths)))), values, type=kind)


def row_bytes(batch: pa.RecordBatch) -> Ints:
    """Bytes of the values of each row, nested ones and 4 for each offset included, at least 1: int64[n]."""
    return sum((_value_bytes(c) for c in batch.columns), np.ones(batch.num_rows, dtype=np.int64))


def _value_bytes(array: pa.Array) -> Ints:
    kind = array.type
    width = _fixed_bytes(kind)
    if width is not None:
        return np.full(len(array), width, dtype=np.int64)
    if pa.types.is_struct(kind):
        fixed = [_fixed_bytes(field.type) for field in kind]
        rest = (_value_bytes(f) for f, size in zip(array.flatten(), fixed, strict=True) if size is None)
        return sum(rest, np.full(len(array), sum(size or 0 for size in fixed), dtype=np.int64))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        item = _fixed_bytes(kind.value_type)
        if item is not None:  # ids: 50 million of a long document would take 800 MB to add up one by one
            return _none_is_zero(array.value_lengths()) * item + 4
        items = array.flatten()
        if not len(items):  # most rows have no tasks, whose 27 fields would be asked one by one
            return np.full(len(array), 4, dtype=np.int64)
        inside = np.concatenate(([0], np.cumsum(_value_bytes(items))))
        lengths = _none_is_zero(array.value_lengths())
        ends = np.cumsum(lengths)
        return inside[ends] - inside[ends - lengths] + 4
    return _none_is_zero(pc.binary_length(array)) + 4


def _none_is_zero(lengths: pa.Array) -> Ints:
    known = lengths.fill_null(0) if lengths.null_count else lengths
    return known.to_numpy(zero_copy_only=False).astype(np.int64)


def _fixed_bytes(kind: pa.DataType) -> int | None:
    """Bytes of a value whose type fixes them, else None."""
    if pa.types.is_fixed_size_list(kind):
        inner = _fixed_bytes(kind.value_type)
        return None if inner is None else inner * kind.list_size
    if pa.types.is_fixed_size_binary(kind):
        return kind.byte_width
    return max(kind.bit_width // 8, 1) if pa.types.is_primitive(kind) else None


def read_ipc(path: Path) -> Iterator[pa.RecordBatch]:
    """The record batches of a file, mapped and not copied. Raises VerifyError on damage, naming file and batch."""
    reader, blocks, view = _open_reader(path)
    for index in range(reader.num_record_batches):
        try:
            refuse_bombs(view, blocks[index], reader.schema)
            batch = reader.get_batch(index)
            batch.validate()
        except (pa.ArrowException, OSError, ValueError, struct.error) as error:
            raise _damaged(path, f"record batch {index}: {error}") from error
        yield batch


class TokenLookup:
    """Random access to the ids of tokenised documents, numbered through a sequence of files of TOKENISED."""

    def __init__(self, paths: Sequence[Path]) -> None:
        batches = [batch for path in paths for batch in read_ipc(path)]
        columns = [b.column("input_ids") for b in batches]
        self._first = np.concatenate(([0], np.cumsum([len(c) for c in columns], dtype=np.int64)))
        self._offsets = [c.offsets.to_numpy() for c in columns]
        self._values: list[Ids] = [c.values.to_numpy() for c in columns]

    def __len__(self) -> int:
        return int(self._first[-1])

    def pieces(self, doc: Ints, doc_offset: Ints, length: Ints) -> list[Ids]:
        """Views of ids [doc_offset, doc_offset + length) of each document named. Raises IndexError outside."""
        if len(doc) and not 0 <= int(doc.min()) <= int(doc.max()) < len(self):
            raise IndexError(f"documents are numbered [0, {len(self)})")
        batch = np.searchsorted(self._first, doc, side="right") - 1
        row = doc - self._first[batch]
        places = zip(batch.tolist(), row.tolist(), doc_offset.tolist(), length.tolist(), strict=True)
        return [self._piece(*place) for place in places]

    def _piece(self, batch: int, row: int, offset: int, length: int) -> Ids:
        start, stop = self._offsets[batch][row : row + 2].tolist()
        if not (offset >= 0 and length >= 0 and start + offset + length <= stop):
            raise IndexError(f"ids [{offset}, {offset + length}) of a document of {stop - start}")
        return self._values[batch][start + offset : start + offset + length]


def _open_reader(path: Path) -> tuple[pa.ipc.RecordBatchFileReader, list[Block], memoryview]:
    try:
        whole = pa.memory_map(str(path)).read_buffer()
        view = memoryview(whole)
        return pa.ipc.open_file(whole), file_blocks(view), view
    except (pa.ArrowException, OSError, ValueError, struct.error) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, value: object) -> VerifyError:
    return VerifyError("shard cannot be read", str(path), value, "run `gristmill verify`, then run again")

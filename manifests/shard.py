"""Parquet shards of any schema: bounded row groups, bounded files, deterministic bytes.

Rows go in as RecordBatches; row groups are cut at `ROW_GROUP_BYTES` of Arrow memory or `ROW_GROUP_ROWS`
rows (one larger row makes a group alone) and files at `SHARD_BYTES`, so the bytes depend on the sequence of
rows alone, never on how they were batched. Compression zstd, page checksums on. A row group is the unit of
reading: its memory is bounded but for a single long row.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gristmill.manifests.commit import HashingFile, ObjectWriter
from gristmill.manifests.errors import VerifyError
from gristmill.manifests.schema import DOCUMENT

ROW_GROUP_BYTES = 8 << 20
ROW_GROUP_ROWS = 4096
SHARD_BYTES = 256 << 20
ZSTD_LEVEL = 1
_MEDIA = DOCUMENT.field("media").type
_DICTIONARY_COLUMNS = (
    "domain",
    "source",
    "lang",
    "license",
    "derivation",
    "step",
    "reason",
    "verdict",
    "measure",
)


def text_bytes(batch: pa.RecordBatch) -> list[int]:
    """Approximate bytes of each row: the lengths of its large columns and of its media, plus 64 for the others."""
    sizes = np.full(batch.num_rows, 64, np.int64)
    for column in batch.columns:
        if pa.types.is_large_string(column.type) and len(column):
            offsets = np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column) + 1]
            sizes += np.diff(offsets)
        elif column.type.equals(_MEDIA) and column.null_count < len(column):
            sizes += _media_bytes(column)
    return sizes.tolist()


def _media_bytes(media: pa.ListArray) -> npt.NDArray[np.int64]:
    """Bytes of the media of each row."""
    each = pc.fill_null(pc.binary_length(media.flatten().field("bytes")), 0).to_numpy().astype(np.int64)
    ends = np.cumsum(np.asarray(pc.fill_null(pc.list_value_length(media), 0), np.int64))
    total = np.concatenate(([0], np.cumsum(each)))[np.concatenate(([0], ends))]
    return np.diff(total)


class ParquetShards:
    """Writes one role's rows of one object as numbered Parquet files."""

    def __init__(
        self, writer: ObjectWriter, role: str, schema: pa.Schema, metadata: Mapping[str, str] | None = None
    ) -> None:
        self._writer = writer
        self._role = role
        self._schema = schema.with_metadata({"gristmill": "1", **(metadata or {})})
        self._pending: list[pa.RecordBatch] = []
        self._pending_bytes = 0
        self._pending_rows = 0
        self._file: HashingFile | None = None
        self._parquet: pq.ParquetWriter | None = None
        self._file_rows = 0
        self._file_bytes = 0
        self._files = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows; the batch must have the schema's columns in order."""
        start = 0
        for row, size in enumerate(text_bytes(batch)):
            full = self._pending_rows + row - start
            if full and (self._pending_bytes + size > ROW_GROUP_BYTES or full >= ROW_GROUP_ROWS):
                self._take(batch, start, row)
                self._flush_group()
                start = row
            self._pending_bytes += size
        self._take(batch, start, batch.num_rows)

    def _take(self, batch: pa.RecordBatch, start: int, stop: int) -> None:
        if stop > start:
            self._pending.append(batch.slice(start, stop - start))
            self._pending_rows += stop - start

    def _flush_group(self) -> None:
        if not self._pending_rows:
            return
        parquet = self._parquet or self._open()
        table = pa.Table.from_batches([b.cast(self._schema) for b in self._pending])
        parquet.write_table(table, row_group_size=self._pending_rows)
        self._file_rows += self._pending_rows
        self._file_bytes += self._pending_bytes
        self._pending, self._pending_bytes, self._pending_rows = [], 0, 0
        if self._file_bytes >= SHARD_BYTES:
            self._close_file()

    def _open(self) -> pq.ParquetWriter:
        self._file = self._writer.create()
        names: list[str] = self._schema.names
        options: dict[str, Any] = {
            "compression": "zstd",
            "compression_level": ZSTD_LEVEL,
            "use_dictionary": [c for c in _DICTIONARY_COLUMNS if c in names],
            "write_statistics": [c for c in names if c in ("id", "source")],
            "write_page_checksum": True,
            "data_page_version": "2.0",  # 1.0 copies a page before it compresses it: a long row once more
        }
        self._parquet = pq.ParquetWriter(pa.PythonFile(self._file, mode="w"), self._schema, **options)
        return self._parquet

    def _close_file(self) -> None:
        if self._parquet is None or self._file is None:
            return
        self._parquet.close()
        name = f"{self._role}-{self._files:05d}.parquet"
        self._writer.add(self._file, self._role, name, self._file_rows)
        self._files += 1
        self._parquet = self._file = None
        self._file_rows = self._file_bytes = 0

    def close(self) -> None:
        """Write what is pending. A role without rows leaves no file."""
        self._flush_group()
        self._close_file()


def read_numbered(
    path: Path, columns: Sequence[str] | None = None
) -> Iterator[tuple[pa.RecordBatch, npt.NDArray[np.uint64]]]:
    """The batches of a shard, each with the numbers of its rows in the shard."""
    first = 0
    for batch in read_shard(path, columns):
        yield batch, np.arange(first, first + batch.num_rows, dtype=np.uint64)
        first += batch.num_rows


def read_shard(path: Path, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The row groups of a shard as batches. Raises VerifyError on damage, naming the file and row group."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(
                    group, columns=None if columns is None else list(columns), use_threads=False
                )
                batches = table.combine_chunks().to_batches()
                del table
                if sum(b.nbytes for b in batches) > 2 * ROW_GROUP_BYTES:
                    pa.default_memory_pool().release_unused()  # the decoded pages of one long row
                while batches:
                    yield batches.pop(0)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise VerifyError(
            "shard cannot be read",
            where=str(path),
            value=error,
            remedy=f"remove the folder {path.parent} and run again",
        ) from error

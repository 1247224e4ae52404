"""One dataset of trainer rows, opened by its manifest: rows by number, each held against its hash.

Row numbers run through the shards in the manifest's order. Files are opened in each process anew, so that a dataset may
cross a fork or be pickled: shards of a folder as they stand (`open_shards`), those in object storage, and where a cache
is given also compressed ones, through the cache of blocks (`block_files`). Nothing is listed: a folder without a
manifest is refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from gristmill.manifests.errors import InputError, UsageError, VerifyError
from gristmill.manifests.manifest import MANIFEST, parse_manifest, read_manifest
from gristmill.manifests.remote_access import RemotePlace, is_remote, place_of
from gristmill.manifests.row_index import ROW_TABLE, aux_hash
from gristmill.manifests.rows_facts import check_rows
from gristmill.manifests.trainer_schema import TokenizerIdentity, packed_columns
from gristmill.pipeline.reader.block_cache import BlockCache, default_folder
from gristmill.pipeline.reader.block_files import BlockFiles
from gristmill.pipeline.reader.block_shuffle import BLOCK_BYTES
from gristmill.pipeline.reader.fetch_kernel import (
    ENTRY_BYTES,
    IDS_WRONG,
    NO_ROOM,
    NOT_OPEN,
    OUTSIDE,
    SIDE_WRONG,
    read_rows,
)
from gristmill.pipeline.reader.make_block import DamagedRowError, fill_row
from gristmill.pipeline.reader.media_store import MediaStore, media_shards
from gristmill.pipeline.reader.open_shards import OpenShards
from gristmill.pipeline.reader.shard_source import Layout, Root, Shard, read_span, shard_of, shown
from gristmill.pipeline.reader.sides import RawSides

_SIDE_BYTES = 256
"""Room for the side of a row at first; rows of a million tokens may take thousands."""
_HOW = {IDS_WRONG: "its ids are not what they hash to", SIDE_WRONG: "its segments are not what they hash to"}

Ints = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]


class CorruptRowError(VerifyError):
    """A row is not what was written; `row` is its number in the dataset."""

    row: int = -1


@dataclass
class RowsDataset:
    """See the module. `folder` is a Path, or a place in object storage; `block_rows` rows are fetched at once."""

    folder: Root
    digest: str
    context: int
    tokenizer: TokenizerIdentity
    shards: Sequence[Shard]
    first: Ints
    manifest: Mapping[str, Any] = field(repr=False)
    block_rows: int = 1
    cache: BlockCache | None = None
    _files: OpenShards | BlockFiles | None = field(default=None, repr=False)
    _media: MediaStore | None = field(default=None, repr=False)

    @staticmethod
    def open(folder: str | Path) -> "RowsDataset":
        """By its manifest. Raises UsageError where it is no dataset of rows, or has no indexes."""
        remote = is_remote(str(folder))
        root = place_of(str(folder)) if remote else Path(folder).absolute()
        manifest = _remote_manifest(root) if isinstance(root, RemotePlace) else read_manifest(root)
        where = str(folder)
        check_rows(manifest, where)
        if manifest["kind"] != "rows":
            raise UsageError("holds documents, not trainer rows", where, None, "name a dataset that ends in `emit`")
        indexes = manifest.get("row_indexes", [])
        if len(indexes) != len(manifest["shards"]):
            raise UsageError("its shards have no indexes", where, None, "run its recipe again: nothing else is redone")
        shards = [shard_of(root, s, i) for s, i in zip(manifest["shards"], indexes, strict=True)]
        first = np.concatenate(([0], np.cumsum([s.rows for s in shards], dtype=np.int64)))
        context, identity = manifest["facts"]["context"], TokenizerIdentity(**manifest["facts"]["tokenizer"])
        found = RowsDataset(root, manifest["digest"], context, identity, shards, first, manifest)
        found.block_rows = max(1, BLOCK_BYTES // (4 * context))
        found.cache = BlockCache(default_folder()) if remote else None
        return found

    @property
    def rows(self) -> int:
        """Of all shards."""
        return int(self.first[-1])

    @property
    def where(self) -> str:
        """Its folder, or its URL."""
        return self.folder.url if isinstance(self.folder, RemotePlace) else str(self.folder)

    @property
    def is_remote(self) -> bool:
        """Whether it lies in object storage."""
        return isinstance(self.folder, RemotePlace)

    def keep_in(self, cache: BlockCache, fetch_rows: int | None = None) -> None:
        """Keep rows that are fetched, or decompressed, in this cache, and fetch so many at once; rows that can be read
        as they stand are not."""
        rows = fetch_rows or self.block_rows
        as_they_stand = not self.is_remote and all(shard.codec == "none" for shard in self.shards)
        if not as_they_stand and (self.cache != cache or self.block_rows != rows):
            self.cache, self.block_rows, self._files = cache, rows, None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_files": None, "_media": None}

    def copy(self) -> "RowsDataset":
        """The same dataset with files of its own: one reader's are not another thread's."""
        return replace(self, _files=None)

    def place(self, row: int) -> tuple[Shard, int]:
        """The shard of a row, and the row's number there."""
        shard = int(self._layout.shard_of(row))
        return self.shards[shard], row - int(self.first[shard])

    def read(self, rows: Ints, out: Ids, verify: bool = True) -> RawSides:
        """Fill out[i] (int32[n, context], contiguous) with the ids of row rows[i]; what else these rows say.

        A row that the cache holds damaged is fetched again, once. Raises CorruptRowError, naming the first row that is
        not what was written, IndexError outside, StorageLostError where object storage does not answer.
        """
        files, ids = self.open_shards(), out.view(np.uint8)
        with files.lock:
            tried: tuple[int, ...] = ()
            while True:
                try:
                    return self._filled(files, rows, ids, verify)
                except CorruptRowError as error:
                    if error.row in tried or not files.forget(error.row):
                        raise
                    tried = (*tried, error.row)

    def _filled(self, files: OpenShards | BlockFiles, rows: Ints, ids: Any, verify: bool) -> RawSides:
        """The sides of rows; the ids are in place then."""
        count, all_rows = len(rows), self.rows
        entries = np.empty((count, 2 * ENTRY_BYTES), dtype=np.uint8)
        bounds = np.zeros(count + 1, dtype=np.int64)
        sides = np.empty(_SIDE_BYTES * (count + 1), dtype=np.uint8)
        start, stop = 0, count
        if isinstance(files, BlockFiles):
            stop = 0
            if count and not 0 <= int(rows.min()) <= int(rows.max()) < all_rows:
                raise IndexError(f"rows are numbered [0, {all_rows})")
        while start < count:
            stop = stop if start < stop else start + files.need(rows[start:])
            asked = (start, stop, all_rows, int(verify))
            ended, at = read_rows(rows, files.table, files.batches, ids, entries, sides, bounds, asked)
            start = at if ended else stop
            if ended == NOT_OPEN:
                files.need(rows[start:])
            elif ended == NO_ROOM:
                sides = np.concatenate([sides, np.empty(len(sides) + int(bounds[start + 1]), dtype=np.uint8)])
            elif ended == OUTSIDE:
                raise IndexError(f"rows are numbered [0, {all_rows})")
            elif ended:
                raise self._corrupt(int(rows[start]), _HOW.get(ended, "it, or its index, is cut short"))
        if files.some_apart:
            self._fill_apart(files, rows, ids, entries.view(ROW_TABLE) if verify else None)
        return RawSides(sides[: bounds[-1]], bounds)

    def _fill_apart(self, files: OpenShards | BlockFiles, rows: Ints, ids: Any, entries: Any) -> None:
        """The ids of rows that the kernel leaves to others, held against the index's entries where they are given."""
        for i in files.apart(rows):
            shard = int(self._layout.shard_of(rows[i]))
            row = int(rows[i] - self.first[shard])
            try:
                fill_row(self.shards[shard].codec, files.ids_of(shard, row), ids[i], row)
            except DamagedRowError as error:
                raise self._corrupt(int(rows[i]), error.how) from None
            if entries is not None and xxhash.xxh3_64_intdigest(ids[i]) != int(entries["ids"][i, 0]):
                raise self._corrupt(int(rows[i]), _HOW[IDS_WRONG])

    def fetches(self, rows: int) -> bool:
        """Whether rows come through the cache of blocks, and so many or more at once."""
        return self.cache is not None and self.block_rows >= rows

    def holds(self, rows: int) -> bool:
        """Whether the cache of blocks has room for so many rows."""
        return self.cache is not None and 4 * self.context * rows <= self.cache.limit_bytes

    def ahead(self, rows: Sequence[int]) -> None:
        """Fetch the blocks of rows when nothing else is waited for."""
        if isinstance(files := self.open_shards(), BlockFiles):
            files.ahead(rows)

    def open_shards(self) -> OpenShards | BlockFiles:
        """The files of this process."""
        if self._files is None or not self._files.is_of_this_process():
            layout = self._layout
            self._files = OpenShards(layout) if self.cache is None else BlockFiles(layout, self.cache, self.block_rows)
        return self._files

    def media(self) -> MediaStore:
        """The bytes of its media, for this process."""
        if self._media is None or not self._media.is_of_this_process():
            self._media = MediaStore(self.folder, media_shards(self.folder, self.manifest))
        return self._media

    @property
    def _layout(self) -> Layout:
        return Layout(self.folder, self.shards, self.first, self.context)

    def _corrupt(self, row: int, how: str) -> CorruptRowError:
        shard, inside = self.place(row)
        where = f"{shown(self.folder, shard.path)} row {inside}"
        remedy = "see `gristmill verify`; on_corrupt='skip' goes on without the row"
        error = CorruptRowError("a row is damaged", where, how, remedy)
        error.row = row
        return error

    def documents(self, row: int) -> dict[str, Any]:
        """What a row says of itself besides ids: row_id, docs, tasks, segments, media, loss_spans, as plain data.

        The record batch that holds it is read, and held against its hash. Raises CorruptRowError.
        """
        shard, number, first = self.batch_of(row)
        return self.without_ids(shard, number).slice(row - first, 1).to_pylist()[0]

    def batch_of(self, row: int) -> tuple[int, int, int]:
        """The shard of a row, the record batch there, and the row of the dataset that this batch begins with."""
        shard = int(self._layout.shard_of(row))
        batches = self.open_shards().whole_head(shard).batches
        number = int(np.searchsorted(batches["first"], row - self.first[shard], side="right")) - 1
        return shard, number, int(self.first[shard]) + int(batches["first"][number])

    def without_ids(self, shard: int, number: int) -> pa.RecordBatch:
        """All columns but `input_ids` of a record batch, held against its hash. Raises CorruptRowError."""
        head = self.open_shards().whole_head(shard)
        place = head.batches[number]
        first, at, ids_at = int(place["first"]), int(place["at"]), int(place["ids_at"])
        stop = int(head.batches["first"][number + 1]) if number + 1 < len(head.batches) else head.rows
        ids_bytes = 4 * self.context * (stop - first) if head.codec == "none" else int(place["ids_bytes"])
        message = memoryview(read_span(self.folder, self.shards[shard], at, int(place["end"])))
        around_ids = [message[: ids_at - at], message[ids_at - at + ids_bytes :]]
        if aux_hash(around_ids) != int(place["aux"]):
            raise self._corrupt(int(self.first[shard]) + first, "its documents are not what they hash to")
        return _without_ids(self.context, message)


def _without_ids(context: int, message: memoryview) -> pa.RecordBatch:
    """A batch of packed rows as it stands in a file; its ids are neither read nor decompressed. The file's own schema
    has no hash: the message is taken for one of `packed_columns`, whatever stands there."""
    schema, fields = _schema_message(context)
    options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
    with pa.ipc.open_stream(pa.py_buffer(schema + message), options=options) as reader:
        return reader.read_next_batch()


@lru_cache(maxsize=8)
def _schema_message(context: int) -> tuple[bytes, list[int]]:
    """The schema of packed rows as a message of IPC, and the numbers of all columns but the ids."""
    schema = packed_columns(context)
    return schema.serialize().to_pybytes(), [i for i, name in enumerate(schema.names) if name != "input_ids"]


def _remote_manifest(place: RemotePlace) -> dict[str, Any]:
    from gristmill.manifests.remote import get

    found = get(place, MANIFEST)
    if found is None:
        raise InputError("no such object", place.shown(MANIFEST), None, "name the place of a finished dataset")
    return parse_manifest(found[0], place.shown(MANIFEST))

"""One dataset of trainer rows, opened by its manifest: rows by number, each held against its hash.

Row numbers run through the shards in the manifest's order. Files are opened by `open_shards`, in each process anew, so
that a dataset may cross a fork or be pickled. Nothing is listed: a folder without a manifest is refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from gristmill.manifests.errors import UsageError, VerifyError
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.row_index import ROW_TABLE, aux_hash
from gristmill.manifests.trainer_schema import TokenizerIdentity
from gristmill.pipeline.reader.fetch_kernel import ENTRY_BYTES, NO_ROOM, NOT_OPEN, read_rows
from gristmill.pipeline.reader.media_store import MediaStore, media_shards
from gristmill.pipeline.reader.open_shards import OpenShards, Shard
from gristmill.pipeline.reader.sides import RawSides

_SIDE_BYTES = 256
"""Room for the side of a row at first; rows of a million tokens may take thousands."""

Ints = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]


class CorruptRowError(VerifyError):
    """A row is not what was written; `row` is its number in the dataset."""

    row: int = -1


@dataclass
class RowsDataset:
    """See the module."""

    folder: Path
    digest: str
    context: int
    tokenizer: TokenizerIdentity
    shards: Sequence[Shard]
    first: Ints
    manifest: Mapping[str, Any] = field(repr=False)
    _shards: OpenShards | None = field(default=None, repr=False)
    _media: MediaStore | None = field(default=None, repr=False)

    @staticmethod
    def open(folder: str | Path) -> "RowsDataset":
        """By its manifest. Raises UsageError where it is no dataset of rows, or has no indexes."""
        folder = Path(folder)
        manifest = read_manifest(folder)
        where = str(folder)
        if manifest["kind"] != "rows":
            raise UsageError("holds documents, not trainer rows", where, None, "name a dataset that ends in `emit`")
        indexes = manifest.get("row_indexes", [])
        if len(indexes) != len(manifest["shards"]):
            raise UsageError("its shards have no indexes", where, None, "run its recipe again: nothing else is redone")
        shards = [
            Shard(folder / s["path"], folder / i["path"], s["digest"], s["rows"])
            for s, i in zip(manifest["shards"], indexes, strict=True)
        ]
        first = np.concatenate(([0], np.cumsum([s.rows for s in shards], dtype=np.int64)))
        facts = manifest["facts"]
        identity = TokenizerIdentity(**facts["tokenizer"])
        return RowsDataset(folder, manifest["digest"], facts["context"], identity, shards, first, manifest)

    @property
    def rows(self) -> int:
        """Of all shards."""
        return int(self.first[-1])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_shards": None, "_media": None}

    def copy(self) -> "RowsDataset":
        """The same dataset with files of its own: one reader's are not another thread's."""
        return replace(self, _shards=None)

    def place(self, row: int) -> tuple[Shard, int]:
        """The shard of a row, and the row's number there."""
        shard = int(self._shard_of(row))
        return self.shards[shard], row - int(self.first[shard])

    def read(self, rows: Ints, out: Ids, verify: bool = True) -> RawSides:
        """Fill out[i] (int32[n, context], contiguous) with the ids of row rows[i]; what else these rows say.

        Raises CorruptRowError, naming the first row that is not what was written, IndexError outside.
        """
        count = len(rows)
        if count and not 0 <= int(rows.min()) <= int(rows.max()) < self.rows:
            raise IndexError(f"rows are numbered [0, {self.rows})")
        entries = np.empty((count, 2 * ENTRY_BYTES), dtype=np.uint8)
        bounds = np.zeros(count + 1, dtype=np.int64)
        sides = np.empty(_SIDE_BYTES * (count + 1), dtype=np.uint8)
        opened, ids, start = self.open_shards(), out.view(np.uint8), 0
        while True:
            ended, start = read_rows(rows, opened.table, opened.batches, ids, entries, sides, bounds, start)
            if not ended:
                break
            if ended == NOT_OPEN:
                opened.open_all(self._shard_of(rows[start:]).tolist())
            elif ended == NO_ROOM:
                sides = np.concatenate([sides, np.empty(len(sides) + int(bounds[start + 1]), dtype=np.uint8)])
            else:
                raise self._corrupt(int(rows[start]), "it, or its index, is cut short")
        if verify:
            self._verify(rows, ids, entries.view(ROW_TABLE), (sides, bounds))
        return RawSides(sides[: bounds[-1]], bounds)

    def open_shards(self) -> OpenShards:
        """The files of this process."""
        if self._shards is None or not self._shards.is_of_this_process():
            self._shards = OpenShards(self.shards, self.first, self.context)
        return self._shards

    def media(self) -> MediaStore:
        """The bytes of its media, for this process."""
        if self._media is None or not self._media.is_of_this_process():
            self._media = MediaStore(media_shards(self.folder, self.manifest))
        return self._media

    def _shard_of(self, rows: Any) -> Any:
        """The number of the shard that each row stands in."""
        return np.searchsorted(self.first, rows, side="right") - 1

    def _verify(self, rows: Ints, ids: Any, entries: Any, sides: tuple[Any, Ints]) -> None:
        data, bounds = memoryview(sides[0]), sides[1].tolist()
        said_ids, said_sides = entries["ids"][:, 0].tolist(), entries["side"][:, 0].tolist()
        for i, (ids_hash, side_hash) in enumerate(zip(said_ids, said_sides, strict=True)):
            if xxhash.xxh3_64_intdigest(ids[i]) != ids_hash:
                raise self._corrupt(int(rows[i]), "its ids are not what they hash to")
            if xxhash.xxh3_64_intdigest(data[bounds[i] : bounds[i + 1]]) & 0xFFFFFFFF != side_hash:
                raise self._corrupt(int(rows[i]), "its segments are not what they hash to")

    def _corrupt(self, row: int, how: str) -> CorruptRowError:
        shard, inside = self.place(row)
        where = f"{shard.path} row {inside}"
        remedy = "see `gristmill verify`; on_corrupt='skip' goes on without the row"
        error = CorruptRowError("a row is damaged", where, how, remedy)
        error.row = row
        return error

    def documents(self, row: int) -> dict[str, Any]:
        """What a row says of itself besides ids: row_id, docs, tasks, segments, media, loss_spans, as plain data.

        The record batch that holds it is read, without its ids, and held against its hash. Raises CorruptRowError.
        """
        shard, number, first = self.place(row)
        return self.without_ids(shard, number).slice(row - first, 1).to_pylist()[0]

    def place(self, row: int) -> tuple[int, int, int]:
        """The shard of a row, the record batch there, and the row of the dataset that this batch begins with."""
        shard = int(self._shard_of(row))
        inside = row - self.first[shard]
        batches = self.open_shards().open(shard).batches
        number = int(np.searchsorted(batches["first"], inside, side="right")) - 1
        return shard, number, int(self.first[shard]) + int(batches["first"][number])

    def without_ids(self, shard: int, number: int) -> pa.RecordBatch:
        """All columns but `input_ids` of a record batch, mapped, held against its hash. Raises CorruptRowError."""
        head = self.open_shards().open(shard)
        place = head.batches[number]
        first = int(place["first"])
        stop = int(head.batches["first"][number + 1]) if number + 1 < len(head.batches) else head.rows
        with pa.memory_map(str(self.shards[shard].path)) as source:
            view = memoryview(source.read_buffer())
            ids_end = int(place["ids_at"]) + 4 * self.context * (stop - first)
            around_ids = [view[int(place["at"]) : int(place["ids_at"])], view[ids_end : int(place["end"])]]
            if aux_hash(around_ids) != int(place["aux"]):
                raise self._corrupt(int(self.first[shard]) + first, "its documents are not what they hash to")
            batch = pa.ipc.open_file(source).get_batch(number)
            return batch.select([name for name in batch.schema.names if name != "input_ids"])

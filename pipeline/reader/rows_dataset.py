"""One dataset of trainer rows, opened by its manifest: rows by number, each held against its hash.

Row numbers run through the shards in the manifest's order. Only head and batch table of each index are kept in memory,
read when a shard is first asked for; files are opened then, at most MAX_OPEN at once, and in each process anew, so that
a dataset may cross a fork or be pickled. Nothing is listed: a folder without a manifest is refused.
"""

import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from gristmill.manifests.errors import UsageError, VerifyError
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.row_index import HEAD, ROW_TABLE, RowIndex, head_bytes
from gristmill.manifests.trainer_schema import TokenizerIdentity, TrainerFormat
from gristmill.pipeline.reader.sides import Sides, sides_of

MAX_OPEN = 256
"""Shards, each with two files."""

Ints = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]


class CorruptRowError(VerifyError):
    """A row is not what was written; `row` is its number in the dataset."""

    row: int = -1


@dataclass(frozen=True)
class _Shard:
    """A shard and its index, by the manifest."""

    path: Path
    index: Path
    digest: str
    rows: int


@dataclass
class _Open:
    """The files of a shard, open in this process."""

    fd: int
    index_fd: int
    head: RowIndex

    def close(self) -> None:
        """Close both files; again is nothing."""
        for fd in (self.fd, self.index_fd):
            if fd >= 0:
                os.close(fd)
        self.fd = self.index_fd = -1

    __del__ = close


@dataclass
class RowsDataset:
    """See the module."""

    folder: Path
    digest: str
    context: int
    tokenizer: TokenizerIdentity
    shards: Sequence[_Shard]
    first: Ints
    manifest: Mapping[str, Any] = field(repr=False)
    _files: "OrderedDict[int, _Open]" = field(default_factory=OrderedDict[int, _Open], repr=False)
    _pid: int = 0

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
            _Shard(folder / s["path"], folder / i["path"], s["digest"], s["rows"])
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
        return {**self.__dict__, "_files": OrderedDict(), "_pid": 0}

    def read(self, rows: Ints, out: Ids, verify: bool = True) -> Sides:
        """Fill out[i] (int32[n, context], contiguous) with the ids of row rows[i]; the sides of these rows.

        Raises CorruptRowError, naming the first row that is not what was written, IndexError outside.
        """
        from gristmill.pipeline.reader.fetch_kernel import read_fixed, read_ranges

        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < self.rows:
            raise IndexError(f"rows are numbered [0, {self.rows})")
        of_shard = np.searchsorted(self.first, rows, side="right") - 1
        places = self._places(of_shard, rows - self.first[of_shard])
        entries = np.empty((len(rows), 2), dtype=ROW_TABLE)
        self._whole(read_fixed(places.index_fds, places.entries, _bytes(entries)), rows, of_shard, index=True)
        at = entries["side_at"].astype(np.int64)
        lengths = np.maximum(at[:, 1] - at[:, 0], 0)
        bounds = _fixed(np.concatenate(([0], np.cumsum(np.minimum(lengths, places.sides_bytes)))))
        sides = np.empty(int(bounds[-1]), dtype=np.uint8)
        wrong = read_ranges(places.index_fds, _fixed(places.sides + at[:, 0]), bounds, sides)
        self._whole(wrong, rows, of_shard, index=True)
        self._whole(read_fixed(places.fds, places.ids, _bytes(out)), rows, of_shard, index=False)
        if verify:
            self._verify(rows, of_shard, out, entries[:, 0], (sides, bounds))
        try:
            return sides_of(sides, bounds)
        except ValueError as error:
            raise self._corrupt(int(rows[0]), int(of_shard[0]), str(error)) from None

    def _verify(self, rows: Ints, of_shard: Ints, out: Ids, entries: Any, sides: tuple[Any, Ints]) -> None:
        data, bounds = memoryview(sides[0]), sides[1].tolist()
        said_ids, said_sides = entries["ids"].tolist(), entries["side"].tolist()
        for i in range(len(rows)):
            if xxhash.xxh3_64_intdigest(memoryview(out[i]).cast("B")) != said_ids[i]:
                raise self._corrupt(int(rows[i]), int(of_shard[i]), "its ids are not what they hash to")
            if xxhash.xxh3_64_intdigest(data[bounds[i] : bounds[i + 1]]) & 0xFFFFFFFF != said_sides[i]:
                raise self._corrupt(int(rows[i]), int(of_shard[i]), "its segments are not what they hash to")

    def _whole(self, wrong: int, rows: Ints, of_shard: Ints, index: bool) -> None:
        if wrong:
            what = "its index is cut short" if index else "the shard is cut short"
            raise self._corrupt(int(rows[wrong - 1]), int(of_shard[wrong - 1]), what)

    def _corrupt(self, row: int, shard: int, how: str) -> CorruptRowError:
        where = f"{self.shards[shard].path} row {row - int(self.first[shard])}"
        remedy = "see `gristmill verify`; on_corrupt='skip' goes on without the row"
        error = CorruptRowError("a row is damaged", where, how, remedy)
        error.row = row
        return error

    def _places(self, of_shard: Ints, row: Ints) -> "_Places":
        fds, index_fds = np.empty(len(row), np.int32), np.empty(len(row), np.int32)
        ids, entries, sides, sides_bytes = (np.empty(len(row), np.int64) for _ in range(4))
        for shard in np.unique(of_shard).tolist():
            here = of_shard == shard
            opened = self._opened(shard)
            head = opened.head
            batch = head.batches[np.searchsorted(head.batches["first"], row[here], side="right") - 1]
            fds[here], index_fds[here] = opened.fd, opened.index_fd
            within = row[here] - batch["first"].astype(np.int64)
            ids[here] = batch["ids_at"].astype(np.int64) + 4 * self.context * within
            entries[here] = head.rows_at + ROW_TABLE.itemsize * row[here]
            sides[here], sides_bytes[here] = head.sides_at, head.sides_bytes
        return _Places(*(_fixed(a) for a in (fds, index_fds, ids, entries, sides, sides_bytes)))

    def _opened(self, number: int) -> _Open:
        if self._pid != os.getpid():  # descriptors of a parent share its place in a file, and may be closed by it
            self._files, self._pid = OrderedDict(), os.getpid()
        found = self._files.get(number)
        if found is None:
            while len(self._files) >= MAX_OPEN:
                self._files.popitem(last=False)[1].close()
            found = self._files[number] = self._open_shard(self.shards[number])
        self._files.move_to_end(number)
        return found

    def _open_shard(self, shard: _Shard) -> _Open:
        fd, index_fd = _open_file(shard.path), -1
        try:
            index_fd = _open_file(shard.index)
            first = os.pread(index_fd, HEAD.size, 0)
            head = RowIndex.parse(os.pread(index_fd, max(head_bytes(first), HEAD.size), 0), str(shard.index))
            same = head.shard_digest.hex() == shard.digest.rpartition(":")[2][:32]
            if not same or head.rows != shard.rows or head.context != self.context:
                raise VerifyError("an index of another shard", str(shard.index), None, "see `gristmill verify`")
        except BaseException:
            for opened in (fd, index_fd):
                if opened >= 0:
                    os.close(opened)
            raise
        return _Open(fd, index_fd, head)

    def documents(self, row: int) -> dict[str, Any]:
        """What a row says of itself besides ids: row_id, docs, tasks, segments, media, loss_spans, as plain data.

        The record batch that holds it is read, without its ids, and held against its hash. Raises CorruptRowError.
        """
        shard = int(np.searchsorted(self.first, row, side="right")) - 1
        head = self._opened(shard).head
        number = int(np.searchsorted(head.batches["first"], row - self.first[shard], side="right")) - 1
        place = head.batches[number]
        stop = int(head.batches["first"][number + 1]) if number + 1 < len(head.batches) else head.rows
        with pa.memory_map(str(self.shards[shard].path)) as source:
            view = memoryview(source.read_buffer())
            ids_end = int(place["ids_at"]) + 4 * self.context * (stop - int(place["first"]))
            hasher = xxhash.xxh3_64(view[int(place["at"]) : int(place["ids_at"])])
            hasher.update(view[ids_end : int(place["end"])])
            if hasher.intdigest() != int(place["aux"]):
                raise self._corrupt(row, shard, "its documents are not what they hash to")
            batch = pa.ipc.open_file(source).get_batch(number)
            one = batch.slice(row - int(self.first[shard]) - int(place["first"]), 1)
            names = [name for name in batch.schema.names if name != "input_ids"]
            return one.select(names).to_pylist()[0]

    def format_of(self, shard: int = 0) -> TrainerFormat:
        """The format that a shard's schema names."""
        with pa.memory_map(str(self.shards[shard].path)) as source:
            return TrainerFormat.from_metadata(pa.ipc.open_file(source).schema.metadata)


@dataclass(frozen=True)
class _Places:
    fds: npt.NDArray[np.int32]
    index_fds: npt.NDArray[np.int32]
    ids: Ints
    entries: Ints
    sides: Ints
    sides_bytes: Ints


def _open_file(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        remedy = "see `gristmill verify`"
        raise VerifyError("a file of the dataset cannot be opened", str(path), error.strerror, remedy) from None


def _fixed(array: Any) -> Any:
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


def _bytes(array: Any) -> npt.NDArray[np.uint8]:
    """uint8[n, bytes of a row] over the same memory."""
    return array.reshape(len(array), -1).view(np.uint8)

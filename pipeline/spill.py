"""Spill files: fixed-width rows in an Arrow IPC file, cut into ranges that a reader maps without copying.

A file holds record batches of one schema; `parts[p] = [first_batch, batches, rows, start, stop, digest]` says which of
them belong to part p, and what its bytes [start, stop), read by the schema of the file, are: who reads a part alone
does not read the file to know it whole. Written through the commit protocol, read by memory map.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from blake3 import blake3

from gristmill.manifests.commit import HashingFile, ObjectWriter
from gristmill.manifests.errors import VerifyError

SPILL_ROWS_A_BATCH = 1 << 16
_PART_DIGEST_CHARS = 32
_FIRST_MESSAGE = 8
"""Behind the magic of the format."""

Part = list[Any]
"""`[first_batch, batches, rows, start, stop, digest]`."""


class _PartsFile:
    """A file being written, which also hashes what was written since `begin`."""

    def __init__(self, file: HashingFile, schema: pa.Schema) -> None:
        self._file = file
        self._schema = schema
        self._hasher = blake3()
        self._start = 0
        self.closed = False

    def write(self, data: bytes | memoryview) -> int:
        """Append."""
        self._hasher.update(memoryview(data).cast("B"))
        return self._file.write(data)

    def tell(self) -> int:
        """Bytes written so far."""
        return self._file.tell()

    def flush(self) -> None:
        """Pass buffered bytes on."""
        self._file.flush()

    def begin(self) -> None:
        """A part begins."""
        self._hasher, self._start = hasher_of(self._schema), self._file.bytes

    def end(self) -> Part:
        """`start`, `stop` and `digest` of what was written since."""
        return [self._start, self._file.bytes, self._hasher.hexdigest()[:_PART_DIGEST_CHARS]]


def hasher_of(schema: pa.Schema) -> blake3:
    """Hashes the bytes of a part that is read by this schema."""
    return blake3(schema.serialize())


def schema_of(path: Path) -> pa.Schema:
    """The schema at the head of a spill file. Raises ArrowException or OSError where there is none."""
    with pa.memory_map(str(path)) as source:
        source.seek(_FIRST_MESSAGE)
        return pa.ipc.read_schema(source)


def head_of(path: Path) -> bytes:
    """The bytes up to the end of the schema: what a part that does not begin the file is read with. VerifyError where
    there is none."""
    try:
        with pa.memory_map(str(path)) as source:
            source.seek(_FIRST_MESSAGE)
            pa.ipc.read_schema(source)
            size = source.tell()
            source.seek(0)
            return source.read(size)
    except (pa.ArrowException, OSError) as error:
        raise VerifyError(*_damaged(path, error)) from error


class SpillWriter:
    """Writes the parts of one spill file in order."""

    def __init__(self, writer: ObjectWriter, schema: pa.Schema) -> None:
        self._writer = writer
        self._file = writer.create()
        self._parts_file = _PartsFile(self._file, schema)
        self._ipc = pa.ipc.new_file(pa.PythonFile(self._parts_file, mode="w"), schema)
        self._schema = schema
        self._batches = 0
        self.rows = 0
        self.parts: list[Part] = []

    def part(self, tables: Iterable[pa.RecordBatch]) -> None:
        """Append one part."""
        first, rows = self._batches, 0
        self._parts_file.begin()
        for table in tables:
            for start in range(0, table.num_rows, SPILL_ROWS_A_BATCH):
                self._ipc.write_batch(table.slice(start, SPILL_ROWS_A_BATCH))
                self._batches += 1
            rows += table.num_rows
        self.rows += rows
        self.parts.append([first, self._batches - first, rows, *self._parts_file.end()])

    def close(self, role: str, extra: Mapping[str, Any] | None = None) -> None:
        """Finish the file as `role` of the object."""
        self._ipc.close()
        more = {"parts": self.parts, **(extra or {})}
        self._writer.add(self._file, role, f"{role}.arrow", self.rows, more)


def write_one(writer: ObjectWriter, role: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    """A spill file of one part; its rows."""
    spill = SpillWriter(writer, schema)
    spill.part(batches)
    spill.close(role)
    return spill.rows


def write_parts(writer: ObjectWriter, role: str, rows: pa.Table, bounds: npt.NDArray[np.int64]) -> None:
    """A spill file of which part p is the rows [bounds[p], bounds[p + 1])."""
    spill = SpillWriter(writer, rows.schema)
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        spill.part(rows.slice(low, high - low).to_batches() if high > low else [])
    spill.close(role)


def read_part(path: Path, part: Sequence[Any]) -> Iterator[pa.RecordBatch]:
    """The batches of one part, mapped. Raises VerifyError, before the first one, when its bytes are not what they were:
    nothing else would tell. The end of the file, which tells where all parts are, is not looked at: it is longer than a
    part where there are a thousand."""
    start, stop, digest = part[3:]
    try:
        source = pa.memory_map(str(path))
        source.seek(start)
        raw = source.read_buffer(stop - start)
        if not raw.size:
            return
        reader = pa.BufferReader(raw)
        head = source if start else reader  # what is written first has the schema before it
        head.seek(_FIRST_MESSAGE)
        schema = pa.ipc.read_schema(head)
        hasher = hasher_of(schema)
        hasher.update(raw)
        found = hasher.hexdigest()[:_PART_DIGEST_CHARS]
        if found != digest:
            raise VerifyError(*_damaged(path, found))
        while reader.tell() < raw.size:
            yield pa.ipc.read_record_batch(pa.ipc.read_message(reader), schema)
    except (pa.ArrowException, OSError) as error:
        raise VerifyError(*_damaged(path, error)) from error


def read_whole(path: Path) -> Iterator[pa.RecordBatch]:
    """The batches of a whole file, mapped. Its name holds the begin of its digest: VerifyError when that is another."""
    hasher = blake3()
    hasher.update_mmap(path)
    shown = path.name.split(".")[-2]
    if not hasher.hexdigest().startswith(shown):
        raise VerifyError(*_damaged(path, hasher.hexdigest()[: len(shown)]))
    reader = pa.ipc.open_file(pa.memory_map(str(path)))
    yield from map(reader.get_batch, range(reader.num_record_batches))


def _damaged(path: Path, value: object) -> tuple[str, str, object, str]:
    return "a spill file is damaged", str(path), value, f"remove the folder {path.parent} and run again"

"""Spill files: fixed-width rows in an Arrow IPC file, cut into ranges that a reader maps without copying.

A file holds record batches of one schema; `parts[p] = [first_batch, batches, rows]` says which of them
belong to part p. Written through the commit protocol, read by memory map.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.manifests.commit import ObjectWriter
from gristmill.manifests.errors import VerifyError

SPILL_ROWS_A_BATCH = 1 << 16


class SpillWriter:
    """Writes the parts of one spill file in order."""

    def __init__(self, writer: ObjectWriter, schema: pa.Schema) -> None:
        self._writer = writer
        self._file = writer.create()
        self._ipc = pa.ipc.new_file(pa.PythonFile(self._file, mode="w"), schema)
        self._schema = schema
        self._batches = 0
        self.rows = 0
        self.parts: list[list[int]] = []

    def part(self, tables: Iterable[pa.RecordBatch]) -> None:
        """Append one part."""
        first, rows = self._batches, 0
        for table in tables:
            for start in range(0, table.num_rows, SPILL_ROWS_A_BATCH):
                self._ipc.write_batch(table.slice(start, SPILL_ROWS_A_BATCH))
                self._batches += 1
            rows += table.num_rows
        self.rows += rows
        self.parts.append([first, self._batches - first, rows])

    def close(self, role: str, extra: Mapping[str, Any] | None = None) -> None:
        """Finish the file as `role` of the object."""
        self._ipc.close()
        more = {"parts": self.parts, **(extra or {})}
        self._writer.add(self._file, role, f"{role}.arrow", self.rows, more)


def read_part(path: Path, part: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """The batches of one part, mapped. Raises VerifyError when the file is not what it was."""
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        for index in range(part[0], part[0] + part[1]):
            yield reader.get_batch(index)
    except (pa.ArrowException, OSError) as error:
        raise VerifyError("spill file cannot be read", where=str(path), value=error, remedy="run again") from error

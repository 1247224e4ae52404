"""The media of one tokenised shard on their way into media shards: sorted by sha256, each once, cut by its first byte.

Media come in the order of documents and are written as they come, into a temporary file; of each only what is told of
it stays in memory. Closing writes role `media` (rows of MEDIA, spill layout with PARTS parts, part p of the media
whose sha256 begins with byte p) and `media_table` (one part: sha256 and bytes of each, for the plan). Without media
there is neither.
"""

from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO

import pyarrow as pa

from gristmill.manifests.commit import ObjectWriter
from gristmill.manifests.ipc import BATCH_BYTES
from gristmill.manifests.media_shard import MEDIA, Medium, media_batch
from gristmill.pipeline.media_places import Place
from gristmill.pipeline.spill import SpillWriter, write_one

PARTS = 256
ROLE, TABLE_ROLE = "media", "media_table"
TABLE = pa.schema([pa.field("sha256", pa.binary(32), nullable=False), pa.field("bytes", pa.int64(), nullable=False)])

_At = tuple[int, int]
"""Offset in the temporary file, and bytes."""


class MediaSpill:
    """See the module."""

    def __init__(self, writer: ObjectWriter) -> None:
        self._writer = writer
        self._file: IO[bytes] | None = None
        self._end = 0
        self._told: dict[bytes, tuple[Medium, _At]] = {}
        self.tokens = self.longest = 0

    def add(self, place: Place) -> None:
        """A medium in its place; one that was there before is told anew where it ranks lower, and not written."""
        self.tokens += place.tokens
        self.longest = max(self.longest, place.tokens)
        before = self._told.get(place.medium.sha256)
        if before is None:
            self._told[place.medium.sha256] = (place.medium, self._written(place.data))
        elif place.medium.rank() < before[0].rank():
            self._told[place.medium.sha256] = (place.medium, before[1])

    def close(self) -> None:
        """Write what came."""
        if not self._told:
            return
        order = sorted(self._told)
        spill = SpillWriter(self._writer, MEDIA)
        start = 0
        for first_byte in range(PARTS):
            stop = start
            while stop < len(order) and order[stop][0] == first_byte:
                stop += 1
            spill.part(self._batches(order[start:stop]))
            start = stop
        spill.close(ROLE)
        sizes = [self._told[sha][1][1] for sha in order]
        write_one(self._writer, TABLE_ROLE, TABLE, [pa.record_batch([pa.array(order, pa.binary(32)), sizes], TABLE)])
        if self._file is not None:
            self._file.close()

    def _written(self, data: memoryview) -> _At:
        if self._file is None:
            # In the folder of the work, where there is room for what it leaves; without a name, so that none is left.
            self._file = TemporaryFile(dir=self._writer.folder)  # noqa: SIM115
        at = (self._end, len(data))
        self._file.write(data)
        self._end += len(data)
        return at

    def _batches(self, shas: list[bytes]) -> Iterator[pa.RecordBatch]:
        pending: list[tuple[Medium, bytes]] = []
        size = 0
        for sha in shas:
            medium, at = self._told[sha]
            if pending and size + at[1] > BATCH_BYTES:
                yield media_batch(pending)
                pending, size = [], 0
            pending.append((medium, self._read(at)))
            size += at[1]
        if pending:
            yield media_batch(pending)

    def _read(self, at: _At) -> bytes:
        if self._file is None:
            return b""
        self._file.seek(at[0])
        return self._file.read(at[1])

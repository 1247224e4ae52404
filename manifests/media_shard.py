"""Media shards: the bytes of pictures and videos beside the rows that show them, each once in a dataset.

`MEDIA`, sorted by sha256 through all files of a dataset: Arrow IPC, uncompressed, each buffer at a multiple of 64
bytes (`ipc`), record batches of at most 4 MiB or one medium, files of about 256 MiB or one medium. `width` and
`height` are pixels of the file as it came, `frames` those of a video (null for a picture). Of a medium that several
documents show the least (kind, mime, width, height, frames) is told, nulls first, so that bytes do not depend on who
came first. `phash` is null until a stage fills it. Beside each file stands its index (`media_index`). A file's entry
bears `first`, the hex sha256 of its first medium, so that a reader knows the file of any medium without opening one.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa

from gristmill.manifests.commit import HashingFile, ObjectWriter
from gristmill.manifests.ipc import BATCH_BYTES, SHARD_BYTES
from gristmill.manifests.ipc_layout import FILE_HEAD, Block, aligned_batch, aligned_schema, file_tail
from gristmill.manifests.media_index import index_bytes, places_of

SHARDS_ROLE, INDEXES_ROLE = "media_shards", "media_indexes"

MEDIA = pa.schema(
    [
        pa.field("sha256", pa.binary(32), nullable=False),
        pa.field("mime", pa.string()),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("width", pa.int32(), nullable=False),
        pa.field("height", pa.int32(), nullable=False),
        pa.field("frames", pa.int32()),
        pa.field("bytes", pa.large_binary(), nullable=False),
        pa.field("phash", pa.uint64()),
    ],
    metadata={"gristmill": "1", "media_version": "1"},
)
_BYTES_BUFFER = MEDIA.names.index("bytes")


class Medium(NamedTuple):
    """What is told of a medium besides its bytes."""

    sha256: bytes
    kind: str
    mime: str | None
    width: int
    height: int
    frames: int | None

    def rank(self) -> tuple[Any, ...]:
        """Of two with one sha256 the lower is told; sorts by sha256 first."""
        mime = (self.mime is not None, self.mime or "")
        return (self.sha256, self.kind, mime, self.width, self.height, self.frames or 0)


def media_batch(media: Iterable[tuple[Medium, memoryview | bytes]]) -> pa.RecordBatch:
    """Rows of MEDIA."""
    told = list(media)
    columns = {name: [getattr(m, name) for m, _ in told] for name in Medium._fields}
    arrays = {name: pa.array(values, MEDIA.field(name).type) for name, values in columns.items()}
    arrays["bytes"] = pa.array([data for _, data in told], pa.large_binary())
    arrays["phash"] = pa.nulls(len(told), pa.uint64())
    return pa.RecordBatch.from_arrays([arrays[f.name] for f in MEDIA], schema=MEDIA)


class MediaShards:
    """Writes the media of one object, which come sorted by sha256 and once, as numbered files with their indexes."""

    def __init__(self, writer: ObjectWriter) -> None:
        self._writer = writer
        self._pending: list[tuple[Medium, memoryview | bytes]] = []
        self._pending_bytes = 0
        self._file: HashingFile | None = None
        self._blocks: list[Block] = []
        self._shas: list[bytes] = []
        self._places: list[tuple[int, int, int]] = []
        self._files = 0

    def write(self, medium: Medium, data: memoryview | bytes) -> None:
        """Append one, of a byte at least."""
        if self._pending and self._pending_bytes + len(data) > BATCH_BYTES:
            self._flush()
        self._pending.append((medium, data))
        self._pending_bytes += len(data)

    def close(self) -> None:
        """Write what is pending."""
        if self._pending:
            self._flush()
        self._close_file()

    def _flush(self) -> None:
        batch = media_batch(self._pending)
        self._pending, self._pending_bytes = [], 0
        file = self._file or self._open()
        chunks, block = aligned_batch(batch, file.bytes)
        self._places += places_of(batch.column("bytes"), block.offset + _bytes_at(batch, chunks))
        self._shas += batch.column("sha256").to_pylist()
        for chunk in chunks:
            file.write(chunk)
        self._blocks.append(block)
        if file.bytes >= SHARD_BYTES:
            self._close_file()

    def _open(self) -> HashingFile:
        self._file = self._writer.create()
        self._file.write(FILE_HEAD)
        self._file.write(aligned_schema(MEDIA, self._file.bytes))
        return self._file

    def _close_file(self) -> None:
        if self._file is None:
            return
        self._file.write(file_tail(MEDIA, self._blocks))
        name, rows = f"media-{self._files:05d}", len(self._shas)
        self._writer.add(self._file, SHARDS_ROLE, f"{name}.arrow", rows, {"first": self._shas[0].hex()})
        index = self._writer.create()
        index.write(index_bytes(self._shas, self._places, self._writer.files[-1].digest))
        self._writer.add(index, INDEXES_ROLE, f"{name}.idx", rows)
        self._files += 1
        self._file, self._blocks, self._shas, self._places = None, [], [], []


def _bytes_at(batch: pa.RecordBatch, chunks: list[bytes | memoryview]) -> int:
    """Where the data of `bytes` come to stand in a message: each buffer of the batch is a chunk and its padding."""
    before = sum(len(c.buffers()) for c in batch.columns[:_BYTES_BUFFER])
    return sum(len(chunk) for chunk in chunks[: 1 + 2 * (before + 2)])

"""The bytes of an Arrow IPC file whose every buffer starts at a multiple of 64.

The format recommends 64-byte alignment, pyarrow writes 8 and has no option for it. So messages are taken from
pyarrow and moved apart: the buffers of a body are copied to aligned places, and the offsets in the message's
flatbuffer, which are fixed-width, are overwritten where they stand. Nothing else of the message changes. Buffers that
are compressed are of no use where they stand, and take the 8 bytes that the format asks for.

Source of the layouts: Message.fbs, Schema.fbs and File.fbs of github.com/apache/arrow (format/), version V5;
flatbuffer internals: flatbuffers.dev/internals.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

ALIGNMENT = 64
COMPRESSED_ALIGNMENT = 8
MAGIC = b"ARROW1"
FILE_HEAD = MAGIC + b"\0\0"
END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"

_CONTINUATION = b"\xff\xff\xff\xff"
_PREFIX_BYTES = 8
_MESSAGE_HEADER, _MESSAGE_BODY_LENGTH = 2, 3
_BATCH_BUFFERS, _BATCH_COMPRESSION = 2, 3
_FOOTER_BATCHES = 3
_BUFFER = struct.Struct("<qq")
_BLOCK = struct.Struct("<qi4xq")


class Block(NamedTuple):
    """Where a record batch stands: file offset, bytes of prefix and metadata, bytes of the body."""

    offset: int
    metadata_bytes: int
    body_bytes: int


def aligned_schema(schema: pa.Schema, at: int) -> bytes:
    """The schema message, padded so that what follows it is aligned; `at` is its offset in the file."""
    return _message(memoryview(schema.serialize())[_PREFIX_BYTES:], at, ALIGNMENT)


def aligned_batch(
    batch: pa.RecordBatch, at: int, compression: pa.Codec | None = None
) -> tuple[list[bytes | memoryview], Block]:
    """The message of a batch of at least one row as chunks to write at file offset `at`, a multiple of 64, or of 8
    where its buffers are compressed."""
    metadata, body = _written(batch, compression)
    alignment = ALIGNMENT if compression is None else COMPRESSED_ALIGNMENT
    root = _root(metadata)
    buffers, count = _vector(metadata, _table(metadata, root, _MESSAGE_HEADER), _BATCH_BUFFERS)
    chunks: list[bytes | memoryview] = []
    end = 0
    for i in range(count):
        start, length = _BUFFER.unpack_from(metadata, buffers + i * _BUFFER.size)
        _BUFFER.pack_into(metadata, buffers + i * _BUFFER.size, end, length)
        chunks += [body[start][:length] if length else b"", bytes(-length % alignment)]
        end += length + -length % alignment
    struct.pack_into("<q", metadata, _field(metadata, root, _MESSAGE_BODY_LENGTH), end)
    head = _message(metadata, at, alignment)
    return [head, *chunks], Block(at, len(head), end)


class _Sink:
    """What pyarrow writes into, piece by piece: buffers come as they are, and are not copied."""

    closed = False

    def __init__(self) -> None:
        self.pieces: list[memoryview] = []

    def write(self, piece: bytes | pa.Buffer) -> int:
        self.pieces.append(memoryview(piece).cast("B"))
        return len(piece)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def _written(batch: pa.RecordBatch, compression: pa.Codec | None) -> tuple[bytearray, dict[int, memoryview]]:
    """The metadata of a batch's message, and the pieces of its body by their offset: each buffer begins one.
    `RecordBatch.serialize` would copy them all, and has no option for compression."""
    sink = _Sink()
    options = pa.ipc.IpcWriteOptions(compression=compression, use_threads=False)
    with pa.ipc.new_stream(pa.PythonFile(sink, "w"), batch.schema, options=options) as writer:
        writer.write_batch(batch)
        pieces = iter(sink.pieces[:])
    _metadata(pieces)  # the schema's, which has no body
    metadata = _metadata(pieces)
    body: dict[int, memoryview] = {}
    end = 0
    for piece in pieces:
        body[end] = piece
        end += len(piece)
    return metadata, body


def _metadata(pieces: Iterator[memoryview]) -> bytearray:
    """That of the next message, with its padding; its body comes next."""
    prefix, found = b"", bytearray()
    while len(prefix) < _PREFIX_BYTES:
        prefix += next(pieces)
    (size,) = struct.unpack_from("<I", prefix, len(_CONTINUATION))
    while len(found) < size:
        found += next(pieces)
    return found


def batch_buffers(file: bytes | memoryview, block: Block) -> tuple[npt.NDArray[np.int64], bool]:
    """int64[buffers, 2] with file offset and length of each buffer of a batch, and whether they are compressed.

    Raises ValueError where the message is none, or names bytes outside of its body.
    """
    body = block.offset + block.metadata_bytes
    metadata = bytearray(file[block.offset + _PREFIX_BYTES : body])
    try:
        batch = _table(metadata, _root(metadata), _MESSAGE_HEADER)
        first, count = _vector(metadata, batch, _BATCH_BUFFERS)
        places = np.frombuffer(metadata, "<i8", 2 * count, first).reshape(count, 2).astype(np.int64)
    except (struct.error, ValueError) as error:
        raise ValueError(f"a message that is none ({error})") from None
    outside = (places < 0).any() or (places[:, 1] > block.body_bytes - places[:, 0]).any()
    if outside or body + block.body_bytes > len(file):
        raise ValueError("buffers outside of the body")
    places[:, 0] += body
    return places, _has_field(metadata, batch, _BATCH_COMPRESSION)


def file_tail(schema: pa.Schema, blocks: Sequence[Block]) -> bytes:
    """End of stream, footer and magic of a file with these batches."""
    sink = pa.BufferOutputStream()
    empty = pa.RecordBatch.from_arrays([pa.array([], f.type) for f in schema], schema=schema)
    with pa.ipc.new_file(sink, schema) as writer:
        for _ in blocks:
            writer.write_batch(empty)
    model = sink.getvalue().to_pybytes()
    (size,) = struct.unpack_from("<i", model, len(model) - len(MAGIC) - 4)
    footer = bytearray(model[len(model) - len(MAGIC) - 4 - size : len(model) - len(MAGIC) - 4])
    if blocks:
        first, _ = _vector(footer, _root(footer), _FOOTER_BATCHES)
        for i, block in enumerate(blocks):
            _BLOCK.pack_into(footer, first + i * _BLOCK.size, *block)
    return END_OF_STREAM + bytes(footer) + struct.pack("<i", len(footer)) + MAGIC


def file_blocks(file: bytes | memoryview) -> list[Block]:
    """Where the record batches of a whole file stand. Raises ValueError where its footer is none."""
    (size,) = struct.unpack_from("<i", file, len(file) - len(MAGIC) - 4)
    end = len(file) - len(MAGIC) - 4
    if not 0 < size <= end:
        raise ValueError(f"a footer of {size} bytes")
    footer = bytearray(file[end - size : end])
    first, count = _vector(footer, _root(footer), _FOOTER_BATCHES)
    return [Block(*_BLOCK.unpack_from(footer, first + i * _BLOCK.size)) for i in range(count)]


def _message(metadata: bytearray | memoryview, at: int, alignment: int) -> bytes:
    padding = -(at + _PREFIX_BYTES + len(metadata)) % alignment
    return b"".join((_CONTINUATION, struct.pack("<I", len(metadata) + padding), metadata, bytes(padding)))


def _root(buffer: bytearray) -> int:
    return struct.unpack_from("<I", buffer, 0)[0]


def _field(buffer: bytearray, table: int, index: int) -> int:
    """Position of a table's field. Raises ValueError when it is left out (it has its default)."""
    offset = _field_offset(buffer, table, index)
    if not offset:
        raise ValueError(f"flatbuffer table without field {index}")
    return table + offset


def _has_field(buffer: bytearray, table: int, index: int) -> bool:
    return _field_offset(buffer, table, index) > 0


def _field_offset(buffer: bytearray, table: int, index: int) -> int:
    """0 where the field is left out."""
    vtable = table - struct.unpack_from("<i", buffer, table)[0]
    vtable_bytes = struct.unpack_from("<H", buffer, vtable)[0]
    slot = 4 + 2 * index
    return struct.unpack_from("<H", buffer, vtable + slot)[0] if slot < vtable_bytes else 0


def _table(buffer: bytearray, table: int, index: int) -> int:
    at = _field(buffer, table, index)
    return at + struct.unpack_from("<I", buffer, at)[0]


def _vector(buffer: bytearray, table: int, index: int) -> tuple[int, int]:
    """Position of the first element, and number of elements."""
    at = _table(buffer, table, index)
    return at + 4, struct.unpack_from("<I", buffer, at)[0]

"""The bytes of an Arrow IPC file whose every buffer starts at a multiple of 64.

The format recommends 64-byte alignment, pyarrow writes 8 and has no option for it. So messages are taken from
pyarrow and moved apart: the buffers of a body are copied to aligned places, and the offsets in the message's
flatbuffer, which are fixed-width, are overwritten where they stand. Nothing else of the message changes.

Source of the layouts: Message.fbs, Schema.fbs and File.fbs of github.com/apache/arrow (format/), version V5;
flatbuffer internals: flatbuffers.dev/internals.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

ALIGNMENT = 64
MAGIC = b"ARROW1"
FILE_HEAD = MAGIC + b"\0\0"
END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"

_CONTINUATION = b"\xff\xff\xff\xff"
_PREFIX_BYTES = 8
_MESSAGE_HEADER, _MESSAGE_BODY_LENGTH = 2, 3
_BATCH_BUFFERS = 2
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
    return _message(memoryview(schema.serialize())[_PREFIX_BYTES:], at)


def aligned_batch(batch: pa.RecordBatch, at: int) -> tuple[list[bytes | memoryview], Block]:
    """The message of a batch of at least one row as chunks to write at file offset `at`, a multiple of 64."""
    message = memoryview(batch.serialize())
    (metadata_bytes,) = struct.unpack_from("<I", message, len(_CONTINUATION))
    metadata = bytearray(message[_PREFIX_BYTES : _PREFIX_BYTES + metadata_bytes])
    body = message[_PREFIX_BYTES + metadata_bytes :]
    root = _root(metadata)
    buffers, count = _vector(metadata, _table(metadata, root, _MESSAGE_HEADER), _BATCH_BUFFERS)
    chunks: list[bytes | memoryview] = []
    end = 0
    for i in range(count):
        start, length = _BUFFER.unpack_from(metadata, buffers + i * _BUFFER.size)
        _BUFFER.pack_into(metadata, buffers + i * _BUFFER.size, end, length)
        chunks += [body[start : start + length], bytes(-length % ALIGNMENT)]
        end += length + -length % ALIGNMENT
    struct.pack_into("<q", metadata, _field(metadata, root, _MESSAGE_BODY_LENGTH), end)
    head = _message(metadata, at)
    return [head, *chunks], Block(at, len(head), end)


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


def _message(metadata: bytearray | memoryview, at: int) -> bytes:
    padding = -(at + _PREFIX_BYTES + len(metadata)) % ALIGNMENT
    return b"".join((_CONTINUATION, struct.pack("<I", len(metadata) + padding), metadata, bytes(padding)))


def _root(buffer: bytearray) -> int:
    return struct.unpack_from("<I", buffer, 0)[0]


def _field(buffer: bytearray, table: int, index: int) -> int:
    """Position of a table's field. Raises ValueError when it is left out (it has its default)."""
    vtable = table - struct.unpack_from("<i", buffer, table)[0]
    vtable_bytes = struct.unpack_from("<H", buffer, vtable)[0]
    slot = 4 + 2 * index
    offset = struct.unpack_from("<H", buffer, vtable + slot)[0] if slot < vtable_bytes else 0
    if not offset:
        raise ValueError(f"flatbuffer table without field {index}")
    return table + offset


def _table(buffer: bytearray, table: int, index: int) -> int:
    at = _field(buffer, table, index)
    return at + struct.unpack_from("<I", buffer, at)[0]


def _vector(buffer: bytearray, table: int, index: int) -> tuple[int, int]:
    """Position of the first element, and number of elements."""
    at = _table(buffer, table, index)
    return at + 4, struct.unpack_from("<I", buffer, at)[0]

"""Cold storage: shards of trainer rows whose buffers are compressed with zstd, one row a record batch.

What is written is the Arrow IPC format's own body compression (BodyCompression of Message.fbs, codec ZSTD, method
BUFFER), which any reader of the format opens. Each buffer is an int64, little endian, of its bytes when decompressed,
and a zstd frame; -1 stands before bytes that are not compressed, and an empty buffer is empty. One row a batch, so that
a row is one read and nothing else is decompressed with it.

The bytes depend on the compressor: level and library stand beside the codec of each shard in the manifest (`codec_of`).
"""

import struct
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import zstandard

from gristmill.manifests.ipc_layout import Block, batch_buffers

LEVEL = 3
"""Rows of 8,192 tokens of the demo take 0.324 of their size, with level 1 0.333 and with 9 0.306 at a quarter of the
speed; decompressing is as fast for all."""
BUFFERS_BEFORE_IDS = 4
"""Of packed_schema: two of `row_id`, the validity of `input_ids` and of its items."""
BESIDE_IDS_BYTES = 256 << 20
"""All other buffers of a batch together decompress to no more: a million documents in a row take less."""
_SIZE = struct.Struct("<q")
_WINDOW_LOG_MIN = 23
_AS_IT_IS = -1
_OF_THREAD = threading.local()


def codec() -> pa.Codec:
    """What compresses a shard's buffers."""
    return pa.Codec("zstd", compression_level=LEVEL)


def codec_of(compression: str) -> dict[str, Any]:
    """What the manifest says of a shard: nothing of one that is not compressed."""
    return (
        {} if compression == "none" else {"codec": compression, "level": LEVEL, "library": f"pyarrow {pa.__version__}"}
    )


def codec_said(extra: Mapping[str, Any]) -> str:
    """The codec of a shard by its entry in a manifest."""
    return str(extra.get("codec", "none"))


def ids_into(buffer: bytes | memoryview, out: npt.NDArray[np.uint8]) -> None:
    """Decompress one buffer into `out`, whose size it must have. Raises ValueError, with what is wrong.

    Memory stays bounded whatever the frame says: no more is written than there is room for.
    """
    if len(buffer) < _SIZE.size:
        raise ValueError("a buffer without a length")
    (said,) = _SIZE.unpack_from(buffer)
    data = memoryview(buffer)[_SIZE.size :]
    if said == _AS_IT_IS:
        if len(data) != len(out):
            raise ValueError(f"{len(data)} bytes, not {len(out)}")
        out[:] = np.frombuffer(data, dtype=np.uint8)
        return
    if said != len(out):
        raise ValueError(f"says that it has {said} bytes, not {len(out)}")
    try:
        with _decompressor(max((len(out) - 1).bit_length(), _WINDOW_LOG_MIN)).stream_reader(data) as reader:
            got = reader.readinto(out.data)
            more = reader.read(1)
    except zstandard.ZstdError as error:
        raise ValueError(f"cannot be decompressed ({error})") from None
    if got != len(out) or more:
        raise ValueError(f"decompresses to {'more than' if more else got} {len(out) if more else 'bytes'}")


def _decompressor(window_log: int) -> zstandard.ZstdDecompressor:
    """This thread's own, since one takes a fifth of the time of a row of 8,192 tokens to make."""
    found = getattr(_OF_THREAD, "decompressors", None)
    if found is None:
        found = _OF_THREAD.decompressors = dict[int, zstandard.ZstdDecompressor]()
    if window_log not in found:
        found[window_log] = zstandard.ZstdDecompressor(max_window_size=1 << window_log)
    return found[window_log]


def refuse_bombs(file: bytes | memoryview, block: Block, schema: pa.Schema) -> None:
    """Raise ValueError where a batch of trainer rows would decompress to more than it may, or to other than a row of
    ids; one that is not compressed cannot. To be called before the format's own reader, which allocates what a buffer
    says of itself."""
    places, compressed = batch_buffers(file, block)
    if not compressed:
        return
    sizes = [_said_size(file, at, size) for at, size in places.tolist()]
    of_ids = 4 * schema.field("input_ids").type.list_size
    if len(sizes) <= BUFFERS_BEFORE_IDS or sizes[BUFFERS_BEFORE_IDS] != of_ids:
        raise ValueError(f"its ids do not say that they are {of_ids} bytes")
    if min(sizes) < 0 or sum(sizes) > of_ids + BESIDE_IDS_BYTES:
        raise ValueError(f"its buffers say that they decompress to {sum(sizes)} bytes")


def _said_size(file: bytes | memoryview, at: int, size: int) -> int:
    """What a buffer says that it decompresses to; below 0 where that is nonsense."""
    if size < _SIZE.size:
        return -size
    (said,) = _SIZE.unpack_from(file, at)
    return size - _SIZE.size if said == _AS_IT_IS else said

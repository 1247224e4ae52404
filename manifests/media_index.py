"""The sidecar of a media shard: where the bytes of each medium stand, and what they hash to.

`<shard>.idx`, little endian, 48 bytes of head, then an entry of 56 bytes for each medium, sorted by sha256, so that a
lookup is a binary search and one `pread`. It follows from the shard alone (`index_of_shard`): a cache, no second truth.

    head    magic "GMMEDIA1", u64 media, 16 bytes of the shard's digest, u64 0, u64 xxh3 of all of this and the entries
    entry   32 bytes sha256; u64 offset of the bytes in the shard, u64 their length, u64 xxh3 of them
"""

import struct
from array import array
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from gristmill.manifests.errors import VerifyError

MAGIC = b"GMMEDIA1"
HEAD = struct.Struct("<8sQ16sQQ")
ENTRY = np.dtype([("sha256", "V32"), ("at", "<u8"), ("bytes", "<u8"), ("xxh3", "<u8")])

_DIGEST_BYTES = 16


@dataclass(frozen=True)
class MediaIndex:
    """An index in memory. `first` holds the first 8 bytes of each sha256 as numbers, sorted: an array of Python's, in
    which a binary search takes a fifth of what numpy takes to be called."""

    entries: npt.NDArray[np.void]
    first: "array[int]"
    shard_digest: bytes

    @staticmethod
    def parse(data: bytes, where: str) -> "MediaIndex":
        """From a whole file. Raises VerifyError where it is none, is damaged, or is not sorted."""
        try:
            magic, count, digest, zero, said = HEAD.unpack_from(data)
        except struct.error:
            raise _damaged(where, "cut short") from None
        if magic != MAGIC or zero or len(data) != HEAD.size + count * ENTRY.itemsize:
            raise _damaged(where, "not an index of media, or cut short")
        if _hash(data[: HEAD.size - 8], data[HEAD.size :]) != said:
            raise _damaged(where, "it is not what it hashes to")
        entries = np.frombuffer(data, ENTRY, offset=HEAD.size)
        words = np.frombuffer(data, ">u8", offset=HEAD.size).reshape(count, -1)[:, 0].astype(np.uint64)
        if bool((words[1:] < words[:-1]).any()):
            raise _damaged(where, "it is not sorted")
        return MediaIndex(entries, array("Q", words.tobytes()), digest)

    def find(self, sha256: bytes) -> tuple[int, int, int] | None:
        """(offset, length, xxh3) of a medium; None where it is not in this shard."""
        at = bisect_left(self.first, int.from_bytes(sha256[:8], "big"))
        while at < len(self.entries):  # eight equal bytes of two hashes are no accident, and yet no fault
            name, offset, length, hashed = self.entries[at].tolist()
            if name == sha256:
                return offset, length, hashed
            if name[:8] != sha256[:8]:
                return None
            at += 1
        return None


def index_bytes(shas: Any, places: list[tuple[int, int, int]], shard_digest: str) -> bytes:
    """The file of a shard of that digest (`blake3:...`): of each medium its sha256, and offset, length and xxh3."""
    entries = np.zeros(len(places), ENTRY)
    table = np.array(places, dtype=np.uint64).reshape(-1, 3)
    entries["sha256"] = np.frombuffer(b"".join(shas), "V32")
    for column, name in enumerate(("at", "bytes", "xxh3")):
        entries[name] = table[:, column]
    digest = bytes.fromhex(shard_digest.rpartition(":")[2])[:_DIGEST_BYTES]
    bare = HEAD.pack(MAGIC, len(places), digest, 0, 0)[:-8]
    body = entries.tobytes()
    return b"".join((bare, struct.pack("<Q", _hash(bare, body)), body))


def index_of_shard(path: Path, shard_digest: str) -> bytes:
    """The index of a shard as it stands on disk. Raises pa.ArrowException where it is no Arrow file."""
    source = pa.memory_map(str(path))
    start = source.read_buffer().address
    reader = pa.ipc.open_file(source)
    shas: list[bytes] = []
    places: list[tuple[int, int, int]] = []
    for number in range(reader.num_record_batches):
        batch = reader.get_batch(number)
        shas += batch.column("sha256").to_pylist()
        data = batch.column("bytes").buffers()[2]
        places += places_of(batch.column("bytes"), 0 if data is None else data.address - start)
    return index_bytes(shas, places, shard_digest)


def places_of(column: pa.LargeBinaryArray, at: int) -> list[tuple[int, int, int]]:
    """Offset in a file, length and xxh3 of each value, where the array's data stand at `at`."""
    body = memoryview(column.buffers()[2] or b"")
    return [(at + a, b - a, xxhash.xxh3_64_intdigest(body[a:b])) for a, b in pairwise(binary_bounds(column))]


def binary_bounds(column: pa.LargeBinaryArray) -> list[int]:
    """n + 1 offsets of the values of a large_binary array in its data buffer."""
    offsets = column.buffers()[1]
    if offsets is None or not len(column):
        return [0] * (len(column) + 1)
    return np.frombuffer(offsets, np.int64, len(column) + 1, 8 * column.offset).tolist()


def _hash(head: bytes, entries: bytes) -> int:
    hasher = xxhash.xxh3_64(head)
    hasher.update(entries)
    return hasher.intdigest()


def _damaged(where: str, how: str) -> VerifyError:
    return VerifyError("an index of media is damaged", where, how, "make it anew with `gristmill run`")

"""One block of rows from a shard's bytes: what is read is held against its hashes before it is kept.

Spans of SPAN_BYTES at most are read at a time. A span in which a row is not what it hashes to is read once more; then
the row is damaged where it lies.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import xxhash

from gristmill.manifests.ipc_zstd import ids_into
from gristmill.manifests.row_index import ROW_TABLE, RowIndex
from gristmill.pipeline.reader.block_cache import block_header
from gristmill.pipeline.reader.shard_source import Shard

SPAN_BYTES = 32 << 20

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
ReadSpan = Callable[[int, int], bytes]


class DamagedRowError(ValueError):
    """A row is not what was written; `row` is its number in the shard."""

    def __init__(self, row: int, how: str) -> None:
        super().__init__(how)
        self.row = row
        self.how = how


@dataclass(frozen=True)
class RowPlaces:
    """Where the ids of rows [first, first + n) of a shard stand: int64[n] offset and bytes, uint64[n] hashes."""

    first: int
    at: Ints
    size: Ints
    hashes: npt.NDArray[np.uint64]


def places_of(head: RowIndex, index_fd: int, first: int, stop: int) -> RowPlaces:
    """By the index of the shard. Raises DamagedRowError where that is cut short."""
    data = os.pread(index_fd, ROW_TABLE.itemsize * (stop - first), head.rows_at + ROW_TABLE.itemsize * first)
    if len(data) != ROW_TABLE.itemsize * (stop - first):
        raise DamagedRowError(first, "its index is cut short")
    rows = np.arange(first, stop, dtype=np.int64)
    batch = np.searchsorted(head.batches["first"], rows, side="right") - 1
    at = head.batches["ids_at"].astype(np.int64)[batch]
    if head.codec == "none":
        size = np.full(len(rows), 4 * head.context, dtype=np.int64)
        at += size * (rows - head.batches["first"].astype(np.int64)[batch])
    else:
        size = head.batches["ids_bytes"].astype(np.int64)[batch]
    return RowPlaces(first, at, size, np.frombuffer(data, dtype=ROW_TABLE)["ids"])


def write_block(fd: int, shard: Shard, head: RowIndex, places: RowPlaces, read: ReadSpan) -> None:
    """Write a block of these rows to a file. Raises DamagedRowError, and what `read` raises."""
    os.write(fd, block_header(head.context, len(places.at), places.first, shard.digest32))
    for low, high in _spans(places):
        ids = _checked(head, places, (low, high), read)
        view = ids.data.cast("B")
        while view:
            view = view[os.write(fd, view) :]


def _spans(places: RowPlaces) -> Iterator[tuple[int, int]]:
    """Runs of rows whose bytes, with what lies between them, are SPAN_BYTES at most, or one row."""
    low = 0
    ends = places.at + places.size
    while low < len(places.at):
        high = max(int(np.searchsorted(ends, places.at[low] + SPAN_BYTES, side="right")), low + 1)
        yield low, high
        low = high


def _checked(head: RowIndex, places: RowPlaces, span: tuple[int, int], read: ReadSpan) -> Bytes:
    try:
        return _read(head, places, span, read)
    except DamagedRowError:
        return _read(head, places, span, read)


def _read(head: RowIndex, places: RowPlaces, span: tuple[int, int], read: ReadSpan) -> Bytes:
    low, high = span
    start = int(places.at[low])
    data = memoryview(read(start, int(places.at[high - 1] + places.size[high - 1])))
    out = np.empty((high - low, 4 * head.context), dtype=np.uint8)
    for i in range(low, high):
        at = int(places.at[i]) - start
        row = data[at : at + int(places.size[i])]
        fill_row(head.codec, row, out[i - low], places.first + i)
        if xxhash.xxh3_64_intdigest(out[i - low]) != int(places.hashes[i]):
            raise DamagedRowError(places.first + i, "its ids are not what they hash to")
    return out


def fill_row(codec: str, data: bytes | memoryview, out: Bytes, row: int) -> None:
    """The ids of a row from its bytes in the shard. Raises DamagedRowError where they are not so many."""
    try:
        if codec == "none":
            if len(data) != len(out):
                raise ValueError("it is cut short")
            out[:] = np.frombuffer(data, dtype=np.uint8)
        else:
            ids_into(data, out)
    except ValueError as error:
        raise DamagedRowError(row, str(error)) from None

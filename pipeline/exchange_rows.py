"""Sorting and partitioning of the fixed-width rows of an exchange.

Rows are `stages.protocol.emitted_schema`: big-endian `key`, `order`, and `addr`. They are ordered by (key, order,
addr) as unsigned bytes; the partition of a key is its first four bytes scaled to the number of partitions, so
partitions are ranges of the key and a key never spans two of them.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

ROWS_A_PARTITION = 1 << 20
MAX_PARTITIONS = 1024


def partitions_for(rows: int) -> int:
    """Partitions of an exchange of so many rows: about a million rows each, from the plan alone."""
    return min(MAX_PARTITIONS, max(1, -(-rows // ROWS_A_PARTITION)))


def fixed_bytes(column: pa.ChunkedArray | pa.FixedSizeBinaryArray) -> npt.NDArray[np.uint8]:
    """An (n, width) view of a fixed_size_binary column without nulls."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    width = array.type.byte_width
    if len(array) == 0:
        return np.zeros((0, width), dtype=np.uint8)
    raw = np.frombuffer(array.buffers()[1], dtype=np.uint8)
    return raw[array.offset * width : (array.offset + len(array)) * width].reshape(-1, width)


def words(column: pa.ChunkedArray | pa.FixedSizeBinaryArray) -> list[npt.NDArray[np.uint64]]:
    """Big-endian 64-bit words of each value, first word first, zero-padded behind: they sort as the bytes do."""
    raw = fixed_bytes(column)
    width = raw.shape[1]
    padded = -(-width // 8) * 8
    if padded != width:
        raw = np.pad(raw, ((0, 0), (0, padded - width)))
    whole = np.ascontiguousarray(raw).view(">u8").astype(np.uint64)
    return [whole[:, i] for i in range(padded // 8)]


def sort_rows(rows: pa.Table) -> pa.Table:
    """Rows by (key, order, addr)."""
    if rows.num_rows == 0:
        return rows
    keys = [*words(rows.column("key")), *words(rows.column("order")), rows.column("addr").to_numpy()]
    return rows.take(pa.array(np.lexsort(keys[::-1]))).combine_chunks()


def part_of(key: pa.ChunkedArray | pa.FixedSizeBinaryArray, parts: int) -> npt.NDArray[np.int64]:
    """Partition of each key: floor(first 32 bits * parts / 2^32); non-decreasing in the key."""
    raw = fixed_bytes(key)[:, :4].astype(np.uint64)
    prefix = (raw[:, 0] << np.uint64(24)) | (raw[:, 1] << np.uint64(16)) | (raw[:, 2] << np.uint64(8)) | raw[:, 3]
    return ((prefix * np.uint64(parts)) >> np.uint64(32)).astype(np.int64)


def merge_runs(runs: Sequence[Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """Merge sorted runs into one sorted stream, holding about a batch of each run at a time.

    In each round the smallest of the last keys held of the runs that go on is a safe bound: every row up to
    it is here. Rows are compared by key alone; a key's rows are sorted by (order, addr) in one piece.
    """
    heads: list[pa.Table | None] = [_next(run) for run in runs]
    while any(h is not None for h in heads):
        live = [(i, h) for i, h in enumerate(heads) if h is not None]
        bound = min(_last_key(h) for _, h in live)
        ready: list[pa.Table] = []
        for i, head in live:
            rest: pa.Table | None = head
            while rest is not None:
                count = _rows_up_to(rest, bound)
                ready.append(rest.slice(0, count))
                if count < rest.num_rows:
                    rest = rest.slice(count)
                    break
                rest = _next(runs[i])
            heads[i] = rest
        yield from sort_rows(pa.concat_tables(ready).combine_chunks()).to_batches()


def _next(run: Iterator[pa.RecordBatch]) -> pa.Table | None:
    for batch in run:
        if batch.num_rows:
            return pa.Table.from_batches([batch])
    return None


def _last_key(head: pa.Table) -> bytes:
    return head.column("key")[head.num_rows - 1].as_py()


def _rows_up_to(head: pa.Table, bound: bytes) -> int:
    raw = fixed_bytes(head.column("key"))
    view = np.ascontiguousarray(raw).view(f"S{raw.shape[1]}").ravel()
    # numpy strips trailing zero bytes of S values on both sides alike, which keeps their order.
    return int(np.searchsorted(view, np.bytes_(bound), side="right"))

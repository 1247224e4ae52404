"""Sorting, partitioning and merging of the fixed-width rows of an exchange.

Rows are `stages.protocol.emitted_schema`: big-endian `key`, `order`, and `addr`; perhaps further fixed-width columns to
the right, which are carried along. No column has nulls. Rows are ordered by (key, order, addr) as unsigned bytes, most
significant first, and where they tie in all three by the further columns in turn, so that their order is that of their
content alone. The partition of a key is its first four bytes scaled to the number of partitions, so partitions are
ranges of the key and a key never spans two of them.
"""

import bisect
import sys
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.stages.columns import bytes_of, padded_word, padded_words

assert sys.byteorder == "little"

ROWS_A_PARTITION = 1 << 20
MAX_PARTITIONS = 1024

ROWS_A_ROUND = 1 << 20
"""Rows that one round of a merge sorts."""
_ROWS_FOR_KERNEL = 1 << 14
"""Fewer rows are sorted before the kernel is loaded."""

_ROWS_A_BUCKET = 1 << 14
"""Rows that are sorted at once: some 100 bytes each while they are, which the second cache holds."""

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]


def partitions_for(rows: int) -> int:
    """Partitions of an exchange of so many rows: about a million rows each, from the plan alone."""
    return min(MAX_PARTITIONS, max(1, -(-rows // ROWS_A_PARTITION)))


def fixed_bytes(column: pa.ChunkedArray | pa.FixedSizeBinaryArray) -> Bytes:
    """An (n, width) view of a fixed_size_binary column without nulls."""
    return bytes_of(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)


def words(column: pa.ChunkedArray | pa.FixedSizeBinaryArray) -> list[Words]:
    """Big-endian 64-bit words of each value, first word first, zero-padded behind: they sort as the bytes do."""
    return padded_words(fixed_bytes(column))


def sort_rows(rows: pa.Table) -> pa.Table:
    """Rows by (key, order, addr), then by further columns."""
    if rows.num_rows < 2:
        return rows
    columns, kinds = [_raw(column.combine_chunks()) for column in rows.columns], rows.schema.types
    if rows.num_rows < _ROWS_FOR_KERNEL:
        order = np.lexsort(list(_row_words(columns, kinds))[::-1])
        return rows.take(pa.array(order)).combine_chunks()
    arrays = [_column(raw, kind) for raw, kind in zip(_sorted(columns, kinds), kinds, strict=True)]
    return pa.Table.from_arrays(arrays, schema=rows.schema)


def _sorted(columns: Sequence[Bytes], kinds: Sequence[pa.DataType]) -> list[Bytes]:
    """The columns, row by row in order. Rows are brought near their place first: to move a row far costs ten times as
    much as to move it within what a cache holds."""
    from gristmill.stages.kernels.gather import gather, scatter
    from gristmill.stages.kernels.radix import order_by

    bucket, starts = _buckets(next(_row_words(columns, kinds)))
    near = [scatter(column, bucket, starts) for column in columns]
    made = [np.empty_like(column) for column in columns]
    for low, high in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        part = [column[low:high] for column in near]
        order = order_by(_row_words(part, kinds))
        for column, out in zip(part, made, strict=True):
            gather(column, order, out[low:high])
    return made


def _buckets(word: Words) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """For each row a bucket that does not decrease with its word, some `_ROWS_A_BUCKET` hashes in each; and where each
    bucket starts, and n."""
    least, most = int(word.min()), int(word.max())
    bits = max(0, (len(word) // _ROWS_A_BUCKET).bit_length())
    shift = max(0, (most - least).bit_length() - bits)
    bucket = ((word - np.uint64(least)) >> np.uint64(shift)).astype(np.uint32)
    counts = np.bincount(bucket)
    return bucket, np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def _row_words(columns: Sequence[Bytes], kinds: Sequence[pa.DataType]) -> Iterator[Words]:
    """The words of the rows, most significant first; each is made when it is asked for."""
    for raw, kind in zip(columns, kinds, strict=True):
        ordered = _big_endian(raw, kind)
        for first in range(0, raw.shape[1], 8):
            yield padded_word(ordered[:, first : first + 8])


def _raw(array: pa.Array) -> Bytes:
    """(n, width) view of a fixed-width array, as it lies in memory."""
    if pa.types.is_fixed_size_binary(array.type):
        return fixed_bytes(array)
    width = array.type.bit_width // 8
    raw = np.frombuffer(array.buffers()[1], dtype=np.uint8)
    return raw[array.offset * width : (array.offset + len(array)) * width].reshape(-1, width)


def _column(raw: Bytes, kind: pa.DataType) -> pa.Array:
    """The array of a type whose bytes these are."""
    return pa.Array.from_buffers(kind, len(raw), [None, pa.py_buffer(raw)])


def _big_endian(raw: Bytes, kind: pa.DataType) -> Bytes:
    """The raw view with numbers most significant byte first."""
    return raw if pa.types.is_fixed_size_binary(kind) else raw[:, ::-1]


def part_of(prefix: npt.NDArray[np.uint32], parts: int) -> npt.NDArray[np.int64]:
    """Partition of each key by its first 32 bits: floor(prefix * parts / 2^32); non-decreasing in the key."""
    return (prefix.astype(np.uint64) * np.uint64(parts) >> np.uint64(32)).astype(np.int64)


def part_bounds(key: pa.ChunkedArray | pa.FixedSizeBinaryArray, parts: int) -> npt.NDArray[np.int64]:
    """Where each partition of sorted keys begins, and their number."""
    raw = fixed_bytes(key)
    first = ((-(-(part << 32) // parts)).to_bytes(5, "big")[1:] for part in range(parts))
    bounds = [bisect.bisect_left(raw, prefix, key=lambda row: row[:4].tobytes()) for prefix in first]
    return np.array([*bounds, len(raw)], np.int64)


def merge_runs(
    runs: Sequence[Iterator[pa.RecordBatch]], rows_a_round: int = ROWS_A_ROUND, repeated_only: bool = False
) -> Iterator[pa.RecordBatch]:
    """Merge sorted runs into one sorted stream of batches, none of them empty.

    With `repeated_only`, rows whose key no other row has may be left out (most are): for keys of eight bytes or more
    that are hashes, where a group of one says nothing.

    A round looks at the next rows of each run, equally many of each. The smallest of the last rows looked at, of the
    runs that go on behind them, is a safe bound: every row up to it is here. Rows are compared whole, so a key of any
    number of rows takes no more memory than others, and may span batches of the stream. Held at a time: the rows of a
    round, a few times over, and two batches of each run as they were read (mapped, where runs are).
    """
    live = [run for run in map(_Run, runs) if run.look(1)]
    before: bytes | None = None
    while len(live) > 1:
        rows_a_run = max(1, rows_a_round // len(live))
        for run in live:
            run.look(rows_a_run)
        bound = min((run.last_seen() for run in live if run.goes_on()), default=None)
        taken = [run.up_to(bound) for run in live]
        if repeated_only:
            taken, before = _repeated(taken, (before, bound)), bound
        yield from sort_rows(pa.Table.from_batches(taken).combine_chunks()).to_batches()
        live = [run for run in live if run.look(1)]
    for run in live:
        yield from run.rest()


def _repeated(parts: Sequence[pa.RecordBatch], across: Sequence[bytes | None]) -> list[pa.RecordBatch]:
    """The rows whose key may be that of another one here, or is that of a row of `across`: the bounds of the round,
    since a key that has rows before or behind it has one of these."""
    rows = sum(part.num_rows for part in parts)
    if rows < _ROWS_FOR_KERNEL:
        return list(parts)
    from gristmill.stages.kernels.repeated import Repeated

    keys = [fixed_bytes(part.column("key")) for part in parts]
    seen = Repeated(rows)
    for key in keys:
        seen.note(key)
    for row in across:
        if row is not None:
            bound = np.frombuffer(row[: keys[0].shape[1]], np.uint8).reshape(1, -1)
            seen.note(bound)
            seen.note(bound)
    return [part.filter(pa.array(seen.among(key))) for part, key in zip(parts, keys, strict=True)]


class _Run:
    """A sorted run being read: rows in hand, looked at from `_at` to `_seen`, and the batch behind them."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._later = (batch for batch in batches if batch.num_rows)
        self._hand: pa.RecordBatch | None = None
        self._columns: list[Bytes] = []
        self._behind = next(self._later, None)
        self._at = self._seen = 0

    def look(self, rows: int) -> bool:
        """Look at the next rows, so many if there are; whether there are any."""
        parts = [] if self._hand is None else [self._hand.slice(self._at)]
        held = sum(part.num_rows for part in parts)
        taken = False
        while held < rows and self._behind is not None:
            parts.append(self._behind)
            held += self._behind.num_rows
            self._behind = next(self._later, None)
            taken = True
        if taken:
            hand = _joined(parts)
            self._hand, self._at = hand, 0
            self._columns = [_big_endian(_raw(column), column.type) for column in hand.columns]
        self._seen = self._at + min(rows, held)
        return held > 0

    def goes_on(self) -> bool:
        """Whether there are rows behind those looked at."""
        return self._behind is not None or (self._hand is not None and self._seen < self._hand.num_rows)

    def last_seen(self) -> bytes:
        """The last row looked at."""
        return self._row(self._seen - 1)

    def up_to(self, bound: bytes | None) -> pa.RecordBatch:
        """Take the rows looked at that do not lie above the bound; all of them when there is none."""
        assert self._hand is not None
        stop = self._seen
        if bound is not None:
            stop = bisect.bisect_right(range(stop), bound, self._at, stop, key=self._row)
        taken = self._hand.slice(self._at, stop - self._at)
        self._at = stop
        return taken

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Take all rows that are left."""
        assert self._hand is not None
        yield self._hand.slice(self._at)
        if self._behind is not None:
            yield self._behind
        yield from self._later

    def _row(self, at: int) -> bytes:
        return b"".join(column[at].tobytes() for column in self._columns)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) > 1 and batches[0].num_rows == 0:
        batches = batches[1:]
    return batches[0] if len(batches) == 1 else pa.Table.from_batches(batches).combine_chunks().to_batches()[0]

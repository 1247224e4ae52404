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

from gristmill.stages.columns import bytes_of

assert sys.byteorder == "little"

ROWS_A_PARTITION = 1 << 20
MAX_PARTITIONS = 1024

ROWS_A_ROUND = 1 << 20
"""Rows that one round of a merge sorts."""
_ROWS_FOR_KERNEL = 1 << 16
"""Fewer rows are sorted before the kernel is loaded."""

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
    raw = fixed_bytes(column)
    return [_word(raw[:, first : first + 8]) for first in range(0, raw.shape[1], 8)]


def sort_rows(rows: pa.Table) -> pa.Table:
    """Rows by (key, order, addr), then by further columns."""
    if rows.num_rows < _ROWS_FOR_KERNEL:
        if rows.num_rows < 2:
            return rows
        order = np.lexsort(list(_row_words(rows))[::-1])
    else:
        from gristmill.stages.kernels.radix import order_by

        order = order_by(_row_words(rows))
    return rows.take(pa.array(order)).combine_chunks()


def _row_words(rows: pa.Table) -> Iterator[Words]:
    """The words of the rows, most significant first; each is made when it is asked for."""
    for column in rows.columns:
        raw = _big_endian(column.combine_chunks())
        for first in range(0, raw.shape[1], 8):
            yield _word(raw[:, first : first + 8])


def _big_endian(array: pa.Array) -> Bytes:
    """(n, width) view of a fixed-width array: bytes as they are, numbers most significant byte first."""
    if pa.types.is_fixed_size_binary(array.type):
        return fixed_bytes(array)
    width = array.type.bit_width // 8
    raw = np.frombuffer(array.buffers()[1], dtype=np.uint8)
    return raw[array.offset * width : (array.offset + len(array)) * width].reshape(-1, width)[:, ::-1]


def _word(raw: Bytes) -> Words:
    """Up to eight bytes of each row as a number, zero-padded behind."""
    whole = np.zeros((len(raw), 8), np.uint8)
    whole[:, : raw.shape[1]] = raw
    return whole.view(">u8").ravel().astype(np.uint64)


def part_of(key: pa.ChunkedArray | pa.FixedSizeBinaryArray, parts: int) -> npt.NDArray[np.int64]:
    """Partition of each key: floor(first 32 bits * parts / 2^32); non-decreasing in the key."""
    prefix = _word(fixed_bytes(key)[:, :4]) >> np.uint64(32)
    return ((prefix * np.uint64(parts)) >> np.uint64(32)).astype(np.int64)


def merge_runs(runs: Sequence[Iterator[pa.RecordBatch]], rows_a_round: int = ROWS_A_ROUND) -> Iterator[pa.RecordBatch]:
    """Merge sorted runs into one sorted stream of batches, none of them empty.

    A round looks at the next rows of each run, equally many of each. The smallest of the last rows looked at, of the
    runs that go on behind them, is a safe bound: every row up to it is here. Rows are compared whole, so a key of any
    number of rows takes no more memory than others, and may span batches of the stream. Held at a time: the rows of a
    round, a few times over, and two batches of each run as they were read (mapped, where runs are).
    """
    live = [run for run in map(_Run, runs) if run.look(1)]
    while len(live) > 1:
        rows_a_run = max(1, rows_a_round // len(live))
        for run in live:
            run.look(rows_a_run)
        bound = min((run.last_seen() for run in live if run.goes_on()), default=None)
        ready = pa.Table.from_batches([run.up_to(bound) for run in live]).combine_chunks()
        yield from sort_rows(ready).to_batches()
        live = [run for run in live if run.look(1)]
    for run in live:
        yield from run.rest()


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
            self._columns = [_big_endian(column) for column in hand.columns]
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

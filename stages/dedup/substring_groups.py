"""Groups of equal keys among the rows of `substring_dedup`: anchors that occur twice, windows that stand earlier.

A group of any size is a stream: what is held is the open group's first row, and of windows at most MAX_TIMES rows,
since each is told how often its hash occurs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.stages.columns import bytes_of, column_of, words_of
from gristmill.stages.dedup.columns import Columns
from gristmill.stages.protocol import EMITTED_ADDR

ANCHORS = pa.schema([(EMITTED_ADDR, pa.uint64()), ("anchor", pa.uint64())])
"""An anchor that occurs twice or more, by its hash, and a record that has it."""

WINDOWS = pa.schema(
    [
        (EMITTED_ADDR, pa.uint64()),
        ("start", pa.uint32()),
        ("stop", pa.uint32()),
        ("first", pa.uint32()),
        ("tokens", pa.uint32()),
        ("times", pa.uint32()),
        ("keeper", pa.binary(16)),
    ]
)
"""Tokens that stand earlier: bytes in the text, the first token and how many there are, how often the first window
occurs, and the id of the first record that has it."""

MAX_TIMES = 1 << 16
"""More occurrences of a window are told as so many."""
_ID_BYTES, _PLACE_BYTES = 16, 4

Ints = npt.NDArray[np.int64]


def repeated_anchors(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """ANCHORS of keys with two rows or more, each once for a record."""
    before: tuple[np.uint64, np.uint64, np.bool_] | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        key, addr = words_of(bytes_of(batch.column("key")))[:, 0], batch.column(EMITTED_ADDR).to_numpy()
        key_before, addr_before = np.roll(key, 1), np.roll(addr, 1)
        if before is not None:
            key_before[0], addr_before[0] = before[:2]
        is_first = key != key_before
        is_first[0] |= before is None
        first_before = np.roll(is_first, 1)
        first_before[0] = before is not None and before[2]
        # With the second row of a key its first one is told, too.
        first = np.flatnonzero(~is_first & first_before)
        others = np.flatnonzero(~is_first & (addr != addr_before))
        told = np.concatenate([addr_before[first], addr[others]]), np.concatenate([key[first], key[others]])
        yield pa.RecordBatch.from_arrays([pa.array(column, pa.uint64()) for column in told], schema=ANCHORS)
        before = key[-1], addr[-1], is_first[-1]


@dataclass(frozen=True)
class _Rows(Columns):
    """n rows of windows: `key` uint64 (n, 2), `addr`, `first` token, `numbers` (start, stop, tokens) uint32 (n, 3),
    `own`: a run of windows that stand earlier in their own record; `id` (n, 16) bytes."""

    key: npt.NDArray[np.uint64]
    addr: npt.NDArray[np.uint64]
    first: npt.NDArray[np.uint32]
    numbers: npt.NDArray[np.uint32]
    own: npt.NDArray[np.bool_]
    id: npt.NDArray[np.uint8]

    @staticmethod
    def of(batch: pa.RecordBatch) -> "_Rows":
        order, value = bytes_of(batch.column("order")), bytes_of(batch.column("value"))
        numbers, first = (np.ascontiguousarray(a).view(">u4") for a in (value[:, :12], order[:, -_PLACE_BYTES:]))
        return _Rows(
            words_of(bytes_of(batch.column("key"))),
            batch.column(EMITTED_ADDR).to_numpy(),
            first.astype(np.uint32)[:, 0],
            numbers.astype(np.uint32),
            value[:, 12] != 0,
            order[:, -_PLACE_BYTES - _ID_BYTES : -_PLACE_BYTES],
        )


def repeated_windows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """WINDOWS of each key: all rows but those of the first record, and its runs of windows that it has earlier."""
    held: _Rows | None = None
    is_told = False  # the open group has had MAX_TIMES rows: those are told, and `held` is its first row alone
    for batch in batches:
        if not batch.num_rows:
            continue
        rows = _Rows.of(batch) if held is None else _Rows.joined([held, _Rows.of(batch)])
        starts = np.append(True, (rows.key[1:] != rows.key[:-1]).any(axis=1)).nonzero()[0]
        sizes = np.diff(np.append(starts, len(rows.addr)))
        sizes[0] = MAX_TIMES if is_told else sizes[0]
        open_at, is_told = int(starts[-1]), bool(sizes[-1] >= MAX_TIMES)
        whole = len(rows.addr) if is_told else open_at
        yield _later(rows, starts, sizes, whole)
        held = rows.part(open_at, open_at + 1 if is_told else len(rows.addr))
    if held is not None and not is_told:
        yield _later(held, np.zeros(1, np.int64), np.array([len(held.addr)]), len(held.addr))


def _later(rows: _Rows, starts: Ints, sizes: Ints, whole: int) -> pa.RecordBatch:
    """WINDOWS among the first `whole` rows; of groups the first rows and how many rows they have, or MAX_TIMES."""
    group = np.zeros(len(rows.addr), np.int64)
    group[starts[1:]] = 1
    group = np.cumsum(group)[:whole]
    first = starts[group]
    chosen = np.flatnonzero((rows.addr[:whole] != rows.addr[first]) | rows.own[:whole])
    columns = [
        pa.array(rows.addr[chosen], pa.uint64()),
        *(pa.array(np.ascontiguousarray(rows.numbers[chosen, n])) for n in (0, 1)),
        pa.array(rows.first[chosen]),
        pa.array(np.ascontiguousarray(rows.numbers[chosen, 2])),
        pa.array(np.minimum(sizes, MAX_TIMES)[group[chosen]].astype(np.uint32)),
        column_of(rows.id[first[chosen]]),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=WINDOWS)

"""The three exchanges of `substring_dedup`; see there. Rows are big-endian.

| round | key | order | value | reduces to |
|---|---|---|---|---|
| anchors | hash of a k-gram (8) | 0 (1) | | ANCHORS: those of two rows or more |
| windows | strong hash (16) | rank, first token (4) | first byte, byte behind (4 each), tokens (4), own (1) | WINDOWS |
| passages | id (16) | first byte (8) | byte behind (8), tokens (8), times (8), keeper (16) | verdicts |

`own` is 1 for a row that stands for a run of windows each of which stands earlier in its own document, without
overlap: its key is the hash of the first of them. Such windows have no rows of their own, so that a document that
repeats a phrase without end has a few.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.stages.columns import bytes_of, column_of
from gristmill.stages.dedup import ranks
from gristmill.stages.dedup.substring import REASONS
from gristmill.stages.dedup.substring_groups import ANCHORS, WINDOWS, repeated_anchors, repeated_windows
from gristmill.stages.dedup.token_spans import Units, hashes_of, units_of
from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.kernels.windows import (
    CHUNK_WINDOWS,
    END,
    FIRST,
    OWNER,
    ROW,
    START,
    STOP,
    TIMES,
    FirstPlaces,
    WindowHashes,
    first_equal,
    union_of_windows,
)
from gristmill.stages.kernels.windows_tokens import snapped
from gristmill.stages.kernels.winnow import Hashes, Ints, anchors, flagged_windows, split_window
from gristmill.stages.protocol import CUT, EMITTED_ADDR, Reason, emitted_schema, verdicts

Addresses = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
_Emitted = tuple[Ints, Bytes, Ints, Bytes]

NAME = "substring_dedup"

ID_BYTES, PLACE_BYTES = 16, 4
WINDOW_VALUE = 13
PASSAGE_VALUE = 40
_ROW_MIX = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class AnchorRound:
    """Which anchors occur twice in the corpus."""

    min_tokens: int
    tokenizer: str
    name: ClassVar[str] = NAME
    version: ClassVar[int] = 1
    reads = ("text",)
    key_bytes = 8
    order_bytes = 1
    rows_each: ClassVar[int] = 64
    reduced: ClassVar[pa.Schema] = ANCHORS

    def reasons(self) -> tuple[Reason, ...]:
        """Those of the stage."""
        return REASONS

    def emit(self, batch: pa.RecordBatch, addr: Addresses) -> pa.RecordBatch:
        """A row for each anchor of a record, two for one that it has twice."""
        found = [_anchors(units, self.min_tokens) for units in units_of(batch.column("text"), self.tokenizer)]
        rows, hashes = (np.concatenate(parts) for parts in zip(*found, strict=True))
        columns = [
            column_of(hashes.astype(">u8").view(np.uint8).reshape(-1, 8)),
            column_of(np.zeros((len(rows), 1), np.uint8)),
            pa.array(addr[rows], pa.uint64()),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=emitted_schema(self.key_bytes, self.order_bytes))

    def reduce(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """ANCHORS of keys with two rows or more."""
        return repeated_anchors(batches)


def _anchors(units: Units, length: int) -> tuple[Ints, Hashes]:
    """Row and hash of the anchors: each kind once, or twice where a row has it more than once."""
    found = anchors(units.ids, units.offsets, *split_window(length), few=True)
    by = np.lexsort((found.hashes, found.rows))
    rows, hashes = found.rows[by], found.hashes[by]
    third = np.zeros(len(rows), np.bool_)
    third[2:] = (rows[2:] == rows[:-2]) & (hashes[2:] == hashes[:-2])
    return units.rows[rows[~third]], hashes[~third]


@dataclass(frozen=True)
class WindowRound:
    """Which windows stand earlier in the corpus."""

    min_tokens: int
    tokenizer: str
    keep: tuple[str, ...]
    name: ClassVar[str] = NAME
    version: ClassVar[int] = 1
    key_bytes = ID_BYTES
    value_bytes: ClassVar[int] = WINDOW_VALUE
    rows_each: ClassVar[int] = 64
    reduced: ClassVar[pa.Schema] = WINDOWS

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns."""
        return tuple(dict.fromkeys(("text", *ranks.columns_of(self.keep))))

    @property
    def order_bytes(self) -> int:
        """Rank, first token."""
        return ranks.rank_width(self.keep) + PLACE_BYTES

    def reasons(self) -> tuple[Reason, ...]:
        """Those of the stage."""
        return REASONS

    def emit(self, batch: pa.RecordBatch, addr: Addresses) -> pa.RecordBatch:
        """Nothing: without anchors that were found there is no window to look at."""
        return self.emit_found(batch.slice(0, 0), addr[:0], ANCHORS.empty_table())

    def emit_found(self, batch: pa.RecordBatch, addr: Addresses, found: pa.Table) -> pa.RecordBatch:
        """A row for each window with an anchor that was found, and for each run of repeated ones of one record."""
        place = np.searchsorted(addr, found.column(EMITTED_ADDR).to_numpy())
        rows, of = np.unique(place, return_inverse=True)
        if len(rows) < batch.num_rows:
            batch, addr = batch.take(pa.array(rows)), addr[rows]
        flags = _Flags.of(of, found.column("anchor").to_numpy(), len(rows))
        rank = ranks.rank_bytes(batch, self.keep, self.name)
        text = batch.column("text")
        parts = [
            _no_rows(),
            *(p for units in units_of(text, self.tokenizer) for p in self._windows(text, units, flags)),
        ]
        rows, keys, first, value = (np.concatenate(p) for p in zip(*parts, strict=True))
        order = np.concatenate([rank[rows], first.astype(">u4").view(np.uint8).reshape(-1, PLACE_BYTES)], axis=1)
        columns = [column_of(keys), column_of(order), pa.array(addr[rows], pa.uint64()), column_of(value)]
        schema = emitted_schema(self.key_bytes, self.order_bytes, self.value_bytes)
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _windows(self, text: pa.Array, units: Units, flags: "_Flags") -> Iterator[_Emitted]:
        """Row in the batch, key, first token, value of the rows to emit."""
        length, own, places = self.min_tokens, flags.taken(units.rows), FirstPlaces()
        runs = flagged_windows(units.ids, units.offsets, own.hashes, own.bounds, *split_window(length))
        for part in hashes_of(units, runs, length, text_buffers(text)):
            which, last, repeated = _joined(part, part.positions >= _first(part, places) + length)
            rows, first = part.rows[which], part.positions[which]
            begin, end = units.offsets[rows] + first, units.offsets[rows] + part.positions[last] + length - 1
            numbers = np.stack([units.starts[begin], units.stops[end], end - begin + 1], axis=1).astype(">u4")
            value = np.concatenate([numbers.view(np.uint8), repeated[:, None].astype(np.uint8)], axis=1)
            yield units.rows[rows], part.hashes[which], first, value

    def reduce(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """WINDOWS: all but the first of each key."""
        return repeated_windows(batches)


@dataclass(frozen=True)
class _Flags:
    """Hashes of the anchors that were found in rows: those of row i from bounds[i] to bounds[i + 1], ascending."""

    hashes: Hashes
    bounds: Ints

    @staticmethod
    def of(rows: Ints, hashes: Hashes, count: int) -> "_Flags":
        by = np.lexsort((hashes, rows))
        return _Flags(hashes[by], np.searchsorted(rows[by], np.arange(count + 1)).astype(np.int64))

    def taken(self, rows: Ints) -> "_Flags":
        """Those of some of the rows."""
        sizes = np.diff(self.bounds)[rows]
        bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        at = np.repeat(self.bounds[rows] - bounds[:-1], sizes) + np.arange(bounds[-1])
        return _Flags(self.hashes[at], bounds)


def _no_rows() -> _Emitted:
    none = np.zeros(0, np.int64)
    return none, np.zeros((0, ID_BYTES), np.uint8), none, np.zeros((0, WINDOW_VALUE), np.uint8)


def _first(windows: WindowHashes, places: FirstPlaces) -> Ints:
    """Where the first window of its row begins that is equal to each."""
    own = windows.hashes.copy().view(np.uint64).reshape(-1, 2)
    own[:, 0] ^= windows.rows.astype(np.uint64) * np.uint64(_ROW_MIX)
    return places.of(own.view(np.uint8), windows.positions)


def _joined(windows: WindowHashes, repeated: Bools) -> tuple[Ints, Ints, Bools]:
    """First and last window of each row to emit, and whether it is repeated: repeated windows that follow one another
    are one, up to the next multiple of CHUNK_WINDOWS, so that what else is in the batch decides nothing."""
    rows, first = windows.rows, windows.positions
    goes_on = np.zeros(len(rows), np.bool_)
    goes_on[1:] = repeated[1:] & repeated[:-1] & (rows[1:] == rows[:-1]) & (first[1:] == first[:-1] + 1)
    which = np.flatnonzero(~goes_on | (first % CHUNK_WINDOWS == 0))
    return which, np.append(which, len(rows))[1:] - 1, repeated[which]


@dataclass(frozen=True)
class PassageRound:
    """The windows that stand earlier, joined to passages of whole words."""

    name: ClassVar[str] = NAME
    version: ClassVar[int] = 1
    reads = ("text", "id", "content_hash")
    key_bytes = ID_BYTES
    order_bytes = 8
    value_bytes: ClassVar[int] = PASSAGE_VALUE
    rows_each: ClassVar[int] = 4

    def reasons(self) -> tuple[Reason, ...]:
        """Those of the stage."""
        return REASONS

    def emit(self, batch: pa.RecordBatch, addr: Addresses) -> pa.RecordBatch:
        """Nothing: without windows that were found there is no passage."""
        return self.emit_found(batch.slice(0, 0), addr[:0], WINDOWS.empty_table())

    def emit_found(self, batch: pa.RecordBatch, addr: Addresses, found: pa.Table) -> pa.RecordBatch:
        """A row for each passage."""
        keepers = bytes_of(found.column("keeper").combine_chunks())
        owner = first_equal(keepers)
        names = ("first", "tokens", "start", "stop", "times")
        first, tokens, start, stop, times = (found.column(n).to_numpy().astype(np.int64) for n in names)
        row = np.searchsorted(addr, found.column(EMITTED_ADDR).to_numpy())
        spans = np.stack([row, first, first + tokens, start, stop, owner, times], axis=1)
        spans = spans[np.lexsort((first, row))]
        made = snapped(union_of_windows(spans), *text_buffers(batch.column("text")))
        made = made[made[:, STOP] > made[:, START]]
        ids = ranks.rank_bytes(batch, (), self.name)[:, -ID_BYTES:]
        numbers = np.stack([made[:, STOP], made[:, END] - made[:, FIRST], made[:, TIMES]], axis=1).astype(">i8")
        kept = keepers[made[:, OWNER]]
        columns = [
            column_of(ids[made[:, ROW]]),
            column_of(made[:, START].astype(">i8").view(np.uint8).reshape(-1, 8)),
            pa.array(addr[made[:, ROW]], pa.uint64()),
            column_of(np.concatenate([numbers.view(np.uint8).reshape(-1, 24), kept], axis=1)),
        ]
        schema = emitted_schema(self.key_bytes, self.order_bytes, self.value_bytes)
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def reduce(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A CUT for each row: `value` is how often the passage stands in the corpus, `note` its tokens."""
        for batch in batches:
            value = bytes_of(batch.column("value"))
            numbers = np.ascontiguousarray(value[:, :24]).view(">i8").astype(np.int64)
            start = np.ascontiguousarray(bytes_of(batch.column("order"))).view(">i8").astype(np.int64).reshape(-1)
            columns = {
                "kind": CUT,
                "keeper": value[:, 24:],
                "value": numbers[:, 2].astype(np.float64),
                "limit": 2.0,
                "start": start,
                "stop": numbers[:, 0],
                "note": numbers[:, 1].astype(np.uint64),
            }
            yield verdicts(batch.column(EMITTED_ADDR).to_numpy(), columns)

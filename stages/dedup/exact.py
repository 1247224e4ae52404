"""Exact duplicates: of all records with one `content_hash`, the one with the smallest id stays.

Columns in: `id` (hex of 16 bytes), `content_hash` (16 bytes, BLAKE3-128). Emitted: key = content_hash,
order = id. Reduced: each further record, with the keeper's id, value 1.0 and limit 1.0. Which record stays
depends on ids alone, never on shard or order; records that share their id too are told apart by address.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.errors import GristmillError
from gristmill.stages.protocol import EMITTED_ADDR, Reason, emitted_schema, verdicts

_BYTES = 16
_NO_DIGIT = 255

Bytes = npt.NDArray[np.uint8]
Addresses = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class ExactDedup:
    """Keep one record of each set with equal text and media: the one with the smallest id."""

    name: ClassVar[str] = "exact_dedup"
    version: ClassVar[int] = 1
    reads: ClassVar[tuple[str, ...]] = ("id", "content_hash")
    key_bytes: ClassVar[int] = _BYTES
    order_bytes: ClassVar[int] = _BYTES

    def reasons(self) -> tuple[Reason, ...]:
        """`exact_duplicate`."""
        return (Reason("exact_duplicate", "drop", "text and media equal those of the keeper"),)

    def emit(self, batch: pa.RecordBatch, addr: Addresses) -> pa.RecordBatch:
        """One row for each record. Raises GristmillError on an id that is not 32 hex digits, or a null."""
        keys = batch.column("content_hash")
        if keys.null_count:
            raise GristmillError("a record without content_hash", where=self.name)
        order = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(_BYTES), len(keys), [None, pa.py_buffer(_id_bytes(batch.column("id")))]
        )
        return pa.RecordBatch.from_arrays(
            [keys, order, pa.array(addr, pa.uint64())], schema=emitted_schema(_BYTES, _BYTES)
        )

    def reduce(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Every record but the first of each key; the open group's keeper is carried to the next batch."""
        carried: _Rows | None = None
        for batch in batches:
            if batch.num_rows == 0:
                continue
            rows = _Rows.of(batch)
            rows = _by_address_within_ties(rows if carried is None else carried.then(rows))
            starts = _group_starts(rows.key)
            keeper = np.maximum.accumulate(np.where(starts, np.arange(len(starts)), 0))
            goes = np.flatnonzero(~starts)
            if len(goes):
                yield _reduced(rows.addr[goes], rows.order[keeper[goes]])
            last = int(keeper[-1])
            carried = _Rows(rows.key[last : last + 1], rows.order[last : last + 1], rows.addr[last : last + 1])


@dataclass(frozen=True)
class _Rows:
    """Rows of an exchange: `key` and `order` uint64 (n, 2), most significant first, `addr` uint64 (n)."""

    key: npt.NDArray[np.uint64]
    order: npt.NDArray[np.uint64]
    addr: Addresses

    @staticmethod
    def of(batch: pa.RecordBatch) -> "_Rows":
        return _Rows(
            _halves(batch.column("key")),
            _halves(batch.column("order")),
            batch.column(EMITTED_ADDR).to_numpy(zero_copy_only=False),
        )

    def then(self, other: "_Rows") -> "_Rows":
        return _Rows(
            np.concatenate([self.key, other.key]),
            np.concatenate([self.order, other.order]),
            np.concatenate([self.addr, other.addr]),
        )


def _halves(array: pa.FixedSizeBinaryArray) -> npt.NDArray[np.uint64]:
    raw = np.frombuffer(array.buffers()[1], dtype=np.uint8)
    raw = raw[array.offset * _BYTES : (array.offset + len(array)) * _BYTES]
    return raw.view(">u8").astype(np.uint64).reshape(-1, 2)


def _group_starts(key: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    starts = np.ones(len(key), dtype=np.bool_)
    starts[1:] = (key[1:] != key[:-1]).any(axis=1)
    return starts


def _by_address_within_ties(rows: _Rows) -> _Rows:
    tied = ~(_group_starts(rows.key) | _group_starts(rows.order))
    if not (tied[1:] & (rows.addr[1:] < rows.addr[:-1])).any():
        return rows
    by = np.lexsort((rows.addr, rows.order[:, 1], rows.order[:, 0], rows.key[:, 1], rows.key[:, 0]))
    return _Rows(rows.key[by], rows.order[by], rows.addr[by])


def _reduced(addr: Addresses, keeper: npt.NDArray[np.uint64]) -> pa.RecordBatch:
    return verdicts(addr, {"keeper": np.ascontiguousarray(keeper.astype(">u8")).view(np.uint8).reshape(-1, _BYTES)})


def _nibbles() -> Bytes:
    table = np.full(256, _NO_DIGIT, dtype=np.uint8)
    for value, digit in enumerate("0123456789abcdef"):
        table[ord(digit)] = value
    return table


_NIBBLE = _nibbles()


def _id_bytes(ids: pa.Array) -> Bytes:
    """The 16 bytes of each id, (n, 16)."""
    rows = len(ids)
    if rows == 0:
        return np.zeros((0, _BYTES), dtype=np.uint8)
    wide = ids.cast(pa.large_string())
    offsets = np.frombuffer(wide.buffers()[1], dtype=np.int64)[wide.offset : wide.offset + rows + 1]
    if ids.null_count or (np.diff(offsets) != 2 * _BYTES).any():
        raise GristmillError("an id that is not 32 hex digits", where=ExactDedup.name)
    data = np.frombuffer(wide.buffers()[2], dtype=np.uint8)[offsets[0] : offsets[-1]]
    digits = _NIBBLE[data].reshape(rows, _BYTES, 2)
    if (digits == _NO_DIGIT).any():
        raise GristmillError("an id that is not 32 lower-case hex digits", where=ExactDedup.name)
    return np.bitwise_or(digits[:, :, 0] << np.uint8(4), digits[:, :, 1], dtype=np.uint8)

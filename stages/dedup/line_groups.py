"""Copies of a passage, one key after another, best rank first: which of them are cut."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.schema import ID_BYTES
from gristmill.stages.columns import bytes_of, words_of
from gristmill.stages.dedup.columns import Columns
from gristmill.stages.protocol import CUT, EMITTED_ADDR, verdicts

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Copies(Columns):
    """n rows: `key` uint64 (n, 2), `id` (n, 16) bytes, `addr`, and `start`, `stop` in the text as uint32 (n, 2)."""

    key: Words
    id: npt.NDArray[np.uint8]
    addr: npt.NDArray[np.uint64]
    range: npt.NDArray[np.uint32]

    @staticmethod
    def of(batch: pa.RecordBatch) -> "Copies":
        """The rows of an emitted batch."""
        order, value = bytes_of(batch.column("order")), bytes_of(batch.column("value"))
        ranges = np.ascontiguousarray(value).view(">u4").astype(np.uint32)
        key = words_of(bytes_of(batch.column("key")))
        return Copies(key, order[:, -ID_BYTES:], batch.column(EMITTED_ADDR).to_numpy(), ranges)

    def new_keys(self, before: "Copies | None" = None) -> Ints:
        """Rows whose key is another than that of the row before; `before` are the rows before these."""
        starts = np.ones(len(self.key), np.bool_)
        starts[1:] = (self.key[1:] != self.key[:-1]).any(axis=1)
        if before is not None:
            starts[0] = (self.key[0] != before.key[-1]).any()
        return np.flatnonzero(starts)


def copy_verdicts(rows: Copies, min_count: int, keep_one: bool) -> Iterator[pa.RecordBatch]:
    """A CUT for each row of a key that has `min_count` of them or more, but for the first one if one is kept. All rows
    of a key are there."""
    if not len(rows.addr):
        return
    starts = rows.new_keys()
    sizes = np.diff(np.append(starts, len(rows.addr)))
    first, size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
    goes = size >= min_count
    if keep_one:
        goes[starts] = False
    at = np.flatnonzero(goes)
    if not len(at):
        return
    columns = {
        "kind": CUT,
        "value": size[at],
        "limit": float(min_count),
        "start": rows.range[at, 0],
        "stop": rows.range[at, 1],
        **({"keeper": rows.id[first[at]]} if keep_one else {}),
    }
    yield verdicts(rows.addr[at], columns)

"""The exchange that finds records with the same key (design section 3: repeated keys get an ordinal).

Emits for each record read its id as key and its content hash as order; reduces to the rows that are the
second, third, ... of their key: `keeper` is the id, `value` the ordinal (1, 2, ...) in content order.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.schema import id_bytes
from gristmill.pipeline.exchange_rows import fixed_bytes
from gristmill.stages.protocol import Reason, emitted_schema, verdicts


@dataclass(frozen=True)
class RepeatedIds:
    """See the module."""

    name: ClassVar[str] = "repeated_ids"
    version: ClassVar[int] = 1
    reads = ("id", "content_hash")
    key_bytes = 16
    order_bytes = 16

    def reasons(self) -> tuple[Reason, ...]:
        """Nothing is dropped."""
        return ()

    def emit(self, batch: pa.RecordBatch, addr: npt.NDArray[np.uint64]) -> pa.RecordBatch:
        """Batches of `idkeys` (ids as 16 bytes) or of documents (ids as hex)."""
        ids = batch.column("id")
        if pa.types.is_string(ids.type):
            ids = id_bytes(ids)
        columns = [ids, batch.column("content_hash"), pa.array(addr)]
        return pa.RecordBatch.from_arrays(columns, schema=emitted_schema(16, 16))

    def reduce(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows behind the first of each key, with their ordinals."""
        last, count = b"", 0
        for batch in batches:
            raw = fixed_bytes(batch.column("key"))
            if not len(raw):
                continue
            same = np.zeros(len(raw), dtype=np.bool_)
            same[1:] = (raw[1:] == raw[:-1]).all(axis=1)
            same[0] = raw[0].tobytes() == last
            starts = np.flatnonzero(~same)
            at = np.arange(len(raw))
            run_start = np.maximum.accumulate(np.where(same, -1, at))
            ordinal = np.where(run_start >= 0, at - run_start, at + count)
            yield _repeats(batch, same, ordinal)
            last = raw[-1].tobytes()
            count = len(raw) - int(starts[-1]) if len(starts) else count + len(raw)


def _repeats(batch: pa.RecordBatch, same: npt.NDArray[np.bool_], ordinal: npt.NDArray[np.int64]) -> pa.RecordBatch:
    chosen = np.flatnonzero(same)
    keys = fixed_bytes(batch.column("key"))[chosen]
    addr = batch.column("addr").to_numpy()[chosen]
    return verdicts(addr, {"keeper": keys, "value": ordinal[chosen], "limit": 0.0})

"""Task `similar_pairs`: one partition of all band rows -> candidate pairs, cut into parts by the lower one's content.

Payload: `exchange` (stage, params, part), `base_dir`; `spills` (as for `reduce`), or, from the second round on, `crowd`
(paths of the rows of this partition's large groups, as the first round left them: only they take part) without the rows
of the files `served`; `without` (paths of verdicts: what they drop takes no part); `pivots` (of large groups in this
round); `pair_parts`. Leaves `pairs` (several files of that many parts; rows of MERGED, as they were found); in the
first round `crowd`: the rows of groups that were too large for all pairs, sorted; and `served`: `key` and `addr` of the
rows that all members of such a group were paired with. Facts: `pairs`, `large_groups`, `largest_group`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, ObjectWriter
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.exchange_rows import merge_runs, part_of
from gristmill.pipeline.exchanges import load_exchange
from gristmill.pipeline.similar.tables import MERGED, among, dropped_addresses, mapped_batches, without
from gristmill.pipeline.spill import SPILL_ROWS_A_BATCH, SpillWriter, write_one, write_parts
from gristmill.pipeline.task import Task
from gristmill.pipeline.tasks.exchange_reduce import placed_run
from gristmill.stages.columns import bytes_of
from gristmill.stages.dedup.minhash_rows import BAND_KEY_BYTES, BandRows, Groups
from gristmill.stages.protocol import emitted_schema

PAIRS_A_FILE = 1 << 21

SERVED = pa.schema([("key", pa.binary(BAND_KEY_BYTES)), ("addr", pa.uint64())])


def _places(rows: pa.RecordBatch) -> np.ndarray:
    """Key and address of each row as one text."""
    addr = rows.column("addr").to_numpy().astype(">u8").view(np.uint8).reshape(-1, 8)
    return np.concatenate([bytes_of(rows.column("key")), addr], axis=1).view(f"S{BAND_KEY_BYTES + 8}").ravel()


def _unserved(batches: Iterator[pa.RecordBatch], paths: Sequence[str]) -> Iterator[pa.RecordBatch]:
    served = [_places(b) for path in paths for b in mapped_batches(path)]
    gone = np.sort(np.concatenate(served)) if served else np.zeros(0, f"S{BAND_KEY_BYTES + 8}")
    for batch in batches:
        yield batch.filter(pa.array(~among(_places(batch), gone))) if batch.num_rows else batch


def _rows(payload: Any) -> Iterator[pa.RecordBatch]:
    gone = dropped_addresses(payload["without"])
    if payload["crowd"] is None:
        runs = [placed_run(path, part, base) for path, part, base in payload["spills"]]
        return without(merge_runs(runs, repeated_only=True), gone)
    crowd = (batch for path in payload["crowd"] for batch in mapped_batches(path))
    return _unserved(without(crowd, gone), payload["served"])


class _Crowd:
    """Rows of large groups on their way into a file, which is begun with the first of them."""

    def __init__(self, writer: ObjectWriter, schema: pa.Schema) -> None:
        self._writer, self._schema = writer, schema
        self._spill: SpillWriter | None = None
        self._held, self._rows = list[pa.RecordBatch](), 0

    def add(self, rows: pa.RecordBatch) -> None:
        """Rows that follow those before."""
        self._held.append(rows)
        self._rows += rows.num_rows
        if self._rows >= SPILL_ROWS_A_BATCH:
            self._flush()

    def _flush(self) -> None:
        self._spill = self._spill or SpillWriter(self._writer, self._schema)
        self._spill.part(pa.Table.from_batches(self._held).combine_chunks().to_batches())
        self._held, self._rows = [], 0

    def close(self) -> None:
        """The file `crowd`; none for no rows."""
        if self._rows:
            self._flush()
        if self._spill is not None:
            self._spill.close("crowd")


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    stage = load_exchange(payload["exchange"], payload["base_dir"])
    assert isinstance(stage, BandRows)
    with store.begin(task.key, task.what) as writer:
        crowd = _Crowd(writer, emitted_schema(BAND_KEY_BYTES, stage.order_bytes))
        groups = Groups(stage.max_bucket, payload["pivots"], crowd.add if payload["crowd"] is None else None)
        count, held, pending = 0, 0, list[pa.RecordBatch]()
        for block in groups.pairs(_rows(payload)):
            pending.append(block)
            held += block.num_rows
            if held >= PAIRS_A_FILE:
                count += _flush(writer, pending, payload["pair_parts"])
                held, pending = 0, []
        count += _flush(writer, pending, payload["pair_parts"])
        crowd.close()
        _write_served(writer, groups)
        facts = {"large_groups": len(groups.large), "largest_group": max(groups.large, default=0)}
        return writer.commit({"pairs": count, **facts})


def _flush(writer: ObjectWriter, pending: Sequence[pa.RecordBatch], parts: int) -> int:
    """Write the pairs by their part, in the order in which they were found; how many."""
    if not pending:
        return 0
    from gristmill.stages.kernels.gather import scatter

    prefix, *columns = (
        np.concatenate([b.column(name).to_numpy() for b in pending]) for name in ("prefix", *MERGED.names)
    )
    part = part_of(prefix, parts).astype(np.uint32)  # parts are ranges of the content hash
    bounds = np.append(0, np.cumsum(np.bincount(part, minlength=parts)))
    by_part = (scatter(column.view(np.uint8).reshape(-1, 8), part, bounds) for column in columns)
    pairs = pa.Table.from_arrays([pa.array(column.view(np.uint64).ravel()) for column in by_part], schema=MERGED)
    write_parts(writer, "pairs", pairs, bounds)
    return len(part)


def _write_served(writer: ObjectWriter, groups: Groups) -> None:
    if groups.large:
        served = (pa.RecordBatch.from_arrays(rows.columns, schema=SERVED) for rows in groups.served)
        write_one(writer, "served", SERVED, served)

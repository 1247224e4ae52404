"""Task `similar_pairs`: one partition of all band rows -> candidate pairs, cut into parts by the lower one's content.

Payload: `exchange` (stage, params, part), `base_dir`; `spills` (as for `reduce`); `without` (paths of verdicts: what
they drop takes no part); `large` (null in the first round, else paths of the large groups of this partition: only they
take part, without the rows of the files `served`); `pivots` (of large groups in this round); `pair_parts`.
Leaves `pairs` (several files of that many parts; rows of the stage's pairs, sorted by both addresses, each once),
`large`: `key` and `members` of groups that were too large for all pairs, and `served`: `key` and `addr` of the rows
that all members of such a group were paired with.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, ObjectWriter, Receipt
from gristmill.pipeline.exchange_rows import merge_runs, part_of
from gristmill.pipeline.exchanges import load_exchange
from gristmill.pipeline.similar.tables import among, dropped_addresses, mapped_batches, without
from gristmill.pipeline.spill import write_one, write_parts
from gristmill.pipeline.task import Task
from gristmill.pipeline.tasks.exchange_reduce import placed_run
from gristmill.stages.columns import bytes_of, column_of
from gristmill.stages.dedup.minhash_rows import BAND_KEY_BYTES, BandRows, Groups

PAIRS_A_FILE = 1 << 21

SERVED = pa.schema([("key", pa.binary(BAND_KEY_BYTES)), ("addr", pa.uint64())])
LARGE = pa.schema([("key", pa.binary(BAND_KEY_BYTES)), ("members", pa.int64())])


def merged_pairs(pairs: pa.Table) -> pa.Table:
    """Each pair once, with the bands of all its rows, sorted by `addr`, `higher_addr`."""
    rows, bands = _once(pairs)
    return _taken(pairs, rows, bands)


def _once(pairs: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """A row of each pair, in the order of both addresses, and the bands of all its rows."""
    from gristmill.stages.kernels.radix import order_by

    low, high = pairs.column("addr").to_numpy(), pairs.column("higher_addr").to_numpy()
    order = order_by((low, high))
    low, high = low[order], high[order]
    starts = np.ones(len(order), np.bool_)
    starts[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    first = np.flatnonzero(starts)
    bands = pairs.column("bands").to_numpy()[order]
    return order[first], np.bitwise_or.reduceat(bands, first) if len(first) else bands


def _taken(pairs: pa.Table, rows: np.ndarray, bands: np.ndarray) -> pa.Table:
    table = pairs.take(pa.array(rows)).combine_chunks()
    return table.set_column(table.schema.get_field_index("bands"), "bands", pa.array(bands, pa.uint64()))


def _places(rows: pa.RecordBatch) -> np.ndarray:
    """Key and address of each row as one text."""
    addr = rows.column("addr").to_numpy().astype(">u8").view(np.uint8).reshape(-1, 8)
    return np.concatenate([bytes_of(rows.column("key")), addr], axis=1).view(f"S{BAND_KEY_BYTES + 8}").ravel()


def _unserved(batches: Iterator[pa.RecordBatch], paths: Sequence[str]) -> Iterator[pa.RecordBatch]:
    served = [_places(b) for path in paths for b in mapped_batches(path)]
    gone = np.sort(np.concatenate(served)) if served else np.zeros(0, f"S{BAND_KEY_BYTES + 8}")
    for batch in batches:
        yield batch.filter(pa.array(~among(_places(batch), gone))) if batch.num_rows else batch


def _of_keys(batches: Iterator[pa.RecordBatch], keys: np.ndarray) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.filter(pa.array(among(_as_text(batch.column("key")), keys)))


def _as_text(keys: pa.Array) -> np.ndarray:
    # numpy strips trailing zero bytes of S values on both sides alike, which keeps equality and order.
    return np.ascontiguousarray(bytes_of(keys)).view(f"S{BAND_KEY_BYTES}").ravel()


def _rows(payload: Any, stage: BandRows) -> Iterator[pa.RecordBatch]:
    runs = [placed_run(path, part, base) for path, part, base in payload["spills"]]
    gone = dropped_addresses(payload["without"])
    rows = without(merge_runs(runs), gone)
    if payload["large"] is None:
        return rows
    batches = [b for path in payload["large"] for b in mapped_batches(path)]
    keys = np.sort(np.concatenate([_as_text(b.column("key")) for b in batches])) if batches else np.zeros(0, "S9")
    return _unserved(_of_keys(rows, keys), payload["served"])


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    stage = load_exchange(payload["exchange"], payload["base_dir"])
    assert isinstance(stage, BandRows)
    groups = Groups(stage.max_bucket, payload["pivots"])
    with store.begin(task.key, task.what) as writer:
        count, held, pending = 0, 0, list[pa.RecordBatch]()
        for block in groups.pairs(_rows(payload, stage)):
            pending.append(block)
            held += block.num_rows
            if held >= PAIRS_A_FILE:
                count += _flush(writer, pending, stage.reduced, payload["pair_parts"])
                held, pending = 0, []
        count += _flush(writer, pending, stage.reduced, payload["pair_parts"])
        large = _write_large(writer, groups)
        return writer.commit({"pairs": count, "large_groups": len(groups.large), "largest_group": large})


def _flush(writer: ObjectWriter, pending: Sequence[pa.RecordBatch], schema: pa.Schema, parts: int) -> int:
    if not pending:
        return 0
    from gristmill.stages.kernels.radix import argsort

    pairs = pa.Table.from_batches(pending, schema=schema).combine_chunks()
    rows, bands = _once(pairs)
    part = part_of(column_of(bytes_of(pairs.column("lower").combine_chunks())[:, -16:]), parts)[rows]
    by_part = argsort(part.astype(np.uint64))
    write_parts(writer, "pairs", _taken(pairs, rows[by_part], bands[by_part]), part[by_part], parts)
    return len(rows)


def _write_large(writer: ObjectWriter, groups: Groups) -> int:
    if not groups.large:
        return 0
    keys, members = zip(*groups.large, strict=True)
    large = pa.RecordBatch.from_arrays([pa.array(keys, LARGE.field(0).type), pa.array(members)], schema=LARGE)
    write_one(writer, "large", LARGE, [large])
    served = (pa.RecordBatch.from_arrays(rows.columns, schema=SERVED) for rows in groups.served)
    write_one(writer, "served", SERVED, served)
    return int(max(members))

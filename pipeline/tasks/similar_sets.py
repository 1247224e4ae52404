"""Task `similar_sets`: the shingle sets of those documents of one shard that stand in a candidate pair.

Payload: `stage`, `params`, `base_dir`; `key` (of the hashes, see `similar_key`); `shard` (path of documents, or of an
index's sets where `indexed`), `base` (the address of its row 0); `demands` (for each pair part a list of `[path, first,
stop]`). Leaves `sets`: spill files, each with a part for each pair part, rows of SETS with `addr` as row of the shard.

Memory: HELD_BYTES of sets, and a row group of the shard with its sets, whatever the shard holds.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, ObjectWriter
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.schema import id_bytes
from gristmill.manifests.shard import read_numbered
from gristmill.pipeline.similar.tables import among, mapped_batches, rows_of, sets_schema
from gristmill.pipeline.spill import SpillWriter
from gristmill.pipeline.task import Task
from gristmill.stages import catalogue
from gristmill.stages.columns import bytes_of, column_of
from gristmill.stages.dedup.minhash_rows import dup_counts, indexed_ranks, ranks

HELD_BYTES = 1 << 26
"""Of sets, as their hashes are handed on in files of all parts: more is held for one row group alone."""


def sets_of(stage: Any, batch: pa.RecordBatch, rows: np.ndarray, key: str, order: pa.Array) -> pa.RecordBatch:
    """Rows of SETS of documents that stand at `rows` of their shard, hashed under a key (hex digits)."""
    made = stage.sets(batch, int(key, 16))
    offsets = pa.array(made.offsets, pa.int64())
    lists = pa.LargeListArray.from_arrays(offsets, pa.array(made.hashes))
    columns = [pa.array(rows, pa.uint64()), order, id_bytes(batch.column("id")), pa.array(dup_counts(batch)), lists]
    return pa.RecordBatch.from_arrays(columns, schema=sets_schema(order.type.byte_width))


def _wanted(demands: Sequence[Sequence[Sequence[Any]]], base: int) -> list[np.ndarray]:
    """Rows of the shard that each part wants, sorted."""
    found: list[np.ndarray] = []
    for ranges in demands:
        parts = [rows_of(path, first, stop).column("addr").to_numpy() for path, first, stop in ranges]
        joined = np.concatenate(parts) if parts else np.zeros(0, np.uint64)
        found.append(np.unique(joined) - np.uint64(base))
    return found


def _documents(payload: Any, stage: Any, rows: np.ndarray) -> Iterator[pa.RecordBatch]:
    for batch, numbers in read_numbered(Path(payload["shard"]), stage.reads):
        wanted = among(numbers, rows)
        if wanted.any():
            asked = batch if wanted.all() else batch.filter(pa.array(wanted))
            order = column_of(ranks(asked, stage.policy))
            yield sets_of(stage, asked, numbers[wanted], payload["key"], order)


def _indexed(path: str, stage: Any, rows: np.ndarray) -> Iterator[pa.RecordBatch]:
    width = stage.keys().order_bytes
    for batch in mapped_batches(path):
        picked = _picked(batch, rows)
        order = column_of(indexed_ranks(bytes_of(picked.column("order")), width))
        columns = [order if name == "order" else picked.column(name) for name in picked.schema.names]
        yield pa.RecordBatch.from_arrays(columns, schema=sets_schema(width))


def _picked(sets: pa.RecordBatch, rows: np.ndarray) -> pa.RecordBatch:
    wanted = among(sets.column("addr").to_numpy(), rows)
    return sets if wanted.all() else sets.filter(pa.array(wanted))


def _write(writer: ObjectWriter, made: Iterable[pa.RecordBatch], wanted: Sequence[np.ndarray]) -> None:
    """Files of all parts, one whenever HELD_BYTES of sets were made."""
    held, held_bytes = list[pa.RecordBatch](), 0
    for sets in made:
        held.append(sets)
        held_bytes += sets.nbytes
        del sets
        if held_bytes >= HELD_BYTES:
            _write_file(writer, held, wanted)
            held, held_bytes = [], 0
    if held:
        _write_file(writer, held, wanted)


def _write_file(writer: ObjectWriter, held: Sequence[pa.RecordBatch], wanted: Sequence[np.ndarray]) -> None:
    spill = SpillWriter(writer, held[0].schema)
    for part in wanted:
        spill.part(_picked(sets, part) for sets in held if len(part))
    spill.close("sets")


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    wanted = _wanted(payload["demands"], payload["base"])
    rows = np.unique(np.concatenate(wanted))
    stage: Any = catalogue.load(payload["stage"], payload["params"], Path(payload["base_dir"]))
    made = _indexed(payload["shard"], stage, rows) if payload["indexed"] else _documents(payload, stage, rows)
    with store.begin(task.key, task.what) as writer:
        _write(writer, made, wanted)
        return writer.commit({"documents": len(rows)})

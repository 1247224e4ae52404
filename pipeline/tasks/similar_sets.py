"""Task `similar_sets`: the shingle sets of those documents of one shard that stand in a candidate pair.

Payload: `stage`, `params`, `base_dir`; `shard` (path of documents, or of an index's sets where `indexed`), `base` (the
address of its row 0); `demands` (for each pair part a list of `[path, first, stop]`). Leaves `sets`: a spill file with
a part for each pair part, rows of SETS with `addr` as row of the shard.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, Receipt
from gristmill.manifests.schema import id_bytes
from gristmill.manifests.shard import read_shard
from gristmill.pipeline.similar.tables import SETS, among, mapped_batches, rows_of
from gristmill.pipeline.spill import SpillWriter
from gristmill.pipeline.task import Task
from gristmill.stages import catalogue
from gristmill.stages.dedup.minhash_rows import dup_counts

COLUMNS = ("id", "text", "domain", "dup_count")


def sets_of(stage: Any, batch: pa.RecordBatch, rows: np.ndarray) -> pa.RecordBatch:
    """Rows of SETS of documents that stand at `rows` of their shard."""
    made = stage.sets(batch)
    offsets = pa.array(made.offsets, pa.int64())
    lists = pa.LargeListArray.from_arrays(offsets, pa.array(made.hashes))
    columns = [pa.array(rows, pa.uint64()), id_bytes(batch.column("id")), pa.array(dup_counts(batch)), lists]
    return pa.RecordBatch.from_arrays(columns, schema=SETS)


def _wanted(demands: Sequence[Sequence[Sequence[Any]]], base: int) -> list[np.ndarray]:
    """Rows of the shard that each part wants, sorted."""
    found: list[np.ndarray] = []
    for ranges in demands:
        parts = [rows_of(path, first, stop).column("addr").to_numpy() for path, first, stop in ranges]
        joined = np.concatenate(parts) if parts else np.zeros(0, np.uint64)
        found.append(np.unique(joined) - np.uint64(base))
    return found


def _documents(payload: Any, stage: Any, rows: np.ndarray) -> Iterator[pa.RecordBatch]:
    first = 0
    for batch in read_shard(Path(payload["shard"]), COLUMNS):
        low, high = np.searchsorted(rows, [first, first + batch.num_rows])
        mine = rows[low:high]
        if len(mine):
            yield sets_of(stage, batch.take(pa.array(mine - np.uint64(first))), mine)
        first += batch.num_rows


def _indexed(path: str, rows: np.ndarray) -> Iterator[pa.RecordBatch]:
    for batch in mapped_batches(path):
        yield batch.filter(pa.array(among(batch.column("addr").to_numpy(), rows)))


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    wanted = _wanted(payload["demands"], payload["base"])
    rows = np.unique(np.concatenate(wanted))
    if payload["indexed"]:
        made = list(_indexed(payload["shard"], rows))
    else:
        stage: Any = catalogue.load(payload["stage"], payload["params"], Path(payload["base_dir"]))
        made = list(_documents(payload, stage, rows))
    writer = store.begin(task.key, task.what)
    try:
        spill = SpillWriter(writer, SETS)
        for part in wanted:
            picked = [b.filter(pa.array(among(b.column("addr").to_numpy(), part))) for b in made] if len(part) else []
            spill.part([b for b in picked if b.num_rows])
        spill.close("sets")
        return writer.commit({"documents": len(rows), "shard": payload["number"]})
    except BaseException:
        writer.abandon()
        raise

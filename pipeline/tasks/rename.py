"""Task `rename`: a shard of a joined dataset again, with ids of their own for records that came under one id before.

Payload: `dataset` (the joined one), `shard` (path), `drops` (`[path, first, stop]` ranges of the `repeated_ids`
exchange), `base`. Leaves `data` of the same rows in the same order: a renamed record gets an id made of the dataset,
the old id and its place among its namesakes, in content order, and its old id as its parent; nothing else changes.
The dataset enters since what is joined may itself hold records that were renamed, when read or when joined.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.schema import DOCUMENT, joined_id
from gristmill.manifests.shard import ParquetShards, read_shard
from gristmill.pipeline.task import Task
from gristmill.pipeline.verdicts import read_verdicts


def _renamed(batch: pa.RecordBatch, first: int, new_ids: dict[int, str]) -> pa.RecordBatch:
    ids, parents = batch.column("id").to_pylist(), batch.column("parents").to_pylist()
    for row in range(batch.num_rows):
        if first + row in new_ids:
            parents[row] = [ids[row]]
            ids[row] = new_ids[first + row]
    fresh = {"id": pa.array(ids, pa.string()), "parents": pa.array(parents, DOCUMENT.field("parents").type)}
    columns = [fresh[f.name] if f.name in fresh else batch.column(f.name) for f in DOCUMENT]
    return pa.RecordBatch.from_arrays(columns, schema=DOCUMENT)


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    table = read_verdicts(task.payload["drops"], task.payload["base"])
    addr, old, ordinal = (table.column(n).to_pylist() for n in ("addr", "keeper", "value"))
    new_ids = {
        a: joined_id(task.payload["dataset"], k.hex(), int(n)) for a, k, n in zip(addr, old, ordinal, strict=True)
    }
    places = np.fromiter(new_ids, np.int64, len(new_ids))
    with store.begin(task.key, task.what) as writer:
        shards = ParquetShards(writer, "data", DOCUMENT)
        first = 0
        for batch in read_shard(Path(task.payload["shard"])):
            concerned = ((places >= first) & (places < first + batch.num_rows)).any()
            shards.write(_renamed(batch, first, new_ids) if concerned else batch)
            first += batch.num_rows
        shards.close()
        return writer.commit({"rows": first, "renamed": len(new_ids)})

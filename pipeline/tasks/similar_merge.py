"""Task `similar_merge`: one part of all candidate pairs, each once -> what to compare, and whose sets it takes.

Payload: `pairs` (`[path, part]`), `earlier` (paths of the `merged` files of this part in the rounds before: what was
compared there is left out). Leaves `merged`: pairs sorted by both addresses; `demand`: the addresses in them, sorted.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, ObjectWriter, Receipt
from gristmill.pipeline.similar.tables import mapped_batches
from gristmill.pipeline.spill import read_part, write_one
from gristmill.pipeline.task import Task
from gristmill.pipeline.tasks.similar_pairs import merged_pairs

DEMAND = pa.schema([("addr", pa.uint64())])


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    batches = [b for path, part in task.payload["pairs"] for b in read_part(Path(path), part)]
    with store.begin(task.key, task.what) as writer:
        if batches:
            _write(writer, _left(pa.Table.from_batches(batches).combine_chunks(), task.payload["earlier"]))
        return writer.commit({})


def _left(pairs: pa.Table, earlier: list[str]) -> pa.Table:
    """The pairs that were not compared before."""
    from gristmill.stages.kernels.radix import order_by

    old = [b for path in earlier for b in mapped_batches(path)]
    pairs = merged_pairs(pairs)
    if not old:
        return pairs
    low, high = (np.concatenate([b.column(name).to_numpy() for b in (*old, pairs)]) for name in ("addr", "higher_addr"))
    # Equal ones keep their order, so that a pair follows the one that was compared before.
    order = order_by((low, high))
    low, high = low[order], high[order]
    seen = np.zeros(len(low), np.bool_)
    seen[order[1:]] = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
    return pairs.filter(pa.array(~seen[len(seen) - pairs.num_rows :]))


def _write(writer: ObjectWriter, pairs: pa.Table) -> None:
    if not pairs.num_rows:
        return
    write_one(writer, "merged", pairs.schema, pairs.combine_chunks().to_batches())
    wanted = np.unique(np.concatenate([pairs.column(n).to_numpy() for n in ("addr", "higher_addr")]))
    write_one(writer, "demand", DEMAND, [pa.RecordBatch.from_arrays([pa.array(wanted)], schema=DEMAND)])

"""Task `decide`: what a stage of shape `Census` counted in all shards -> its verdicts, by one process.

Payload: `spills` (`[path, part, base]`: file, `[first_batch, batches, rows]`, address of the shard's row 0), `stage`,
`params`, `base_dir`. Leaves `reduced`: rows of stages.protocol.VERDICTS sorted by address; the receipt's `told` is what
the stage told besides. Counts are mapped and pass by batch by batch; what is held of them is the stage's choice.
"""

from collections.abc import Iterator
from itertools import chain

import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.spill import write_one
from gristmill.pipeline.task import Task
from gristmill.pipeline.tasks.census import load_census
from gristmill.pipeline.tasks.exchange_reduce import placed_run
from gristmill.stages.protocol import VERDICTS

_ORDER = [(name, "ascending") for name in ("addr", "kind", "start", "stop")]


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    stage, told = load_census(task), dict[str, int]()
    spills = task.payload["spills"]
    counted: Iterator[pa.RecordBatch] = chain.from_iterable(placed_run(*spill) for spill in spills)
    decided = pa.Table.from_batches(list(stage.decide(counted, told)), schema=VERDICTS)
    with store.begin(task.key, task.what) as writer:
        write_one(writer, "reduced", VERDICTS, decided.sort_by(_ORDER).combine_chunks().to_batches())
        return writer.commit({"rows": decided.num_rows, "told": dict(sorted(told.items()))})

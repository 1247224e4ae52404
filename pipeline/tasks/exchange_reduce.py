"""Task `reduce`: one partition of all spill files of an exchange -> its verdicts.

Payload: `spills` (`[path, part, base]`: file, `[first_batch, batches, rows]`, address of the shard's row 0),
`exchange` (stage, params, part), `base_dir`. Leaves `reduced`: rows of stages.protocol.VERDICTS (or of the exchange's
own `reduced`) sorted by address.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.exchange_rows import merge_runs
from gristmill.pipeline.exchanges import load_exchange
from gristmill.pipeline.spill import read_part, write_one
from gristmill.pipeline.task import Task
from gristmill.stages.protocol import VERDICTS


def placed_run(path: str, part: list[int], base: int) -> Iterator[pa.RecordBatch]:
    """The batches of one part of a spill file, with the shard's place in the plan added to their addresses."""
    for batch in read_part(Path(path), part):
        index = batch.schema.get_field_index("addr")
        yield batch.set_column(index, "addr", pa.array(batch.column("addr").to_numpy() + np.uint64(base)))


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    stage = load_exchange(payload["exchange"], payload["base_dir"])
    schema = getattr(stage, "reduced", VERDICTS)
    runs = [placed_run(path, part, base) for path, part, base in payload["spills"]]
    reduced = pa.Table.from_batches(list(stage.reduce(merge_runs(runs))), schema=schema)
    with store.begin(task.key, task.what) as writer:
        write_one(writer, "reduced", schema, reduced.sort_by("addr").combine_chunks().to_batches())
        return writer.commit({"rows": reduced.num_rows})

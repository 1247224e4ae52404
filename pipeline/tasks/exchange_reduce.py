"""Task `reduce`: one partition of all spill files of an exchange -> its verdicts.

Payload: `spills` (`[path, part, base]`: file, `[first_batch, batches, rows]`, address of the shard's row 0),
`exchange` (stage, params), `base_dir`. Leaves `reduced`: rows of stages.protocol.REDUCED sorted by address.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, Receipt
from gristmill.pipeline.exchange_rows import merge_runs
from gristmill.pipeline.exchanges import load_exchange
from gristmill.pipeline.spill import SpillWriter, read_part
from gristmill.pipeline.task import Task
from gristmill.stages.protocol import REDUCED


def _run(path: str, part: list[int], base: int) -> Iterator[pa.RecordBatch]:
    for batch in read_part(Path(path), part):
        index = batch.schema.get_field_index("addr")
        yield batch.set_column(index, "addr", pa.array(batch.column("addr").to_numpy() + np.uint64(base)))


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    stage = load_exchange(payload["exchange"], payload["base_dir"])
    runs = [_run(path, part, base) for path, part, base in payload["spills"]]
    reduced = pa.Table.from_batches(list(stage.reduce(merge_runs(runs))), schema=REDUCED)
    writer = store.begin(task.key, task.what)
    try:
        spill = SpillWriter(writer, REDUCED)
        spill.part(reduced.sort_by("addr").combine_chunks().to_batches())
        spill.close("reduced")
        return writer.commit({"rows": reduced.num_rows})
    except BaseException:
        writer.abandon()
        raise

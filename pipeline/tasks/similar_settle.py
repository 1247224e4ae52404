"""Task `similar_settle`: all verified pairs and copies -> verdicts, in one process (see `pipeline.similar.settle`).

Payload: `edges`, `copies` (paths), `rows` (of each shard), `ours` (how many shards are the dataset's), `threshold`.
Leaves `reduced`: rows of VERDICTS sorted by address.
"""

from gristmill.manifests.commit import ObjectStore, Receipt
from gristmill.pipeline.similar.settle import Shards, decide
from gristmill.pipeline.spill import SpillWriter
from gristmill.pipeline.task import Task
from gristmill.stages.protocol import VERDICTS


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    shards = Shards(payload["rows"], payload["ours"])
    table = decide(payload["edges"], payload["copies"], shards, payload["threshold"])
    writer = store.begin(task.key, task.what)
    try:
        spill = SpillWriter(writer, VERDICTS)
        spill.part(table.to_batches())
        spill.close("reduced")
        return writer.commit({"rows": table.num_rows})
    except BaseException:
        writer.abandon()
        raise

"""Task `similar_settle`: all verified pairs and copies -> verdicts, in one process (see `pipeline.similar.settle`).

Payload: `edges`, `copies` (paths), `rows` and `places` (of each shard), `ours` (how many shards are the dataset's),
`threshold`. Leaves `reduced`: rows of VERDICTS sorted by address.
"""

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.similar.settle import Shards, decide
from gristmill.pipeline.spill import write_one
from gristmill.pipeline.task import Task
from gristmill.stages.protocol import VERDICTS


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    shards = Shards(payload["rows"], payload["ours"], payload["places"])
    table = decide(payload["edges"], payload["copies"], shards, payload["threshold"])
    with store.begin(task.key, task.what) as writer:
        write_one(writer, "reduced", VERDICTS, table.to_batches())
        return writer.commit({"rows": table.num_rows})

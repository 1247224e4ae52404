"""Task `held_once`: held-out documents of a task without those that an earlier one held out too.

Payload: `shards` (paths of its `heldout` files), `drop` (rows of all of them to leave out). Leaves `heldout` and the
facts of `held_documents`. Two emits see one document where the datasets that they are made from overlap.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.shard import read_shard
from gristmill.pipeline.held_documents import HeldDocuments
from gristmill.pipeline.task import Task


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    drop = np.array(task.payload["drop"], np.int64)
    with store.begin(task.key, task.what) as writer:
        held, first = HeldDocuments(None, writer), 0
        for batch in (b for path in task.payload["shards"] for b in read_shard(Path(path))):
            stay = ~np.isin(np.arange(first, first + batch.num_rows), drop)
            first += batch.num_rows
            if stay.any():
                held.keep(batch.filter(pa.array(stay)))
        return writer.commit({"heldout": held.close()})

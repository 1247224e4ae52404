"""Task `media_plan`: what media a dataset has, and how many partitions its media shards are made in.

Made by one process from metadata. Payload: `tables` (`[path, part]` of each `media_table`). Leaves facts alone:
`media` (each counted once), `bytes`, `partitions`, a power of two. They follow from the set of media, not from how
documents are sharded.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.ipc import SHARD_BYTES
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.media_spill import PARTS
from gristmill.pipeline.spill import read_part
from gristmill.pipeline.task import Task


def partitions_for(size: int) -> int:
    """Partitions of SHARD_BYTES each at most, on average, for media of `size` bytes: a power of two, PARTS at most."""
    wanted = max(1, -(-size // SHARD_BYTES))
    return min(PARTS, 1 << (wanted - 1).bit_length())


def distinct(tables: list[pa.RecordBatch]) -> tuple[int, int]:
    """Media, each counted once, and their bytes, of batches of `media_spill.TABLE`."""
    if not tables:
        return 0, 0
    table = pa.Table.from_batches(tables).combine_chunks()
    shas = np.frombuffer(b"".join(table.column("sha256").to_pylist()), "V32")
    sizes = table.column("bytes").to_numpy()
    _, first = np.unique(shas, return_index=True)
    return len(first), int(sizes[first].sum())


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    media, size = distinct([b for path, part in task.payload["tables"] for b in read_part(Path(path), part)])
    with store.begin(task.key, task.what) as writer:
        return writer.commit({"media": media, "bytes": size, "partitions": partitions_for(size)})

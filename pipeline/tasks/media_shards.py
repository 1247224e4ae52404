"""Task `media_shards`: one partition of the media of a dataset, from all shards -> media shards and their indexes.

Payload: `files` (`[path, parts]` of each `media` file: those of its parts that belong to the partition). Leaves roles
`media_shards` and `media_indexes` (`manifests.media_shard`): sorted by sha256, each medium once. Bytes are read through
memory maps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.media_index import binary_bounds
from gristmill.manifests.media_shard import MediaShards, Medium
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.spill import read_part
from gristmill.pipeline.task import Task


@dataclass(frozen=True)
class _Found:
    """A medium, and where its bytes are: the value [start, stop) of the data of a mapped batch."""

    medium: Medium
    batch: pa.RecordBatch
    start: int
    stop: int

    def data(self) -> memoryview:
        """Its bytes."""
        return memoryview(self.batch.column("bytes").buffers()[2] or b"")[self.start : self.stop]


def _found(spills: Sequence[Sequence[Any]]) -> dict[bytes, _Found]:
    """The media of all parts by sha256; of several the one that ranks lowest."""
    found: dict[bytes, _Found] = {}
    for path, parts in spills:
        for batch in (b for part in parts for b in read_part(Path(path), part)):
            bounds = binary_bounds(batch.column("bytes"))
            for row, told in enumerate(batch.select(list(Medium._fields)).to_pylist()):
                medium = Medium(**told)
                before = found.get(medium.sha256)
                if before is None or medium.rank() < before.medium.rank():
                    found[medium.sha256] = _Found(medium, batch, bounds[row], bounds[row + 1])
    return found


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    found = _found(task.payload["files"])
    with store.begin(task.key, task.what) as writer:
        shards = MediaShards(writer)
        size = 0
        for sha in sorted(found):
            data = found[sha].data()
            shards.write(found[sha].medium, data)
            size += len(data)
        shards.close()
        return writer.commit({"media": len(found), "bytes": size})

"""Task `census`: one shard -> the fixed-width rows that a stage of shape `Census` counts in it.

Payload: `input` (path of a shard of documents), `stage`, `params`, `base_dir`. Leaves one spill file of role `spill`
with one part, rows of the stage's `counts` in the order of the shard; `addr` is the row in the shard here, and whoever
reads it adds the shard's place in the frozen plan.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.errors import GristmillError, InputError
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.shard import read_numbered
from gristmill.pipeline.spill import write_one
from gristmill.pipeline.task import Task
from gristmill.stages import catalogue
from gristmill.stages.protocol import Census


def load_census(task: Task) -> Census:
    """The stage of a task. Raises InputError when it is not the one that the task's key was made of."""
    payload = task.payload
    stage: Any = catalogue.load(payload["stage"], payload["params"], Path(payload["base_dir"]))
    if not isinstance(stage, Census):
        raise GristmillError("not a census", value=type(stage).__name__)
    if catalogue.stage_fingerprint(stage) != task.what["census"]:
        remedy = "run the same command again"
        raise InputError("a stage changed while the run was going on", task.label, payload["stage"], remedy)
    return stage


def _counted(stage: Census, path: Path) -> Iterator[pa.RecordBatch]:
    for batch, rows in read_numbered(path, stage.reads):
        yield stage.count(batch, rows)


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    stage = load_census(task)
    with store.begin(task.key, task.what) as writer:
        rows = write_one(writer, "spill", stage.counts, _counted(stage, Path(task.payload["input"])))
        return writer.commit({"rows": rows})

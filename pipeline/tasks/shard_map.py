"""Task `map`: one committed shard of documents -> verdicts of an exchange -> fused row-local steps -> shards.

Payload: `shard` (path), `dataset`, `steps` (in order: `from` where this is the dataset's first phase, the
exchange where there is one, the chain), `chain`, `base_dir`, `seed`, `measures_all`; `origin` (whether the
first step is `from`), `exchange` (null, or `step`, `stage`, `params`, `measure` and `drops`: `[path, first, stop]`
ranges of verdicts sorted by address, and `base`, the address of the shard's row 0).
"""

from pathlib import Path

import numpy as np

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.shard import read_shard
from gristmill.pipeline.account import AccountSpec, Rows
from gristmill.pipeline.row_pass import RowPass, load_stages
from gristmill.pipeline.task import Task
from gristmill.pipeline.verdicts import Verdicts
from gristmill.stages.chain import count_chars


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    with store.begin(task.key, task.what) as writer:
        spec = AccountSpec(payload["dataset"], tuple(payload["steps"]), payload["seed"], payload["measures_all"])
        row_pass = RowPass(writer, spec, load_stages(payload["chain"], payload["base_dir"]))
        verdicts = Verdicts(payload["exchange"], payload["base_dir"]) if payload["exchange"] else None
        first = 0
        for batch in read_shard(Path(payload["shard"])):
            chars = count_chars(batch)
            rows = Rows(np.arange(first, first + batch.num_rows, dtype=np.int64))
            if payload["origin"]:
                row_pass.account.read(payload["steps"][0], batch, chars)
            if verdicts is not None:
                staying, stay, chars = verdicts.apply(batch, first, row_pass, rows, chars)
                row_pass.feed(staying, Rows(rows.ordinals[stay]), chars)
            else:
                row_pass.feed(batch, rows, chars)
            first += batch.num_rows
        if verdicts is not None:
            verdicts.finish(first)
        return writer.commit(row_pass.finish(task.label))

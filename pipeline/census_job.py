"""A stage of the shape `Census` as tasks: each shard is counted into fixed-width rows, then one process decides.

Counting is keyed by the shard's content, so that one new shard costs its own count and the decision. The decision is
keyed by all counts in the order of the shards, since what it leaves holds addresses of the frozen plan.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.context import Context, ShardRef
from gristmill.pipeline.exchange_job import spill_runs
from gristmill.pipeline.task import Task, make_task


def census_shards(ctx: Context, label: str, step: Mapping[str, Any], shards: Sequence[ShardRef]) -> Receipt:
    """Count all shards and decide; the receipt of the decision: verdicts of role `reduced`, `facts` what it told.

    `step` holds `stage` and `params` (for the worker) and `fingerprint` (for the keys).
    """
    counted = ctx.map(count_tasks(ctx, label, step, shards))
    return ctx.map([decide_task(ctx, label, step, counted)])[0]


def count_tasks(ctx: Context, label: str, step: Mapping[str, Any], shards: Sequence[ShardRef]) -> list[Task]:
    """The counting tasks, one a shard."""
    return [
        make_task(
            "census",
            {"census": step["fingerprint"], "input": shard.entry.digest},
            {**_worker_spec(ctx, step), "input": str(shard.path)},
            f"{label} counts {i + 1}/{len(shards)}",
            shard.entry.bytes,
        )
        for i, shard in enumerate(shards)
    ]


def decide_task(ctx: Context, label: str, step: Mapping[str, Any], counted: Sequence[Receipt]) -> Task:
    """The task that decides, from the receipts of the counting ones."""
    what = {"census": step["fingerprint"], "spills": [r.digest for r in counted]}
    payload = {**_worker_spec(ctx, step), "spills": spill_runs(ctx, counted, 0)}
    return make_task("decide", what, payload, f"{label} decision 1/1")


def _worker_spec(ctx: Context, step: Mapping[str, Any]) -> dict[str, Any]:
    return {"stage": step["stage"], "params": step["params"], "base_dir": ctx.base_dir}

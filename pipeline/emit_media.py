"""The part of the emit phase that makes media shards: a plan of how many partitions, then a task for each.

Partitions are ranges of the first byte of sha256; their number follows from the bytes of all media together, so a file
of the same media is the same however the documents were sharded. A dataset without media has no such task. These tasks
are maps, no exchange of the engine's: that would send the bytes of media through a JVM where the engine has one.
"""

from collections.abc import Callable, Sequence

from gristmill.manifests.media_shard import INDEXES_ROLE, SHARDS_ROLE
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.trainer_schema import MAX_CONTEXT
from gristmill.pipeline.build import Built
from gristmill.pipeline.context import Context
from gristmill.pipeline.media_spill import PARTS, ROLE, TABLE_ROLE
from gristmill.pipeline.task import Task, make_task

MEDIA_VERSION = 1


def within_context(ctx: Context, tasks_of: Callable[[int], list[Task]], context: int) -> list[Receipt]:
    """Receipts of tasks that may be given the most tokens of a medium, a task a shard of documents.

    What they leave depends on the context only where a medium has more tokens than that: such shards alone are made for
    it, so that another context mostly finds its documents done. The receipts tell `longest_medium`.
    """
    receipts = ctx.map(tasks_of(MAX_CONTEXT))
    over = [i for i, r in enumerate(receipts) if r.facts["longest_medium"] > context]
    if over:
        tasks = tasks_of(context)
        for i, receipt in zip(over, ctx.map([tasks[i] for i in over]), strict=True):
            receipts[i] = receipt
    return receipts


def media_phase(ctx: Context, built: Built, label: str, tokenised: Sequence[Receipt]) -> None:
    """Make the media shards of tokenised documents; `built` gets them, and `media` among its facts."""
    tokens = sum(r.facts["media_tokens"] for r in tokenised)
    built.facts["media"] = {"media": 0, "bytes": 0, "tokens": tokens}
    with_media = [r for r in tokenised if r.role(ROLE)]
    if not with_media:
        return
    plan = ctx.map([_plan_task(ctx, label, with_media)])[0]
    made = ctx.map(_shard_tasks(ctx, label, plan, with_media))
    built.media_shards = [ref for r in made for ref in ctx.refs(r, SHARDS_ROLE)]
    built.media_indexes = [ref for r in made for ref in ctx.refs(r, INDEXES_ROLE)]
    built.facts["media"] |= {name: plan.facts[name] for name in ("media", "bytes")}
    built.facts["media_keys"] = [plan.key, *(r.key for r in made)]


def _plan_task(ctx: Context, label: str, receipts: Sequence[Receipt]) -> Task:
    tables = [(r, f) for r in receipts for f in r.role(TABLE_ROLE)]
    what = {"version": MEDIA_VERSION, "tables": [f.digest for _, f in tables]}
    payload = {"tables": [[str(ctx.store.path(r.key, f)), f.extra["parts"][0]] for r, f in tables]}
    return make_task("media_plan", what, payload, f"{label} media 1/1")


def _shard_tasks(ctx: Context, label: str, plan: Receipt, receipts: Sequence[Receipt]) -> list[Task]:
    count = plan.facts["partitions"]
    files = [(r, f) for r in receipts for f in r.role(ROLE)]
    what = {"version": MEDIA_VERSION, "spills": [f.digest for _, f in files], "partitions": count}
    wide = PARTS // count
    tasks: list[Task] = []
    for p in range(count):
        spills = [[str(ctx.store.path(r.key, f)), f.extra["parts"][p * wide : (p + 1) * wide]] for r, f in files]
        tasks.append(
            make_task(
                "media_shards",
                {**what, "partition": p},
                {"files": spills},
                f"{label} media shards {p + 1}/{count}",
                plan.facts["bytes"] // count,
            )
        )
    return tasks

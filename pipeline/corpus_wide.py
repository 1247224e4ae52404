"""What a corpus-wide stage says of each shard of a dataset, whatever its shape (`stages.protocol`)."""

from collections.abc import Sequence
from typing import Any

from gristmill.pipeline.census_job import census_shards
from gristmill.pipeline.context import Context, ShardRef
from gristmill.pipeline.exchange_job import Found, ShardDrops, drops_by_shard, exchange_shards
from gristmill.pipeline.exchanges import ROUND, exchange_of
from gristmill.pipeline.phases import LoadedStep
from gristmill.pipeline.similar.job import run_similar
from gristmill.stages.protocol import Census, Exchange, Rounds, Similar


def described(step: LoadedStep, part: str = "") -> dict[str, Any]:
    """What an exchange needs of a step; its label stays out, since it does not change the verdicts."""
    fingerprint = step.fingerprint()["stage"]
    exchange = exchange_of(step.stage, part) if isinstance(step.stage, Exchange | Rounds) else None
    rows_each = getattr(exchange, "rows_each", 1)
    worker = {"stage": step.name, "params": dict(step.params), "part": part}
    return {**worker, "fingerprint": fingerprint, "rows_each": rows_each}


def corpus_verdicts(ctx: Context, dataset: str, step: LoadedStep, shards: Sequence[ShardRef]) -> Found:
    """Run the stage over all shards."""
    label, stage = f"{dataset}.{step.label}", step.stage
    if isinstance(stage, Exchange):
        reduced = exchange_shards(ctx, label, described(step), shards, "documents")
        return Found(drops_by_shard(ctx, reduced, range(len(shards))))
    if isinstance(stage, Rounds):
        return _rounds(ctx, label, step, shards)
    if isinstance(stage, Census):
        decided = census_shards(ctx, label, described(step), shards)
        return Found(drops_by_shard(ctx, [decided], range(len(shards))), decided.facts["told"])
    assert isinstance(stage, Similar)
    return run_similar(ctx, dataset, step, shards)


def _rounds(ctx: Context, label: str, step: LoadedStep, shards: Sequence[ShardRef]) -> Found:
    found: list[ShardDrops] | None = None
    for number, _ in enumerate(step.stage.rounds()):
        part = described(step, f"{ROUND}{number}")
        reduced = exchange_shards(ctx, f"{label} round {number + 1}", part, shards, "documents", found)
        found = drops_by_shard(ctx, reduced, range(len(shards)))
    return Found(found or [])

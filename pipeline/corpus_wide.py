"""What a corpus-wide stage says of each shard of a dataset, whatever its shape (`stages.protocol`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gristmill.pipeline.context import Context, ShardRef
from gristmill.pipeline.exchange_job import ShardDrops, drops_by_shard, exchange_shards
from gristmill.pipeline.exchanges import ROUND
from gristmill.pipeline.phases import LoadedStep
from gristmill.stages.protocol import Exchange, Rounds


@dataclass(frozen=True)
class Found:
    """The verdicts of each shard, and what else there is to tell (manifest `facts`, under the step)."""

    drops: list[ShardDrops]
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])


def described(step: LoadedStep, part: str = "") -> dict[str, Any]:
    """What an exchange needs of a step; its label stays out, since it does not change the verdicts."""
    fingerprint = step.fingerprint()["stage"]
    return {"stage": step.name, "params": dict(step.params), "part": part, "fingerprint": fingerprint}


def corpus_verdicts(ctx: Context, dataset: str, step: LoadedStep, shards: Sequence[ShardRef]) -> Found:
    """Run the stage over all shards."""
    label, stage = f"{dataset}.{step.label}", step.stage
    if isinstance(stage, Exchange):
        reduced = exchange_shards(ctx, label, described(step), shards, "documents")
        return Found(drops_by_shard(ctx, reduced, len(shards)))
    if isinstance(stage, Rounds):
        return _rounds(ctx, label, step, shards)
    raise NotImplementedError(type(stage).__name__)


def _rounds(ctx: Context, label: str, step: LoadedStep, shards: Sequence[ShardRef]) -> Found:
    found: list[ShardDrops] | None = None
    for number, _ in enumerate(step.stage.rounds()):
        part = described(step, f"{ROUND}{number}")
        reduced = exchange_shards(ctx, f"{label} round {number + 1}", part, shards, "documents", found)
        found = drops_by_shard(ctx, reduced, len(shards))
    return Found(found or [])

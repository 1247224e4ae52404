"""Building one dataset: phases become tasks, tasks become receipts, receipts become a `Built`.

Everything is decided by keys: a task whose key is committed is found, not done. A phase's tasks are known
once the phase before is done; within `work=False` nothing is done, and the first missing piece raises
`Unfinished` (this is how `plan` and the steps outside `--only` run).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.context import Context, ShardRef
from gristmill.pipeline.corpus_wide import corpus_verdicts
from gristmill.pipeline.exchange_job import REPEATED_IDS, ShardDrops, drops_by_shard, exchange_shards
from gristmill.pipeline.phases import Phase
from gristmill.pipeline.recipe import DatasetSpec
from gristmill.pipeline.renders import LoadedRender
from gristmill.pipeline.task import Task, make_task


@dataclass
class Built:
    """A dataset whose work is committed. `receipts` carry its account, in order of phases and splits.

    `renders` are the domains of one that is rendered; `saves` put in place what belongs to it when it is published;
    `upstream` are the datasets it is made from; `pass_through` marks one whose shards are theirs; the last
    `last_splits` receipts are those that its shards belong to.
    """

    spec: DatasetSpec
    phases: list[Phase]
    shards: list[ShardRef] = field(default_factory=list[ShardRef])
    row_indexes: list[ShardRef] = field(default_factory=list[ShardRef])
    media_shards: list[ShardRef] = field(default_factory=list[ShardRef])
    media_indexes: list[ShardRef] = field(default_factory=list[ShardRef])
    receipts: list[Receipt] = field(default_factory=list[Receipt])
    inputs: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    upstream: list["Built"] = field(default_factory=list["Built"])
    pass_through: bool = False
    last_splits: int = 0
    kind: str = "documents"
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    saves: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    renders: tuple[LoadedRender, ...] = ()


RENAME_VERSION = 2


def distinct_shards(ctx: Context, built: Built) -> list[ShardRef]:
    """The shards of all upstream datasets, those anew in which an id stands that another record bears too.

    Datasets that were read apart may hold records with one key (two crawls of a page), or the same record twice
    (by two ways from one dataset); joined, each has an id of its own.
    """
    shards = [s for upstream in built.upstream for s in upstream.shards]
    if len(built.upstream) < 2:
        return shards
    name = built.spec.name
    label = f"{name}.from ids"
    reduced = exchange_shards(ctx, label, REPEATED_IDS, shards, "documents")
    drops = drops_by_shard(ctx, reduced, range(len(shards)))
    repeated = [i for i, mine in enumerate(drops) if mine.ranges]
    tasks = [
        make_task(
            "rename",
            {"version": RENAME_VERSION, "dataset": name, "input": shards[i].entry.digest, "drops": drops[i].digest},
            {"dataset": name, "shard": str(shards[i].path), "drops": drops[i].ranges, "base": drops[i].base},
            f"{label} {n + 1}/{len(repeated)}",
            shards[i].entry.bytes,
        )
        for n, i in enumerate(repeated)
    ]
    renamed = dict(zip(repeated, (ctx.refs(r, "data") for r in ctx.map(tasks)), strict=True))
    return [ref for i, shard in enumerate(shards) for ref in renamed.get(i, [shard])]


def map_shards(
    ctx: Context, built: Built, phase: Phase, shards: Sequence[ShardRef], drops: Sequence[ShardDrops] | None
) -> list[Receipt]:
    """One pass over committed shards: verdicts of the phase's exchange, then its chain."""
    origin = not built.receipts
    steps = [*(["from"] if origin else []), *phase.labels()]
    chain = [s.payload() for s in phase.chain]
    what = {
        "dataset": built.spec.name,
        "steps": steps,
        "chain": [s.fingerprint() for s in phase.chain],
        "seed": ctx.recipe.seed,
        "measures_all": ctx.measures_all,
        "exchange": phase.exchange.fingerprint() if phase.exchange else None,
    }
    tasks: list[Task] = []
    for index, shard in enumerate(shards):
        mine = drops[index] if drops is not None else None
        payload = {
            **{k: what[k] for k in ("dataset", "steps", "seed", "measures_all")},
            "shard": str(shard.path),
            "origin": origin,
            "chain": chain,
            "base_dir": ctx.base_dir,
            "exchange": _exchange_payload(phase, mine),
        }
        label = f"{built.spec.name}.{steps[-1] if steps else 'from'} {index + 1}/{len(shards)}"
        described = {**what, "input": shard.entry.digest, "drops": mine.digest if mine else None}
        tasks.append(make_task("map", described, payload, label, shard.entry.bytes))
    return ctx.map(tasks)


def _exchange_payload(phase: Phase, drops: ShardDrops | None) -> dict[str, Any] | None:
    if phase.exchange is None or drops is None:
        return None
    return {
        "step": phase.exchange.label,
        "stage": phase.exchange.name,
        "params": dict(phase.exchange.params),
        "measure": getattr(phase.exchange.stage, "measure_name", "similarity"),
        "drops": drops.ranges,
        "base": drops.base,
    }


def run_phase(ctx: Context, built: Built, phase: Phase) -> None:
    """Run a phase that is not the reading one: exchange and chain over the dataset's present shards."""
    drops: list[ShardDrops] | None = None
    if phase.exchange is not None:
        found = corpus_verdicts(ctx, built.spec.name, phase.exchange, built.shards)
        drops = found.drops
        if found.facts:
            built.facts[phase.exchange.label] = found.facts
        if found.save is not None:
            built.saves.append(found.save)
    receipts = map_shards(ctx, built, phase, built.shards, drops)
    built.receipts.extend(receipts)
    built.last_splits = len(receipts)
    built.shards = [ref for r in receipts for ref in ctx.refs(r, "data")]

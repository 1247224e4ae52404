"""Building one dataset: phases become tasks, tasks become receipts, receipts become a `Built`.

Everything is decided by keys: a task whose key is committed is found, not done. A phase's tasks are known
once the phase before is done; within `work=False` nothing is done, and the first missing piece raises
`Unfinished` (this is how `plan` and the steps outside `--only` run).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from blake3 import blake3

from gristmill.manifests.canonical import DIGEST_PREFIX
from gristmill.manifests.commit import FileEntry, ObjectStore, Receipt
from gristmill.pipeline.engines.protocol import Engine, ExchangeJob, Notify, run_all
from gristmill.pipeline.exchange_rows import partitions_for
from gristmill.pipeline.phases import LoadedStep, Phase
from gristmill.pipeline.recipe import DatasetSpec, Recipe
from gristmill.pipeline.sources.protocol import InputFile
from gristmill.pipeline.task import Task, make_task
from gristmill.pipeline.tasks.shard_map import read_drops

SHARD_ADDR_BITS = 32


@dataclass(frozen=True)
class ShardRef:
    """A committed file: the key of its object, its entry and its full path here."""

    key: str
    entry: FileEntry
    path: Path


@dataclass
class Built:
    """A dataset whose work is committed. `receipts` carry its account, in order of phases and splits.

    `upstream` are the datasets it is made from; `pass_through` marks one whose shards are theirs; the last
    `last_splits` receipts are those that its shards belong to.
    """

    spec: DatasetSpec
    phases: list[Phase]
    shards: list[ShardRef] = field(default_factory=list[ShardRef])
    receipts: list[Receipt] = field(default_factory=list[Receipt])
    inputs: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    upstream: list["Built"] = field(default_factory=list["Built"])
    pass_through: bool = False
    last_splits: int = 0
    kind: str = "documents"
    facts: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Context:
    """What building needs: the output's store, an engine, the recipe, how the run was asked for, and the input
    listings that were frozen so far, by dataset."""

    store: ObjectStore
    engine: Engine
    recipe: Recipe
    notify: Notify
    measures_all: bool = False
    sample: float | None = None
    listings: dict[str, list[InputFile]] = field(default_factory=dict[str, list[InputFile]])

    @property
    def base_dir(self) -> str:
        """Where user code of the recipe is found."""
        return str(self.recipe.base_dir)

    def map(self, tasks: Sequence[Task]) -> list[Receipt]:
        """Run tasks; receipts in their order."""
        return run_all(self.engine, tasks, self.notify)

    def refs(self, receipt: Receipt, role: str) -> list[ShardRef]:
        """The files of one role of an object."""
        return [ShardRef(receipt.key, f, self.store.path(receipt.key, f)) for f in receipt.role(role)]


def exchange_shards(
    ctx: Context, label: str, step: Mapping[str, Any], shards: Sequence[ShardRef], role: str
) -> list[Receipt]:
    """Run an exchange over shards (documents, or `idkeys` files); the receipts of its partitions.

    `step` holds `stage`, `params` (for the worker) and `fingerprint` (for the key).
    """
    parts = partitions_for(sum(s.entry.rows for s in shards))
    exchange = {"stage": step["stage"], "params": step["params"]}
    described = {"exchange": step["fingerprint"], "format": role, "parts": parts}
    emits = [
        make_task(
            "emit_keys",
            {**described, "input": shard.entry.digest},
            {**described, "exchange": exchange, "input": str(shard.path), "base_dir": ctx.base_dir},
            f"{label} keys {i + 1}/{len(shards)}",
            shard.entry.bytes,
        )
        for i, shard in enumerate(shards)
    ]

    def reduces(receipts: Sequence[Receipt]) -> list[Task]:
        return [
            make_task(
                "reduce",
                {**described, "part": p, "spills": [r.digest for r in receipts]},
                {
                    "exchange": exchange,
                    "base_dir": ctx.base_dir,
                    "spills": [
                        [str(ctx.store.path(r.key, f)), f.extra["parts"][p], i << SHARD_ADDR_BITS]
                        for i, r in enumerate(receipts)
                        for f in r.role("spill")
                    ],
                },
                f"{label} reduce {p + 1}/{parts}",
            )
            for p in range(parts)
        ]

    return ctx.engine.exchange(ExchangeJob(emits, reduces), ctx.notify)


@dataclass(frozen=True)
class ShardDrops:
    """The verdicts of an exchange that concern one shard: file ranges, the shard's base address, a digest."""

    ranges: list[list[Any]]
    base: int
    digest: str


def drops_by_shard(ctx: Context, reduced: Sequence[Receipt], shards: int) -> list[ShardDrops]:
    """Cut the reduced rows (sorted by address in each partition) into the shares of the shards."""
    bases = np.arange(shards + 1, dtype=np.uint64) << np.uint64(SHARD_ADDR_BITS)
    ranges: list[list[list[Any]]] = [[] for _ in range(shards)]
    for receipt in reduced:
        for file in receipt.role("reduced"):
            path = ctx.store.sound_path(receipt.key, file)
            with pa.memory_map(str(path)) as source:
                addr = pa.ipc.open_file(source).read_all().column("addr").to_numpy()
            bounds = np.searchsorted(addr, bases)
            for shard in np.flatnonzero(bounds[1:] > bounds[:-1]).tolist():
                ranges[shard].append([str(path), int(bounds[shard]), int(bounds[shard + 1])])
    return [
        ShardDrops(mine, shard << SHARD_ADDR_BITS, _drops_digest(mine, shard << SHARD_ADDR_BITS))
        for shard, mine in enumerate(ranges)
    ]


def _drops_digest(ranges: list[list[Any]], base: int) -> str:
    if not ranges:
        return ""
    hasher = blake3()
    for name in ("addr", "keeper", "value", "limit"):
        for chunk in read_drops(ranges, base).column(name).chunks:
            hasher.update(memoryview(chunk.buffers()[1])[: len(chunk) * chunk.type.byte_width])
    return DIGEST_PREFIX + hasher.hexdigest()


RENAME_VERSION = 2
REPEATED_IDS = {"stage": "repeated_ids", "params": {}, "fingerprint": {"stage": "repeated_ids", "version": 1}}


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
    drops = drops_by_shard(ctx, reduced, len(shards))
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


def step_for_exchange(step: LoadedStep) -> dict[str, Any]:
    """What `exchange_shards` needs of a step; its label stays out, since it does not change the verdicts."""
    fingerprint = step.fingerprint()["stage"]
    return {"stage": step.name, "params": dict(step.params), "fingerprint": fingerprint}


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
    reasons = phase.exchange.stage.reasons()
    measure = getattr(phase.exchange.stage, "measure_name", "similarity")
    return {
        "step": phase.exchange.label,
        "reason": reasons[0].reason,
        "measure": measure,
        "drops": drops.ranges,
        "base": drops.base,
    }


def run_phase(ctx: Context, built: Built, phase: Phase) -> None:
    """Run a phase that is not the reading one: exchange and chain over the dataset's present shards."""
    drops: list[ShardDrops] | None = None
    if phase.exchange is not None:
        label = f"{built.spec.name}.{phase.exchange.label}"
        reduced = exchange_shards(ctx, label, step_for_exchange(phase.exchange), built.shards, "documents")
        drops = drops_by_shard(ctx, reduced, len(built.shards))
    receipts = map_shards(ctx, built, phase, built.shards, drops)
    built.receipts.extend(receipts)
    built.last_splits = len(receipts)
    built.shards = [ref for r in receipts for ref in ctx.refs(r, "data")]

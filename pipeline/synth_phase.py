"""The phase of `synth` and the emit behind it: documents are prepared shard by shard, one process plans the sequences,
each is made and proved wherever there is room, and then each shard's documents are accounted for.

Sequences depend on the set of documents alone: plans order them by content, so re-sharding the input or another number
of workers gives the same bytes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from gristmill.manifests.receipt import Receipt
from gristmill.manifests.trainer_schema import TokenizerIdentity
from gristmill.pipeline.build import Built
from gristmill.pipeline.context import Context, ShardRef
from gristmill.pipeline.emit import INDEX_VERSION
from gristmill.pipeline.emit_media import media_phase, within_context
from gristmill.pipeline.phases import LoadedStep
from gristmill.pipeline.synth_params import params_to_data, versions
from gristmill.pipeline.task import Task, make_task
from gristmill.pipeline.tasks.tokenise import tokenizer_for
from gristmill.synth.scenes.drawing import absent, fingerprint

PREPARE_VERSION = 2
ROWS_VERSION = 2
_COUNTED = ("discarded", "tasks", "classes", "modes")


def synth_phase(ctx: Context, built: Built, synth: LoadedStep, emit: LoadedStep) -> None:
    """Turn a dataset's documents into sequences; see the module."""
    identity = tokenizer_for(ctx.recipe.tokenizer, ctx.base_dir).identity
    prepare_tasks = partial(_prepare_tasks, ctx, built, (synth, emit), identity)
    prepared = within_context(ctx, prepare_tasks, emit.stage.context)
    files = [ref for r in prepared for ref in ctx.refs(r, "prepared")]
    params = params_to_data(synth.stage.synth_params(ctx.recipe.seed, emit.stage.cost()))
    plan = ctx.map([_plan_task(ctx, built, synth, files, (params, identity))])[0]
    made = ctx.map(_row_tasks(ctx, built, (synth, emit), (plan, files), (params, identity)))
    media_phase(ctx, built, f"{built.spec.name}.{synth.label}", made)
    settled = ctx.map(_settle_tasks(ctx, built, (synth, emit), prepared, made))
    built.facts["inputs"] = [s.entry.digest for s in built.shards]
    built.receipts.extend(settled)
    built.last_splits = len(settled)
    built.kind = "rows"
    built.shards = [ref for r in made for ref in ctx.refs(r, "rows")]
    built.row_indexes = [ref for r in made for ref in ctx.refs(r, "row_indexes")]
    built.facts |= _facts(emit, identity, plan, made)
    built.facts["packing"]["documents"] = sum(r.facts["rows"] for r in settled)
    built.facts["synth"] |= {"sequences": synth.stage.sequences, "rows": built.facts["packing"]["rows"]}
    built.facts["keys"] = [*(r.key for r in prepared), plan.key, *(r.key for r in made)]


def _facts(emit: LoadedStep, identity: TokenizerIdentity, plan: Receipt, made: Sequence[Receipt]) -> dict[str, Any]:
    context: int = emit.stage.context
    rows, n_tokens = (sum(r.facts[name] for r in made) for name in ("rows", "n_tokens"))
    padding = (rows * context - n_tokens) / (rows * context) if rows else 0.0
    bucket: Counter[str] = Counter(documents=0, tokens=0, image_tokens=0)
    for receipt in made:
        bucket.update(receipt.facts["bucket"])
    span = {"domain": None, "min_tokens": 0, "max_tokens": None, "first_row": 0, "stop_row": rows}
    buckets = [{**span, **bucket, "padding_frac": padding, "rate": 1.0}] if rows else []
    told = {name: _sum(r.facts[name] for r in made) for name in _COUNTED}
    return {
        "context": context,
        "tokenizer": asdict(identity),
        "image_cost": asdict(emit.stage.cost()),
        "packing": {"rows": rows, "padding_frac": padding, "cut_docs": 0, "needless_cuts": 0, "buckets": buckets},
        "synth": {**told, "unasked": sum(r.facts["unasked"] for r in made), "skipped": plan.facts["skipped"]},
        "n_tokens": n_tokens,
    }


def _sum(parts: Any) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return dict(sorted(total.items()))


def _prepare_tasks(
    ctx: Context, built: Built, steps: tuple[LoadedStep, LoadedStep], identity: TokenizerIdentity, limit: int
) -> list[Task]:
    synth, emit = steps
    shared: dict[str, Any] = {
        "holdout": asdict(ctx.recipe.holdout) if ctx.recipe.holdout else None,
        "image_cost": asdict(emit.stage.cost()),
        "medium_limit": limit,
    }
    what = {**shared, "version": PREPARE_VERSION, "tokenizer": identity.fingerprint}
    local = {**shared, "tokenizer": ctx.recipe.tokenizer, "base_dir": ctx.base_dir}
    return [
        make_task(
            "synth_prepare",
            {**what, "input": shard.entry.digest},
            {**local, "shard": str(shard.path)},
            f"{built.spec.name}.{synth.label} prepare {i + 1}/{len(built.shards)}",
            shard.entry.bytes,
        )
        for i, shard in enumerate(built.shards)
    ]


def _plan_task(
    ctx: Context,
    built: Built,
    synth: LoadedStep,
    files: Sequence[ShardRef],
    how: tuple[Mapping[str, Any], TokenizerIdentity],
) -> Task:
    params, identity = how
    what = {"versions": versions(), "params": params, "tokenizer": identity.fingerprint, "drawn": not absent()}
    local = {"params": params, "tokenizer": ctx.recipe.tokenizer, "base_dir": ctx.base_dir}
    return make_task(
        "synth_plan",
        {**what, "inputs": [f.entry.digest for f in files]},
        {**local, "prepared": [str(f.path) for f in files]},
        f"{built.spec.name}.{synth.label} plan 1/1",
    )


def _row_tasks(
    ctx: Context,
    built: Built,
    steps: tuple[LoadedStep, LoadedStep],
    planned: tuple[Receipt, Sequence[ShardRef]],
    how: tuple[Mapping[str, Any], TokenizerIdentity],
) -> list[Task]:
    (synth, emit), (plan, files), (params, identity) = steps, planned, how
    table = plan.role("plan")[0]
    shared: dict[str, Any] = {
        "params": params,
        "identity": asdict(identity),
        "stage": built.spec.name,
        "image_cost": asdict(emit.stage.cost()),
    }
    if emit.stage.compression != "none":
        shared["compression"] = emit.stage.compression
    versioned = {"versions": versions(), "version": ROWS_VERSION, "index": INDEX_VERSION}
    what = {**shared, **versioned, "plan": plan.digest, "tokenizer": identity.fingerprint}
    if plan.facts["pictured"]:  # bytes of pictures depend on engines and fonts
        what["drawing"] = [list(part) for part in fingerprint()]
    local = {
        "tokenizer": ctx.recipe.tokenizer,
        "base_dir": ctx.base_dir,
        "plan": str(ctx.store.path(plan.key, table)),
        "prepared": [str(f.path) for f in files],
    }
    sizes = plan.facts["parts"]
    return [
        make_task(
            "synth_rows",
            {**what, "part": p},
            {**shared, **local, "part": table.extra["parts"][p]},
            f"{built.spec.name}.{synth.label} sequences {p + 1}/{len(sizes)}",
            4 * size * params["context"],
        )
        for p, size in enumerate(sizes)
    ]


def _settle_tasks(
    ctx: Context,
    built: Built,
    steps: tuple[LoadedStep, LoadedStep],
    prepared: Sequence[Receipt],
    made: Sequence[Receipt],
) -> list[Task]:
    origin = not built.receipts
    what = {
        "version": ROWS_VERSION,
        "dataset": built.spec.name,
        "steps": [*(["from"] if origin else []), *(step.label for step in steps)],
        "holdout": asdict(ctx.recipe.holdout) if ctx.recipe.holdout else None,
        "seed": ctx.recipe.seed,
    }
    placed = [(r, f) for r in made for f in r.role("placed")]
    local = {"origin": origin, "placed": [[str(ctx.store.path(r.key, f)), f.extra["parts"][0]] for r, f in placed]}
    tasks: list[Task] = []
    first = 0
    for i, (shard, receipt) in enumerate(zip(built.shards, prepared, strict=True)):
        files, refused = ctx.refs(receipt, "prepared"), ctx.refs(receipt, "refused")[0]
        mine = [[str(f.path), first + n] for n, f in enumerate(files)]
        digests = {"input": shard.entry.digest, "prepared": receipt.digest, "first": first}
        tasks.append(
            make_task(
                "synth_settle",
                {**what, **digests, "placed": [f.digest for _, f in placed]},
                {
                    **what,
                    **local,
                    "shard": str(shard.path),
                    "prepared": mine,
                    "refused": [str(refused.path), refused.entry.extra["parts"][0]],
                },
                f"{built.spec.name}.{steps[0].label} settle {i + 1}/{len(built.shards)}",
                shard.entry.bytes,
            )
        )
        first += len(files)
    return tasks

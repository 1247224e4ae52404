"""The emit phase: tokenise every shard, pack once, make rows; and the dataset of what is held out.

Rows depend on the set of documents alone: packing orders by content, so re-sharding the input or another
number of workers gives the same bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.manifest import Manifest
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.tally import check_balance
from gristmill.pipeline.build import Built
from gristmill.pipeline.context import Context, ShardRef
from gristmill.pipeline.emit_media import media_phase, within_context
from gristmill.pipeline.phases import LoadedStep
from gristmill.pipeline.publish import (
    Content,
    Publisher,
    account_files,
    built_tallies,
    describe_steps,
    last_receipts,
    step_entries,
    upstream_digests,
    work_seconds,
    write_content,
)
from gristmill.pipeline.row_pass import merge_stats
from gristmill.pipeline.task import Task, make_task
from gristmill.pipeline.tasks.tokenise import tokenizer_for

HOLDOUT = "holdout"
EMIT_VERSION = 4
PACK_VERSION = 6
"""Of the pack plan, and so of its rows; tokenised documents are not made anew."""
INDEX_VERSION = 1
_TOLD = ("context", "tokenizer", "image_cost", "packing", "synth")
"""What a manifest says of its rows; `synth` (`pipeline.synth_phase`) of sequences alone."""


def emit_phase(ctx: Context, built: Built, step: LoadedStep) -> None:
    """Turn a dataset's documents into rows; see the module."""
    identity = tokenizer_for(ctx.recipe.tokenizer, ctx.base_dir).identity
    tokenise_tasks = partial(_tokenise_tasks, ctx, built, step, identity.fingerprint)
    tokenised = within_context(ctx, tokenise_tasks, step.stage.context)
    built.facts["inputs"] = [s.entry.digest for s in built.shards]
    built.receipts.extend(tokenised)
    built.last_splits = len(tokenised)
    files = [ref for r in tokenised for ref in ctx.refs(r, "tokenised")]
    media_phase(ctx, built, f"{built.spec.name}.{step.label}", tokenised)
    plan = ctx.map([_plan_task(built, step, files)])[0]
    rows = ctx.map(_row_tasks(ctx, built, step, plan, files, asdict(identity)))
    built.kind = "rows"
    built.shards = [ref for r in rows for ref in ctx.refs(r, "rows")]
    built.row_indexes = [ref for r in rows for ref in ctx.refs(r, "row_indexes")]
    packing = ("rows", "documents", "padding_frac", "cut_docs", "needless_cuts", "buckets")
    built.facts |= {
        "context": step.stage.context,
        "tokenizer": asdict(identity),
        "image_cost": asdict(step.stage.cost()),
        "packing": {name: plan.facts[name] for name in packing},
        "n_tokens": sum(r.facts["n_tokens"] for r in rows),
        "keys": [plan.key, *(r.key for r in rows)],
    }


def _tokenise_tasks(ctx: Context, built: Built, step: LoadedStep, fingerprint: str, limit: int) -> list[Task]:
    origin = not built.receipts
    holdout = asdict(ctx.recipe.holdout) if ctx.recipe.holdout else None
    what = {
        "version": EMIT_VERSION,
        "dataset": built.spec.name,
        "steps": [*(["from"] if origin else []), step.label],
        "holdout": holdout,
        "seed": ctx.recipe.seed,
        "image_cost": asdict(step.stage.cost()),
        "medium_limit": limit,
    }
    local = {"origin": origin, "tokenizer": ctx.recipe.tokenizer, "base_dir": ctx.base_dir}
    return [
        make_task(
            "tokenise",
            {**what, "tokenizer": fingerprint, "input": shard.entry.digest},
            {**what, **local, "shard": str(shard.path)},
            f"{built.spec.name}.{step.label} tokens {i + 1}/{len(built.shards)}",
            shard.entry.bytes,
        )
        for i, shard in enumerate(built.shards)
    ]


def _plan_task(built: Built, step: LoadedStep, files: Sequence[ShardRef]) -> Task:
    emit = step.stage
    how = {"context": emit.context, "by": sorted(emit.by), "max_segments": emit.max_segments}
    what = {"version": PACK_VERSION, **how, "inputs": [f.entry.digest for f in files]}
    payload = {**how, "shards": [str(f.path) for f in files]}
    return make_task("pack_plan", what, payload, f"{built.spec.name}.{step.label} pack 1/1")


def _row_tasks(
    ctx: Context,
    built: Built,
    step: LoadedStep,
    plan: Receipt,
    files: Sequence[ShardRef],
    identity: Mapping[str, Any],
) -> list[Task]:
    table = plan.role("plan")[0]
    shared = {
        "context": step.stage.context,
        "tokenizer": identity,
        "stage": built.spec.name,
        "image_cost": asdict(step.stage.cost()),
    }
    if step.stage.compression != "none":
        shared["compression"] = step.stage.compression
    local = {"plan": str(ctx.store.path(plan.key, table)), "shards": [str(f.path) for f in files]}
    bounds = plan.facts["bounds"]
    return [
        make_task(
            "pack_rows",
            {**shared, "version": EMIT_VERSION, "index": INDEX_VERSION, "plan": plan.digest, "part": p},
            {**shared, **local, "part": table.extra["parts"][p], "bounds": bounds[p]},
            f"{built.spec.name}.{step.label} rows {p + 1}/{len(bounds)}",
        )
        for p in range(len(bounds))
    ]


def publish_rows(out: Path, built: Built, shared: Mapping[str, Any], engine: str, store: ObjectStore) -> Manifest:
    """Publish a dataset of trainer rows, with its tokenised documents beside them."""
    tallies = built_tallies(built)
    check_balance(tallies, built.spec.name)
    publisher = Publisher(out / built.spec.name, store)
    tokens = last_receipts(built)
    packing = built.facts["packing"]
    entries = step_entries(describe_steps(built), tallies)
    entries[-1]["rows"] = packing["rows"]
    tokenised = [ShardRef(r.key, f, store.path(r.key, f)) for r in tokens for f in r.role("tokenised")]
    content = Content(
        name=built.spec.name,
        kind="rows",
        inputs=built.inputs,
        steps=entries,
        shards=publisher.links("rows", built.shards),
        account=account_files(publisher, built.receipts, store),
        stats=merge_stats([r.facts["stats"] for r in tokens]),
        totals={
            "records": packing["documents"],
            "tokens": built.facts["n_tokens"],
            "rows": packing["rows"],
            "media": built.facts["media"]["media"],
            "media_tokens": built.facts["media"]["tokens"],
            # Of the text that was tokenised: the places of media without bytes are cut there.
            "chars": entries[-1]["chars_kept"],
        },
        objects=[*(r.key for r in built.receipts), *built.facts.get("media_keys", ()), *built.facts["keys"]],
        facts={name: built.facts[name] for name in _TOLD if name in built.facts},
        tokenised=publisher.links("tokenised", tokenised),
        row_indexes=publisher.links("row_indexes", built.row_indexes),
        media_shards=publisher.links("media_shards", built.media_shards),
        media_indexes=publisher.links("media_indexes", built.media_indexes),
        upstream=upstream_digests(out, built),
        seconds=work_seconds(built.receipts),
    )
    return write_content(publisher, content, shared, engine)

"""The reading phase of a dataset: freeze the listing, cut it into splits, read, and give repeated keys new ids."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from gristmill.manifests.errors import InputError
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.build import Built
from gristmill.pipeline.context import Context
from gristmill.pipeline.exchange_job import REPEATED_IDS, ShardDrops, drops_by_shard, exchange_shards
from gristmill.pipeline.own_files import INPUTS, own_input
from gristmill.pipeline.phases import Phase
from gristmill.pipeline.recipe import DatasetSpec, ReadOrigin
from gristmill.pipeline.sources import catalogue as sources
from gristmill.pipeline.sources.digests import cached_digests
from gristmill.pipeline.sources.files import NoFileError, Selection, is_url
from gristmill.pipeline.sources.files import list_inputs as list_inputs_of
from gristmill.pipeline.sources.protocol import InputFile, OptionValue
from gristmill.pipeline.splits import Split, make_splits
from gristmill.pipeline.task import Task, make_task

READ_VERSION = 4


def list_inputs(ctx: Context, spec: DatasetSpec) -> list[InputFile]:
    """The frozen listing of a dataset that is read, made once a run.

    Raises InputError when a glob matches nothing, unless the dataset is optional, which may be empty.
    """
    origin = spec.origin
    assert isinstance(origin, ReadOrigin)
    if spec.name not in ctx.listings:
        selection = sources.selection(origin.source, origin.options)
        try:
            ctx.listings[spec.name] = listing_of(ctx, origin.patterns, selection, origin.optional)
        except InputError as error:
            raise InputError(error.what, error.where or spec.where, error.value, error.remedy) from error
    return ctx.listings[spec.name]


def listing_of(ctx: Context, patterns: Sequence[str], selection: Selection, optional: bool = False) -> list[InputFile]:
    """The files of globs by their names, with digests; nothing of the output itself. Raises InputError where there is
    none, or where a glob matches none unless that is `optional`."""
    out = ctx.store.root
    cache = out / INPUTS if os.access(out, os.W_OK) else None
    is_own = own_input(out, (d.name for d in ctx.recipe.datasets))
    found: dict[str, InputFile] = {}
    is_empty = optional
    with cached_digests(cache) as digests:
        for glob in patterns:
            try:
                listed = list_inputs_of(glob, ctx.base_dir, selection, digests)
            except NoFileError:
                if optional:
                    continue
                raise
            is_empty = False
            found |= {f.url: f for f in listed if is_url(f.url) or not is_own(f.url)}
    if not found and not is_empty:
        raise InputError(
            "only files of the output itself match",
            value=", ".join(patterns),
            remedy="read from elsewhere, or choose another --out",
        )
    return sorted(found.values(), key=lambda f: (f.rel, f.url))


def read_phase(ctx: Context, built: Built, phase: Phase, options: Mapping[str, OptionValue]) -> None:
    """Read the inputs of a dataset through the phase's chain."""
    listing = list_inputs(ctx, built.spec)
    built.inputs = [{"rel": f.rel, "bytes": f.bytes, "digest": f.digest} for f in listing]
    tasks = _read_tasks(ctx, built, phase, make_splits(listing), options)
    receipts = _fix_repeated(ctx, built, ctx.map(tasks))
    built.receipts.extend(receipts)
    built.last_splits = len(receipts)
    built.shards = [ref for r in receipts for ref in ctx.refs(r, "data")]


def _read_tasks(
    ctx: Context, built: Built, phase: Phase, splits: Sequence[Split], options: Mapping[str, OptionValue]
) -> list[Task]:
    origin = built.spec.origin
    assert isinstance(origin, ReadOrigin)
    steps = ["read", *phase.labels()]
    read_options = {
        "dataset": built.spec.name,
        "domain": built.spec.domain,
        "license": built.spec.license,
        "key": origin.key,
        "extra": dict(options),
    }
    shared: dict[str, Any] = {
        "source": origin.source,
        "options": read_options,
        "dataset": built.spec.name,
        "steps": steps,
        "seed": ctx.recipe.seed,
        "measures_all": ctx.measures_all,
        "sample": ctx.sample,
    }
    what = {**shared, "version": READ_VERSION, "chain": [s.fingerprint() for s in phase.chain]}
    payload = {**shared, "chain": [s.payload() for s in phase.chain], "base_dir": ctx.base_dir}
    return [
        make_task(
            "read",
            {**what, "files": [[f.rel, f.digest] for f in split]},
            {**payload, "files": [asdict(f) for f in split]},
            f"{built.spec.name}.read {i + 1}/{len(splits)}",
            sum(f.bytes for f in split),
        )
        for i, split in enumerate(splits)
    ]


def _fix_repeated(ctx: Context, built: Built, receipts: list[Receipt]) -> list[Receipt]:
    """Receipts of the splits with those replaced in which a key came again."""
    keys = [ref for r in receipts for ref in ctx.refs(r, "idkeys")]
    label = f"{built.spec.name}.read ids"
    reduced = exchange_shards(ctx, label, REPEATED_IDS, keys, "idkeys")
    drops = drops_by_shard(ctx, reduced, range(len(keys)))
    repeated = [i for i, mine in enumerate(drops) if mine.ranges]
    tasks = [
        _fix_task(ctx, built, receipts[i], drops[i], f"{label} {n + 1}/{len(repeated)}") for n, i in enumerate(repeated)
    ]
    fixed = dict(zip(repeated, ctx.map(tasks), strict=True))
    return [fixed.get(i, receipt) for i, receipt in enumerate(receipts)]


def _fix_task(ctx: Context, built: Built, receipt: Receipt, drops: ShardDrops, label: str) -> Task:
    payload = {
        "folder": str(ctx.store.folder(receipt.key)),
        "files": [asdict(f) for f in receipt.files],
        "facts": receipt.facts,
        "drops": drops.ranges,
        "base": drops.base,
    }
    return make_task("fix_ids", {"read": receipt.digest, "drops": drops.digest}, payload, label)

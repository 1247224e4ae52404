"""The rendering phase of a dataset: fixed ranges of slots, or the files of a frozen listing, become tasks.

Slots are cut at multiples of SLOTS_A_TASK, so a larger count makes what is new and the last range that was not full.
The key of a task covers the domain (name, version, engines, fonts, a user's file), its families, the seed, the range,
and the steps that are fused with it; never the count, nor the number of workers.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import xxhash

from gristmill.manifests.errors import InputError
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.schema import record_id, repeated_id
from gristmill.pipeline.build import Built
from gristmill.pipeline.build_read import listing_of
from gristmill.pipeline.context import Context
from gristmill.pipeline.phases import Phase
from gristmill.pipeline.recipe import DatasetSpec
from gristmill.pipeline.renders import LoadedRender, refuse_lacking
from gristmill.pipeline.sources.files import Selection
from gristmill.pipeline.sources.protocol import InputFile
from gristmill.pipeline.task import Task, make_task
from gristmill.render import domains
from gristmill.render.dataset import ACCEPTED

RENDER_VERSION = 1
SLOTS_A_TASK = 32
"""Samples of a task: a second of SVG, ten of web pages."""
_MEAN_FILES = 16
"""A group of files ends where the name's hash says so, about every so many: a new file changes its own group alone."""


def make_ready(ctx: Context, spec: DatasetSpec, renders: Sequence[LoadedRender]) -> None:
    """Try the engines of a dataset and freeze its listings. Raises EngineMissingError and InputError."""
    refuse_lacking(spec, renders)
    for one in renders:
        list_files(ctx, spec, one)


def list_files(ctx: Context, spec: DatasetSpec, render: LoadedRender) -> list[InputFile]:
    """The frozen listing of the existing files of a domain, made once a run; empty for what is generated."""
    if not render.rendered.patterns:
        return []
    name = f"{spec.name}.{render.rendered.domain}"
    if name not in ctx.listings:
        try:
            selection = Selection(domains.SUFFIXES.get(render.domain.name, ()), file_links=False)
            ctx.listings[name] = listing_of(ctx, render.rendered.patterns, selection)
        except InputError as error:
            raise InputError(
                error.what, error.where or render.rendered.key_where["from"], error.value, error.remedy
            ) from error
    return ctx.listings[name]


def render_phase(ctx: Context, built: Built, phase: Phase, renders: Sequence[LoadedRender]) -> None:
    """Make the samples of a dataset, through the phase's chain."""
    built.renders = tuple(renders)
    listed = [file for one in renders for file in list_files(ctx, built.spec, one)]
    built.inputs = [{"rel": f.rel, "bytes": f.bytes, "digest": f.digest} for f in listed]
    tasks = [task for one in renders for task in _tasks(ctx, built.spec, phase, one)]
    receipts = ctx.map(tasks)
    built.receipts.extend(receipts)
    built.last_splits = len(receipts)
    built.shards = [ref for r in receipts for ref in ctx.refs(r, "data")]
    built.facts["render"] = told(receipts, "counts")
    built.facts[ACCEPTED] = told(receipts, "accepted")


def told(receipts: Sequence[Receipt], what: str) -> dict[str, dict[str, int]]:
    """Counts that the receipts of rendering hold of each source, summed."""
    total: dict[str, Counter[str]] = {}
    for receipt in receipts:
        facts = receipt.facts["render"]
        total.setdefault(facts["source"], Counter()).update(facts[what])
    return {source: dict(sorted(counts.items())) for source, counts in total.items()}


def _tasks(ctx: Context, spec: DatasetSpec, phase: Phase, render: LoadedRender) -> Iterator[Task]:
    shared: dict[str, Any] = {
        "dataset": spec.name,
        "steps": ["render", *phase.labels()],
        "identity": domains.identity(render.domain),
        "families": list(render.families),
        "license": spec.license,
        "seed": ctx.recipe.seed,
        "measures_all": ctx.measures_all,
        "sample": ctx.sample,
    }
    what = {**shared, "version": RENDER_VERSION, "chain": [s.fingerprint() for s in phase.chain]}
    named = {"domain": render.rendered.domain, "base_dir": ctx.base_dir}
    payload = {**shared, **named, "chain": [s.payload() for s in phase.chain]}
    label = f"{spec.name}.render {render.domain.name}"
    files = list_files(ctx, spec, render)
    if render.rendered.patterns:
        yield from _file_tasks(what, payload, files, label)
        return
    ranges = list(slot_ranges(render.rendered.count))
    for number, bounds in enumerate(ranges):
        own = {"slots": list(bounds)}
        yield make_task("render", {**what, **own}, {**payload, **own}, f"{label} {number + 1}/{len(ranges)}")


def slot_ranges(count: int) -> Iterator[tuple[int, int]]:
    """`[start, stop)` of each task of so many slots."""
    for start in range(0, count, SLOTS_A_TASK):
        yield start, min(start + SLOTS_A_TASK, count)


def _file_tasks(
    what: Mapping[str, Any], payload: Mapping[str, Any], files: Sequence[InputFile], label: str
) -> Iterator[Task]:
    ids = file_ids(str(what["dataset"]), str(what["identity"]["domain"]), files)
    groups = list(file_groups(files))
    for number, group in enumerate(groups):
        described = {**what, "files": [[f.rel, f.digest, ids[f.url]] for f in group]}
        how = {**payload, "files": [asdict(f) for f in group], "ids": [ids[f.url] for f in group]}
        yield make_task("render", described, how, f"{label} {number + 1}/{len(groups)}", sum(f.bytes for f in group))


def file_ids(dataset: str, kind: str, files: Sequence[InputFile]) -> dict[str, str]:
    """The id of each file's record, by url: of its name and content, whatever the place of the folder. The same name
    and content again, by another glob, gets an ordinal."""
    seen: dict[str, int] = {}
    ids: dict[str, str] = {}
    for file in files:
        first = record_id("render", f"{dataset}\0{kind}", f"{file.rel}\0{file.digest}")
        ordinal = seen.get(first, 0)
        seen[first] = ordinal + 1
        ids[file.url] = repeated_id(first, ordinal) if ordinal else first
    return ids


def file_groups(files: Sequence[InputFile]) -> Iterator[list[InputFile]]:
    """At most SLOTS_A_TASK files a group, in order."""
    group: list[InputFile] = []
    for file in files:
        group.append(file)
        ends = xxhash.xxh3_64_intdigest(file.rel.encode("utf-8", "surrogatepass")) % _MEAN_FILES == 0
        if ends or len(group) == SLOTS_A_TASK:
            yield group
            group = []
    if group:
        yield group


def shipped_files(renders: Mapping[str, Sequence[LoadedRender]]) -> list[str]:
    """The users' files that hold domains, by their paths as written."""
    names = [one.rendered.domain for of_dataset in renders.values() for one in of_dataset]
    return [str(Path(name.rpartition(":")[0])) for name in names if domains.is_user_file(name)]

"""What a run would do: steps, inputs, keys, and what is already there, without doing anything.

A phase's work is known once the phase before it is committed; behind the first gap of a dataset the rest is
`unknown until then`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from gristmill.manifests.canonical import key_of
from gristmill.manifests.errors import AlarmError
from gristmill.manifests.open_store import open_store
from gristmill.manifests.remote_store import RemoteStore
from gristmill.pipeline.build import Built
from gristmill.pipeline.build_read import READ_VERSION, list_inputs
from gristmill.pipeline.build_render import RENDER_VERSION, list_files, make_ready
from gristmill.pipeline.context import Context
from gristmill.pipeline.engines.finding import FindingEngine, UnfinishedError
from gristmill.pipeline.engines.protocol import EngineEvent
from gristmill.pipeline.own_files import INPUTS
from gristmill.pipeline.phases import LoadedStep
from gristmill.pipeline.publish import describe_step, with_alarms
from gristmill.pipeline.recipe import DatasetSpec, FromOrigin, ReadOrigin, RenderOrigin, in_build_order, resolved
from gristmill.pipeline.renders import LoadedRender
from gristmill.pipeline.run import LoadedRecipe, build_dataset
from gristmill.pipeline.selection import Share, first_step
from gristmill.pipeline.similar.index import check_indexes, index_names
from gristmill.render.domains import identity


@dataclass
class DatasetPlan:
    """`state` is done, partial, new, waiting (for what it is made from) or alarm (what is done exceeds one, so that a
    run stops there); `why` says what is missing or exceeded.

    `hash` (32 hex digits) covers everything that decides the dataset: inputs, options, steps with their versions and
    parameters, and those of the datasets that it is made from. Each step has the hash of the dataset up to it.
    """

    name: str
    origin: str
    inputs: int | None
    bytes: int | None
    steps: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    reused: int = 0
    to_do: int | None = None
    state: str = "new"
    why: str = ""
    hash: str = ""
    files: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def _silent(_: EngineEvent) -> None:
    return


def make_plan(loaded: LoadedRecipe, out: Path | None, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The plan of a recipe, against an output when one is given. Raises what `run` would raise first."""
    recipe = loaded.recipe
    store = open_store(out if out is not None else "/nonexistent")
    ctx = Context(store, FindingEngine(store), recipe, _silent)
    ctx = replace(ctx, **(options or {}))
    if out is not None:
        stages = {spec.name: loaded.stages[spec.name] for spec in in_build_order(recipe)}
        if isinstance(store, RemoteStore):
            store.prepare([], index_names(stages), INPUTS)
        check_indexes(out, recipe.base_dir, stages, list(stages), ctx.sample)
    done: dict[str, Built] = {}
    plans: dict[str, DatasetPlan] = {}
    for spec in in_build_order(recipe):
        plans[spec.name] = _plan_dataset(ctx, loaded, spec, done)
        _hash(ctx, loaded, spec, plans)
    return {
        "recipe": {"name": recipe.name, "path": str(recipe.path), "digest": recipe.digest},
        "seed": recipe.seed,
        "tokenizer": recipe.tokenizer,
        "out": str(out) if out is not None else None,
        "datasets": [vars(plans[d.name]) for d in recipe.datasets],
        "resolved": resolved(recipe, loaded.stages),
    }


def _plan_dataset(ctx: Context, loaded: LoadedRecipe, spec: DatasetSpec, done: dict[str, Built]) -> DatasetPlan:
    plan = _inputs(ctx, loaded, spec)
    origin = {"step": first_step(spec), "stage": first_step(spec), "version": 1, "params": {}}
    plan.steps = _with_resources(spec, with_alarms(spec, [origin, *(_planned(s) for s in loaded.steps(spec))]))
    if isinstance(spec.origin, FromOrigin) and not set(spec.origin.names) <= set(done):
        missing = sorted(set(spec.origin.names) - set(done))
        plan.state, plan.why = "waiting", f"waits for {', '.join(missing)}"
        return plan
    engine = FindingEngine(ctx.store)
    try:
        done[spec.name] = build_dataset(replace(ctx, engine=engine), loaded, spec, done, Share("work"))
        plan.state, plan.to_do = "done", 0
    except UnfinishedError as gap:
        plan.to_do = gap.missing
        plan.state = "partial" if engine.found else "new"
        plan.why = f"{gap.missing} of {gap.tasks} tasks at {gap.label.rpartition(' ')[0]}, then what follows"
    except AlarmError as stop:
        plan.state, plan.why = "alarm", stop.what
    plan.reused = engine.found
    return plan


def _with_resources(spec: DatasetSpec, steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    declared = spec.resources()
    return [{**s, "resources": declared[s["step"]].resources.plain()} if s["step"] in declared else s for s in steps]


def _planned(step: LoadedStep) -> dict[str, Any]:
    """A step as data, with what its stage tells of itself where it does (`about()`)."""
    about = getattr(step.stage, "about", None)
    return describe_step(step) | ({"about": about()} if about is not None else {})


def _hash(ctx: Context, loaded: LoadedRecipe, spec: DatasetSpec, plans: Mapping[str, DatasetPlan]) -> None:
    plan, recipe = plans[spec.name], ctx.recipe
    run = {"dataset": spec.name, "seed": recipe.seed, "sample": ctx.sample}
    if isinstance(spec.origin, ReadOrigin):
        options = {"domain": spec.domain, "license": spec.license, "key": spec.origin.key}
        files = [[f["rel"], f["digest"]] for f in plan.files]
        read = {**options, "options": dict(loaded.options[spec.name]), "files": files, "version": READ_VERSION}
        run |= {"source": spec.origin.source, "read": read}
    elif isinstance(spec.origin, RenderOrigin):
        made = [[one.rendered.plain(), identity(one.domain), list(one.families)] for one in loaded.renders[spec.name]]
        files = [[f["rel"], f["digest"]] for f in plan.files]
        run |= {"render": made, "files": files, "license": spec.license, "version": RENDER_VERSION}
    else:
        run |= {"from": [plans[name].hash for name in spec.origin.names]}
    plan.hash = plan.steps[0]["hash"] = key_of(run)
    holdout = asdict(recipe.holdout) if recipe.holdout else None
    for step, shown in zip(loaded.steps(spec), plan.steps[1:], strict=True):
        emits = {"tokenizer": recipe.tokenizer, "holdout": holdout} if step.kind == "plan" else {}
        plan.hash = shown["hash"] = key_of({"before": plan.hash, "step": step.fingerprint(), **emits})


def _inputs(ctx: Context, loaded: LoadedRecipe, spec: DatasetSpec) -> DatasetPlan:
    origin = spec.origin
    if isinstance(origin, RenderOrigin):
        return _rendered(ctx, spec, loaded.renders[spec.name])
    if isinstance(origin, ReadOrigin):
        files = list_inputs(ctx, spec)
        shown = [{"rel": f.rel, "bytes": f.bytes, "digest": f.digest} for f in files]
        globs = f"{origin.source}: {', '.join(origin.patterns)}"
        return DatasetPlan(spec.name, globs, len(files), sum(f.bytes for f in files), files=shown)
    return DatasetPlan(spec.name, f"from: {', '.join(origin.names)}", None, None)


def _rendered(ctx: Context, spec: DatasetSpec, renders: Sequence[LoadedRender]) -> DatasetPlan:
    make_ready(ctx, spec, renders)
    files = [f for one in renders for f in list_files(ctx, spec, one)]
    shown = [{"rel": f.rel, "bytes": f.bytes, "digest": f.digest} for f in files]
    told = [f"{one.domain.name} {', '.join(one.rendered.patterns) or one.rendered.count}" for one in renders]
    size = sum(f.bytes for f in files) if files else None
    return DatasetPlan(spec.name, f"render: {', '.join(told)}", len(files) or None, size, files=shown)

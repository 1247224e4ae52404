"""Running a recipe: dataset by dataset in build order, each published when its work is committed.

One driver an output (a lock). The run's index `run.json` is written when the datasets are known, each
manifest when its dataset is done; a run that stops anywhere leaves everything committed, and the same command
goes on from there.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gristmill.manifests.canonical import VOLATILE
from gristmill.manifests.commit import sweep_leftovers
from gristmill.manifests.errors import RecipeError, UsageError
from gristmill.manifests.manifest import RUN, Manifest, write_run
from gristmill.manifests.open_store import open_store
from gristmill.manifests.remote_store import RemoteStore
from gristmill.manifests.vocabulary import find_vocabulary
from gristmill.pipeline.alarms import StoppedError, clear_report, events, judge, refuse_foreign_reports, reported
from gristmill.pipeline.build import Built, distinct_shards, run_phase
from gristmill.pipeline.build_read import list_inputs, read_phase
from gristmill.pipeline.build_render import make_ready, render_phase
from gristmill.pipeline.context import Context
from gristmill.pipeline.engines.finding import FindingEngine, UnfinishedError
from gristmill.pipeline.engines.protocol import Bounded, Engine, Notify
from gristmill.pipeline.engines.trove.left import clear_left_jobs
from gristmill.pipeline.lock import driver_lock
from gristmill.pipeline.own_files import INPUTS, refuse_foreign_folders
from gristmill.pipeline.phases import LoadedStep, Phase, compile_phases, kind_of
from gristmill.pipeline.progress import EVENTS
from gristmill.pipeline.publish import publish
from gristmill.pipeline.recipe import (
    DatasetSpec,
    FromOrigin,
    ReadOrigin,
    Recipe,
    RenderOrigin,
    in_build_order,
    resolved,
)
from gristmill.pipeline.recipe_resolve import resolve_sources, resolve_stages, step_params
from gristmill.pipeline.renders import LoadedRender, resolve_renders
from gristmill.pipeline.replay import Replay
from gristmill.pipeline.resources import SMALL, Resources
from gristmill.pipeline.selection import Selection, Share, shares
from gristmill.pipeline.similar.index import check_indexes, index_names
from gristmill.pipeline.sources.protocol import OptionValue
from gristmill.stages import catalogue

HOLDOUT = "holdout"
LEFTOVER_AGE_S = 900.0
"""Workers die with their driver, and the lock lets one driver in: what is this old belongs to nobody."""


@dataclass(frozen=True)
class RunOptions:
    """How a run was asked for; nothing here but `sample`, `measures_all` and `selection` changes a byte. `keeps_copy`:
    the working copy of an output in object storage stays when all went well. `replay`: an output whose external effects
    hold here, too (`manifests.effects`)."""

    sample: float | None = None
    measures_all: bool = False
    selection: Selection = field(default_factory=Selection)
    keeps_copy: bool = True
    replay: Replay | None = None


@dataclass
class LoadedRecipe:
    """A recipe with its stages, the options of its sources and the domains that it renders. `judges` says whether its
    alarms count."""

    recipe: Recipe
    stages: Mapping[str, Sequence[Any]]
    options: Mapping[str, Mapping[str, OptionValue]]
    renders: Mapping[str, Sequence[LoadedRender]]
    judges: bool = True

    def steps(self, spec: DatasetSpec) -> list[LoadedStep]:
        """The steps of a dataset with their stages."""
        return [
            LoadedStep(
                s.label,
                s.name,
                step_params(self.recipe, s),
                stage,
                kind_of(stage),
                s.where,
                s.resources.resources if s.resources else SMALL,
            )
            for s, stage in zip(spec.steps, self.stages[spec.name], strict=True)
        ]


def load(recipe: Recipe) -> LoadedRecipe:
    """Load all stages and sources, and check what can be checked before anything runs. RecipeError."""
    loaded = LoadedRecipe(recipe, resolve_stages(recipe), resolve_sources(recipe), resolve_renders(recipe))
    for spec in recipe.datasets:
        compile_phases(loaded.steps(spec))
        if isinstance(spec.origin, FromOrigin):
            for name in spec.origin.names:
                if makes_rows(loaded, recipe.dataset(name)):
                    raise RecipeError(
                        "a dataset cannot be made from trainer rows",
                        where=spec.where,
                        value=name,
                        remedy="name the dataset of documents that the rows are made from",
                    )
    if any(makes_rows(loaded, spec) for spec in recipe.datasets):
        _check_tokenizer(recipe)
    return loaded


def _check_tokenizer(recipe: Recipe) -> None:
    try:
        find_vocabulary(recipe.tokenizer, recipe.base_dir)
    except UsageError as error:
        raise RecipeError(f"tokenizer: {error.what}", str(recipe.path), error.value, error.remedy) from error


def makes_rows(loaded: LoadedRecipe, spec: DatasetSpec) -> bool:
    """Whether a dataset ends in trainer rows."""
    steps = loaded.steps(spec)
    return bool(steps) and steps[-1].kind == "plan"


def build_dataset(
    ctx: Context, loaded: LoadedRecipe, spec: DatasetSpec, done: Mapping[str, Built], share: Share
) -> Built:
    """Do, or find, all work of one dataset. Raises StoppedError behind a phase that exceeds an alarm."""
    steps = cut_steps(loaded.steps(spec), share.until)
    built = Built(spec, compile_phases(steps))
    if isinstance(spec.origin, FromOrigin):
        built.upstream = [done[name] for name in spec.origin.names]
        built.pass_through = not steps
    required = _required_phases(built.phases, share.work_from)
    if isinstance(spec.origin, FromOrigin):
        built.shards = distinct_shards(ctx, built)
    for index, phase in enumerate(built.phases):
        engine = FindingEngine(ctx.store) if index < required else ctx.engine
        here = replace(ctx, engine=engine, resources=_resources(spec, phase, index))
        receipts_before = len(built.receipts)
        if index == 0 and isinstance(spec.origin, ReadOrigin):
            read_phase(here, built, phase, loaded.options[spec.name])
        elif index == 0 and isinstance(spec.origin, RenderOrigin):
            render_phase(here, built, phase, loaded.renders[spec.name])
        elif phase.plan is not None and phase.synth is not None:
            from gristmill.pipeline.synth_phase import synth_phase

            synth_phase(here, built, phase.synth, phase.plan)
        elif phase.plan is not None:
            from gristmill.pipeline.emit import emit_phase

            emit_phase(here, built, phase.plan)
        elif phase.labels():
            run_phase(here, built, phase)
        if loaded.judges:
            judge(built, index + 1, receipts_before)
    return built


def _resources(spec: DatasetSpec, phase: Phase, index: int) -> Resources:
    """What the tasks of a phase take: enough for any of its steps, and for its origin where it begins with that."""
    origin = spec.origin.resources if index == 0 and not isinstance(spec.origin, FromOrigin) else None
    return phase.resources().with_those_of(origin.resources if origin else SMALL)


def cut_steps(steps: list[LoadedStep], until: str | None) -> list[LoadedStep]:
    """The steps up to and with `until`; an origin's name leaves none."""
    if until is None:
        return steps
    labels = [s.label for s in steps]
    return steps[: labels.index(until) + 1] if until in labels else []


def _required_phases(phases: Sequence[Phase], work_from: str | None) -> int:
    """How many leading phases must be finished when work begins at a step."""
    for index, phase in enumerate(phases):
        if work_from in phase.labels():
            return index
    return 0


class Run:
    """One run of a recipe into an output."""

    def __init__(self, loaded: LoadedRecipe, out: Path, engine: Engine, options: RunOptions, notify: Notify) -> None:
        self.loaded = loaded
        self.out = out
        self.engine = engine
        self.options = options
        self.store = open_store(out)
        recipe = loaded.recipe
        self.ctx = Context(
            self.store, engine, recipe, notify, options.measures_all, options.sample, replay=options.replay
        )
        self.plan = shares(recipe, options.selection)
        self.done: dict[str, Built] = {}
        self.manifests: dict[str, Manifest] = {}

    def execute(self) -> dict[str, Manifest]:
        """Everything. The manifests of the datasets worked on, in the recipe's order."""
        recipe = self.loaded.recipe
        stages = {spec.name: self.loaded.stages[spec.name] for spec in in_build_order(recipe)}
        names = [*stages, *([HOLDOUT] if recipe.holdout else [])]
        with driver_lock(self.out), self._session(names, index_names(stages)):
            plan = self.plan
            worked = [n for n in plan if plan[n].mode == "work"]
            refuse_foreign_folders(self.out, [*worked, *([HOLDOUT] if recipe.holdout else [])])
            refuse_foreign_reports(self.out, recipe, worked)
            if isinstance(self.engine, Bounded):
                self.engine.refuse(wanted(self.loaded, plan))
            sweep_leftovers(self.out, LEFTOVER_AGE_S)
            clear_left_jobs(self.out)
            check_indexes(self.out, recipe.base_dir, stages, worked, self.options.sample)
            prepare_stages(self.loaded, plan)
            for spec in recipe.datasets:
                if plan[spec.name].mode == "work" and isinstance(spec.origin, ReadOrigin):
                    list_inputs(self.ctx, spec)
                elif plan[spec.name].mode == "work" and isinstance(spec.origin, RenderOrigin):
                    make_ready(self.ctx, spec, self.loaded.renders[spec.name])
            for spec in in_build_order(recipe):
                if plan[spec.name].mode != "skip":
                    self._dataset(spec, plan[spec.name])
            if recipe.holdout is not None:
                self._holdout()
        order = [*(d.name for d in recipe.datasets), HOLDOUT]
        return {name: self.manifests[name] for name in order if name in self.manifests}

    def _session(self, datasets: Sequence[str], indexes: Sequence[str]) -> AbstractContextManager[None]:
        """What is to be done around a run whose output lies in object storage."""
        if not isinstance(self.store, RemoteStore):
            return nullcontext()
        return self.store.session(datasets, indexes, INPUTS, EVENTS, self.options.keeps_copy)

    def _dataset(self, spec: DatasetSpec, share: Share) -> None:
        ctx = self.ctx if share.mode == "work" else replace(self.ctx, engine=FindingEngine(self.store))
        try:
            built = build_dataset(ctx, self.loaded, spec, self.done, share)
        except UnfinishedError as gap:
            raise UsageError(
                "what this part of the recipe needs is not finished",
                where=f"--{self.options.selection.option} {self.options.selection.dataset}",
                value=f"{gap.label} ({gap.missing} of {gap.tasks} tasks missing)",
                remedy="run without the option first, or with --until",
            ) from None
        except StoppedError as stop:
            for event in events(stop):
                self.ctx.notify(event)
            raise reported(stop, self.out, self._shared_fields(None), self.engine.name, self.store) from None
        self.done[spec.name] = built
        if share.mode == "work":
            self.manifests[spec.name] = self._publish(built, share.until)
            clear_report(self.out, spec.name, self.store)

    def _publish(self, built: Built, until: str | None) -> Manifest:
        if not self.manifests:
            # Only now: a run that is refused, or fails at once, leaves the index of the run before.
            self._write_index(self.plan)
        shared = self._shared_fields(until)
        for save in built.saves:
            save()
        if built.kind == "rows":
            from gristmill.pipeline.emit import publish_rows

            return publish_rows(self.out, built, shared, self.engine.name, self.store)
        return publish(self.out, built, shared, self.engine.name, self.store)

    def _holdout(self) -> None:
        from gristmill.pipeline.publish_holdout import publish_holdout

        emits = [b for b in self.done.values() if b.kind == "rows"]
        if emits and self._all_emits_done(emits):
            shared = self._shared_fields(None)
            self.manifests[HOLDOUT] = publish_holdout(self.ctx, self.out, emits, shared, self.engine.name)

    def _all_emits_done(self, emits: Sequence[Built]) -> bool:
        """Whether this run knows every emit; a part of the recipe says nothing of the whole holdout."""
        names = {d.name for d in self.loaded.recipe.datasets if makes_rows(self.loaded, d)}
        return names == {b.spec.name for b in emits}

    def _shared_fields(self, until: str | None) -> dict[str, Any]:
        recipe = self.loaded.recipe
        return {
            "recipe": {"name": recipe.name, "digest": recipe.digest},
            "seed": recipe.seed,
            "sample": self.options.sample,
            "until": until,
        }

    def _write_index(self, plan: Mapping[str, Share]) -> None:
        recipe = self.loaded.recipe
        names = [d.name for d in recipe.datasets]
        if recipe.holdout is not None and any(makes_rows(self.loaded, d) for d in recipe.datasets):
            names.append(HOLDOUT)
        worked = [n for n in plan if plan[n].mode == "work"]
        run = {
            "recipe": resolved(recipe, self.loaded.stages),
            "recipe_digest": recipe.digest,
            "datasets": names,
            "sample": self.options.sample,
            "worked": worked,
            VOLATILE: {"engine": self.engine.name, "started_s": int(time.time())},
        }
        write_run(self.out, run)
        self.store.push(self.out / RUN)


def wanted(loaded: LoadedRecipe, plan: Mapping[str, Share]) -> list[tuple[str, Resources]]:
    """What the steps that are worked on say that they take, and where."""
    found: list[tuple[str, Resources]] = []
    for spec in loaded.recipe.datasets:
        share = plan[spec.name]
        labels = {"read", "render", *(step.label for step in cut_steps(loaded.steps(spec), share.until))}
        declared = spec.resources() if share.mode == "work" else {}
        found.extend((d.where, d.resources) for label, d in declared.items() if label in labels)
    return found


def prepare_stages(loaded: LoadedRecipe, plan: Mapping[str, Share]) -> None:
    """Let stages that need a model fetch and check it once, before any worker starts."""
    for spec in loaded.recipe.datasets:
        if plan[spec.name].mode == "work":
            catalogue.prepare(step.stage for step in loaded.steps(spec))

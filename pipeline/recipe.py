"""A recipe: which datasets, from where, by which steps.

In: a YAML file (design: one origin a dataset, then ordered steps) and overrides. Out: a frozen `Recipe` with
every default of its own filled in. Reading a recipe opens no input and imports no stage
(`pipeline.recipe_resolve` does).

Invariants: datasets and steps keep the file's order; labels of steps are unique in their dataset; `from`
names datasets of the recipe and has no cycle; paths stay as written, relative to `base_dir`; `digest`
depends on the content alone, not on layout, comments or the file's name.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from blake3 import blake3

from gristmill.manifests.errors import RecipeError
from gristmill.pipeline.recipe_alarm import ALARM, Alarm, alarm_problems, take_alarm
from gristmill.pipeline.recipe_origin import (
    FromOrigin,
    Origin,
    ReadOrigin,
    RenderOrigin,
    origin_problems,
    parse_origin,
)
from gristmill.pipeline.recipe_resources import RESOURCES, Declared, resources_problems, take_resources
from gristmill.pipeline.recipe_set import apply_overrides
from gristmill.pipeline.recipe_shape import DatasetShape, label_steps, parse_shape, refuse
from gristmill.pipeline.recipe_yaml import MAX_BYTES, Node, parse_file, place_of
from gristmill.pipeline.suggest import did_you_mean

PACKAGED = Path(__file__).parent / "recipes"


@dataclass(frozen=True)
class StepSpec:
    """One step: `name` is the stage, `label` unique in the dataset, `where` `FILE:LINE` (or `--set KEY`).

    `param_where` says the same for each parameter. `alarm` and `resources` are no parameters of the stage.
    """

    name: str
    label: str
    params: Mapping[str, Any]
    where: str
    line: int
    param_where: Mapping[str, str]
    alarm: Alarm | None = None
    resources: Declared | None = None


@dataclass(frozen=True)
class DatasetSpec:
    """One dataset. `domain` belongs to what is read, `license` to what is read or rendered; both are None elsewhere."""

    name: str
    origin: Origin
    domain: str | None
    license: str | None
    steps: tuple[StepSpec, ...]
    where: str

    def alarms(self) -> dict[str, Alarm]:
        """The alarms by the label of their step; that of what is read stands at `read`."""
        origin = {"read": self.origin.alarm} if isinstance(self.origin, ReadOrigin) else {}
        declared = {**origin, **{step.label: step.alarm for step in self.steps}}
        return {label: alarm for label, alarm in declared.items() if alarm is not None}

    def resources(self) -> dict[str, Declared]:
        """The resources by the label of their step; those of the origin stand at `read` or `render`."""
        label = "render" if isinstance(self.origin, RenderOrigin) else "read"
        origin = {} if isinstance(self.origin, FromOrigin) else {label: self.origin.resources}
        declared = {**origin, **{step.label: step.resources for step in self.steps}}
        return {label: found for label, found in declared.items() if found is not None}


@dataclass(frozen=True)
class Holdout:
    """Which share of the documents, by content hash and seed, no emit may see."""

    frac: float
    seed: int


@dataclass(frozen=True)
class Recipe:
    """A whole recipe. `digest` is `blake3:<hex>` of `resolved(recipe, shows_resources=False)`."""

    name: str
    seed: int
    tokenizer: str
    holdout: Holdout | None
    datasets: tuple[DatasetSpec, ...]
    path: Path
    base_dir: Path
    digest: str

    def dataset(self, name: str) -> DatasetSpec:
        """The dataset of this name. Raises RecipeError with the nearest name."""
        for dataset in self.datasets:
            if dataset.name == name:
                return dataset
        names = [dataset.name for dataset in self.datasets]
        raise RecipeError("no such dataset", str(self.path), name, did_you_mean(name, names))


def packaged_recipes() -> list[str]:
    """Names of the recipes that ship with the package."""
    return sorted(path.stem for path in PACKAGED.glob("*.yaml"))


def find_recipe(path: Path) -> Path:
    """The file of a recipe: `path`, or the packaged recipe that a bare name means where no file has it."""
    if path.is_file() or path.name != str(path):
        return path
    if (PACKAGED / f"{path}.yaml").is_file():
        return PACKAGED / f"{path}.yaml"
    packaged = ", ".join(packaged_recipes())
    raise RecipeError("no such recipe", "", path, f"check the path; packaged: {packaged}" if packaged else "")


def load_recipe(path: Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read and check a recipe, with `KEY=VALUE` overrides applied. Raises RecipeError."""
    file = find_recipe(path)
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RecipeError("the recipe cannot be read", str(file), reason, "check the path") from None
    root = apply_overrides(parse_file(data, str(file)), overrides)
    return build_recipe(root, file, file.resolve().parent)


def build_recipe(root: Node, path: Path, base_dir: Path) -> Recipe:
    """A recipe from its node tree. Raises RecipeError."""
    shape = parse_shape(root)
    refuse([*origin_problems(shape, root), *alarm_problems(shape, root), *resources_problems(shape, root)])
    datasets = tuple(_dataset(name, dataset, root) for name, dataset in shape.datasets.items())
    holdout = Holdout(shape.holdout.frac, shape.holdout.seed) if shape.holdout else None
    recipe = Recipe(shape.name, shape.seed, shape.tokenizer, holdout, datasets, path, base_dir, "")
    return replace(recipe, digest=_digest(resolved(recipe, shows_resources=False)))


def _dataset(name: str, shape: DatasetShape, root: Node) -> DatasetSpec:
    stages = [next(iter(step)) for step in shape.steps]
    steps: list[StepSpec] = []
    for index, (stage, label) in enumerate(zip(stages, label_steps(stages), strict=True)):
        path = ("datasets", name, "steps", index)
        place = place_of(root, path)
        wheres = {key: str(place_of(root, (*path, stage, key))) for key in (ALARM, RESOURCES)}
        params, alarm = take_alarm(shape.steps[index][stage] or {}, wheres[ALARM])
        params, resources = take_resources(params, wheres[RESOURCES])
        param_where = {key: str(place_of(root, (*path, stage, key))) for key in params}
        steps.append(StepSpec(stage, label, params, str(place), place.line, param_where, alarm, resources))
    origin = parse_origin(name, shape, root)
    where = str(place_of(root, ("datasets", name)))
    return DatasetSpec(name, origin, shape.domain, shape.license, tuple(steps), where)


def in_build_order(recipe: Recipe) -> tuple[DatasetSpec, ...]:
    """The datasets, each behind those that it is made from, else in the file's order."""
    done: dict[str, DatasetSpec] = {}
    waiting = list(recipe.datasets)
    while waiting:
        ready = next(d for d in waiting if not isinstance(d.origin, FromOrigin) or set(d.origin.names) <= set(done))
        waiting.remove(ready)
        done[ready.name] = ready
    return tuple(done.values())


def resolved(
    recipe: Recipe, stages: Mapping[str, Sequence[object]] | None = None, *, shows_resources: bool = True
) -> dict[str, Any]:
    """Plain data of the recipe with all defaults made explicit; itself a recipe, paths as written.

    With `stages` (of `resolve_stages`) the parameters of the steps are complete, too.
    """
    holdout = {"frac": recipe.holdout.frac, "seed": recipe.holdout.seed} if recipe.holdout else None
    datasets = {
        d.name: _resolved_dataset(d, stages[d.name] if stages else None, shows_resources) for d in recipe.datasets
    }
    return {
        "name": recipe.name,
        "seed": recipe.seed,
        "tokenizer": recipe.tokenizer,
        "holdout": holdout,
        "datasets": datasets,
    }


def _resolved_dataset(dataset: DatasetSpec, stages: Sequence[object] | None, shows_resources: bool) -> dict[str, Any]:
    declared = dataset.resources() if shows_resources else {}
    resources = {label: {RESOURCES: found.resources.plain()} for label, found in declared.items()}
    steps: list[dict[str, Any]] = []
    for index, step in enumerate(dataset.steps):
        params = _stage_params(stages[index], step.params) if stages else step.params
        alarm = {ALARM: step.alarm.plain()} if step.alarm else {}
        steps.append({step.name: {key: params[key] for key in sorted(params)} | alarm | resources.get(step.label, {})})
    match dataset.origin:
        case ReadOrigin(source, patterns, key, options, optional=optional, alarm=alarm):
            own = {source: list(patterns), "key": key, "optional": optional}
            own |= ({ALARM: alarm.plain()} if alarm else {}) | resources.get("read", {})
            read = {**own, **{name: options[name] for name in sorted(options)}}
            return {"read": read, "domain": dataset.domain, "license": dataset.license, "steps": steps}
        case FromOrigin(names):
            return {"from": list(names), "steps": steps}
        case RenderOrigin(domains):
            render = {domain.domain: domain.plain() for domain in domains} | resources.get("render", {})
            return {"render": render, "license": dataset.license, "steps": steps}


def _stage_params(stage: object, written: Mapping[str, Any]) -> dict[str, Any]:
    from gristmill.stages import catalogue

    # Files are named as the recipe names them; everything else is what the stage made of it.
    named = {name: written.get(name) for name in catalogue.file_params(stage)}
    return {**catalogue.canonical_params(stage), **named}


def _digest(plain: Mapping[str, Any]) -> str:
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return "blake3:" + blake3(text.encode()).hexdigest()

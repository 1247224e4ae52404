"""What a recipe names, loaded: the stage of each step, the options of each source.

In: a `Recipe`. Out: stages and options; RecipeErrors carry the line of the step or option.
"""

import json
from collections.abc import Mapping

from gristmill.manifests.errors import GristmillError, RecipeError
from gristmill.pipeline.recipe import DatasetSpec, ReadOrigin, Recipe, StepSpec
from gristmill.pipeline.sources.protocol import OptionValue
from gristmill.pipeline.suggest import did_you_mean
from gristmill.stages.protocol import Stage


def resolve_stages(recipe: Recipe) -> dict[str, tuple[Stage, ...]]:
    """Dataset -> the stage of each of its steps. Raises RecipeError at the step's line."""
    from gristmill.stages import catalogue

    stages: dict[str, tuple[Stage, ...]] = {}
    for dataset in recipe.datasets:
        loaded: list[Stage] = []
        for step in dataset.steps:
            try:
                loaded.append(catalogue.load(step.name, step_params(recipe, step), recipe.base_dir))
            except GristmillError as error:
                if error.where.endswith(".tokenizer") and "tokenizer" not in step.params:
                    what = f"tokenizer: {error.what}"
                    raise RecipeError(what, str(recipe.path), error.value, error.remedy) from error
                raise _at_step(error, dataset, step) from error
        stages[dataset.name] = tuple(loaded)
    return stages


def step_params(recipe: Recipe, step: StepSpec) -> dict[str, object]:
    """A step's parameters as its stage takes them: those written, and the recipe's tokenizer where it needs one."""
    from gristmill.stages import catalogue

    return catalogue.with_tokenizer(step.name, step.params, recipe.base_dir, recipe.tokenizer)


def _at_step(error: GristmillError, dataset: DatasetSpec, step: StepSpec) -> RecipeError:
    """The error at its step's line, or at its parameter's where it names one (`stage c4.min_words`)."""
    path = f"datasets.{dataset.name}.steps.{step.label}"
    param = error.where.rpartition(".")[2]
    if error.where.startswith("stage ") and param in step.param_where:
        return RecipeError(f"{path}.{param}: {error.what}", step.param_where[param], error.value, error.remedy)
    inside = f"{error.where}: " if error.where else ""
    return RecipeError(f"{path}: {inside}{error.what}", step.where, error.value, error.remedy)


def resolve_sources(recipe: Recipe) -> dict[str, dict[str, OptionValue]]:
    """Dataset with `read:` -> all options of its source, defaults filled in. Raises RecipeError."""
    from gristmill.pipeline.sources import catalogue

    options: dict[str, dict[str, OptionValue]] = {}
    for dataset in recipe.datasets:
        if isinstance(dataset.origin, ReadOrigin):
            known: Mapping[str, OptionValue] = catalogue.load(dataset.origin.source).OPTIONS
            options[dataset.name] = _source_options(dataset, dataset.origin, known)
    return options


def _source_options(
    dataset: DatasetSpec, origin: ReadOrigin, known: Mapping[str, OptionValue]
) -> dict[str, OptionValue]:
    from gristmill.pipeline.sources.catalogue import KEYED

    if origin.key is not None and origin.source not in KEYED:
        remedy = f"take it out; it belongs to {', '.join(sorted(KEYED))}"
        raise RecipeError(
            f"datasets.{dataset.name}.read.key: {origin.source} records have no fields",
            dataset.where,
            origin.key,
            remedy,
        )
    options = dict(known)
    for name, value in origin.options.items():
        what, where = f"datasets.{dataset.name}.read.{name}", origin.option_where[name]
        if name not in known:
            remedy = did_you_mean(name, (*known, "key", "optional", "alarm", "resources"))
            raise RecipeError(f"{what}: not an option of {origin.source}", where, name, remedy)
        if not _same_type(value, known[name]):
            remedy = f"write a value like the default, {json.dumps(known[name])}"
            raise RecipeError(f"{what}: wrong type", where, json.dumps(value), remedy)
        options[name] = float(value) if isinstance(known[name], float) and type(value) is int else value
    return options


def _same_type(value: OptionValue, default: OptionValue) -> bool:
    """Whether an option may have this value: a default of null takes any, a float a whole number."""
    if default is None or type(value) is type(default):
        return True
    return isinstance(default, float) and type(value) is int

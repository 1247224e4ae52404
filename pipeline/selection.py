"""Which part of a recipe a run works on: --until, --only, --from, each naming DATASET or DATASET.STEP.

* until: the dataset up to and with the step, and whatever it is made from; nothing else.
* only: the same, but the datasets that it is made from must be finished already.
* from: the dataset from the step on, and all that is made from it; whatever comes before must be finished.

A dataset cut short is published as such (`until` in its manifest) and replaced by the next full run.
"""

from dataclasses import dataclass
from typing import Literal

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.recipe import DatasetSpec, FromOrigin, Recipe, RenderOrigin
from gristmill.pipeline.suggest import did_you_mean

Mode = Literal["work", "require", "skip"]
OPTIONS = ("until", "only", "from")


@dataclass(frozen=True)
class Selection:
    """`option` is one of OPTIONS, or "" for everything; `step` None means the whole dataset."""

    option: str = ""
    dataset: str = ""
    step: str | None = None


@dataclass(frozen=True)
class Share:
    """How a run treats one dataset: `until` cuts its steps; steps before `work_from` must be finished."""

    mode: Mode
    until: str | None = None
    work_from: str | None = None


def parse_selection(recipe: Recipe, option: str, text: str) -> Selection:
    """`DATASET` or `DATASET.STEP`. Raises UsageError with the nearest name."""
    name, _, step = text.partition(".")
    names = [d.name for d in recipe.datasets]
    where = f"--{option}"
    if name not in names:
        raise UsageError("no such dataset", where, name, did_you_mean(name, names))
    labels = [first_step(recipe.dataset(name)), *(s.label for s in recipe.dataset(name).steps)]
    if step and step not in labels:
        raise UsageError(f"no such step in {name}", where, step, did_you_mean(step, labels))
    return Selection(option, name, step or None)


def first_step(dataset: DatasetSpec) -> str:
    """The name of a dataset's origin step."""
    if isinstance(dataset.origin, RenderOrigin):
        return "render"
    return "from" if isinstance(dataset.origin, FromOrigin) else "read"


def ancestors(recipe: Recipe, name: str) -> set[str]:
    """The datasets that a dataset is made from, directly or not."""
    origin = recipe.dataset(name).origin
    direct = set(origin.names) if isinstance(origin, FromOrigin) else set[str]()
    return direct.union(*(ancestors(recipe, d) for d in direct))


def shares(recipe: Recipe, selection: Selection) -> dict[str, Share]:
    """Dataset -> its share."""
    if not selection.option:
        return {d.name: Share("work") for d in recipe.datasets}
    target = selection.dataset
    before = ancestors(recipe, target)
    out: dict[str, Share] = {}
    for dataset in recipe.datasets:
        name = dataset.name
        if name == target:
            cut = None if selection.option == "from" else selection.step
            start = selection.step if selection.option == "from" else None
            out[name] = Share("work", cut, start)
        elif selection.option == "from" and target in ancestors(recipe, name):
            out[name] = Share("work")
        elif name in before:
            out[name] = Share("work" if selection.option == "until" else "require")
        else:
            needed = selection.option == "from" and any(
                name in ancestors(recipe, d.name) for d in recipe.datasets if target in ancestors(recipe, d.name)
            )
            out[name] = Share("require" if needed else "skip")
    return out

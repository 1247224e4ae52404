"""The shape of a recipe as written: which keys, of which types; what they mean is `pipeline.recipe`'s.

In: the node tree of `pipeline.recipe_yaml`. Out: a `RecipeShape`, or a RecipeError at the first line that
is wrong, counting the others. Pydantic's strict mode decides: no text becomes a number, no number a text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from gristmill.manifests.errors import RecipeError
from gristmill.pipeline.recipe_yaml import Node, Place, Plain, place_of
from gristmill.pipeline.suggest import did_you_mean

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Params = dict[str, Any]
Domain = Literal["web", "code", "math", "knowledge", "vision"]
DOMAINS: tuple[str, ...] = get_args(Domain)

_DATASET_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)
_RECIPE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", re.ASCII)
_STAGE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}|[^\x00\n]{1,400}\.py:[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)
MAX_DATASETS = 1000
MAX_STEPS = 200
RESERVED = ("alarms", "holdout", "indexes", "objects", "run")
"""Names that a run's folder uses itself."""


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _as_step(value: object) -> object:
    return {value: None} if isinstance(value, str) else value


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


Seed = Annotated[int, Field(ge=0, lt=1 << 63)]
Text = Annotated[str, Field(min_length=1, max_length=4096)]
Step = Annotated[dict[str, Params | None], Field(min_length=1, max_length=1), BeforeValidator(_as_step)]


class HoldoutShape(_Strict):
    """`holdout:`. The seed stands apart from the recipe's, so that a new shuffle moves nothing across."""

    frac: Annotated[float, Field(gt=0, lt=1)]
    seed: Seed = 0


class DatasetShape(_Strict):
    """One entry of `datasets:`."""

    read: Params | None = None
    from_: Annotated[list[Text] | None, BeforeValidator(_as_list), Field(alias="from")] = None
    render: Params | None = None
    domain: Domain | None = None
    license: Text | None = None
    steps: Annotated[list[Step], Field(max_length=MAX_STEPS)] = []


class RecipeShape(_Strict):
    """The whole file."""

    name: str
    seed: Seed = 0
    tokenizer: Text = "deepseek"
    holdout: HoldoutShape | None = None
    datasets: Annotated[dict[str, DatasetShape], Field(min_length=1, max_length=MAX_DATASETS)]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and where.

    With `known` the remedy is the one of them nearest to `value`. What is `absent` is told behind what is
    wrong, which is often the same key misspelt.
    """

    place: Place
    what: str
    value: object = None
    remedy: str = ""
    known: Iterable[str] = ()
    absent: bool = False


def refuse(problems: Iterable[Problem]) -> None:
    """Raise the first problem in the file's order as a RecipeError that counts the others; none: return."""
    ordered = sorted(problems, key=lambda problem: (problem.absent, problem.place.line))
    if not ordered:
        return
    first = ordered[0]
    remedy = did_you_mean(str(first.value), first.known) or first.remedy
    more = f" (+{len(ordered) - 1} more)" if len(ordered) > 1 else ""
    raise RecipeError(first.what, str(first.place), first.value, (remedy + more).strip())


def parse_shape(root: Node) -> RecipeShape:
    """Check keys and types of the whole tree. Raises RecipeError."""
    if not isinstance(root.value, dict):
        value = None if root.value is None else shown(root.plain())
        what = "the recipe is empty" if root.value is None else "the recipe is no mapping"
        raise RecipeError(what, str(root.place), value, "begin with `name:` and `datasets:`")
    try:
        shape = RecipeShape.model_validate(root.plain())
    except ValidationError as error:
        refuse(_problem(detail, root) for detail in error.errors(include_url=False))
        raise
    refuse(_name_problems(shape, root))
    return shape


def declared(shape: RecipeShape, key: str) -> Iterator[tuple[Any, tuple[str | int, ...]]]:
    """What stands under a key that every step and every origin may have beside its parameters, and where it stands."""
    for name, dataset in shape.datasets.items():
        top = ("datasets", name)
        for origin, given in (("read", dataset.read), ("render", dataset.render)):
            if given is not None and key in given:
                yield given[key], (*top, origin, key)
        for index, step in enumerate(dataset.steps):
            stage, params = next(iter(step.items()))
            if params is not None and key in params:
                yield params[key], (*top, "steps", index, stage, key)


def without(params: Params, key: str) -> tuple[Params, Any]:
    """The parameters without such a key, and what stood under it."""
    return {name: value for name, value in params.items() if name != key}, params.get(key)


def path_text(path: Sequence[str | int]) -> str:
    """`datasets.web.steps[2].c4`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).lstrip(".")


def shown(value: Plain) -> object:
    """A value as YAML writes it, for an error."""
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else value


_REMEDIES = {
    "string_type": "put text in quotes",
    "int_type": "write a whole number",
    "float_type": "write a number",
    "dict_type": "write a mapping, `key: value`",
    "model_type": "write a mapping, `key: value`",
    "list_type": "write a list, `[a, b]`",
}
_SHAPES: Mapping[int, type[BaseModel]] = {1: RecipeShape, 3: DatasetShape}


def _known_keys(path: Sequence[str | int]) -> list[str]:
    shape = HoldoutShape if path[0] == "holdout" else _SHAPES[len(path)]
    return [field.alias or name for name, field in shape.model_fields.items()]


def _problem(detail: "ErrorDetails", root: Node) -> Problem:
    path = detail["loc"]
    place = place_of(root, path)
    kind = detail["type"]
    if kind == "extra_forbidden":
        return Problem(place, f"{path_text(path)}: unknown key", path[-1], known=_known_keys(path))
    if kind == "missing":
        return Problem(place, f"{path_text(path)} is missing", None, f"add `{path[-1]}:`", absent=True)
    if kind in ("too_short", "too_long") and isinstance(path[-1], int):
        what, remedy = "a step names one stage", "write `- stage` or `- stage: {param: value}`"
    elif kind == "too_short" and path == ("datasets",):
        what, remedy = "names no dataset", "add one, `web: {read: {text: GLOB}}`"
    else:
        what = detail["msg"][:1].lower() + detail["msg"][1:]
        remedy = _REMEDIES.get(kind, "")
    known = DOMAINS if kind == "literal_error" else ()
    return Problem(place, f"{path_text(path)}: {what}", shown(detail["input"]), remedy, known)


def _name_problems(shape: RecipeShape, root: Node) -> Iterable[Problem]:
    if not _RECIPE_NAME.fullmatch(shape.name):
        yield Problem(
            place_of(root, ("name",)),
            "name: not a recipe's name",
            shape.name,
            "use letters, digits, _, - and .",
        )
    for name, dataset in shape.datasets.items():
        place = place_of(root, ("datasets", name))
        if name in RESERVED:
            yield Problem(place, "datasets: a run uses this name itself", name, "choose another name")
        elif not _DATASET_NAME.fullmatch(name):
            yield Problem(
                place,
                "datasets: not a dataset's name",
                name,
                "use a-z, 0-9, _ and -, beginning with a letter",
            )
        for index, step in enumerate(dataset.steps):
            if not _STAGE.fullmatch(stage := next(iter(step))):
                path = ("datasets", name, "steps", index)
                yield Problem(
                    place_of(root, path),
                    f"{path_text(path)}: not a stage's name",
                    stage,
                    "write the name of a stage, or ./FILE.py:FUNCTION",
                )


def label_steps(stages: Iterable[str]) -> tuple[str, ...]:
    """Unique names of a dataset's steps: the stage's own, `_2`, `_3` ... behind it when it comes again.

    A stage from a file (`./my.py:shouting`) is called by its function; other signs become `_`.
    """
    used = {"read", "from", "render"}
    labels: list[str] = []
    for stage in stages:
        base = re.sub(r"[^a-z0-9_]", "_", stage.rpartition(":")[2].lower())
        label, number = base, 1
        while label in used:
            number += 1
            label = f"{base}_{number}"
        used.add(label)
        labels.append(label)
    return tuple(labels)

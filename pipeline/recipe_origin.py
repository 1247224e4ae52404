"""Where a dataset's records come from: `read:` a source, `from:` other datasets, or `render:` generators.

In: a `RecipeShape` with its node tree; what stands below `render:` is the matter of `pipeline.recipe_render`. Out: one
origin for each dataset, or problems with their places.
Which further options a source takes is judged when its module is loaded (`pipeline.recipe_resolve`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from gristmill.pipeline.recipe_alarm import ALARM, Alarm, take_alarm
from gristmill.pipeline.recipe_render import Rendered, parse_render, render_problems, resources_of
from gristmill.pipeline.recipe_resources import RESOURCES, Declared, take_resources
from gristmill.pipeline.recipe_shape import DatasetShape, Params, Problem, RecipeShape, shown
from gristmill.pipeline.recipe_yaml import Node, Scalar, place_of

SOURCES = ("warc", "wet", "jsonl", "parquet", "arrow", "html", "text", "tree")


@dataclass(frozen=True)
class ReadOrigin:
    """`read:` a source's name, the globs as written, the field that identifies a record, further options.

    `option_where` says where each option stands. With `optional` a glob may match no file. `alarm`
    judges what reading itself loses; `resources` are what a task that reads takes.
    """

    source: str
    patterns: tuple[str, ...]
    key: str | None
    options: Mapping[str, Scalar]
    option_where: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    optional: bool = False
    alarm: Alarm | None = None
    resources: Declared | None = None


@dataclass(frozen=True)
class FromOrigin:
    """`from:` other datasets of the recipe, in this order."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class RenderOrigin:
    """`render:` domains of render pairs, by name, and what each of them makes; `resources` are what a task takes."""

    domains: tuple[Rendered, ...]
    resources: Declared | None = None


Origin = ReadOrigin | FromOrigin | RenderOrigin
_OWN_KEYS = ("key", "optional", ALARM, RESOURCES)
"""Keys of `read:` that mean the same for every source."""


def parse_origin(name: str, shape: DatasetShape, root: Node) -> Origin:
    """The one origin of a dataset that has no `origin_problems`."""
    if shape.read is not None:
        source = _sources(shape.read)[0]
        value = shape.read[source]
        options = {key: shape.read[key] for key in shape.read if key not in (source, *_OWN_KEYS)}
        patterns = (value,) if isinstance(value, str) else tuple(value)
        where = {key: str(place_of(root, ("datasets", name, "read", key))) for key in options}
        optional = bool(shape.read.get("optional", False))
        _, alarm = take_alarm(shape.read, str(place_of(root, ("datasets", name, "read", ALARM))))
        _, resources = take_resources(shape.read, str(place_of(root, ("datasets", name, "read", RESOURCES))))
        return ReadOrigin(source, patterns, shape.read.get("key"), options, where, optional, alarm, resources)
    if shape.from_ is not None:
        return FromOrigin(tuple(shape.from_))
    render = shape.render or {}
    return RenderOrigin(parse_render(name, render, root), resources_of(name, render, root))


def _sources(read: Params) -> list[str]:
    """The sources that a `read:` names. Beside another one `text` is its option: the field with the text."""
    named = [key for key in read if key in SOURCES]
    return [key for key in named if key != "text"] or named


def origin_problems(shape: RecipeShape, root: Node) -> Iterator[Problem]:
    """What is wrong with the origins of all datasets, alone and together."""
    for name, dataset in shape.datasets.items():
        given = {"read": dataset.read, "from": dataset.from_, "render": dataset.render}
        named = [key for key, value in given.items() if value is not None]
        if len(named) != 1:
            what = "a dataset has one origin" if named else "a dataset without an origin"
            place = place_of(root, ("datasets", name, *named[1:2]))
            remedy = "give one of read:, from: and render:"
            yield Problem(place, f"datasets.{name}: {what}", ", ".join(named) or None, remedy)
        elif dataset.read is not None:
            yield from _read_problems(name, dataset.read, root)
        else:
            yield from _not_read_problems(name, dataset, root)
            if dataset.render is not None:
                yield from render_problems(name, dataset.render, root)
    yield from _from_problems(shape, root)


def _not_read_problems(name: str, dataset: DatasetShape, root: Node) -> Iterator[Problem]:
    begins = dataset.render is not None
    given = {"domain": dataset.domain, **({} if begins else {"license": dataset.license})}
    for key, value in given.items():
        if value is not None:
            place = place_of(root, ("datasets", name, key))
            what = f"datasets.{name}.{key}: belongs where records begin, to a dataset with read:"
            if begins:
                what = f"datasets.{name}.{key}: what is rendered has the domain vision"
            yield Problem(place, what, value, "take it out")


def _read_problems(name: str, read: Params, root: Node) -> Iterator[Problem]:
    top = f"datasets.{name}.read"
    places = {key: place_of(root, ("datasets", name, "read", key)) for key in ("", *_OWN_KEYS, *read)}
    sources = _sources(read)
    if not sources:
        first = next(iter(read), "")
        yield Problem(places[first], f"{top}: no source", first, known=SOURCES)
    for extra in sources[1:]:
        remedy = "make two datasets and join them with from:"
        yield Problem(places[extra], f"{top}: one dataset reads one source", ", ".join(sources), remedy)
    for source in sources:
        value = read[source]
        patterns = value if isinstance(value, list) else [value]
        if not patterns or not all(isinstance(pattern, str) and pattern for pattern in patterns):
            remedy = "write a glob in quotes, or a list of them"
            yield Problem(places[source], f"{top}.{source}: no glob", shown(value), remedy)
    key, optional = read.get("key", "some"), read.get("optional", False)
    if key is not None and (not isinstance(key, str) or not key):
        remedy = "write the name of the field that identifies a record"
        yield Problem(places["key"], f"{top}.key: not a field's name", shown(key), remedy)
    if not isinstance(optional, bool):
        yield Problem(places["optional"], f"{top}.optional: not true or false", shown(optional), "write true or false")
    for option, value in read.items():
        if option not in (*sources, "optional", ALARM, RESOURCES) and isinstance(value, dict | list):
            remedy = "write text, a number, true or false" if sources else ""
            yield Problem(places[option], f"{top}.{option}: an option is one value", shown(value), remedy)


def _from_problems(shape: RecipeShape, root: Node) -> Iterator[Problem]:
    """Names that dangle or come twice, and one cycle."""
    graph: dict[str, list[str]] = {}
    names = tuple(shape.datasets)
    for name, dataset in shape.datasets.items():
        what = f"datasets.{name}.from"
        graph[name] = sorted({other for other in dataset.from_ or () if other in shape.datasets})
        if dataset.from_ == []:
            place = place_of(root, ("datasets", name, "from"))
            yield Problem(place, f"{what}: names no dataset", "[]", "name at least one")
        seen: set[str] = set()
        for index, other in enumerate(dataset.from_ or ()):
            place = place_of(root, ("datasets", name, "from", index))
            if other not in shape.datasets:
                yield Problem(place, f"{what}: no such dataset", other, known=names)
            elif other in seen:
                yield Problem(place, f"{what}: named twice", other, "name it once")
            seen.add(other)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        place = place_of(root, ("datasets", cycle[-1], "from"))
        yield Problem(place, "datasets are made from each other", " <- ".join(cycle), "break the circle")

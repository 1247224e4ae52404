"""`resources:` of a step, of what `read:` reads or `render:` makes: what each of its tasks takes of a machine.

In: a `RecipeShape` with its node tree. Out: the `Declared` of a step, or problems with their places. Like an alarm it
stands among the parameters of a step and is none of them. The resolved recipe shows it, so that one runs again as it
ran; the recipe's digest and everything published are without it, so that more memory does nothing anew.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gristmill.pipeline.recipe_shape import Params, Problem, RecipeShape, declared, path_text, shown, without
from gristmill.pipeline.recipe_yaml import Node, Plain, place_of
from gristmill.pipeline.resources import MAX_COUNT, Resources, memory_bytes

RESOURCES = "resources"
KEYS = ("cpus", "mem", "gpus")
_REMEDY = "write `resources: {cpus: 2, mem: 8 GiB}`"


@dataclass(frozen=True)
class Declared:
    """Resources, and `FILE:LINE` where they are declared."""

    resources: Resources
    where: str = field(default="", compare=False)


def take_resources(params: Params, where: str) -> tuple[Params, Declared | None]:
    """The parameters without the resources, and these, of a recipe that has no `resources_problems`."""
    rest, given = without(params, RESOURCES)
    if given is None:
        return rest, None
    found = Resources(given.get("cpus") or 1, memory_bytes(given.get("mem")) or 0, given.get("gpus") or 0)
    return rest, Declared(found, where)


def resources_problems(shape: RecipeShape, root: Node) -> Iterator[Problem]:
    """What is wrong with the resources of all datasets."""
    for given, path in declared(shape, RESOURCES):
        yield from _problems(given, path, root)


def _problems(given: Plain, path: tuple[str | int, ...], root: Node) -> Iterator[Problem]:
    what = path_text(path)
    if given is None:
        return
    if not isinstance(given, Mapping):
        yield Problem(place_of(root, path), f"{what}: not a mapping", shown(given), _REMEDY)
        return
    for key, value in given.items():
        place = place_of(root, (*path, key))
        if key not in KEYS:
            yield Problem(place, f"{what}: unknown key", key, known=KEYS)
        elif value is None:
            continue
        elif key == "mem" and memory_bytes(value) is None:
            remedy = "write bytes, or a text such as 8 GiB or 500 MB"
            yield Problem(place, f"{what}.{key}: not an amount of memory", shown(value), remedy)
        elif key != "mem" and not _is_count(value, least=int(key == "cpus")):
            remedy = f"write a whole number, {int(key == 'cpus')} or more"
            yield Problem(place, f"{what}.{key}: not a number of {key}", shown(value), remedy)
    if all(given.get(key) is None for key in KEYS):
        yield Problem(place_of(root, path), f"{what}: says nothing", None, _REMEDY, absent=True)


def _is_count(value: Plain, least: int) -> bool:
    return type(value) is int and least <= value <= MAX_COUNT

"""The recipe of an output of `gristmill render`: written by one driver at a time, and replaced by none that means
something else.

A further call into an output that has been run may ask for more slots, or another `min_accept_frac`; all else is
another output. A recipe is loaded before it is written: one that cannot be leaves the one that was there, and is told
by the options of the command line, which is what its caller wrote.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gristmill.manifests.errors import GristmillError, RecipeError, UsageError

if TYPE_CHECKING:
    from gristmill.pipeline.run import LoadedRecipe

RECIPE = "render.yaml"
"""The recipe of what was made, in the output: `gristmill plan` and `run` take it."""
_OPTIONS: Mapping[str, str] = {
    "seed": "--seed",
    "count": "--count",
    "families": "--families",
    "from": "--from",
    "min_accept_frac": "--min-accept-frac",
    "license": "--license",
}
"""Where the keys of a recipe come from."""


def put_recipe(out: Path, text: str) -> "LoadedRecipe":
    """Load the recipe of an output, and write it. Raises UsageError where another driver is at work in it, or it was
    made by a recipe that means something else; what loading raises, at the option that is wrong."""
    from gristmill.manifests.commit import replace_file
    from gristmill.manifests.manifest import RUN
    from gristmill.pipeline.lock import driver_lock
    from gristmill.pipeline.recipe import build_recipe
    from gristmill.pipeline.recipe_yaml import parse_file
    from gristmill.pipeline.run import load

    path, body = out / RECIPE, text.encode("utf-8")
    with driver_lock(out):
        try:
            loaded = load(build_recipe(parse_file(body, str(path)), path, out.resolve()))
        except RecipeError as error:
            raise told_by_option(error, out, text) from error
        if path.exists() and (out / RUN).exists():
            _refuse_other(path, path.read_bytes(), text)
        replace_file(path, body)
    return loaded


def told_by_option(error: GristmillError, out: Path, text: str) -> GristmillError:
    """The error at the option that its line of the recipe comes from; as it is where it comes from none."""
    found = re.fullmatch(re.escape(str(out / RECIPE)) + r":(\d+)", error.where)
    lines = text.splitlines()[: int(found[1])] if found else []
    keys = [key[1] for line in reversed(lines) if (key := re.match(r"\s*([^\s:-][^:]*):", line))]
    option = _OPTIONS.get(keys[0]) if keys else None
    if option is None:
        return error
    what = error.what.rpartition(": ")[2] if error.what.startswith("datasets.") else error.what
    value, remedy = error.value, error.remedy
    if keys[0] == "from" and isinstance(value, str):  # in the recipe it is relative to the output
        value, remedy = os.path.normpath(out / value), "check the path"
    return type(error)(what.removeprefix(f"{keys[0]}: "), option, value, remedy)


def _refuse_other(path: Path, old: bytes, text: str) -> None:
    import yaml

    try:
        was = _meaning(yaml.safe_load(old))
    except (yaml.YAMLError, ValueError, RecursionError):
        was = {}
    now = _meaning(yaml.safe_load(text))
    others = sorted(name for name in was.keys() | now.keys() if not _goes_on(name, was.get(name), now.get(name)))
    if others:
        told = f"{others[0]}: {was.get(others[0], 'nothing')}, now {now.get(others[0], 'nothing')}"
        remedy = f"give another --out; or go on with what is there: gristmill run {path} --out {path.parent}"
        raise UsageError("this output was made by another recipe", str(path), told, remedy)


def _goes_on(name: str, was: Any, now: Any) -> bool:
    """Whether what an output was made by may become this: more of the same, or another floor of what is let through."""
    key = name.rpartition(".")[2]
    if key == "count" and type(was) is int and type(now) is int:
        return now >= was
    return was == now or key == "min_accept_frac"


def _meaning(recipe: Any) -> dict[str, Any]:
    """What a recipe says, by where it stands."""
    found: dict[str, Any] = {}

    def walk(value: Any, place: str) -> None:
        if isinstance(value, Mapping):
            for key, inner in cast(Mapping[Any, Any], value).items():
                walk(inner, f"{place}.{key}" if place else str(key))
        else:
            found[place] = value

    walk(recipe, "")
    return found

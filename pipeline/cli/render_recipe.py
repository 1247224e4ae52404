"""The recipe of an output of `gristmill render`: written by one driver at a time, and replaced by none that means
something else.

A further call into an output that has been run may ask for more or fewer slots, or another `min_accept_frac`; all else
is another output. A recipe that cannot be loaded leaves the one that was there.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gristmill.manifests.errors import GristmillError, UsageError

if TYPE_CHECKING:
    from gristmill.pipeline.run import LoadedRecipe

RECIPE = "render.yaml"
"""The recipe of what was made, in the output: `gristmill plan` and `run` take it."""
_MAY_CHANGE = ("count", "min_accept_frac")


def put_recipe(out: Path, text: str) -> "LoadedRecipe":
    """Write the recipe of an output and load it. Raises UsageError where another driver is at work in it, or it was
    made by a recipe that means something else; what loading raises."""
    from gristmill.manifests.commit import replace_file
    from gristmill.manifests.manifest import RUN
    from gristmill.pipeline.lock import driver_lock
    from gristmill.pipeline.recipe import load_recipe
    from gristmill.pipeline.run import load

    path = out / RECIPE
    with driver_lock(out):
        old = path.read_bytes() if path.exists() else None
        if old is not None and (out / RUN).exists():
            _refuse_other(path, old, text)
        replace_file(path, text.encode("utf-8"))
        try:
            return load(load_recipe(path))
        except GristmillError:
            if old is not None:
                replace_file(path, old)
            raise


def _refuse_other(path: Path, old: bytes, text: str) -> None:
    import yaml

    try:
        was = _meaning(yaml.safe_load(old))
    except (yaml.YAMLError, ValueError, RecursionError):
        was = {}
    now = _meaning(yaml.safe_load(text))
    others = sorted(name for name in was.keys() | now.keys() if was.get(name) != now.get(name))
    if others:
        told = f"{others[0]}: {was.get(others[0], 'nothing')}, now {now.get(others[0], 'nothing')}"
        remedy = f"give another --out; or go on with what is there: gristmill run {path} --out {path.parent}"
        raise UsageError("this output was made by another recipe", str(path), told, remedy)


def _meaning(recipe: Any) -> dict[str, Any]:
    """What of a recipe must stay, by where it stands."""
    found: dict[str, Any] = {}

    def walk(value: Any, place: str) -> None:
        if isinstance(value, Mapping):
            for key, inner in cast(Mapping[Any, Any], value).items():
                if key not in _MAY_CHANGE:
                    walk(inner, f"{place}.{key}" if place else str(key))
        else:
            found[place] = value

    walk(recipe, "")
    return found

"""The files beside a recipe that its stages name: what a machine needs that does not see the recipe's folder.

They are users' stage files (`./my_filters.py:shouting`) and parameters that name files by a path relative to the
recipe, none of them above it. Their content is in the fingerprints of stages: a wrong copy is refused.
"""

import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gristmill.pipeline.phases import LoadedStep
from gristmill.stages import catalogue


@dataclass(frozen=True)
class RecipeFiles:
    """Files by their paths relative to `base_dir`."""

    base_dir: Path
    files: tuple[str, ...] = ()


def recipe_files(base_dir: Path, steps: Iterable[LoadedStep], others: Iterable[str] = ()) -> RecipeFiles:
    """The files that steps name, and others as the recipe names them, sorted."""
    named = {name for step in steps for name in _named(step)} | set(others)
    return RecipeFiles(base_dir, tuple(sorted(name for name in named if _is_inside(base_dir, name))))


def _named(step: LoadedStep) -> Iterator[str]:
    if catalogue.USER_FILE_MARK in step.name:
        yield step.name.rpartition(":")[0]
    for name in catalogue.file_params(step.stage):
        value = step.params.get(name)
        yield from [value] if isinstance(value, str) else (v for v in value or () if isinstance(v, str))


def _is_inside(base_dir: Path, name: str) -> bool:
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts and (base_dir / path).is_file()


def write_archive(shipped: RecipeFiles, path: Path) -> None:
    """The files as a zip, by their relative paths."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in shipped.files:
            archive.write(shipped.base_dir / name, Path(name).as_posix())

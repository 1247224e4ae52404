"""How the laws run recipes: in process for speed, or as the command that users type."""

import hashlib
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from gristmill.manifests.manifest import published
from gristmill.pipeline.engines.local import LocalEngine
from gristmill.pipeline.engines.protocol import Engine, EngineEvent, Notify
from gristmill.pipeline.recipe import load_recipe
from gristmill.pipeline.run import Run, RunOptions, load
from gristmill.pipeline.task import KINDS

# Tasks are imported when they are first run: while a test has a constant changed, and they would keep it.
for _module in KINDS.values():
    importlib.import_module(_module)


def write_recipe(folder: Path, text: str, name: str = "recipe.yaml") -> Path:
    """The recipe's file beside its inputs."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def _silent(_: EngineEvent) -> None:
    return


def run_on(
    engine: Engine, recipe: Path, out: Path, options: RunOptions | None = None, notify: Notify = _silent
) -> dict[str, Any]:
    """Run a recipe on an engine, which is closed; manifests by name."""
    try:
        return Run(load(load_recipe(recipe)), out, engine, options or RunOptions(), notify).execute()
    finally:
        engine.close()


def run_inline(recipe: Path, out: Path, workers: int = 0, options: RunOptions | None = None) -> dict[str, Any]:
    """Run a recipe on the local engine; manifests by name."""
    return run_on(LocalEngine(out, workers), recipe, out, options)


def command(*words: str | Path) -> list[str]:
    """The command line of the project, in this interpreter."""
    return [sys.executable, "-m", "gristmill.pipeline.cli.main", *map(str, words)]


def call(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        command(*words), capture_output=True, text=True, env={**os.environ, **environment}, check=False, timeout=600
    )


def fingerprint(out: Path) -> dict[str, str]:
    """File -> sha256 of everything that the manifests of an output name, manifests by their digests."""
    found: dict[str, str] = {}
    for name, manifest in published(out):
        found[f"{name}/manifest"] = manifest["digest"]
        folder = out / name
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != "manifest.json":
                found[str(path.relative_to(out))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def books(out: Path) -> dict[str, list[dict[str, Any]]]:
    """Dataset -> its steps as `ls` reports them."""
    return {name: manifest["steps"] for name, manifest in published(out)}


def json_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one JSON object of a command's standard output."""
    return json.loads(done.stdout)

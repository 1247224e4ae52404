"""Files that change between the listing and the work: nothing of them is committed under the key of what they were."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gristmill.manifests.errors import InputError
from gristmill.manifests.manifest import Manifest
from gristmill.pipeline.engines.local import LocalEngine
from gristmill.pipeline.engines.protocol import EngineEvent
from gristmill.pipeline.recipe import load_recipe
from gristmill.pipeline.run import Run, RunOptions, load
from tests.laws.running import fingerprint, run_inline, write_recipe

FILTER = """\
from gristmill.stages import doc_filter

@doc_filter(drop_above={"m": 0.5})
def mine(text):
    return {"m": 0.0}
"""
RECIPE = """\
name: changing
tokenizer: bytes
datasets:
  web:
    read: {jsonl: a.jsonl}
    domain: web
    steps: ["./mine.py:mine"]
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    lines = [json.dumps({"id": i, "text": f"text {i}"}) + "\n" for i in range(5)]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    (tmp_path / "mine.py").write_text(FILTER)
    return write_recipe(tmp_path, RECIPE)


def run_while(recipe: Path, out: Path, change: Callable[[], object]) -> dict[str, Manifest]:
    """A run during whose first task `change` happens."""
    changed: list[str] = []

    def hook(event: EngineEvent) -> None:
        if event.what == "start" and not changed:
            changed.append(event.label)
            change()

    return Run(load(load_recipe(recipe)), out, LocalEngine(out, 0), RunOptions(), hook).execute()


@pytest.mark.parametrize(
    ("name", "text"), [("a.jsonl", '{"id": 1, "text": "other"}\n'), ("mine.py", FILTER.replace("0.0", "1.0"))]
)
def test_a_file_that_changes_during_the_run_is_refused(recipe: Path, name: str, text: str) -> None:
    out, path = recipe.parent / "out", recipe.parent / name
    before = path.read_text()
    with pytest.raises(InputError, match="run the same command again"):
        run_while(recipe, out, lambda: path.write_text(text))
    path.write_text(before)
    run_inline(recipe, out)
    run_inline(recipe, recipe.parent / "calm")
    assert fingerprint(out) == fingerprint(recipe.parent / "calm")
    path.write_text(text)
    assert run_inline(recipe, out)["web"]["totals"]["records"] in (0, 1)


def test_a_change_under_the_old_size_and_time_is_found_when_the_file_is_read(recipe: Path) -> None:
    """The cache of digests does not see it; the remedy of the error ends all the same."""
    out, path = recipe.parent / "out", recipe.parent / "a.jsonl"
    os.utime(path, ns=(1_700_000_000_000_000_000, 1_700_000_000_000_000_000))
    run_inline(recipe, out)
    path.write_text(path.read_text().replace("text 1", "TEXT 1"))
    os.utime(path, ns=(1_700_000_000_000_000_000, 1_700_000_000_000_000_000))
    shutil.rmtree(out / "objects")
    with pytest.raises(InputError, match="run the same command again"):
        run_inline(recipe, out)
    run_inline(recipe, out)
    run_inline(recipe, recipe.parent / "calm")
    assert fingerprint(out) == fingerprint(recipe.parent / "calm")

"""What of an output is a run's own: nobody else's files are replaced, taken away or read as input."""

import os
from pathlib import Path

import pytest

from gristmill.manifests.errors import EXIT_INPUT, EXIT_USAGE, UsageError
from gristmill.manifests.manifest import read_manifest
from gristmill.pipeline.plan import make_plan
from gristmill.pipeline.recipe import load_recipe
from gristmill.pipeline.run import load
from tests.laws.corpora import prose
from tests.laws.running import call, json_of, run_inline, write_recipe

RECIPE = """\
name: own
seed: 1
tokenizer: bytes
datasets:
  code:
    read: {tree: code/}
    domain: code
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    (tmp_path / "code" / "lib").mkdir(parents=True)
    for name in ("a.py", "lib/b.py", "manifest.json"):
        (tmp_path / "code" / name).write_text(f'{{"name": "{prose(1, 20)}"}}')
    return write_recipe(tmp_path, RECIPE)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_an_output_among_the_inputs_never_takes_them_away(recipe: Path) -> None:
    """`--out .` with a dataset called like its input folder."""
    before = contents(recipe.parent / "code")
    with pytest.raises(UsageError, match="holds files that no run wrote"):
        run_inline(recipe, recipe.parent)
    assert contents(recipe.parent / "code") == before


@pytest.mark.parametrize("name", ["a.py", "manifest.json"])
def test_a_folder_with_one_foreign_file_is_refused(recipe: Path, name: str) -> None:
    out = recipe.parent / "out"
    (out / "code").mkdir(parents=True)
    (out / "code" / name).write_text("{}")
    with pytest.raises(UsageError, match="choose another --out"):
        run_inline(recipe, out)
    assert contents(out / "code") == {name: b"{}"}


def test_a_file_in_the_place_of_a_dataset_is_refused(recipe: Path) -> None:
    out = recipe.parent / "out"
    out.mkdir()
    (out / "code").write_text("mine")
    with pytest.raises(UsageError):
        run_inline(recipe, out)
    assert (out / "code").read_text() == "mine"


def test_files_put_beside_a_dataset_stay_and_its_own_old_ones_go(recipe: Path) -> None:
    out = recipe.parent / "out"
    run_inline(recipe, out)
    (out / "code" / "notes").mkdir()
    (out / "code" / "notes" / "why.txt").write_text("mine")
    (out / "code" / "README.md").write_text("mine")
    old = {f["path"] for f in read_manifest(out / "code")["shards"]}
    (recipe.parent / "code" / "a.py").write_text("changed = True\n")
    run_inline(recipe, out)
    here = set(contents(out / "code"))
    assert {"notes/why.txt", "README.md"} <= here and not here & old


def test_a_torn_manifest_and_leftovers_of_ours_are_mended(recipe: Path) -> None:
    out = recipe.parent / "out"
    run_inline(recipe, out)
    (out / "code" / "manifest.json").write_bytes(b'{"format": "gristm')
    (out / "code" / f".tmp-{0:032x}").write_bytes(b"half")
    (out / "code" / "part-00007.00000000.parquet").write_bytes(b"half")
    run_inline(recipe, out)
    named = {f["path"] for f in read_manifest(out / "code")["shards"]}
    assert {p.name for p in (out / "code").glob("part-*")} == named
    assert not list((out / "code").glob(".tmp-*"))


def test_an_output_among_its_inputs_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text('{"id": 1, "text": "one"}\n{"id": 2, "text": "two"}\n')
    recipe = write_recipe(tmp_path, RECIPE.replace("{tree: code/}", '{jsonl: "**/*.jsonl"}'))
    words = ("run", recipe, "--out", tmp_path / "out", "--workers", "0", "--json")
    first = json_of(call(*words))
    assert list((tmp_path / "out").rglob("*.jsonl"))
    again = json_of(call(*words))
    assert first["datasets"] == again["datasets"] and again["datasets"][0]["records"] == 2
    inside = write_recipe(tmp_path, RECIPE.replace("{tree: code/}", '{jsonl: "out/**/*.jsonl"}'), "inside.yaml")
    refused = call("run", inside, "--out", tmp_path / "out")
    assert refused.returncode == EXIT_INPUT and "choose another --out" in refused.stderr


def test_a_repository_that_holds_the_output_is_refused(recipe: Path) -> None:
    write_recipe(recipe.parent, RECIPE.replace("{tree: code/}", "{tree: ., whole_repo: true}"))
    with pytest.raises(UsageError, match="read as a whole"):
        run_inline(recipe, recipe.parent / "code" / "out")


@pytest.mark.parametrize("place", ["", "file", "file/below", "loop", "n" * 300, "/proc/none"])
def test_an_output_that_cannot_be_a_folder_is_told_in_one_line(recipe: Path, place: str) -> None:
    (recipe.parent / "file").touch()
    (recipe.parent / "loop").symlink_to("loop")
    done = call("run", recipe, "--out", recipe.parent / place if place else "", "--workers", "0")
    assert done.returncode == EXIT_USAGE and "--out" in done.stderr and "bug" not in done.stderr


def test_a_plan_writes_nothing_where_it_may_not(recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = recipe.parent / "out"
    out.mkdir()
    monkeypatch.setattr(os, "access", lambda *_: False)
    make_plan(load(load_recipe(recipe)), out)
    assert list(out.iterdir()) == []

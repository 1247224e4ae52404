"""Stages that decide in one process, in runs: what they drop is accounted and found again; workers change nothing."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from gristmill.manifests.errors import InputError
from gristmill.manifests.manifest import read_manifest
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.engines.local import LocalEngine
from gristmill.pipeline.engines.protocol import EngineEvent
from gristmill.pipeline.recipe import load_recipe
from gristmill.pipeline.run import Run, RunOptions, load
from gristmill.pipeline.task import Task, make_task
from gristmill.pipeline.tasks.census import load_census
from gristmill.stages.dedup.repos import RepoDedup
from tests.laws.running import call, fingerprint, json_of, run_inline, write_recipe
from tests.stages.dedup.tiny_embeddings import table

RECIPE = """\
name: trees
seed: 1
datasets:
  code:
    read: {tree: "repos/"}
    domain: code
  packed:
    read: {tree: "packed/", whole_repo: true}
    domain: code
  corpus:
    from: [code, packed]
    steps: [repo_dedup]
"""


def write_trees(folder: Path, repositories: int = 4) -> Path:
    """A library, repositories that hold it, a fork of the first of these; whole repositories, one a copy."""
    library = {f"src/f{i}.py": f"def f{i}():\n    return {i}\n" for i in range(9)}
    files = {f"repos/lib/{path}": text for path, text in library.items()}
    for n in range(repositories):
        own = {f"m{i}.py": f"print({n}, {i})\n" for i in range(8)}
        for name in (f"r{n}", *(["fork"] if n == 0 else [])):
            files |= {f"repos/{name}/{path}": text for path, text in own.items()}
            files |= {f"repos/{name}/vendor/lib/{path}": text for path, text in library.items()}
    files["repos/fork/m0.py"] = "print('changed')\n"
    files |= {f"packed/{name}/g{i}.py": f"g{i} = {i}\n" for name in ("one", "two") for i in range(6)}
    files |= {f"packed/three/lib/{path}": text for path, text in library.items()} | {"packed/three/own.py": "own\n"}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_recipe(write_trees(tmp_path_factory.mktemp("trees")), RECIPE)


def rows(out: Path, dataset: str, role: str) -> list[dict[str, Any]]:
    files = read_manifest(out / dataset)[role]
    return [row for file in files for row in pq.read_table(out / dataset / file["path"]).to_pylist()]


def test_a_run_drops_copies_and_its_books_balance(recipe: Path, tmp_path: Path) -> None:
    assert main(["run", str(recipe), "--out", str(tmp_path)]) == 0
    assert main(["verify", str(tmp_path), "--deep"]) == 0
    ledger = [row for row in rows(tmp_path, "corpus", "ledger") if row["step"] == "repo_dedup"]
    reasons = sorted(row["reason"] for row in ledger)
    assert reasons.count("vendored_tree") == 4 * 9, "the library in four repositories"
    assert reasons.count("fork") == 7 + 9 + 1, "of the fork all but the changed file; one whole repository"
    kept = {row["id"] for row in rows(tmp_path, "corpus", "shards")}
    assert {row["keeper"] for row in ledger} <= kept
    assert {row["measure"] for row in ledger} == {"tree_containment"}
    assert all(row["limit"] == 0.8 <= row["value"] <= 1 and " files of a" in row["detail"] for row in ledger)
    three = next(row for row in rows(tmp_path, "corpus", "shards") if "own.py" in row["text"])
    assert three["text"].count("===") == 2, "what it holds of the library is cut"


def test_any_number_of_workers_gives_the_same(recipe: Path, tmp_path: Path) -> None:
    run_inline(recipe, tmp_path / "a")
    run_inline(recipe, tmp_path / "b", workers=2)
    assert fingerprint(tmp_path / "a") == fingerprint(tmp_path / "b")


def counted(recipe: Path, out: Path) -> list[str]:
    """Labels of the tasks that were done, not found."""
    events: list[EngineEvent] = []
    engine = LocalEngine(out, 0)
    Run(load(load_recipe(recipe)), out, engine, RunOptions(), events.append).execute()
    return [event.label for event in events if event.what == "commit"]


def _of(kind: str, labels: list[str]) -> int:
    return sum(f"repo_dedup {kind}" in label for label in labels)


def test_one_more_repository_costs_its_count_and_the_decision(tmp_path: Path) -> None:
    path = write_recipe(write_trees(tmp_path / "in"), RECIPE)
    done = counted(path, tmp_path / "out")
    assert _of("counts", done) >= 2 and _of("decision", done) == 1
    assert counted(path, tmp_path / "out") == []
    more = tmp_path / "in" / "packed" / "four"
    more.mkdir()
    (more / "x.py").write_text("x = 1\n")
    again = counted(path, tmp_path / "out")
    assert (
        0 < sum("repo_dedup counts" in label for label in again) < sum("repo_dedup counts" in label for label in done)
    )
    assert sum("repo_dedup decision" in label for label in again) == 1


def test_a_dataset_without_documents(tmp_path: Path) -> None:
    (tmp_path / "repos" / "r").mkdir(parents=True)
    (tmp_path / "repos" / "r" / "blob.bin").write_bytes(bytes(64))
    path = write_recipe(tmp_path, RECIPE.split("  packed:", maxsplit=1)[0] + "    steps: [repo_dedup]\n")
    done = call("run", path, "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    assert json_of(done)
    assert rows(tmp_path / "out", "code", "shards") == []


def test_a_stage_that_changed_is_refused(tmp_path: Path) -> None:
    def task(version: int) -> Task:
        params = {"threshold": 0.8, "min_files": 5, "drop": "copies", "repository_folders": 1}
        what = {"census": {"stage": "repo_dedup", "version": version, "params": params}}
        return make_task("decide", what, {"stage": "repo_dedup", "params": {}, "base_dir": str(tmp_path)}, "d 1/1")

    assert load_census(task(RepoDedup.version))
    with pytest.raises(InputError, match="changed"):
        load_census(task(0))


EMBEDDED = """\
name: embedded
seed: 1
datasets:
  notes:
    read: {text: "text/*.txt"}
    domain: knowledge
    steps:
      - semantic_dedup: {embeddings: [embeddings.parquet], threshold: 0.99, keep: [longest]}
"""


def write_notes(folder: Path) -> Path:
    """Ten notes, all but the first of them with embeddings, in groups of three that are close."""
    (folder / "text").mkdir()
    for n in range(10):
        (folder / "text" / f"t{n}.txt").write_text(f"A note, {'very ' * n}long.")
    pq.write_table(table().slice(61), folder / "embeddings.parquet")
    return write_recipe(folder, EMBEDDED)


def test_a_run_with_embeddings(tmp_path: Path) -> None:
    path = write_notes(tmp_path)
    assert main(["run", str(path), "--out", str(tmp_path / "out")]) == 0
    assert main(["verify", str(tmp_path / "out"), "--deep"]) == 0
    ledger = rows(tmp_path / "out", "notes", "ledger")
    assert {(row["reason"], row["measure"], row["limit"]) for row in ledger} == {("semantic_duplicate", "cosine", 0.99)}
    kept = {row["id"]: row for row in rows(tmp_path / "out", "notes", "shards")}
    assert {row["keeper"] for row in ledger} == {key for key, row in kept.items() if row["dup_count"]}
    assert sum(row["dup_count"] or 1 for row in kept.values()) == 10
    assert all(row["dup_cluster"] in (None, row["content_hash"]) for row in kept.values())
    facts = read_manifest(tmp_path / "out" / "notes")["facts"]["semantic_dedup"]
    assert facts == {"exact_search": 1, "with_embedding": 9, "without_embedding": 1, "zero_embeddings": 0}


def test_wrong_embeddings_stop_a_run_before_any_work(tmp_path: Path) -> None:
    path = write_notes(tmp_path)
    pq.write_table(table().rename_columns(["id", "vectors"]), tmp_path / "embeddings.parquet")
    done = call("run", path, "--out", tmp_path / "out")
    assert done.returncode == 3 and "without this column" in done.stderr
    assert not list((tmp_path / "out").glob("objects/*"))

"""Laws 2 and 3: the number of workers, the order of shards and the names of files change nothing that matters."""

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from gristmill.manifests.manifest import read_manifest
from tests.laws.corpora import RECIPES, TEXT, write_corpus
from tests.laws.running import fingerprint, run_inline, write_recipe


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module", params=sorted(RECIPES))
def calm(request: pytest.FixtureRequest, folder: Path) -> tuple[Path, dict[str, str]]:
    """A recipe and the fingerprint of its run without workers."""
    recipe = write_recipe(folder, RECIPES[request.param], f"{request.param}.yaml")
    run_inline(recipe, folder / f"out-{request.param}")
    return recipe, fingerprint(folder / f"out-{request.param}")


@pytest.fixture(params=[1, 2, 5])
def worked(request: pytest.FixtureRequest, calm: tuple[Path, dict[str, str]], tmp_path: Path) -> Path:
    """An output made by some workers: a fixture, since five processes that start on two cores take their time."""
    run_inline(calm[0], tmp_path, request.param)
    return tmp_path


def test_any_number_of_workers_gives_the_same_bytes(calm: tuple[Path, dict[str, str]], worked: Path) -> None:
    assert fingerprint(worked) == calm[1]


def kept(out: Path, dataset: str) -> list[tuple[str, str]]:
    """(id, text) of what a dataset keeps, sorted."""
    manifest = read_manifest(out / dataset)
    rows: list[tuple[str, str]] = []
    for shard in manifest["shards"]:
        table = pq.read_table(out / dataset / shard["path"], columns=["id", "text"])
        rows += zip(table.column("id").to_pylist(), table.column("text").to_pylist(), strict=True)
    return sorted(rows)


def test_order_and_names_of_shards_do_not_matter(folder: Path, tmp_path: Path) -> None:
    """Files renamed so that they are read in another order: the same records are kept, the same rows made."""
    moved = shutil.copytree(folder, tmp_path / "moved")
    for at, path in enumerate(sorted((moved / "jsonl").iterdir(), reverse=True)):
        path.rename(path.with_name(f"{at}{path.name[1:]}"))
    a, b = tmp_path / "a", tmp_path / "b"
    run_inline(write_recipe(folder, TEXT), a)
    run_inline(write_recipe(moved, TEXT), b)
    for dataset in ("lines", "both", "holdout"):
        assert kept(a, dataset) == kept(b, dataset)
    rows = [[s["digest"] for s in read_manifest(out / "train")["shards"]] for out in (a, b)]
    assert rows[0] == rows[1]

"""Law 1, conservation: what came in is kept, dropped or quarantined, per step and source, and the ledger shows each."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from gristmill.manifests.manifest import published
from tests.laws.corpora import RECIPES, write_corpus
from tests.laws.running import run_inline, write_recipe


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module", params=sorted(RECIPES))
def out(request: pytest.FixtureRequest, folder: Path) -> Path:
    recipe = write_recipe(folder, RECIPES[request.param], f"{request.param}.yaml")
    run_inline(recipe, folder / f"out-{request.param}")
    return folder / f"out-{request.param}"


def ledger(out: Path, name: str, manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """All ledger rows of a dataset."""
    return [row for file in manifest["ledger"] for row in pq.read_table(out / name / file["path"]).to_pylist()]


def test_records_and_characters_balance(out: Path) -> None:
    for name, manifest in published(out):
        for step in manifest["steps"]:
            for source, tally in [("", step), *step["sources"].items()]:
                where = (name, step["step"], source)
                gone = tally["dropped"] + tally["quarantined"]
                assert tally["records_in"] + tally["derived"] == tally["kept"] + gone, where
                assert sum(tally["reasons"].values()) == gone, where
                cut = sum(tally["chars_cut"].values())
                assert tally["chars_in"] == tally["chars_kept"] + cut + tally["chars_gone"], where


def test_each_step_reads_what_the_one_before_kept(out: Path) -> None:
    for _, manifest in published(out):
        steps = manifest["steps"]
        for before, after in pairwise(steps):
            assert before["kept"] == after["records_in"]
        if manifest["kind"] == "documents":
            assert steps[-1]["kept"] == manifest["totals"]["records"] == sum(s["rows"] for s in manifest["shards"])


def test_the_ledger_has_each_record_that_went(out: Path) -> None:
    for name, manifest in published(out):
        rows = ledger(out, name, manifest)
        counted = Counter((r["step"], r["reason"], r["source"]) for r in rows)
        told = {
            (step["step"], reason, source): count
            for step in manifest["steps"]
            for source, tally in step["sources"].items()
            for reason, count in tally["reasons"].items()
        }
        assert counted == told
        assert all(r["keeper"] for r in rows if r["reason"] == "exact_duplicate")


def test_every_id_is_unique_in_its_dataset(out: Path) -> None:
    for name, manifest in published(out):
        if manifest["kind"] != "documents":
            continue
        ids = [r["id"] for r in ledger(out, name, manifest)]
        for shard in manifest["shards"]:
            ids += pq.read_table(out / name / shard["path"], columns=["id"]).column("id").to_pylist()
        assert all(len(i) == 32 for i in ids)
        made = sum(step["derived"] for step in manifest["steps"])
        assert len(set(ids)) == len(ids) == manifest["steps"][0]["records_in"] + made

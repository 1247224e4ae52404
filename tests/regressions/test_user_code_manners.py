"""A user's filter that prints, exits, forks or raises what cannot be shown costs its record at most, never the run."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.verify import verify
from tests.laws.running import call, json_of, run_inline, write_recipe

FILTERS = """\
import os, sys
from gristmill.stages import doc_filter

print("loaded")

def is_seven(text):
    return text.startswith("number 7 ")

class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no words")

@doc_filter(drop_above={"m": 0.5})
def prints(text):
    print("a word")
    return {"m": 0.0}

@doc_filter(drop_above={"m": 0.5})
def prints_below_python(text):
    os.write(1, b"a word")
    return {"m": 0.0}

@doc_filter(drop_above={"m": 0.5})
def exits(text):
    if is_seven(text):
        sys.exit(0)
    return {"m": 0.0}

@doc_filter(drop_above={"m": 0.5})
def forks(text):
    if is_seven(text):
        os.fork()
    return {"m": 0.0}

@doc_filter(drop_above={"m": 0.5})
def says_surrogates(text):
    if is_seven(text):
        raise ValueError("\\ud800")
    return {"m": 0.0}

@doc_filter(drop_above={"m": 0.5})
def mute(text):
    if is_seven(text):
        raise Mute
    return {"m": 0.0}
"""
RECORDS = 20


def recipe_for(folder: Path, name: str) -> Path:
    (folder / "mine.py").write_text(FILTERS)
    lines = [json.dumps({"id": i, "text": f"number {i} of some"}) + "\n" for i in range(RECORDS)]
    (folder / "a.jsonl").write_text("".join(lines))
    recipe = "name: t\ntokenizer: bytes\ndatasets:\n  web:\n    read: {jsonl: a.jsonl}\n    domain: web\n"
    return write_recipe(folder, f'{recipe}    steps: ["./mine.py:{name}"]\n')


@pytest.mark.parametrize("name", ["exits", "says_surrogates", "mute"])
def test_what_a_filter_raises_is_the_fate_of_its_record(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run_inline(recipe_for(tmp_path, name), out)["web"]["totals"]["records"] == RECORDS - 1
    ledger = [pq.read_table(out / "web" / f["path"]).to_pylist() for f in read_manifest(out / "web")["ledger"]]
    assert [row["reason"] for rows in ledger for row in rows] == ["filter_error"]
    assert verify(out).faults == []


def test_a_fork_that_comes_back_does_not_do_the_split_twice(tmp_path: Path) -> None:
    recipe = recipe_for(tmp_path, "forks")
    for workers in ("0", "1"):
        out = tmp_path / workers
        done = call("run", recipe, "--out", out, "--workers", workers, "--json")
        assert done.returncode == 0 and json_of(done)["datasets"][0]["records"] == RECORDS
        assert verify(out).faults == []


@pytest.mark.parametrize(("name", "workers"), [("prints", "0"), ("prints", "1"), ("prints_below_python", "1")])
def test_standard_output_stays_one_object(name: str, workers: str, tmp_path: Path) -> None:
    done = call("run", recipe_for(tmp_path, name), "--out", tmp_path / "out", "--workers", workers, "--json")
    assert done.returncode == 0 and json_of(done)["datasets"][0]["records"] == RECORDS
    assert "a word" in done.stderr and "loaded" in done.stderr

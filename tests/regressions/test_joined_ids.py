"""Joins of joins over records with repeated keys: every record of every dataset bears an id of its own."""

import json
from pathlib import Path

import pyarrow.parquet as pq

from gristmill.manifests.manifest import published
from gristmill.manifests.verify import verify
from tests.laws.running import run_inline, write_recipe

RECIPE = """\
name: diamond
tokenizer: bytes
datasets:
  x: {read: {jsonl: a.jsonl}, domain: web}
  a: {from: [x], steps: [exact_dedup]}
  b: {from: [x]}
  c: {from: [a, b]}
  d: {from: [c, a, x]}
  e: {from: [d, c, b], steps: [{emit: {context: 64}}]}
"""


def test_ids_of_a_diamond_stay_apart(tmp_path: Path) -> None:
    lines = [json.dumps({"id": f"k{i % 7}", "text": f"text {i % 20}"}) + "\n" for i in range(40)]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    out = tmp_path / "out"
    run_inline(write_recipe(tmp_path, RECIPE), out)
    for name, manifest in published(out):
        if manifest["kind"] == "documents":
            ids = [i for s in manifest["shards"] for i in pq.read_table(out / name / s["path"])["id"].to_pylist()]
            assert len(ids) == len(set(ids)), name
    assert verify(out, deep=True).faults == []

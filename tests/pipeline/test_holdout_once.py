"""The dataset `holdout` where emits are made from datasets that overlap: each document once, the books in balance."""

import json
from pathlib import Path

import pyarrow.parquet as pq

from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.verify import verify
from tests.laws.running import fingerprint, run_inline, write_recipe

RECIPE = """
name: overlap
seed: 2
tokenizer: bytes
holdout: {frac: 0.3, seed: 4}
datasets:
  a:
    read: {jsonl: a.jsonl}
  b:
    from: [a]
    steps: [{gopher_quality: {min_doc_words: 6, min_stop_words: 0, min_alpha_words_ratio: 0, max_avg_word_length: 90}}]
  all_of_them:
    from: [a]
    steps: [{emit: {context: 64}}]
  long_ones:
    from: [b]
    steps: [{emit: {context: 64}}]
"""


def test_a_document_that_two_emits_hold_out_stands_once(tmp_path: Path) -> None:
    words = ["a", "harbour", "has", "berths", "and", "a", "crane", "for", "ships"]
    texts = [" ".join(words[n % 4 : 4 + n % 5]) + f" number {n}" for n in range(60)]
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps({"id": f"d{n}", "text": t}) for n, t in enumerate(texts)))
    recipe = write_recipe(tmp_path, RECIPE)
    run_inline(recipe, tmp_path / "out")
    assert 0 < read_manifest(tmp_path / "out" / "b")["totals"]["records"] < 60
    held = read_manifest(tmp_path / "out" / "holdout")
    files = [pq.read_table(tmp_path / "out" / "holdout" / s["path"]) for s in held["shards"]]
    ids = [i for table in files for i in table.column("id").to_pylist()]
    gone = {
        row["id"]
        for name in ("all_of_them", "long_ones")
        for file in read_manifest(tmp_path / "out" / name)["ledger"]
        for row in pq.read_table(tmp_path / "out" / name / file["path"]).to_pylist()
        if row["reason"] == "holdout"
    }
    assert len(ids) == len(set(ids)) == held["totals"]["records"] == held["steps"][0]["kept"] > 5
    assert set(ids) == gone
    assert verify(tmp_path / "out", deep=True).faults == []
    run_inline(recipe, tmp_path / "again", workers=2)
    assert fingerprint(tmp_path / "again") == fingerprint(tmp_path / "out")

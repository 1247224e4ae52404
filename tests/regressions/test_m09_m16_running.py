"""Faults M9-M16 of the best-known tool: data that names files, schemas from first rows, marks bound to nothing."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from gristmill.manifests.errors import GristmillError
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.verify import verify
from tests.laws.corpora import prose
from tests.laws.running import fingerprint, run_inline, write_recipe

RECIPE = """\
name: m
seed: 1
tokenizer: bytes
datasets:
  d:
    read: {jsonl: "in/*.jsonl"}
    steps: [STEPS]
"""


def write_lines(folder: Path, name: str, records: list[dict[str, Any]]) -> None:
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / name).write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")


def recipe(folder: Path, steps: str = "") -> Path:
    return write_recipe(folder, RECIPE.replace("STEPS", steps))


def rows(out: Path, dataset: str = "d") -> list[dict[str, Any]]:
    manifest = read_manifest(out / dataset)
    return [r for s in manifest["shards"] for r in pq.read_table(out / dataset / s["path"]).to_pylist()]


def glob_rows(out: Path) -> int:
    """Rows that somebody sees who reads every Parquet file of the dataset's folder, manifest or not."""
    return sum(pq.ParquetFile(p).metadata.num_rows for p in (out / "d").glob("*.parquet"))


def many(files: int, each: int) -> list[list[dict[str, Any]]]:
    return [[{"id": f"{f}-{i}", "text": f"text {f} {i}"} for i in range(each)] for f in range(files)]


def test_m09_data_names_no_file(tmp_path: Path) -> None:
    hostile = ["7", "../esc", "/tmp/esc", "a/b", ".."]
    records = [{"id": h, "text": "x", "rank": h, "file": h, "metadata": {"rank": h}, "url": h} for h in hostile]
    write_lines(tmp_path, "a.jsonl", records)
    before = {p for p in tmp_path.rglob("*") if p.is_file()}
    out = tmp_path / "out"
    run_inline(recipe(tmp_path), out)
    assert len(rows(out)) == len(hostile)
    new = {p for p in tmp_path.rglob("*") if p.is_file()} - before
    assert all(p.is_relative_to(out) or p.name == "recipe.yaml" for p in new)
    names = {p.name for p in (out / "d").glob("*.parquet")}
    assert len(names) == 1 and all(n.startswith("part-00000.") for n in names)


def test_m10_m11_no_schema_comes_from_the_first_rows(tmp_path: Path) -> None:
    records = [
        {"id": "1", "text": "x"},
        {"id": "2", "text": "", "a": 1},
        {"id": "3", "text": "y", "a": 2.5, "b": "s"},
        {"id": "4", "text": "z", "a": {"deep": [1]}, "z": 1},
    ]
    write_lines(tmp_path, "a.jsonl", records)
    run_inline(recipe(tmp_path), tmp_path / "out")
    found = [json.loads(r["meta"])["d"] for r in rows(tmp_path / "out")]
    assert found == [{k: v for k, v in r.items() if k != "text"} for r in records]
    assert [r["text"] for r in rows(tmp_path / "out")] == ["x", "", "y", "z"]


def test_m12_a_resume_with_other_workers_neither_loses_nor_doubles(tmp_path: Path) -> None:
    for at, records in enumerate(many(8, 9)):
        write_lines(tmp_path, f"{at}.jsonl", records)
    path = recipe(tmp_path, "gopher_quality: {min_doc_words: 1}")
    run_inline(path, tmp_path / "out", workers=2)
    first = fingerprint(tmp_path / "out")
    (tmp_path / "out" / "d" / "manifest.json").unlink()
    run_inline(path, tmp_path / "out", workers=4)
    assert fingerprint(tmp_path / "out") == first


def test_m13_a_file_that_appears_before_a_resume_is_read_once_and_loses_nothing(tmp_path: Path) -> None:
    for at, records in enumerate(many(4, 5), start=1):
        write_lines(tmp_path, f"{at:02d}.jsonl", records)
    path = recipe(tmp_path)
    run_inline(path, tmp_path / "out")
    write_lines(tmp_path, "00.jsonl", [{"id": f"new{i}", "text": f"new {i}"} for i in range(5)])
    run_inline(path, tmp_path / "out")
    counts = Counter(r["text"] for r in rows(tmp_path / "out"))
    assert len(counts) == 25 and set(counts.values()) == {1}


def test_m14_a_changed_filter_is_run(tmp_path: Path) -> None:
    write_lines(tmp_path, "a.jsonl", [{"id": str(n), "text": prose(n, n)} for n in range(1, 40)])
    out = tmp_path / "out"
    kept: list[int] = []
    for limit in (5, 20):
        run_inline(recipe(tmp_path, f"gopher_quality: {{min_doc_words: {limit}}}"), out)
        kept.append(len(rows(out)))
    assert kept[0] > kept[1]


def test_m15_a_second_smaller_run_leaves_nothing_stale(tmp_path: Path) -> None:
    write_lines(tmp_path, "a.jsonl", [{"id": str(n), "text": f"text {n} " * 3} for n in range(500)])
    out = tmp_path / "out"
    run_inline(recipe(tmp_path), out)
    assert glob_rows(out) == 500
    run_inline(recipe(tmp_path, "{gopher_quality: {min_doc_words: 100}}"), out)
    assert glob_rows(out) == len(rows(out)) < 500
    assert verify(out).faults == []


def test_m16_a_stage_that_fails_leaves_no_dataset(tmp_path: Path) -> None:
    write_lines(tmp_path, "a.jsonl", [{"id": str(n), "text": f"text {n}"} for n in range(3000)])
    (tmp_path / "mine.py").write_text(MAPPER, encoding="utf-8")
    with pytest.raises(Exception, match="boom") as failed:
        run_inline(recipe(tmp_path, '"./mine.py:Bad"'), tmp_path / "out")
    assert not isinstance(failed.value, GristmillError) or failed.value.exit_code == 1
    assert not (tmp_path / "out" / "d" / "manifest.json").exists()
    assert not list((tmp_path / "out").rglob("*.parquet"))


def test_m16_a_filter_that_fails_on_one_document_costs_that_document(tmp_path: Path) -> None:
    write_lines(tmp_path, "a.jsonl", [{"id": str(n), "text": f"text {n}"} for n in range(3000)])
    (tmp_path / "mine.py").write_text(FILTER, encoding="utf-8")
    run_inline(recipe(tmp_path, '"./mine.py:fussy"'), tmp_path / "out")
    step = read_manifest(tmp_path / "out" / "d")["steps"][-1]
    assert (step["kept"], step["quarantined"], step["reasons"]) == (2999, 1, {"filter_error": 1})


FILTER = '''\
from gristmill.stages import doc_filter


@doc_filter(drop_above={"n": 1e9})
def fussy(text):
    """Fails once."""
    if text == "text 1500":
        raise RuntimeError("boom")
    return {"n": len(text)}
'''

MAPPER = '''\
from dataclasses import dataclass
from typing import ClassVar

from gristmill.stages.protocol import Mapped


@dataclass(frozen=True)
class Bad:
    """Fails on the second batch."""

    name: ClassVar[str] = "bad"
    version: ClassVar[int] = 1

    def reasons(self):
        return ()

    def transform(self, batch):
        if "text 2500" in batch.column("text").to_pylist():
            raise RuntimeError("boom")
        return Mapped(batch)
'''

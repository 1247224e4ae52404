"""Shards of trainer rows, plain and compressed, of short and long contexts, open in tools that know Arrow alone."""

from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from gristmill.manifests.manifest import read_manifest
from tests.laws.running import run_inline, write_recipe

RECIPE = """
name: elsewhere
seed: 1
tokenizer: bytes
datasets:
  a: {read: {jsonl: "a.jsonl", key: id}, domain: web}
  plain: {from: [a], steps: [emit: {context: 64}]}
  cold: {from: [a], steps: [emit: {context: 64, compression: zstd}]}
  long: {from: [a], steps: [emit: {context: 1048576}]}
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same documents in rows of 64 and of 2^20 tokens."""
    folder = tmp_path_factory.mktemp("elsewhere")
    lines = "".join(f'{{"id": "{i}", "text": "document {i} {"word " * (i % 40)}"}}\n' for i in range(300))
    (folder / "a.jsonl").write_text(lines)
    run_inline(write_recipe(folder, RECIPE), folder / "out")
    return folder / "out"


def shards(folder: Path) -> list[Path]:
    return [folder / entry["path"] for entry in read_manifest(folder)["shards"]]


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [row for path in shards(folder) for row in pa.ipc.open_file(str(path)).read_all().to_pylist()]


@pytest.mark.parametrize("name", ["plain", "cold", "long"])
def test_polars_reads_what_pyarrow_reads(out: Path, name: str) -> None:
    expected = rows_of(out / name)
    table = polars.concat([polars.read_ipc(path) for path in shards(out / name)])
    assert table["input_ids"].to_list() == [row["input_ids"] for row in expected]
    assert table["n_tokens"].to_list() == [row["n_tokens"] for row in expected]
    assert table["segments"].to_list() == [row["segments"] for row in expected]
    assert table.select(polars.col("docs").explode().struct.field("id").n_unique()).item() == 300


@pytest.mark.parametrize("name", ["plain", "cold", "long"])
def test_duckdb_asks_of_them(out: Path, name: str) -> None:
    expected = rows_of(out / name)
    rows = ds.dataset([str(path) for path in shards(out / name)], format="ipc")  # found by its name in the query
    counted = duckdb.sql("select count(*), sum(n_tokens)::bigint from rows").fetchall()
    assert counted == [(len(expected), sum(row["n_tokens"] for row in expected))]
    found = duckdb.sql("select d.source, count(distinct d.id) from (select unnest(docs) d from rows) group by 1")
    assert found.fetchall() == [("a", 300)] and rows is not None
    first = duckdb.sql("select list_sum(input_ids)::bigint from rows").fetchall()
    assert sorted(v for (v,) in first) == sorted(sum(row["input_ids"]) for row in expected)

"""Laws of corpus-wide stages, over every one that is registered, in runs of one step over one dataset.

What a stage says of a document depends on the documents alone: not on files, their order, or the batches that rows come
in; books balance, and every removal is accounted for. A change of output without a new version is noticed.
"""

import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from blake3 import blake3

from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.schema import record_id
from gristmill.manifests.verify import verify
from gristmill.stages import catalogue
from gristmill.stages.protocol import EMPTIED, Census, Exchange, Rounds, Similar
from tests.laws.corpora import HOSTILE, prose
from tests.laws.pictures import write_pictures
from tests.laws.running import run_inline, write_recipe
from tests.laws.samples import SAMPLE_PARAMS, sample_stage

GOLDEN = Path(__file__).parent / "golden_corpus_wide.json"
STAGES = {name: sample_stage(name) for name in catalogue.names()}
CORPUS_WIDE = [n for n, s in STAGES.items() if isinstance(s, Exchange | Rounds | Census | Similar)]

PARAMS: dict[str, dict[str, Any]] = {"semantic_dedup": {"embeddings": "embeddings.parquet"}}
READS: dict[str, dict[str, Any]] = {"picture_dedup": {"parquet": "pictures/*.parquet"}}
"""What a stage is run over that the plain texts say nothing to."""

Doc = dict[str, Any]


def documents() -> list[Doc]:
    """Hostile texts, copies, near copies, shared passages and lines, a text that repeats itself; all as files of three
    repositories."""
    own = [prose(n, 120 + 40 * n) for n in range(16)]
    shared, line = prose(900, 80), "A line of some length that stands in quite a few of these documents."
    texts = [
        *HOSTILE,
        *own,
        *own[:5],
        *(f"{text} and so on and on it goes, as ever" for text in own[8:14]),
        *(f"{prose(300 + n, 60)}\n\n{shared}\n\n{line}\n\n{prose(400 + n, 60)}" for n in range(4)),
        "\n\n".join([shared.upper()] * 3),
    ]
    rows: list[Doc] = []
    for number, text in enumerate(texts):
        for repository in range(3 if number % 4 == 0 else 1):
            path = f"r{repository}/d{number % 3}/f{number}.py"
            rows.append({"key": f"k{number}-{repository}", "text": text, "path": path})
    return rows


def write_layout(folder: Path, files: int, seed: int | None) -> None:
    """The documents in so many files, shuffled where there is a seed."""
    rows = documents()
    if seed is not None:
        random.Random(seed).shuffle(rows)
    folder.mkdir()
    for number in range(files):
        lines = "".join(json.dumps(row) + "\n" for row in rows[number::files])
        (folder / f"f{number}.jsonl").write_text(lines, encoding="utf-8")
    write_embeddings(folder, documents())
    write_pictures(folder / "pictures", files, seed)


def write_embeddings(folder: Path, rows: list[Doc]) -> None:
    """Vectors of all documents but a few; those of every seventh text are close to one another."""
    rng = np.random.default_rng(1)
    far = rng.normal(size=(len(rows), 16))
    near = 0.01 * far + far[0]
    vectors = [(near if i % 7 == 0 else far)[i].astype(np.float32).tolist() for i in range(len(rows))]
    ids = [record_id("key", "docs", row["key"]) for row in rows]
    table = pa.table({"id": ids, "embedding": pa.array(vectors, pa.list_(pa.float32()))})
    pq.write_table(table.slice(3), folder / "embeddings.parquet")


def run_stage(name: str, folder: Path, workers: int = 0) -> Path:
    """A run of one step over the files of a folder; the recipe is the same for every layout."""
    params = PARAMS.get(name, SAMPLE_PARAMS.get(name, {}))
    step: Any = {name: dict(params)} if params else name
    read = READS.get(name, {"jsonl": "*.jsonl", "key": "key"})
    recipe = {"name": "law", "datasets": {"docs": {"read": read, "domain": "web", "steps": [step]}}}
    run_inline(write_recipe(folder, yaml.safe_dump(recipe)), folder / "out", workers)
    return folder / "out"


def told(out: Path) -> dict[str, list[str]]:
    """What a run says of its documents, without what depends on the layout (row and file)."""
    manifest = read_manifest(out / "docs")
    found: dict[str, list[str]] = {}
    for role in ("shards", "ledger", "cuts"):
        rows = [r for f in manifest[role] for r in pq.read_table(out / "docs" / f["path"]).to_pylist()]
        layout = ("row", "file", "offset", "meta")
        found[role] = sorted(repr({k: v for k, v in row.items() if k not in layout}) for row in rows)
    return found


def golden_of(name: str) -> dict[str, Any]:
    """Version and digest of what a stage says of the documents."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "golden"
        write_layout(folder, 1, None)
        digest = blake3(repr(told(run_stage(name, folder))).encode("utf-8", "surrogatepass")).hexdigest(16)
    return {"version": STAGES[name].version, "digest": digest}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[str]]]:
    """Stage -> what it says of the documents in one file."""
    found: dict[str, dict[str, list[str]]] = {}
    for name in CORPUS_WIDE:
        folder = tmp_path_factory.mktemp("plain") / "one"
        write_layout(folder, 1, None)
        found[name] = told(run_stage(name, folder))
    return found


@pytest.mark.parametrize("name", CORPUS_WIDE)
def test_it_finds_something_here(name: str, plain: dict[str, dict[str, list[str]]]) -> None:
    assert plain[name]["ledger"] or plain[name]["cuts"]


@pytest.mark.parametrize("name", CORPUS_WIDE)
@pytest.mark.parametrize(("files", "seed"), [(1, 1), (5, 2), (17, 3)])
def test_no_layout_changes_what_is_said(
    name: str, files: int, seed: int, plain: dict[str, dict[str, list[str]]], tmp_path: Path
) -> None:
    write_layout(tmp_path / "docs", files, seed)
    out = run_stage(name, tmp_path / "docs")
    assert verify(out, deep=True).faults == []
    assert told(out) == plain[name]


@pytest.mark.parametrize("name", CORPUS_WIDE)
def test_keepers_are_kept(name: str, tmp_path: Path) -> None:
    write_layout(tmp_path / "docs", 3, 5)
    out = run_stage(name, tmp_path / "docs")
    manifest = read_manifest(out / "docs")
    rows = {
        r: [x for f in manifest[r] for x in pq.read_table(out / "docs" / f["path"]).to_pylist()]
        for r in ("shards", "ledger", "cuts")
    }
    kept = {row["id"] for row in rows["shards"]}
    words = {reason.reason for reason in STAGES[name].reasons()}  # type: ignore[union-attr]
    for row in [*rows["ledger"], *rows["cuts"]]:
        assert row["reason"] in words
    assert {row["keeper"] for row in rows["ledger"] if row["reason"] != EMPTIED.reason} <= kept
    assert {row["keeper"] for row in rows["cuts"]} - {None} <= {r["id"] for part in rows.values() for r in part}
    assert all(row["keeper"] for row in rows["cuts"])
    emptied = {row["id"] for row in rows["ledger"] if row["reason"] == EMPTIED.reason}
    assert {row["id"] for row in rows["cuts"]} <= kept | emptied
    assert emptied <= {row["id"] for row in rows["cuts"]}


@pytest.mark.parametrize("name", CORPUS_WIDE)
def test_an_empty_dataset(name: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "none.jsonl").write_text("")
    write_embeddings(tmp_path / "docs", documents())
    write_pictures(tmp_path / "docs" / "pictures", 1, None, documents=0)
    assert told(run_stage(name, tmp_path / "docs")) == {"shards": [], "ledger": [], "cuts": []}


@pytest.mark.parametrize("name", CORPUS_WIDE)
def test_output_changes_only_with_the_version(name: str) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert golden.get(name) == golden_of(name), (
        f"raise the version of {name}, then: python -m tests.laws.test_corpus_wide"
    )


if __name__ == "__main__":
    table = json.loads(GOLDEN.read_text(encoding="utf-8")) if sys.argv[1:] else {}
    table |= {name: golden_of(name) for name in sys.argv[1:] or CORPUS_WIDE}
    GOLDEN.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")

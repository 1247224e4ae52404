"""Semantic dedup: which documents go, by exact cosines; what of embedding files is refused."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import GristmillError, InputError, UsageError
from gristmill.manifests.schema import content_hash, document_batch, record_id
from gristmill.stages import catalogue
from gristmill.stages.dedup import near_vectors
from gristmill.stages.dedup.near_vectors import AllPairs, Hnsw, cosines, independent
from gristmill.stages.dedup.semantic import SemanticDedup
from gristmill.stages.protocol import DROP, MARK, VERDICTS, Census

Vectors = npt.NDArray[np.float32]
IDS = [record_id("key", "", str(i)) for i in range(400)]


def documents(count: int) -> pa.RecordBatch:
    texts = [f"text {i} " + "x" * (i % 7) for i in range(count)]
    columns = {
        "id": pa.array(IDS[:count], pa.string()),
        "text": pa.array(texts, pa.large_string()),
        "content_hash": pa.array([content_hash(text.encode()) for text in texts], pa.binary(16)),
    }
    return document_batch(columns)


def write(path: Path, vectors: Vectors, ids: Sequence[str] = IDS) -> str:
    listed = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    pq.write_table(pa.table({"id": list(ids[: len(vectors)]), "embedding": listed}), path)
    return str(path)


def decided(stage: SemanticDedup, batches: Sequence[pa.RecordBatch]) -> tuple[list[dict[str, Any]], dict[str, int]]:
    told: dict[str, int] = {}
    counted = [
        stage.count(batch.select(list(stage.reads)), np.uint64(n << 32) + np.arange(batch.num_rows, dtype=np.uint64))
        for n, batch in enumerate(batches)
    ]
    return pa.Table.from_batches(list(stage.decide(iter(counted), told)), schema=VERDICTS).to_pylist(), told


def gone(stage: SemanticDedup, batches: Sequence[pa.RecordBatch]) -> dict[str, tuple[str, float]]:
    """Id that goes -> (keeper's id, cosine); checks the marks against the drops."""
    rows, _ = decided(stage, batches)
    record = {(n << 32) + i: batch.slice(i, 1) for n, batch in enumerate(batches) for i in range(batch.num_rows)}
    drops = [row for row in rows if row["kind"] == DROP]
    found = {record[row["addr"]].column("id")[0].as_py(): (row["keeper"].hex(), row["value"]) for row in drops}
    keepers = [keeper for keeper, _ in found.values()]
    marks = {record[row["addr"]].column("id")[0].as_py(): row for row in rows if row["kind"] == MARK}
    assert {key: row["value"] for key, row in marks.items()} == {key: 1 + keepers.count(key) for key in set(keepers)}
    assert all(row["keeper"] == record[row["addr"]].column("content_hash")[0].as_py() for row in marks.values())
    assert not set(keepers) & set(found)
    return found


def expected(batch: pa.RecordBatch, vectors: Vectors, threshold: float, rank: Sequence[Any]) -> dict[str, str]:
    """By the definition: in the order of rank a document goes for the first kept one that is close to it."""
    wide = vectors.astype(np.float64)
    kept, found = list[int](), dict[str, str]()
    for row in sorted(range(batch.num_rows), key=lambda row: rank[row]):
        for other in kept:
            norm = np.linalg.norm(wide[row]) * np.linalg.norm(wide[other])
            if norm and round(float(wide[row] @ wide[other] / norm), 6) >= threshold:
                found[IDS[row]] = IDS[other]
                break
        else:
            kept.append(row)
    return found


def groups(count: int, dimensions: int, seed: int, spread: float = 0.3) -> Vectors:
    """Vectors around a tenth as many centres."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((max(1, count // 10), dimensions))
    vectors = centres[random.integers(0, len(centres), count)] + spread * random.standard_normal((count, dimensions))
    return vectors.astype(np.float32)


@pytest.mark.parametrize("exact_rows", [1000, 0])
@pytest.mark.parametrize("threshold", [0.8, 0.9, 0.95])
def test_the_first_independent_set_in_the_order_of_rank(tmp_path: Path, exact_rows: int, threshold: float) -> None:
    vectors, batch = groups(400, 24, 3), documents(400)
    stage = SemanticDedup(write(tmp_path / "e.parquet", vectors), threshold=threshold, exact_rows=exact_rows)
    hashes = batch.column("content_hash").to_pylist()
    found = gone(stage, [batch])
    assert len(found) > 20
    assert {key: keeper for key, (keeper, _) in found.items()} == expected(batch, vectors, threshold, hashes)
    assert all(threshold <= cosine <= 1 for _, cosine in found.values())


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([0.5, 0.9, 1.0]), st.booleans())
def test_small_sets_agree_with_the_definition(seed: int, count: int, threshold: float, approximate: bool) -> None:
    vectors = np.random.default_rng(seed).integers(-1, 2, (count, 3)).astype(np.float32)
    search = Hnsw(3) if approximate else AllPairs(3)
    found = {
        int(row): int(keeper)
        for part in independent(vectors, threshold, search)
        for row, keeper in zip(part.row, part.keeper, strict=True)
    }
    wanted = expected(documents(count), vectors, threshold, range(count))
    assert {IDS[row]: IDS[keeper] for row, keeper in found.items()} == wanted


def test_a_chain_keeps_every_second(tmp_path: Path) -> None:
    angles = np.arange(7) * 0.3
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    batch = documents(7)
    stage = SemanticDedup(write(tmp_path / "e.parquet", vectors), threshold=0.95)
    rank = batch.column("content_hash").to_pylist()
    found = gone(stage, [batch])
    assert {k: v for k, (v, _) in found.items()} == expected(batch, vectors, 0.95, rank)
    assert 2 <= len(found) <= 5


def test_the_threshold_itself_goes_and_what_is_just_below_stays(tmp_path: Path) -> None:
    for cosine, goes in ((0.95, True), (0.949999, False), (0.9499996, True)):
        vectors = np.array([[1.0, 0.0], [cosine, np.sqrt(1 - cosine * cosine)]], np.float32)
        found = gone(SemanticDedup(write(tmp_path / f"{cosine}.parquet", vectors)), [documents(2)])
        assert bool(found) == goes
        assert all(value == pytest.approx(0.95) for _, value in found.values())


def test_length_of_vectors_makes_no_difference() -> None:
    a = np.array([[3e30, 4e30], [1e-30, 0]], np.float32)
    b = np.array([[6e-20, 8e-20], [-1, 0]], np.float32)
    assert cosines(a, b).tolist() == [1.0, -1.0]
    assert cosines(a, np.zeros((2, 2), np.float32)).tolist() == [0.0, 0.0]


def test_the_keeper_is_that_of_the_policy(tmp_path: Path) -> None:
    batch = documents(14)
    path = write(tmp_path / "e.parquet", np.ones((14, 4), np.float32))
    for keep, chars in (("longest", 13), ("shortest", 7)):
        found = gone(SemanticDedup(path, keep=(keep,)), [batch])
        keeper = IDS.index(next(iter(found.values()))[0])
        assert len(found) == 13 and len(batch.column("text")[keeper].as_py()) in (chars, chars + 1)
    found = gone(SemanticDedup(path), [batch])
    least = min(range(14), key=lambda row: batch.column("content_hash")[row].as_py())
    assert {keeper for keeper, _ in found.values()} == {IDS[least]}


def test_neither_shards_nor_files_nor_their_order_matter(tmp_path: Path) -> None:
    vectors, batch = groups(200, 8, 5), documents(200)
    one = write(tmp_path / "all.parquet", vectors)
    random = np.random.default_rng(1)
    expected_ = gone(SemanticDedup(one, threshold=0.9), [batch])
    order = random.permutation(200)
    parts = (order[:50], order[50:])
    files = tuple(write(tmp_path / f"{n}.parquet", vectors[p], [IDS[i] for i in p]) for n, p in enumerate(parts))
    shards = [batch.take(pa.array(p)) for p in (order[100:], order[:100])]
    for exact_rows in (1000, 0):
        assert gone(SemanticDedup(files, threshold=0.9, exact_rows=exact_rows), shards) == expected_


def test_kept_vectors_are_looked_at_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_vectors, "KEPT_AT_A_TIME", 64)
    vectors = groups(2000, 12, 7)
    found = {
        int(row): int(keeper)
        for part in independent(vectors, 0.9, AllPairs(12))
        for row, keeper in zip(part.row, part.keeper, strict=True)
    }
    parts = list(independent(vectors, 0.9, Hnsw(12)))
    wanted = {int(r): int(k) for p in parts for r, k in zip(p.row, p.keeper, strict=True)}
    assert len(found) > 1000 and len(set(found.items()) ^ set(wanted.items())) <= 4, "an index may overlook some"


def test_an_index_gives_the_same_each_time(tmp_path: Path) -> None:
    vectors = np.random.default_rng(2).standard_normal((400, 6)).astype(np.float32)
    stage = SemanticDedup(write(tmp_path / "e.parquet", vectors), threshold=0.9, exact_rows=0)
    first = gone(stage, [documents(400)])
    assert first and all(gone(stage, [documents(400)]) == first for _ in range(3))


def test_documents_without_an_embedding_stay_and_are_counted(tmp_path: Path) -> None:
    vectors = np.ones((5, 3), np.float32)
    vectors[3:] = 0
    stage = SemanticDedup(write(tmp_path / "e.parquet", vectors))
    rows, told = decided(stage, [documents(9)])
    assert sum(row["kind"] == DROP for row in rows) == 2
    assert told == {"with_embedding": 5, "without_embedding": 4, "zero_embeddings": 2, "exact_search": 1}
    other = SemanticDedup(write(tmp_path / "o.parquet", vectors, IDS[300:]))
    assert decided(other, [documents(9)])[0] == [] and decided(other, [])[0] == []


def test_many_copies_of_one_text(tmp_path: Path) -> None:
    vectors = np.tile(np.arange(1, 5, dtype=np.float32), (5000, 1))
    search = Hnsw(4)
    parts = list(independent(vectors, 0.99, search))
    assert sum(len(p.row) for p in parts) == 4999 and {int(k) for p in parts for k in p.keeper} == {0}


KINDS: Mapping[str, Any] = {
    "list": pa.list_(pa.float32()),
    "large": pa.large_list(pa.float64()),
    "fixed": pa.list_(pa.float32(), 2),
    "half": pa.list_(pa.float16(), 2),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("raw_ids", [False, True])
def test_forms_of_files(tmp_path: Path, kind: str, form: str, raw_ids: bool) -> None:
    values = [np.array(v, np.float16) if kind == "half" else v for v in ([1.0, 2.0], [2.0, 4.0], [-1.0, 0.5])]
    ids = pa.array([bytes.fromhex(i) for i in IDS[:3]], pa.binary(16)) if raw_ids else pa.array(IDS[:3])
    table = pa.table({"other": [1, 2, 3], "id": ids, "v": pa.array([list(v) for v in values], KINDS[kind])})
    path = tmp_path / f"e.{form}"
    if form == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    found = gone(SemanticDedup(str(path), vector="v"), [documents(3)])
    assert len(found) == 1 and set(found) < set(IDS[:2])


def table_of(rows: Sequence[tuple[object, object]], kind: pa.DataType | None = None) -> pa.Table:
    ids, vectors = zip(*rows, strict=True) if rows else ((), ())
    return pa.table({"id": pa.array(list(ids)), "embedding": pa.array(list(vectors), kind or pa.list_(pa.float32()))})


GOOD = (IDS[0], [1.0, 2.0])
WRONG: Mapping[str, tuple[pa.Table, str]] = {
    "nan": (table_of([GOOD, (IDS[1], [1.0, float("nan")])]), "row 2: a vector that is not finite"),
    "infinite": (table_of([(IDS[1], [float("inf"), 1.0])]), "row 1: a vector that is not finite"),
    "too large": (table_of([(IDS[1], [1e300, 1.0])], pa.list_(pa.float64())), "not finite"),
    "null value": (table_of([GOOD, (IDS[1], [None, 1.0])]), "row 2: a vector that is not finite"),
    "null": (table_of([GOOD, (IDS[1], None)]), "row 2: no vector"),
    "length": (table_of([GOOD, (IDS[1], [1.0])]), "row 2: a vector of another length"),
    "no values": (table_of([(IDS[0], [])]), "row 1: a vector of another length"),
    "no rows": (
        table_of([], pa.list_(pa.float32())).cast(
            pa.schema([("id", pa.string()), ("embedding", pa.list_(pa.float32()))])
        ),
        "no embedding",
    ),
    "duplicate": (table_of([GOOD, (IDS[1], [1.0, 1.0]), GOOD]), f"two embeddings: '{IDS[0]}'"),
    "upper case": (table_of([("A" * 32, [1.0, 2.0])]), "row 1: not an id"),
    "short id": (table_of([GOOD, ("ab", [1.0, 2.0])]), "row 2: not an id"),
    "no id": (table_of([GOOD, (None, [1.0, 2.0])]), "row 2: not an id"),
    "column": (table_of([GOOD]).rename_columns(["id", "vector"]), "without this column: 'embedding'"),
    "id column": (table_of([GOOD]).rename_columns(["key", "embedding"]), "without this column: 'id'"),
    "type": (pa.table({"id": IDS[:1], "embedding": ["1 2"]}), "not a column of vectors"),
    "whole numbers": (pa.table({"id": IDS[:1], "embedding": [[1, 2]]}), "not a column of vectors"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_are_refused_before_any_work(tmp_path: Path, name: str) -> None:
    table, message = WRONG[name]
    path = tmp_path / "e.parquet"
    pq.write_table(table, path)
    with pytest.raises(InputError) as caught:
        SemanticDedup(str(path)).prepare()
    assert message in str(caught.value) and "e.parquet" in str(caught.value) and caught.value.remedy != ""


def test_files_that_do_not_fit_each_other(tmp_path: Path) -> None:
    a = write(tmp_path / "a.parquet", np.ones((3, 4), np.float32))
    with pytest.raises(InputError, match=r"b\.parquet: vectors of another length"):
        SemanticDedup((a, write(tmp_path / "b.parquet", np.ones((3, 5), np.float32), IDS[9:]))).prepare()
    with pytest.raises(InputError, match="two embeddings"):
        SemanticDedup((a, write(tmp_path / "c.parquet", np.ones((3, 4), np.float32), IDS[2:]))).prepare()


@pytest.mark.parametrize("body", [b"", b"id,embedding\n", b"PAR1", b"ARROW1\0\0garbage", b"PAR1" + bytes(80)])
def test_what_is_no_file_of_embeddings(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "e.bin"
    path.write_bytes(body)
    with pytest.raises(InputError, match=r"e\.bin"):
        SemanticDedup(str(path)).prepare()


def test_without_usearch_a_large_set_is_refused_and_a_small_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "usearch", None)
    path = write(tmp_path / "e.parquet", np.ones((5, 4), np.float32))
    SemanticDedup(path, exact_rows=5).prepare()
    with pytest.raises(UsageError, match=r"gristmill\[semantic\]"):
        SemanticDedup(path, exact_rows=4).prepare()


def test_parameters(tmp_path: Path) -> None:
    path = write(tmp_path / "e.parquet", np.ones((5, 4), np.float32))
    stage = catalogue.load("semantic_dedup", {"embeddings": "e.parquet"}, tmp_path)
    assert isinstance(stage, Census) and stage == SemanticDedup(path)
    assert catalogue.canonical_params(stage)["embeddings"].startswith("blake3:")
    for wrong in ({"threshold": 0.0}, {"threshold": 1.1}, {"exact_rows": -1}, {"keep": ("best",)}, {"embeddings": ()}):
        with pytest.raises(GristmillError, match="semantic_dedup"):
            SemanticDedup(**{"embeddings": path, **wrong})  # type: ignore[arg-type]

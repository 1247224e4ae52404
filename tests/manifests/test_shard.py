"""Shards: bounded row groups, bytes that depend on rows alone, damage that is noticed."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests import shard
from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.errors import VerifyError
from gristmill.manifests.receipt import FileEntry
from gristmill.manifests.schema import DOCUMENT, document_batch
from gristmill.manifests.shard import ParquetShards, read_shard, text_bytes


def write(root: Path, batches: list[pa.RecordBatch], key: str = "0" * 32) -> list[FileEntry]:
    writer = ObjectStore(root).begin(key, {})
    shards = ParquetShards(writer, "data", DOCUMENT)
    for batch in batches:
        shards.write(batch)
    shards.close()
    return list(writer.commit({}).files)


def documents(texts: list[str]) -> pa.RecordBatch:
    ids = pa.array([f"{i:032x}" for i in range(len(texts))], pa.string())
    return document_batch({"text": pa.array(texts, pa.large_string()), "id": ids})


def test_bytes_depend_on_rows_and_not_on_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "ROW_GROUP_BYTES", 2000)
    monkeypatch.setattr(shard, "SHARD_BYTES", 9000)
    batch = documents([f"text {i} " * (i % 40) for i in range(300)])
    whole = write(tmp_path, [batch], "0" * 32)
    cut = write(tmp_path, [batch.slice(i, 7) for i in range(0, 300, 7)], "1" * 32)
    assert [f.digest for f in whole] == [f.digest for f in cut]
    assert len(whole) > 2
    assert sum(f.rows for f in whole) == 300


def test_row_groups_are_bounded_but_for_one_long_row(tmp_path: Path) -> None:
    long = "x" * (shard.ROW_GROUP_BYTES * 2)
    entries = write(tmp_path, [documents(["a", "b", long, "c", "d"])])
    file = pq.ParquetFile(tmp_path / "objects" / ("0" * 32) / entries[0].path)
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [2, 1, 2]


def test_no_rows_leave_no_file(tmp_path: Path) -> None:
    assert write(tmp_path, [documents([])]) == []


def test_types_come_back(tmp_path: Path) -> None:
    entries = write(tmp_path, [documents(["héllo", ""])])
    batches = list(read_shard(tmp_path / "objects" / ("0" * 32) / entries[0].path))
    assert batches[0].schema.equals(DOCUMENT)
    assert batches[0].column("text").to_pylist() == ["héllo", ""]


def test_a_flipped_byte_is_noticed_on_reading(tmp_path: Path) -> None:
    entries = write(tmp_path, [documents([f"some text number {i}" for i in range(2000)])])
    path = tmp_path / "objects" / ("0" * 32) / entries[0].path
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(VerifyError, match="cannot be read"):
        list(read_shard(path))


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30), max_size=8), st.integers(0, 8))
def test_text_bytes_counts_utf8_of_slices(texts: list[str], start: int) -> None:
    batch = documents(texts).slice(min(start, len(texts)))
    meta = 64
    assert text_bytes(batch) == [len(t.encode()) + meta for t in texts[min(start, len(texts)) :]]

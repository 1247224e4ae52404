"""Exports to MDS, read by mosaicml-streaming: rows equal, shuffled over two workers once each, a shard of 3 GiB."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streaming import MDSWriter, StreamingDataset
from streaming.base.util import clean_stale_shared_memory
from torch.utils.data import DataLoader

from gristmill.pipeline.export import mds
from gristmill.pipeline.export.run import export
from gristmill.pipeline.export.shape import Request
from tests.pipeline.export_data import bounds_of, rows_of, tokenised_of

SHARD_BYTES = 8000


@pytest.fixture(autouse=True)
def _no_shared_memory_of_others() -> None:
    clean_stale_shared_memory()


@pytest.fixture(scope="module")
def folder(exported_output: Path, module_folder: Path) -> Path:
    export(Request(exported_output / "rows", "mds", shard_bytes=SHARD_BYTES), module_folder / "rows")
    return module_folder / "rows"


def test_rows_are_equal(exported_output: Path, folder: Path) -> None:
    loaded = StreamingDataset(local=str(folder), shuffle=False, batch_size=1, validate_hash=mds.HASH)
    rows = rows_of(exported_output / "rows")
    assert len(loaded) == len(rows)
    for number, row in enumerate(rows):
        sample = loaded[number]
        assert sample["tokens"].dtype == np.uint32
        assert sample["tokens"].tolist() == row["input_ids"]
        assert (sample["n_tokens"], sample["row_id"]) == (row["n_tokens"], row["row_id"].hex())
        assert json.loads(sample["cu_seqlens"]) == bounds_of(row)
        assert json.loads(sample["loss_spans"]) == row["loss_spans"]
        assert json.loads(sample["segments"]) == row["segments"]


def test_a_loader_with_workers_sees_each_row_once(exported_output: Path, folder: Path) -> None:
    loaded = StreamingDataset(local=str(folder), shuffle=True, shuffle_seed=4, batch_size=5)
    batches = list(DataLoader(loaded, batch_size=5, num_workers=2))
    found = {row_id: ids for b in batches for row_id, ids in zip(b["row_id"], b["tokens"].tolist(), strict=True)}
    rows = {row["row_id"].hex(): row["input_ids"] for row in rows_of(exported_output / "rows")}
    assert found == rows
    assert list(found) != list(rows)


def test_documents_are_equal(exported_output: Path, tmp_path: Path) -> None:
    export(Request(exported_output / "rows", "mds", "document", shard_bytes=SHARD_BYTES), tmp_path / "x")
    loaded = StreamingDataset(local=str(tmp_path / "x"), shuffle=False, batch_size=1)
    for number, document in enumerate(tokenised_of(exported_output / "rows")):
        assert loaded[number]["tokens"].tolist() == document["input_ids"]
        assert loaded[number]["id"] == document["id"]


def test_the_library_writes_the_same_samples(exported_output: Path, folder: Path, tmp_path: Path) -> None:
    """The bytes of a sample are the library's own."""
    loaded = StreamingDataset(local=str(folder), shuffle=False, batch_size=1)
    first = json.loads((folder / "index.json").read_bytes())["shards"][0]
    columns = dict(zip(first["column_names"], first["column_encodings"], strict=True))
    with MDSWriter(out=str(tmp_path / "own"), columns=columns, hashes=[mds.HASH], size_limit=None) as writer:
        for number in range(first["samples"]):
            writer.write(loaded[number])
    own = (tmp_path / "own" / "shard.00000.mds").read_bytes()
    assert own == (folder / first["raw_data"]["basename"]).read_bytes()
    theirs = json.loads((tmp_path / "own" / "index.json").read_bytes())["shards"][0]
    assert theirs == first


def test_offsets_above_2_gib_are_read(tmp_path: Path) -> None:
    """A shard of 3 GiB that is a hole but for its last sample."""
    columns = {"n_tokens": "int", "tokens": "ndarray:uint32"}
    config = json.dumps(mds.config_of(columns), sort_keys=True).encode()
    said: dict[str, Any] = {"n_tokens": 3}
    last = mds.encoded(np.array([1, 2, (1 << 32) - 1], dtype=np.uint32), said, columns)
    sizes = np.array([3 << 30, len(last)], dtype=np.int64)
    head = mds.head_of(sizes, len(config)) + config
    path = tmp_path / "shard.00000.mds"
    with path.open("wb") as file:
        file.write(head)
        file.seek(len(head) + (3 << 30))
        file.write(last)
    shard = {**mds.config_of(columns), "hashes": [], "samples": 2, "zip_data": None}
    raw = {"basename": path.name, "bytes": os.path.getsize(path), "hashes": {}}
    index = {"version": 2, "shards": [{**shard, "raw_data": raw}]}
    (tmp_path / "index.json").write_text(json.dumps(index))
    loaded = StreamingDataset(local=str(tmp_path), shuffle=False, batch_size=1)
    assert loaded[1]["tokens"].tolist() == [1, 2, (1 << 32) - 1]

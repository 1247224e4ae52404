"""Exports to WebDataset, read by that library: samples equal, in order, split over workers once each."""

from pathlib import Path

import numpy as np
import pytest
import webdataset
from torch.utils.data import DataLoader

from gristmill.pipeline.export.run import export
from gristmill.pipeline.export.shape import Request, Unit
from tests.pipeline.export_data import PIXELS, bounds_of, rows_of, texts_of, tokenised_of

SHARD_BYTES = 8000


def exported(output: Path, target: Path, unit: Unit | None = None, name: str = "rows") -> list[str]:
    export(Request(output / name, "webdataset", unit, shard_bytes=SHARD_BYTES), target)
    return sorted(str(path) for path in target.glob("*.tar"))


def test_rows_are_equal_and_in_order(exported_output: Path, tmp_path: Path) -> None:
    found = list(webdataset.WebDataset(exported(exported_output, tmp_path / "x"), shardshuffle=False).decode())
    for sample, row in zip(found, rows_of(exported_output / "rows"), strict=True):
        assert sample["npy"].dtype == np.uint32
        assert sample["npy"].tolist() == row["input_ids"]
        said = sample["json"]
        assert said["row_id"] == row["row_id"].hex() == sample["__key__"].partition("-")[2]
        assert (said["n_tokens"], said["cu_seqlens"]) == (row["n_tokens"], bounds_of(row))
        assert (said["loss_spans"], said["segments"]) == (row["loss_spans"], row["segments"])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_workers_see_each_row_once(exported_output: Path, tmp_path: Path) -> None:
    shards = exported(exported_output, tmp_path / "x")
    data = webdataset.WebDataset(shards, shardshuffle=len(shards), seed=3).shuffle(20).decode().to_tuple("npy", "json")
    found = [ids.tolist() for ids, _ in DataLoader(data, batch_size=None, num_workers=2)]
    rows = [row["input_ids"] for row in rows_of(exported_output / "rows")]
    assert found != rows
    assert sorted(found) == sorted(rows)


def test_documents_and_media_are_equal(exported_output: Path, tmp_path: Path) -> None:
    tokens = webdataset.WebDataset(exported(exported_output, tmp_path / "x", "document"), shardshuffle=False).decode()
    ids = [sample["npy"].tolist() for sample in tokens]
    assert ids == [document["input_ids"] for document in tokenised_of(exported_output / "rows")]
    texts = webdataset.WebDataset(exported(exported_output, tmp_path / "y", name="texts"), shardshuffle=False)
    found = list(texts)
    assert [s["txt"].decode() for s in found] == [document["text"] for document in texts_of(exported_output / "texts")]
    assert found[0]["0.png"] == PIXELS

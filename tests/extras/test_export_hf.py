"""Exports to Hugging Face datasets, loaded by that library: every column equal, mapped, streamed and shuffled."""

from pathlib import Path
from typing import Any

import datasets
import pytest

from gristmill.pipeline.export.run import export
from gristmill.pipeline.export.shape import Request
from tests.pipeline.export_data import CONTEXT, bounds_of, rows_of, texts_of, tokenised_of

SHARD_BYTES = 8000


@pytest.fixture(scope="module")
def folder(exported_output: Path, module_folder: Path) -> Path:
    export(Request(exported_output / "rows", "hf", shard_bytes=SHARD_BYTES), module_folder / "rows")
    return module_folder / "rows"


def written(output: Path) -> list[dict[str, Any]]:
    return [{**row, "cu_seqlens": bounds_of(row)} for row in rows_of(output / "rows")]


def test_rows_load_from_disk(exported_output: Path, folder: Path) -> None:
    loaded = datasets.load_from_disk(str(folder))
    assert loaded.split == "train"
    assert loaded.features["input_ids"] == datasets.List(datasets.Value("uint32"), length=CONTEXT)
    assert list(loaded) == written(exported_output)
    assert loaded[[5, 1]]["input_ids"] == [written(exported_output)[i]["input_ids"] for i in (5, 1)]


def test_rows_are_tensors(exported_output: Path, folder: Path) -> None:
    loaded = datasets.load_from_disk(str(folder)).with_format("torch", columns=["input_ids", "n_tokens"])
    for sample, row in zip(loaded, written(exported_output), strict=True):
        assert sample["input_ids"].tolist() == row["input_ids"]
        assert int(sample["n_tokens"]) == row["n_tokens"]


def test_rows_stream_and_shuffle(exported_output: Path, folder: Path, tmp_path: Path) -> None:
    files = sorted(str(path) for path in folder.glob("data-*.arrow"))
    streamed = datasets.load_dataset(
        "arrow", data_files=files, streaming=True, split="train", cache_dir=str(tmp_path / "cache")
    )
    ids = [row["input_ids"] for row in written(exported_output)]
    assert [sample["input_ids"] for sample in streamed] == ids
    mixed = datasets.load_from_disk(str(folder)).to_iterable_dataset(num_shards=4).shuffle(seed=1, buffer_size=50)
    found = [sample["input_ids"] for sample in mixed]
    assert found != ids
    assert sorted(found) == sorted(ids)


def test_a_dataset_is_what_the_library_saves_of_it(folder: Path, tmp_path: Path) -> None:
    loaded = datasets.load_from_disk(str(folder))
    loaded.save_to_disk(str(tmp_path / "again"))
    assert list(datasets.load_from_disk(str(tmp_path / "again"))) == list(loaded)


def test_documents_load(exported_output: Path, tmp_path: Path) -> None:
    export(Request(exported_output / "rows", "hf", "document", shard_bytes=SHARD_BYTES), tmp_path / "tokens")
    assert list(datasets.load_from_disk(str(tmp_path / "tokens"))) == tokenised_of(exported_output / "rows")
    export(Request(exported_output / "texts", "hf", shard_bytes=SHARD_BYTES), tmp_path / "texts")
    loaded = datasets.load_from_disk(str(tmp_path / "texts"))
    texts = texts_of(exported_output / "texts")
    assert loaded["text"][:] == [document["text"] for document in texts]
    assert loaded[0]["media"] == texts[0]["media"]
    assert loaded[1]["scores"] == [{"key": "quality", "value": 0.5}]

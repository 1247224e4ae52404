"""Exports to Megatron, read by megatron-core's IndexedDataset: sequences equal, also behind 4 GiB of a sparse file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from megatron.core.datasets.indexed_dataset import DType, IndexedDataset, IndexedDatasetBuilder

from gristmill.pipeline.export import megatron
from gristmill.pipeline.export.run import export
from gristmill.pipeline.export.shape import Request, Unit
from tests.pipeline.export_data import rows_of, tokenised_of

EOS = 257


def exported(output: Path, target: Path, unit: Unit | None) -> list[Any]:
    export(Request(output / "rows", "megatron", unit, shard_bytes=8000), target)
    return [IndexedDataset(str(path.with_suffix(""))) for path in sorted(target.glob("*.idx"))]


@pytest.mark.parametrize("unit", [None, "row"])
def test_sequences_are_equal(exported_output: Path, tmp_path: Path, unit: Unit | None) -> None:
    pairs = exported(exported_output, tmp_path / "x", unit)
    assert len(pairs) > 1
    rows = [row["input_ids"] for row in rows_of(exported_output / "rows")]
    documents = [[*document["input_ids"], EOS] for document in tokenised_of(exported_output / "rows")]
    assert [pair[i].tolist() for pair in pairs for i in range(len(pair))] == (rows if unit == "row" else documents)
    for pair in pairs:
        assert pair.index.dtype is np.uint16
        assert pair.document_indices.tolist() == list(range(len(pair) + 1))


def test_the_library_writes_the_same_bytes(exported_output: Path, tmp_path: Path) -> None:
    pairs = exported(exported_output, tmp_path / "x", None)
    for number, pair in enumerate(pairs):
        stem = tmp_path / f"own-{number}"
        builder = IndexedDatasetBuilder(f"{stem}.bin", dtype=DType.optimal_dtype(259))
        for i in range(len(pair)):
            builder.add_document(pair[i], [len(pair[i])])
        builder.finalize(f"{stem}.idx")
        for suffix in (".bin", ".idx"):
            ours = (tmp_path / "x" / f"tokens-{number:05d}{suffix}").read_bytes()
            assert Path(f"{stem}{suffix}").read_bytes() == ours


@pytest.mark.parametrize("mmap", [True, False])
def test_sequences_behind_4_gib_are_read(tmp_path: Path, mmap: bool) -> None:
    """Three sequences, two of them holes: 8 GiB and some, which is past 2^32 bytes and past 2^31 ids."""
    lengths = np.array([(1 << 31) - 1, 7, 3], dtype=np.int64)
    stem = tmp_path / "tokens-00000"
    stem.with_suffix(".idx").write_bytes(b"".join(megatron.index_parts(lengths, np.dtype(np.int32))))
    with stem.with_suffix(".bin").open("wb") as file:
        file.seek(4 * int(lengths[:2].sum()))
        file.write(np.array([5, 6, 129279], dtype=np.int32).tobytes())
    loaded = IndexedDataset(str(stem), mmap=mmap)
    assert loaded[2].tolist() == [5, 6, 129279]
    assert loaded[1].tolist() == [0] * 7
    assert loaded.sequence_lengths.tolist() == lengths.tolist()

"""Rows of all sizes are read in chunks and hashed on the way: a changed byte is seen wherever it stands."""

from pathlib import Path

import numpy as np
import pytest

from gristmill.pipeline.reader.fetch_kernel import CHUNK_BYTES
from gristmill.pipeline.reader.rows_dataset import CorruptRowError, RowsDataset
from tests.pipeline.reader.sparse_rows import sparse_dataset

CONTEXTS = (1, 3, 4, 16, 60, 61, 256, 257, 65_535, 65_536, 65_537, 196_625)


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_changed_byte_is_seen_wherever_it_stands(tmp_path: Path, context: int) -> None:
    folder, size = sparse_dataset(tmp_path / "d", 1, 2, context), 4 * context
    dataset, out = RowsDataset.open(folder), np.empty((2, context), dtype=np.int32)
    both = np.array([1, 0])
    dataset.read(both, out)
    assert not out.any()
    ends = {p for edge in (0, CHUNK_BYTES, 2 * CHUNK_BYTES, size) for p in (edge - 1, edge) if 0 <= p < size}
    for place in sorted(ends):
        with (folder / "part.arrow").open("r+b") as file:
            file.seek(size + place)
            file.write(b"\1")
        with pytest.raises(CorruptRowError, match=r"row 1.*ids"):
            dataset.read(both, out)
        dataset.read(both[1:], out[1:])
        dataset.read(both, out, verify=False)
        assert out[0].view(np.uint8)[place] == 1
        with (folder / "part.arrow").open("r+b") as file:
            file.seek(size + place)
            file.write(b"\0")
    with pytest.raises(IndexError, match="numbered"):
        dataset.read(np.array([2]), out)
    with pytest.raises(IndexError, match="numbered"):
        dataset.read(np.array([-1]), out)

"""`tests/data/embeddings.parquet`: vectors for the documents of the laws, in groups of three that are close.

Made by `python -m tests.stages.dedup.tiny_embeddings`.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gristmill.manifests.schema import record_id

TINY_EMBEDDINGS = Path(__file__).parents[2] / "data" / "embeddings.parquet"
DIMENSIONS = 8


def table() -> pa.Table:
    """Of the batches of `tests.laws.test_stages` (ids are row numbers), and of the dataset `notes` of its recipe."""
    ids = [f"{row:032x}" for row in range(60)] + [record_id("path", "notes", f"t{n}.txt") for n in range(10)]
    centres = np.random.default_rng(1).integers(-9, 10, (len(ids), DIMENSIONS)).astype(np.float32)
    vectors = centres[np.arange(len(ids)) // 3] * 64
    vectors[:, 0] += np.arange(len(ids)) % 3
    values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), DIMENSIONS)
    return pa.table({"id": pa.array(ids, pa.string()), "embedding": values})


if __name__ == "__main__":
    pq.write_table(table(), TINY_EMBEDDINGS)

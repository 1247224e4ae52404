"""Merging candidate pairs: each once, with all its bands, without those compared before; range by range or at once."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.pipeline.similar.tables import MERGED
from gristmill.pipeline.tasks import similar_merge

ENDS = st.sampled_from([0, 1, 7, (3 << 32) | 5, (200 << 32) | 1, (1 << 56) | 3])
PAIRS = st.lists(st.tuples(ENDS, ENDS, st.sampled_from([1, 2, 1 << 63])), max_size=40)

Pair = tuple[int, int, int]


def batches(pairs: list[Pair], step: int) -> list[pa.RecordBatch]:
    parts = [pairs[at : at + step] for at in range(0, len(pairs), step)]
    return [
        pa.RecordBatch.from_arrays([pa.array(c, pa.uint64()) for c in zip(*part, strict=True)], schema=MERGED)
        for part in parts
    ]


def expected(old: list[Pair], found: list[Pair]) -> list[Pair]:
    before = {pair[:2] for pair in old}
    bands: dict[tuple[int, int], int] = {}
    for low, high, band in found:
        bands[low, high] = bands.get((low, high), 0) | band
    return [(*pair, bands[pair]) for pair in sorted(bands) if pair not in before]


@pytest.mark.parametrize(("at_once", "samples"), [(1 << 22, 64), (4, 2), (1, 1)])
@given(PAIRS, PAIRS, st.integers(1, 9))
def test_pairs_are_merged_as_python_does(
    at_once: int, samples: int, old: list[Pair], found: list[Pair], step: int
) -> None:
    earlier = sorted({pair[:2]: pair for pair in old}.values())
    demand: list[np.ndarray] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similar_merge, "PAIRS_AT_ONCE", at_once)
        patch.setattr(similar_merge, "_SAMPLES_A_RANGE", samples)
        merged = list(similar_merge._merged(batches(earlier, step), batches(found, step), demand))  # pyright: ignore[reportPrivateUsage]
    rows = [tuple(row.values()) for batch in merged for row in batch.to_pylist()]
    assert rows == expected(old, found)
    assert {int(a) for some in demand for a in some} == {end for row in rows for end in row[:2]}

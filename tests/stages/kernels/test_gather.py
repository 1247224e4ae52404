"""Rows copied into another order are those that numpy picks, whatever their width."""

import numpy as np
import pytest

from gristmill.stages.kernels.gather import gather, scatter

WIDTHS = [1, 3, 7, 8, 9, 15, 16, 17, 33]


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_are_gathered(width: int) -> None:
    rng = np.random.default_rng(width)
    rows = rng.integers(0, 256, (1000, width), dtype=np.uint8)
    for numbers in (rng.permutation(1000), rng.integers(0, 1000, 3000), np.zeros(0)):
        assert (gather(rows, numbers.astype(np.uint32)) == rows[numbers.astype(np.int64)]).all()
    out = np.full((5, width), 1, np.uint8)
    gather(rows[::2], np.array([3, 2], np.uint32), out[1:3])
    assert (out[1:3] == rows[[6, 4]]).all() and (out[[0, 3, 4]] == 1).all()


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_are_scattered_by_bucket_in_their_order(width: int) -> None:
    rng = np.random.default_rng(width)
    rows = rng.integers(0, 256, (1000, width), dtype=np.uint8)
    bucket = rng.choice([0, 2, 3, 9], 1000).astype(np.uint32)
    starts = np.append(0, np.cumsum(np.bincount(bucket)))
    assert (scatter(rows, bucket, starts) == rows[np.argsort(bucket, kind="stable")]).all()
    assert starts[1] == (bucket == 0).sum()

"""The order of an epoch: a bijection, the same everywhere, of which nothing is stored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.pipeline.reader.permute import half_bits, permuted, permuted_plain, round_keys


@given(st.integers(1, 3000), st.integers(0, 1 << 63), st.text(max_size=8), st.integers(0, 1 << 40))
def test_every_row_comes_once(n: int, seed: int, source: str, epoch: int) -> None:
    keys = round_keys(seed, source, epoch)
    found = permuted(np.arange(n), n, keys)
    assert sorted(found.tolist()) == list(range(n))
    assert [permuted_plain(i, n, keys) for i in range(0, n, 97)] == found[::97].tolist()


@pytest.mark.parametrize("n", [(1 << 31) + 7, (1 << 32) + 1, (1 << 62) + 3])
def test_more_rows_than_32_bits_count(n: int) -> None:
    keys = round_keys(17, "web", 3)
    counters = np.array([0, 1, (1 << 31) - 1, 1 << 31, n - 1], dtype=np.int64)
    found = permuted(counters, n, keys)
    assert len(set(found.tolist())) == len(counters) and found.min() >= 0 and found.max() < n
    assert found.tolist() == [permuted_plain(int(c), n, keys) for c in counters]


def test_vectors() -> None:
    """So that another implementation can match; values of this one, checked by the plain twin."""
    keys = round_keys(17, "web", 0)
    assert f"{int(keys[0]):016x}" == "02890e75b609ec2e"
    assert permuted(np.arange(8), 1000, keys).tolist() == [386, 509, 790, 369, 477, 902, 604, 133]
    assert [half_bits(n) for n in (1, 2, 4, 5, 16, 17, 1 << 62)] == [1, 1, 1, 2, 2, 3, 31]


def test_epochs_sources_and_seeds_differ() -> None:
    orders = {
        tuple(permuted(np.arange(50), 50, round_keys(seed, name, epoch)).tolist())
        for seed in (0, 1)
        for name in ("a", "b", "")
        for epoch in (0, 1)
    }
    assert len(orders) == 12


def test_no_neighbours_stay_neighbours() -> None:
    """Of a random permutation two in n neighbours stay so; ours is not far from that."""
    n = 100_000
    found = permuted(np.arange(n), n, round_keys(1, "x", 0))
    assert int((np.abs(np.diff(found)) == 1).sum()) < 15
    quarter = found[: n // 4]
    counts = np.bincount(quarter * 16 // n, minlength=16)
    assert counts.min() > 0.9 * n / 64 and counts.max() < 1.1 * n / 64


def test_what_is_outside_is_refused() -> None:
    with pytest.raises(IndexError, match=r"\[0, 5\)"):
        permuted(np.array([5]), 5, round_keys(0, "", 0))

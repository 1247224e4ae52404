"""The order in blocks: a bijection for any sizes, the same as its twin, and one window of blocks at a time."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.pipeline.reader.block_shuffle import (
    BlockShuffle,
    ShuffleModel,
    shuffle_of,
    shuffled,
    shuffled_plain,
    window_at,
    window_blocks,
)
from gristmill.pipeline.reader.permute import permuted, round_keys


@given(st.integers(1, 1500), st.integers(1, 300), st.integers(1, 20), st.integers(0, 1 << 40), st.integers(0, 9))
@example(n=1, size=256, window=64, seed=0, epoch=0)
@example(n=256, size=256, window=1, seed=0, epoch=0)
@example(n=257, size=256, window=1, seed=3, epoch=0)
@example(n=1000, size=1, window=1, seed=1, epoch=0)
@example(n=999, size=100, window=3, seed=7, epoch=2)
@settings(max_examples=300, deadline=None)
def test_every_row_comes_once(n: int, size: int, window: int, seed: int, epoch: int) -> None:
    keys, shuffle = round_keys(seed, "web", epoch), BlockShuffle(size, window)
    found = shuffled(np.arange(n), n, shuffle, keys)
    assert sorted(found.tolist()) == list(range(n))
    picked = range(0, n, max(n // 5, 1))
    assert [shuffled_plain(c, n, shuffle, keys) for c in picked] == found[list(picked)].tolist()
    assert shuffled(np.arange(n)[::-1].copy(), n, shuffle, keys).tolist() == found[::-1].tolist()


@given(st.integers(1, 1500), st.integers(1, 100), st.integers(1, 20), st.integers(0, 1 << 40))
@settings(max_examples=100, deadline=None)
def test_a_window_is_read_from_its_blocks_alone(n: int, size: int, window: int, seed: int) -> None:
    keys, shuffle = round_keys(seed, "web", 0), BlockShuffle(size, window)
    found = shuffled(np.arange(n), n, shuffle, keys).tolist()
    at, counters = 0, list(range(n))
    for number in range(n):
        blocks = window_blocks(n, shuffle, keys, number)
        rows = sorted(row for first, stop in blocks for row in range(first, stop))
        assert len(blocks) <= window and all(first % size == 0 for first, _ in blocks)
        assert sorted(found[at : at + len(rows)]) == rows
        assert all(window_at(c, n, shuffle, keys) == number for c in counters[at : at + len(rows)])
        at += len(rows)
        if not rows:
            break
    assert at == n


@pytest.mark.parametrize("n", [(1 << 31) + 7, (1 << 40) + 1])
def test_more_rows_than_32_bits_count(n: int) -> None:
    keys, shuffle = round_keys(17, "web", 3), BlockShuffle(256, 64)
    counters = np.array([0, 1, (1 << 31) - 1, 1 << 31, n - 1], dtype=np.int64)
    found = shuffled(counters, n, shuffle, keys)
    assert len(set(found.tolist())) == len(counters) and found.min() >= 0 and found.max() < n
    assert found.tolist() == [shuffled_plain(int(c), n, shuffle, keys) for c in counters]


def test_the_short_block_comes_anywhere() -> None:
    """Always last, the end of a dataset would be what every epoch ends with."""
    n, shuffle = 100 * 8 + 3, BlockShuffle(8, 4)
    places = [
        int(np.flatnonzero(shuffled(np.arange(n), n, shuffle, round_keys(seed, "x", 0)) == n - 1)[0])
        for seed in range(400)
    ]
    counts = np.bincount(np.array(places) * 4 // n, minlength=4)
    assert counts.min() > 60


def test_windows_epochs_sources_and_seeds_differ() -> None:
    n, shuffle = 512, BlockShuffle(64, 1)
    orders = {
        tuple(shuffled(np.arange(n), n, shuffle, round_keys(seed, name, epoch)).tolist())
        for seed in (0, 1)
        for name in ("a", "")
        for epoch in (0, 1)
    }
    assert len(orders) == 8
    one = shuffled(np.arange(n), n, shuffle, round_keys(0, "a", 0)).reshape(8, 64) % 64
    assert len({tuple(row) for row in one.tolist()}) == 8, "each window has an order of its own"


def test_how_well_it_mixes() -> None:
    """The figures of docs/reader.md: rows from all the dataset within a window, neighbours apart within a block."""
    n, shuffle = 1 << 17, BlockShuffle(256, 64)
    keys = round_keys(1, "x", 0)
    found, whole = shuffled(np.arange(n), n, shuffle, keys), permuted(np.arange(n), n, keys)
    for order, least in ((found, 0.30), (whole, 0.32)):
        assert np.abs(np.diff(order)).mean() / n > least
    assert int((np.abs(np.diff(found)) == 1).sum()) < 3 * n / (256 * 64) * 2
    batches = found.reshape(-1, 256) // 8192
    share = np.array([np.bincount(b, minlength=16).max() for b in batches]) / 256
    assert share.mean() < 0.25


def test_what_is_chosen_where_nothing_is_said() -> None:
    assert shuffle_of(None, 8192, remote=False) is None and shuffle_of("global", 8192, remote=True) is None
    assert shuffle_of(None, 8192, remote=True) == shuffle_of("block", 8192, remote=False) == BlockShuffle(256, 64)
    assert shuffle_of("block", 1 << 20, remote=False) == BlockShuffle(2, 64)
    assert shuffle_of("block", 64, remote=True) == BlockShuffle(256, 64)
    assert shuffle_of(ShuffleModel(block_rows=7, window_blocks=3), 64, remote=False) == BlockShuffle(7, 3)


def test_what_is_outside_is_refused() -> None:
    with pytest.raises(IndexError, match=r"\[0, 5\)"):
        shuffled(np.array([5]), 5, BlockShuffle(2, 2), round_keys(0, "", 0))


def test_vectors() -> None:
    """So that another implementation can match; values of this one, checked by the plain twin."""
    found = shuffled(np.arange(8), 1000, BlockShuffle(16, 4), round_keys(17, "web", 0))
    assert found.tolist() == [514, 252, 752, 241, 763, 215, 513, 248]

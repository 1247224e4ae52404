"""Hashes of windows and unions of spans against their plain twins, which are made of the package `blake3`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.kernels import windows, windows_plain
from gristmill.stages.kernels.windows import CHUNK_WINDOWS, first_equal, union_of_windows, window_hashes
from gristmill.stages.kernels.winnow import WindowRuns


def runs_of(*runs: tuple[int, int, int]) -> WindowRuns:
    return WindowRuns(*np.array(runs, np.int64).reshape(-1, 3).T)


def tokens_of(size: int) -> windows.Ids:
    return np.random.default_rng(size).integers(0, 1 << 32, size, dtype=np.uint32)


@pytest.mark.parametrize("length", [1, 15, 16, 17, 20, 49, 50, 63, 64, 65, 66, 200, 256, 257, 300])
def test_hashes_equal_those_of_the_twin(length: int) -> None:
    ids = tokens_of(3 * length + 90)
    offsets = np.array([0, 0, length + 20, len(ids)])
    runs = runs_of(
        (1, 3, 9), (1, 12, 13), (2, 0, 5), (2, 30, 30), (2, len(ids) - 2 * length - 20, len(ids) - 2 * length - 19)
    )
    found = list(window_hashes(ids, offsets, runs, length))
    places = [(r, p) for r, a, b in zip(*(x.tolist() for x in runs), strict=True) for p in range(a, b)]
    assert [
        (r, p) for part in found for r, p in zip(part.rows.tolist(), part.positions.tolist(), strict=True)
    ] == places
    hashes = [row.tobytes() for part in found for row in part.hashes]
    starts = [int(offsets[row]) + at for row, at in places]
    assert hashes == [windows_plain.window_hash(ids[at : at + length].tolist()) for at in starts]


def test_many_windows_come_in_chunks_and_are_the_same() -> None:
    ids = tokens_of(3 * CHUNK_WINDOWS)
    offsets = np.array([0, len(ids)])
    runs = runs_of((0, 0, 5), (0, 7, 2 * CHUNK_WINDOWS + 100), (0, 2 * CHUNK_WINDOWS + 120, len(ids) - 49))
    found = list(window_hashes(ids, offsets, runs, 50))
    assert max(len(part.rows) for part in found) <= CHUNK_WINDOWS
    at = np.concatenate([part.positions for part in found])
    assert (np.diff(at) > 0).all()
    assert len(at) == int((runs.stops - runs.starts).sum())
    hashes = np.concatenate([part.hashes for part in found])
    for row in range(0, len(at), 977):
        assert hashes[row].tobytes() == windows_plain.window_hash(ids[at[row] : at[row] + 50].tolist())


def test_no_runs_have_no_hashes() -> None:
    assert list(window_hashes(tokens_of(9), np.array([0, 9]), runs_of(), 3)) == []


@given(st.lists(st.sampled_from([b"a" * 16, b"b" * 16, b"a" * 8 + b"b" * 8, b"b" * 8 + b"a" * 8]), max_size=99))
def test_the_first_of_equal_hashes(hashes: list[bytes]) -> None:
    array = np.frombuffer(b"".join(hashes), np.uint8).reshape(-1, 16)
    assert first_equal(array).tolist() == [hashes.index(digest) for digest in hashes]


TWO = st.integers(0, 2)
SPANS = st.lists(st.tuples(TWO, st.integers(0, 20), st.integers(1, 6), TWO, st.integers(2, 9)), max_size=20)


@given(SPANS)
def test_unions_equal_those_of_the_twin(drawn: list[tuple[int, int, int, int, int]]) -> None:
    # Bytes go with tokens: token t is bytes [3t, 3t + 3).
    spans = sorted((row, at, at + size, 3 * at, 3 * (at + size), owner, times) for row, at, size, owner, times in drawn)
    made = union_of_windows(np.array(spans, np.int64).reshape(-1, windows.SPAN_FIELDS))
    assert [tuple(row) for row in made.tolist()] == windows_plain.union_of_windows(spans)


def test_windows_that_touch_are_one_and_gaps_stay() -> None:
    apart = [[0, 10, 12, 22, 25, 7, 2], [1, 10, 11, 0, 3, 7, 2]]
    spans = np.array([[0, 0, 5, 0, 10, 7, 2], [0, 5, 9, 10, 20, 7, 4], *apart])
    assert union_of_windows(spans).tolist() == [[0, 0, 9, 0, 20, 7, 4], *apart]

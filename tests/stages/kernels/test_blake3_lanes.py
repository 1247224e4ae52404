"""The lanes against the package `blake3`, which hashes one input after the other."""

import numpy as np
import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.kernels.blake3_lanes import DIGEST_BYTES, LANES, blake3_128

# Around the bounds of blocks, chunks and subtrees.
SIZES = sorted({max(base + by, 0) for base in (0, 64, 1024, 2048, 3072, 4096, 8192, 65536) for by in (-1, 0, 1)})


def expected(data: bytes, starts: list[int], sizes: list[int]) -> list[bytes]:
    return [blake3(data[a : a + n]).digest(DIGEST_BYTES) for a, n in zip(starts, sizes, strict=True)]


def hashed(data: bytes, starts: list[int], sizes: list[int]) -> list[bytes]:
    rows = blake3_128(np.frombuffer(data, np.uint8), np.array(starts, np.int64), np.array(sizes, np.int64))
    return [row.tobytes() for row in rows]


def noise(size: int) -> bytes:
    return np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()


def test_every_size_that_matters_at_once() -> None:
    data = noise(sum(SIZES))
    starts = np.concatenate([[0], np.cumsum(SIZES)[:-1]]).tolist()
    assert hashed(data, starts, SIZES) == expected(data, starts, SIZES)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("rows", [1, LANES - 1, LANES, LANES + 1])
def test_every_number_of_lanes(size: int, rows: int) -> None:
    data = noise(size + rows)
    starts, sizes = list(range(rows)), [size] * rows
    assert hashed(data, starts, sizes) == expected(data, starts, sizes)


@given(data=st.binary(max_size=3000), cuts=st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 3000)), max_size=40))
def test_rows_anywhere_in_the_data(data: bytes, cuts: list[tuple[int, int]]) -> None:
    ends = [(min(a, len(data)), min(max(a, b), len(data))) for a, b in cuts]
    starts, sizes = [a for a, _ in ends], [b - a for a, b in ends]
    assert hashed(data, starts, sizes) == expected(data, starts, sizes)


def test_no_rows() -> None:
    assert hashed(b"", [], []) == []


@pytest.mark.parametrize(("start", "size"), [(-1, 1), (0, 4), (3, 1), (0, -1)])
def test_rows_outside_of_the_data_are_refused(start: int, size: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        hashed(b"abc", [0, start], [1, size])

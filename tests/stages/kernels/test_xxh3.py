"""XXH3 in kernels against the package xxhash."""

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.kernels.xxh3 import BLOCK_BYTES, LONG_BYTES, xxh3

LIMITS = (0, 3, 8, 16, 128, LONG_BYTES - 1, *(k * BLOCK_BYTES for k in (1, 2, 32)))


@given(st.binary(max_size=400), st.integers(0, 9))
def test_any_bytes_have_the_hash_that_xxhash_gives_them(data: bytes, at: int) -> None:
    part = data[at:]
    array = np.frombuffer(data, np.uint8)
    assert xxh3(array, len(data) - len(part), len(part)) == xxhash.xxh3_64_intdigest(part)


@pytest.mark.parametrize("limit", LIMITS)
def test_lengths_about_each_limit(limit: int) -> None:
    data = np.random.default_rng(limit).integers(0, 256, limit + 80, dtype=np.uint8)
    for size in range(max(limit - 66, 0), limit + 66):
        assert xxh3(data, 7, size) == xxhash.xxh3_64_intdigest(data[7 : 7 + size]), size

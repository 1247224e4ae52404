"""The filter of keys that stand alone misses none that does not."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.kernels.repeated import Repeated


@given(st.lists(st.sampled_from([bytes([a, 0, 0, b, c, 0, 0, d, e]) for a, b, c, d, e in np.ndindex(2, 2, 2, 2, 2)])))
def test_a_repeated_key_is_never_missed(keys: list[bytes]) -> None:
    raw = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, 9)
    seen = Repeated(len(keys))
    for start in range(0, len(keys), 7):
        seen.note(raw[start : start + 7])
    found = seen.among(raw)
    times = Counter(key[:8] for key in keys)
    assert all(found[i] for i, key in enumerate(keys) if times[key[:8]] > 1)


@pytest.mark.parametrize("rows", [1000, 200_000])
def test_most_keys_that_stand_alone_are_left_out(rows: int) -> None:
    """Of a partition, too: there the first bytes are alike."""
    raw = np.random.default_rng(1).integers(0, 256, (rows, 9), dtype=np.uint8)
    raw[:, 0] = 7
    raw[:100] = raw[100]
    seen = Repeated(rows)
    seen.note(raw)
    found = seen.among(raw)
    assert found[:101].all()
    assert found[101:].mean() < 0.15

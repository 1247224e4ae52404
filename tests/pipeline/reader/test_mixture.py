"""Rates that hold at every prefix."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.pipeline.reader.mixture import PERIOD, Mixture, parts_of, picks_of


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 1000), min_size=1, max_size=12))
def test_no_prefix_is_off_by_a_row(weights: list[int]) -> None:
    parts = parts_of([w / sum(weights) for w in weights])
    assert sum(parts) == PERIOD and min(parts) >= 1
    picks = picks_of(parts)
    given_rows = np.cumsum(picks[:, None] == np.arange(len(parts))[None, :], axis=0)
    due = np.arange(1, PERIOD + 1)[:, None] * np.array(parts)[None, :] / PERIOD
    most = 1 - 1 / max(2 * len(parts) - 2, 2) if len(parts) > 1 else 0
    assert np.abs(given_rows - due).max() <= most + 1e-9
    assert given_rows[-1].tolist() == parts


@given(st.integers(0, 10**12), st.integers(1, 5000))
@settings(max_examples=50, deadline=None)
def test_places_count_up_within_each_source(first: int, count: int) -> None:
    mixture = Mixture.of({"web": 0.55, "code": 0.25, "math": 0.12, "knowledge": 0.08})
    source, number = mixture.places(np.arange(first, first + count))
    before = mixture.before(first)
    for s in range(4):
        mine = number[source == s].tolist()
        assert mine == list(range(before[s], before[s] + len(mine)))
    assert mixture.before(first + count) == [b + int((source == s).sum()) for s, b in enumerate(before)]


def test_rates_are_whole_parts_that_add_up() -> None:
    assert parts_of([1.0]) == [PERIOD]
    assert sum(parts_of([1 / 3] * 3)) == PERIOD
    assert parts_of([0.999_999, 0.000_001]) == [PERIOD - 1, 1]
    assert parts_of([0.5, 0.5, 0.0]) == [2048, 2048, 0]


def test_extreme_weights_stay_inside() -> None:
    """NVIDIA/Megatron-LM#705: blending with weights of 0.001 and 0.999 walked past a dataset's end."""
    mixture = Mixture.of({"rare": 0.001, "rest": 0.999})
    source, number = mixture.places(np.arange(3 * PERIOD))
    assert number[source == 0].tolist() == list(range(3 * mixture.parts[0]))


def test_indices_beyond_32_bits_do_not_wrap() -> None:
    """Megatron-LM#1056, marin#1970: index types that wrap."""
    mixture = Mixture.of({"a": 0.25, "b": 0.75})
    for index in ((1 << 31) - 3, (1 << 32) - 3, 1 << 50):
        source, number = mixture.places(np.arange(index, index + 8))
        for s, part in ((0, 0.25), (1, 0.75)):
            mine = number[source == s].tolist()
            assert all(b - a == 1 for a, b in pairwise(mine))
            assert all(abs(n - index * part) < 10 for n in mine)


@pytest.mark.parametrize("rates", [{}, {"a": 0.5}, {"a": 1.5, "b": -0.5}, {"a": float("nan")}])
def test_what_are_no_rates_is_refused(rates: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="rates"):
        Mixture.of(rates)

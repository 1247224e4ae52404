"""The hold-out: by content and seed alone, exact, nested, and independent of neighbours."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.pipeline.holdout import held_out

hashes = st.lists(st.binary(min_size=16, max_size=16), max_size=40)


def array(values: list[bytes]) -> pa.FixedSizeBinaryArray:
    return pa.array(values, pa.binary(16))


@given(hashes, st.floats(0, 1), st.integers(0, 2**63), st.data())
def test_each_document_is_decided_by_itself(values: list[bytes], frac: float, seed: int, data: st.DataObject) -> None:
    whole = held_out(array(values), frac, seed).tolist()
    order = data.draw(st.permutations(range(len(values))))
    assert held_out(array([values[i] for i in order]), frac, seed).tolist() == [whole[i] for i in order]
    assert held_out(array([b"x" * 16, *values]).slice(1), frac, seed).tolist() == whole


@given(hashes, st.floats(0, 1), st.floats(0, 1), st.integers())
def test_a_larger_fraction_holds_out_more(values: list[bytes], one: float, other: float, seed: int) -> None:
    less, more = (held_out(array(values), frac, seed) for frac in sorted((one, other)))
    assert not (less & ~more).any()


def test_bounds_are_exact() -> None:
    values = array([np.random.default_rng(i).bytes(16) for i in range(2000)])
    assert not held_out(values, 0.0, 1).any()
    assert held_out(values, 1.0, 1).all()


def test_the_fraction_and_independence_of_seeds() -> None:
    """20,000 draws: 5 standard deviations around 0.1, and around 0.01 for two seeds together."""
    values = array([i.to_bytes(16, "little") for i in range(20_000)])
    one, other = held_out(values, 0.1, 1), held_out(values, 0.1, 2)
    assert abs(one.mean() - 0.1) < 5 * (0.1 * 0.9 / 20_000) ** 0.5
    assert abs((one & other).mean() - 0.01) < 5 * (0.01 * 0.99 / 20_000) ** 0.5


def test_a_golden_draw() -> None:
    """Held-out sets of released datasets must not move."""
    values = array([i.to_bytes(16, "little") for i in range(64)])
    assert np.flatnonzero(held_out(values, 0.1, 17)).tolist() == [11, 15, 16, 17, 26, 39, 57, 58, 62]


@pytest.mark.parametrize("frac", [-0.1, 1.1, float("nan")])
def test_other_fractions_are_refused(frac: float) -> None:
    with pytest.raises(ValueError, match="fraction"):
        held_out(array([]), frac, 1)


def test_a_null_is_refused() -> None:
    with pytest.raises(ValueError, match="without content hash"):
        held_out(pa.array([None], pa.binary(16)), 0.5, 1)

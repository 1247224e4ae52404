"""Tables of given sums under caps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.pipeline.curriculum.cells import Floats
from gristmill.pipeline.curriculum.fit import fit_capped, row_factors
from gristmill.pipeline.curriculum.room import Room, fitted

SEEDS = st.integers(0, 2**32 - 1)


def factor_by_halving(weights: list[float], caps: list[float], target: float) -> float:
    """The oracle of `row_factors`: the sum grows with the factor, so halve where it lies."""
    low, high = 0.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        if sum(min(middle * w, c) for w, c in zip(weights, caps, strict=True)) < target:
            low = middle
        else:
            high = middle
    return high


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_a_factor_is_where_halving_finds_it(seed: int) -> None:
    draw = np.random.default_rng(seed)
    weights = draw.random((3, 5)) * (draw.random((3, 5)) < 0.8)
    caps = draw.random((3, 5))
    targets = (caps * (weights > 0)).sum(axis=1) * draw.random(3)
    for found, w, c, t in zip(row_factors(weights, caps, targets), weights, caps, targets, strict=True):
        expected = factor_by_halving(w.tolist(), c.tolist(), float(t))
        assert t == 0 or abs(found - expected) <= 1e-6 * max(expected, 1)


def fitted_plainly(seed: Floats, rows: Floats, columns: Floats) -> list[list[float]]:
    """Iterative proportional fitting without caps, in plain Python."""
    table = seed.tolist()
    for _ in range(2000):
        for b, wanted in enumerate(columns.tolist()):
            scale = wanted / sum(row[b] for row in table)
            for row in table:
                row[b] *= scale
        for d, wanted in enumerate(rows.tolist()):
            scale = wanted / sum(table[d])
            table[d] = [x * scale for x in table[d]]
    return table


def test_without_caps_it_is_proportional_fitting() -> None:
    draw = np.random.default_rng(4)
    seed, rows, columns = draw.random((3, 4)) + 0.01, np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.3, 0.2, 0.1])
    found = fit_capped(seed, np.ones((3, 4)), rows, columns)
    assert np.allclose(found, fitted_plainly(seed, rows, columns), atol=1e-9)


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_sums_hold_within_the_caps_wherever_there_is_such_a_table(seed: int) -> None:
    draw = np.random.default_rng(seed)
    one = draw.random((4, 5)) * (draw.random((4, 5)) < 0.8)
    one[:, 0] += 0.05
    one[0] += 0.05
    one /= one.sum()
    caps = one * draw.uniform(1.001, 3, one.shape)  # `one` is such a table
    found = fit_capped(draw.random(one.shape) + 0.01, caps, one.sum(axis=1), one.sum(axis=0))
    assert (found <= caps + 1e-12).all()
    assert np.allclose(found.sum(axis=1), one.sum(axis=1), atol=1e-9)
    assert np.allclose(found.sum(axis=0), one.sum(axis=0), atol=1e-4)


def test_rows_hold_where_columns_cannot() -> None:
    caps = np.array([[1.0, 0.01], [1.0, 0.01]])
    found = fit_capped(np.ones((2, 2)), caps, np.array([0.6, 0.4]), np.array([0.5, 0.5]))
    assert np.allclose(found.sum(axis=1), [0.6, 0.4]) and np.allclose(found[:, 1], 0.01)


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_what_columns_can_have_is_had(seed: int) -> None:
    """Wanted sums that no table has: the room found is the room there is, and the table has it all."""
    draw = np.random.default_rng(seed)
    caps = draw.random((3, 4)) ** 3 * (draw.random((3, 4)) < 0.7)
    rows = caps.sum(axis=1) * draw.random(3)
    rows, caps = rows / max(rows.sum(), 1e-9), caps / max(rows.sum(), 1e-9)
    wanted = draw.dirichlet(np.ones(4)) * rows.sum()
    room = Room.of(rows, caps)
    sums = room.nearest(wanted)
    table = fitted(np.where(caps > 0, draw.random(caps.shape) + 0.01, 0.0), caps, rows, wanted)
    assert sums.sum() == pytest.approx(rows.sum())
    assert (table <= caps + 1e-12).all() and np.allclose(table.sum(axis=1), rows, atol=1e-9)
    assert np.allclose(table.sum(axis=0), sums, atol=1e-4)
    lack = np.maximum(wanted - sums, 0)
    assert all(lack[b] < 1e-9 or room.left(sums, b) < 1e-9 for b in range(4)), "who lacks has no room"

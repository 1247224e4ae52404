"""Supplies of several lengths each: replay as far as it can be had, within domains and caps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.pipeline.curriculum.evenly import Together


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 1.0))
@settings(max_examples=50, deadline=None)
def test_replay_is_held_as_far_as_it_can_be(seed: int, replay: float) -> None:
    draw = np.random.default_rng(seed)
    short, domain, first = draw.random(7), np.array([0, 0, 0, 0, 1, 1, 1], np.int64), draw.dirichlet(np.ones(7))
    caps = first * draw.uniform(1, 4, 7)
    found = Together(short, domain, caps).with_replay(first, replay)
    could = 0.0  # of each domain the supplies with most of it, by hand
    for d in (0, 1):
        left = float(first[domain == d].sum())
        for s in sorted(np.flatnonzero(domain == d).tolist(), key=lambda s: -short[s]):
            could, left = could + min(left, caps[s]) * short[s], max(left - caps[s], 0.0)
    have = float(found @ short)
    assert have >= min(replay, could) - 1e-9
    assert have == pytest.approx(max(float(first @ short), min(replay, could))), "and no more than is needed"
    assert (found <= caps * (1 + 1e-9)).all() and (found >= 0).all()
    assert np.allclose(np.bincount(domain, found), np.bincount(domain, first))


def test_two_supplies_by_hand() -> None:
    """One is short by three quarters, one not at all: 0.8 of the first bring 0.6."""
    together = Together(np.array([0.75, 0.0]), np.array([0, 0]), np.array([1.0, 1.0]))
    first = np.array([0.5, 0.5])
    assert together.with_replay(first, 0.6) == pytest.approx([0.8, 0.2])
    assert together.with_replay(first, 0.9) == pytest.approx([1.0, 0.0])
    assert together.with_replay(first, 0.3) == pytest.approx([0.5, 0.5])

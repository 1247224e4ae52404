"""Metrics of scores, against slow definitions and known numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import NoVerdictError
from gristmill.pipeline.classifier import metrics

ROWS = st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=2, max_size=50)


def arrays(rows: list[tuple[int, bool]]) -> tuple[np.ndarray, np.ndarray]:
    scores, positive = np.array([s / 20 for s, _ in rows]), np.array([float(p) for _, p in rows])
    positive[:2] = (0.0, 1.0)
    return scores, positive


@given(ROWS)
@settings(max_examples=200, deadline=None)
def test_auc_is_the_share_of_pairs_in_order(rows: list[tuple[int, bool]]) -> None:
    scores, positive = arrays(rows)
    pairs = [(a > b) + 0.5 * (a == b) for a in scores[positive > 0] for b in scores[positive == 0]]
    assert metrics.auc(scores, positive) == pytest.approx(np.mean(pairs))


@given(ROWS)
@settings(max_examples=200, deadline=None)
def test_a_decision_counts_everything_once(rows: list[tuple[int, bool]]) -> None:
    scores, positive = arrays(rows)
    found = metrics.decide(scores, positive, np.ones(len(rows)), 0.5)
    assert found.tp + found.fp + found.fn + found.tn == len(rows)
    assert found.tp + found.fn == positive.sum()
    assert 0 <= found.precision_low <= found.precision_high <= 1
    assert found.keep_rate == pytest.approx((scores >= 0.5).mean())


def test_known_numbers() -> None:
    scores, positive, ones = np.array([0.1, 0.4, 0.35, 0.8]), np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4)
    assert metrics.auc(scores, positive) == 0.75
    assert metrics.brier(scores, positive, ones) == pytest.approx((0.01 + 0.16 + 0.4225 + 0.04) / 4)
    assert metrics.ece(np.full(10, 0.9), np.array([1.0] * 6 + [0.0] * 4), np.ones(10)) == pytest.approx(0.3)
    # Wilson 1927 for 8 of 10, as tabled.
    assert metrics.wilson(np.array([1.0] * 8 + [0.0] * 2), np.ones(10)) == pytest.approx(
        (0.8, 0.4902, 0.9433), abs=1e-4
    )
    assert metrics.wilson(np.zeros(0), np.zeros(0))[1:] == (0.0, 1.0)


def test_weights_make_the_prior() -> None:
    positive = np.array([1.0] * 30 + [0.0] * 70)
    weight = metrics.class_weights(positive, 0.9)
    assert np.average(positive, weights=weight) == pytest.approx(0.9)
    assert metrics.class_weights(positive, None).tolist() == [1.0] * 100


def test_the_threshold_of_a_precision_is_the_lowest_that_has_it() -> None:
    scores = np.arange(100) / 100
    positive = (scores >= 0.5).astype(float)
    positive[90] = 0.0
    ones = np.ones(100)
    level = metrics.threshold_for_precision(scores, positive, ones, 0.9)
    below = round(level - 0.01, 2)
    assert metrics.decide(scores, positive, ones, level).precision >= 0.9
    assert metrics.decide(scores, positive, ones, below).precision < 0.9
    with pytest.raises(NoVerdictError, match="at best 0"):
        metrics.threshold_for_precision(scores, positive, ones, 0.999)


def test_few_documents_prove_no_precision() -> None:
    scores, positive = np.arange(9) / 10, np.ones(9)
    with pytest.raises(NoVerdictError, match="fewer than 10"):
        metrics.threshold_for_precision(scores, positive, np.ones(9), 0.5)


@given(ROWS, st.floats(0.01, 0.99))
@settings(max_examples=200, deadline=None)
def test_no_more_is_kept_than_the_keep_rate(rows: list[tuple[int, bool]], rate: float) -> None:
    scores, _ = arrays(rows)
    level = metrics.threshold_for_keep_rate(scores, np.ones(len(rows)), rate)
    assert (scores >= level).mean() <= rate + 1e-9 or level == 1.0
    lower = scores[scores < level]
    assert not len(lower) or (scores >= lower.max()).mean() > rate


def test_bins_of_reliability_hold_all() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(500)
    positive = (rng.random(500) < scores).astype(float)
    bins = metrics.reliability(scores, positive, np.ones(500))
    assert sum(one.docs for one in bins) == 500
    assert all(one.low <= one.mean_score <= one.high for one in bins)
    assert all(one.positive_low <= one.positive_frac <= one.positive_high for one in bins)


def test_confusion_by_group() -> None:
    rows = metrics.confusion(["b", "a", "a", "b"], np.array([0.9, 0.1, 0.8, 0.7]), np.array([1.0, 0.0, 1.0, 1.0]), 0.5)
    assert [row["group"] for row in rows] == ["a", "b"]
    assert rows[0] == {"group": "a", "tp": 1, "fp": 0, "fn": 0, "tn": 1, "auc": 1.0}
    assert rows[1]["auc"] is None

"""Calibration: monotone, within [0, 1], better than raw scores that are off, and stored as plain numbers."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import InputError
from gristmill.pipeline.classifier.metrics import ece
from gristmill.stages.protocol import Floats
from gristmill.stages.quality.calibration import IDENTITY, calibrated, fit, logistic, logit


def overconfident(count: int, seed: int) -> tuple[Floats, Floats]:
    """Raw scores whose logits are three times too large, and labels drawn by the true probabilities."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0.5, 1.5, count)
    return logistic(3 * truth), (rng.random(count) < logistic(truth)).astype(np.float64)


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_calibration_mends_scores_that_are_too_sure(method: str) -> None:
    raw, positive = overconfident(3000, 1)
    calibration = json.loads(json.dumps(fit(method, raw, positive, np.ones(len(raw)))))
    unseen, labels = overconfident(3000, 2)
    ones = np.ones(len(unseen))
    before, after = ece(unseen, labels, ones), ece(calibrated(calibration, unseen), labels, ones)
    assert before > 0.1
    assert after < before / 3


def test_platt_finds_the_numbers() -> None:
    raw, positive = overconfident(20_000, 3)
    found = fit("platt", raw, positive, np.ones(len(raw)))
    assert found["a"] == pytest.approx(1 / 3, abs=0.02)
    assert found["b"] == pytest.approx(0, abs=0.05)


def test_auto_goes_by_the_number_of_documents() -> None:
    raw, positive = overconfident(1000, 4)
    assert fit("auto", raw, positive, np.ones(1000))["method"] == "isotonic"
    assert fit("auto", raw[:999], positive[:999], np.ones(999))["method"] == "platt"


def test_classes_that_do_not_overlap_stay_apart() -> None:
    raw = np.array([0.0, 0.001, 0.01, 0.99, 0.999, 1.0])
    positive = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    for method in ("platt", "isotonic"):
        scores = calibrated(fit(method, raw, positive, np.ones(6)), raw)
        assert scores[:3].max() < 0.5 < scores[3:].min(), method


def test_scores_that_point_the_wrong_way_become_the_share() -> None:
    raw, positive = overconfident(500, 5)
    scores = calibrated(fit("platt", 1 - raw, positive, np.ones(500)), raw)
    assert scores == pytest.approx(np.full(500, positive.mean()))


def test_weights_count_as_repeats() -> None:
    raw, positive = overconfident(400, 6)
    twice = np.concatenate([raw, raw[:200]]), np.concatenate([positive, positive[:200]])
    weight = np.where(np.arange(400) < 200, 2.0, 1.0)
    repeated, weighted = fit("isotonic", *twice, np.ones(600)), fit("isotonic", raw, positive, weight)
    assert repeated["x"] == pytest.approx(weighted["x"])
    assert repeated["y"] == pytest.approx(weighted["y"])


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=40), st.sampled_from(["platt", "isotonic"])
)
@settings(max_examples=200, deadline=None)
def test_any_calibration_rises_within_0_and_1(rows: list[tuple[float, bool]], method: str) -> None:
    raw, positive = np.array([r for r, _ in rows]), np.array([float(p) for _, p in rows])
    positive[:2] = (0.0, 1.0)
    scores = calibrated(fit(method, raw, positive, np.ones(len(rows))), np.linspace(0, 1, 101))
    assert (scores >= 0).all()
    assert (scores <= 1).all()
    assert (np.diff(scores) >= -1e-12).all()


def test_logit_and_logistic_are_each_others_inverse() -> None:
    p = np.linspace(0.001, 0.999, 50)
    assert logistic(logit(p)) == pytest.approx(p)
    assert np.isfinite(logit(np.array([0.0, 1.0, 1.00001]))).all()
    assert logistic(np.array([-1e9, 1e9])).tolist() == [0.0, 1.0]


def test_identity_and_the_unknown() -> None:
    assert calibrated(IDENTITY, np.array([0.0, 0.25, 1.00001])).tolist() == [0.0, 0.25, 1.0]
    with pytest.raises(InputError, match="unknown calibration"):
        calibrated({"method": "beta"}, np.zeros(1))

"""ONNX scorers on a real tiny model: labels, regression, embeddings under a head; no dependence on the batch."""

import math
from typing import Any

import numpy as np
import pytest

from gristmill.manifests.errors import InputError, UsageError
from gristmill.stages.quality.onnx_scorer import OnnxScorer
from gristmill.stages.quality.scorer import Scorer
from tests.stages.quality.onnx_bytes import VECTORS, WEIGHTS, expected_logit, model_bytes, tokenizer_bytes

pytest.importorskip("onnxruntime")

TEXTS = ["good", "bad", "good bad", "good good dull", "unknown words here", "dull"]


def scorer(**settings: Any) -> OnnxScorer:
    return OnnxScorer(model_bytes(VECTORS, WEIGHTS), tokenizer_bytes(), settings)


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_classification_gives_the_probability_of_the_second_label() -> None:
    made = scorer()
    assert isinstance(made, Scorer)
    assert made.score(TEXTS) == pytest.approx([logistic(expected_logit(text)) for text in TEXTS], abs=1e-6)
    assert scorer(positive_index=0).score(TEXTS) == pytest.approx(1 - made.score(TEXTS), abs=1e-6)


def test_a_score_depends_on_no_batch() -> None:
    made = scorer()
    alone = [float(made.score([text])[0]) for text in TEXTS]
    assert made.score(TEXTS).tolist() == alone
    assert made.score([*TEXTS[::-1], *TEXTS]).tolist() == [*alone[::-1], *alone]


def test_a_text_without_tokens_scores_zero() -> None:
    assert scorer().score(["", " ", "good"]).tolist()[:2] == [0.0, 0.0]
    assert scorer().score([]).tolist() == []


def test_embeddings_under_a_head() -> None:
    settings = {"output": "last_hidden_state", "head": {"weights": [1.0, -1.0], "bias": 0.5}}
    mean = scorer(pooling="mean", **settings).score(["good dull"])
    assert mean == pytest.approx([logistic(1.0 - 0.5 + 0.5)], abs=1e-6)
    first = scorer(pooling="cls", **settings).score(["good dull"])
    assert first == pytest.approx([logistic(2.0 + 0.5)], abs=1e-6)


def test_a_regressor_is_mapped_from_its_range() -> None:
    made = scorer(activation="range", range=[-4.0, 4.0])
    assert made.score(["good", "bad", "dull"]) == pytest.approx([0.75, 0.25, 0.5])
    assert scorer(activation="range", range=[0.0, 1.0]).score(["good", "bad"]).tolist() == [1.0, 0.0]


def test_long_texts_are_cut_to_max_tokens() -> None:
    assert scorer(max_tokens=2).score(["good good bad bad bad"]) == scorer().score(["good"])


def test_settings_and_files_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match="unknown setting"):
        scorer(pool="mean")
    with pytest.raises(InputError, match="unexpected shape"):
        scorer(output="last_hidden_state").score(["good"])
    with pytest.raises(InputError, match="cannot be loaded"):
        OnnxScorer(b"nothing", tokenizer_bytes(), {}).score(["good"])


def test_the_fingerprint_follows_model_and_settings() -> None:
    other = OnnxScorer(model_bytes(VECTORS, WEIGHTS * 2), tokenizer_bytes(), {})
    prints = {scorer().fingerprint, scorer(max_tokens=9).fingerprint, other.fingerprint}
    assert len(prints) == 3
    assert scorer().fingerprint == scorer().fingerprint
    assert np.isfinite(other.score(["good"])).all()

"""What a model does on labelled documents, as numbers: for the card of a training, and for `classifier eval`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gristmill.manifests.errors import GristmillError
from gristmill.pipeline.classifier import metrics
from gristmill.pipeline.classifier.split import Labelled
from gristmill.stages.protocol import Floats
from gristmill.stages.quality.calibration import calibrated
from gristmill.stages.quality.model import Model, mean_by_row, rounded, window_scores

UNKNOWN = "unknown"
_LANGUAGE_CHARS = 2000


@dataclass(frozen=True)
class Scored:
    """Labels and scores of documents: raw, and calibrated as the stage would give them."""

    positive: Floats
    raw: Floats
    scores: Floats
    weight: Floats


def labels_of(rows: Sequence[Labelled]) -> Floats:
    """1.0 for each positive document, 0.0 for each negative."""
    return np.array([float(row.positive) for row in rows])


def raw_scores(model: Model, windows: Sequence[Sequence[str]]) -> Floats:
    """Mean raw score of the windows of each document."""
    rows = np.repeat(np.arange(len(windows)), [len(one) for one in windows])
    return mean_by_row(window_scores(model.scorer, [w for one in windows for w in one]), rows, len(windows))


def score_rows(model: Model, rows: Sequence[Labelled], prior: float | None) -> Scored:
    """Scores of labelled documents."""
    raw = raw_scores(model, [row.document.windows for row in rows])
    positive = labels_of(rows)
    return Scored(positive, raw, rounded(calibrated(model.calibration, raw)), metrics.class_weights(positive, prior))


def report(scored: Scored, rows: Sequence[Labelled], threshold: float) -> dict[str, Any]:
    """The metrics as JSON data; `before` is the raw score taken for a probability, `after` the calibrated one."""
    s = scored
    quality = {
        name: {
            "brier": metrics.brier(values, s.positive, s.weight),
            "ece": metrics.ece(values, s.positive, s.weight),
            "reliability": [asdict(one) for one in metrics.reliability(values, s.positive, s.weight)],
        }
        for name, values in (("before", s.raw), ("after", s.scores))
    }
    return {
        "docs": {"positive": int(s.positive.sum()), "negative": int((1 - s.positive).sum())},
        "auc": metrics.auc(s.raw, s.positive),
        **quality,
        "decision": asdict(metrics.decide(s.scores, s.positive, s.weight, threshold)),
        "by_domain": metrics.confusion([r.document.domain or UNKNOWN for r in rows], s.scores, s.positive, threshold),
        "by_input": metrics.confusion([r.document.label for r in rows], s.scores, s.positive, threshold),
        "by_language": metrics.confusion(languages(rows), s.scores, s.positive, threshold),
    }


def languages(rows: Sequence[Labelled]) -> list[str]:
    """The language of each document: its own column, else what the language model says of its first window."""
    found = [row.document.lang for row in rows]
    asked = [index for index, lang in enumerate(found) if not lang]
    if asked:
        from gristmill.stages.text.lid_model import predictor

        texts = [" ".join(rows[index].document.windows[0][:_LANGUAGE_CHARS].split()) for index in asked]
        try:
            labels, _ = predictor()([text.replace("</s>", " ") for text in texts])
        except GristmillError:
            labels = [None] * len(texts)  # no language model to be had: the table says so by one row
        for index, label in zip(asked, labels, strict=True):
            found[index] = label or UNKNOWN
    return found

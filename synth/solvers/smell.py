"""How easily planted records are told from the text around them, by a linear classifier over hashed words.

Features of a text: its words and pairs of neighbours, lower case, hashed into BUCKETS, each once. The classifier
is a logistic regression by stochastic gradient descent in a fixed order, so that a measurement is the same everywhere.
`auc` is the probability that a record is ranked above a text that is none: 0.5 where they cannot be told apart. Trained
on records of the wordings of one split and asked about those of the other (reference 6.2, point 4).
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

BUCKETS = 1 << 16
EPOCHS, RATE, BIAS_RATE = 5, 0.5, 0.05

Floats = npt.NDArray[np.float64]

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Nose:
    """A trained classifier: float64[BUCKETS] and a bias."""

    weights: Floats
    bias: float

    def score(self, text: str) -> float:
        """The higher, the more like a record."""
        features = features_of(text)
        return float(self.weights[features].sum() / np.sqrt(len(features)) + self.bias)


def features_of(text: str) -> npt.NDArray[np.int64]:
    """int64: distinct buckets of a text, ascending; one at least."""
    words = _WORD.findall(text.lower())
    grams = [*words, *(f"{a} {b}" for a, b in pairwise(words))] or [""]
    return np.unique([zlib.crc32(gram.encode()) % BUCKETS for gram in grams]).astype(np.int64)


def train(records: Sequence[str], others: Sequence[str]) -> Nose:
    """A classifier of records against other texts. Raises ValueError without one of each."""
    if not records or not others:
        raise ValueError("records and other texts are needed")
    features = [features_of(text) for text in (*records, *others)]
    labels = np.array([1.0] * len(records) + [0.0] * len(others))
    weights, bias = np.zeros(BUCKETS), 0.0
    order = sorted(range(len(features)), key=lambda i: zlib.crc32(i.to_bytes(8, "big")))
    for _ in range(EPOCHS):
        for i in order:
            scale = 1 / np.sqrt(len(features[i]))
            error = labels[i] - 1 / (1 + np.exp(-(weights[features[i]].sum() * scale + bias)))
            weights[features[i]] += RATE * scale * error
            bias += BIAS_RATE * error
    return Nose(weights, bias)


def auc(nose: Nose, records: Sequence[str], others: Sequence[str]) -> float:
    """Area under the curve, equal scores counted half. Raises ValueError without one of each."""
    if not records or not others:
        raise ValueError("records and other texts are needed")
    a, b = (np.array([nose.score(text) for text in texts]) for texts in (records, others))
    order = np.sort(b)
    below = np.searchsorted(order, a, side="left") + np.searchsorted(order, a, side="right")
    return float(below.sum() / (2 * len(a) * len(b)))

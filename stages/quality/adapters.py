"""Other people's models as scorers: anything that scores, embeds, or gives a perplexity.

`as_scorer(found, fingerprint, head)` takes what a user's file names, and asks in this order whether it

* has `score(list of texts)`: scores in [0, 1], as they are;
* has `encode(list of texts) -> float[n, d]` (sentence-transformers): `EmbeddingScorer` with a linear head;
* has `log10_per_token(list of texts) -> float[n]`: `PerplexityScorer`;
* is a function of one argument, the list of texts: what it returns are scores;
* is a function of none, called once at the first use: what it returns is asked the same.

A KenLM model scores one sentence at a time: `kenlm_log10_per_token(model)` makes of it what the third needs.
"""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gristmill.manifests.errors import GristmillError, UsageError
from gristmill.stages.protocol import Floats
from gristmill.stages.quality.calibration import logistic
from gristmill.stages.quality.scorer import Scorer

MEDIAN_PERPLEXITY = 300.0
"""Where `PerplexityScorer` gives 0.5 unless told otherwise: about the border between head and middle of CCNet's English
(Wenzek et al. 2020, figure 4). Calibration moves it; only the order of scores is kept."""

_ERROR_CHARS = 300
_REMEDY = "name an object with score, encode or log10_per_token, or a function of a list of texts"

Head = Mapping[str, Any]
"""A linear head as JSON data: `weights` (d numbers) and `bias`."""


class FunctionScorer:
    """Scores from a function; what it returns is checked."""

    def __init__(self, function: Callable[[Sequence[str]], Any], fingerprint: str) -> None:
        self._function = function
        self.fingerprint = fingerprint

    def score(self, texts: Sequence[str]) -> Floats:
        """float64[n]; UsageError where the function raises, or gives something else than n numbers in [0, 1]."""
        scores = _told(self._function, texts) if texts else np.zeros(0)
        if scores.shape != (len(texts),) or not ((scores >= 0) & (scores <= 1)).all():
            what = f"a scorer must give one number in [0, 1] for each of {len(texts)} texts"
            raise UsageError(what, "quality scorer", f"shape {scores.shape}: {scores[:3]}", "mend the scorer")
        return scores


class EmbeddingScorer:
    """logistic(embedding . weights + bias) of an encoder's vectors."""

    def __init__(self, encode: Callable[[Sequence[str]], Any], head: Head, fingerprint: str) -> None:
        self._encode = encode
        self._weights = np.asarray(head["weights"], dtype=np.float64)
        self._bias = float(head["bias"])
        self.fingerprint = fingerprint

    def score(self, texts: Sequence[str]) -> Floats:
        """float64[n]; a text whose vector is no number scores 0."""
        scores = logistic(embeddings(self._encode, texts, len(self._weights)) @ self._weights + self._bias)
        return np.nan_to_num(scores, nan=0.0)


class PerplexityScorer:
    """1 / (1 + perplexity / median): 0.5 at the median perplexity, towards 1 as a text is easier to foretell.

    That is logistic(ln(median) - ln(perplexity)), with perplexity = 10 ** -(mean log10 probability of a token).
    """

    def __init__(
        self, log10_per_token: Callable[[Sequence[str]], Any], fingerprint: str, median: float = MEDIAN_PERPLEXITY
    ) -> None:
        self._log10_per_token = log10_per_token
        self._median = median
        self.fingerprint = fingerprint

    def score(self, texts: Sequence[str]) -> Floats:
        """float64[n]; a text of which nothing is known (NaN, -infinity) scores 0."""
        log10 = _told(self._log10_per_token, texts) if texts else np.zeros(0)
        if log10.shape != (len(texts),):
            raise UsageError("not one number a text", "quality scorer", f"shape {log10.shape}", "mend the scorer")
        return np.nan_to_num(logistic(np.log(self._median) + np.log(10.0) * log10), nan=0.0)


def embeddings(encode: Callable[[Sequence[str]], Any], texts: Sequence[str], width: int | None = None) -> Floats:
    """float64[n, d] of an encoder. Raises UsageError where it raises, or its width is not the head's."""
    found = _told(encode, texts) if texts else np.zeros((0, width or 0))
    if found.ndim != 2 or len(found) != len(texts) or (width is not None and found.shape[1] != width):
        raise UsageError("not one embedding a text", "quality scorer", f"shape {found.shape}", "mend encode")
    return found


def _told(function: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> Floats:
    """What foreign code says of texts, as numbers. Whatever it raises, an exit too, is told as its fault."""
    try:
        return np.asarray(function(list(texts)), dtype=np.float64)
    except (Exception, SystemExit) as error:
        if isinstance(error, GristmillError):
            raise
        what = f"the scorer raised {type(error).__name__}"
        raise UsageError(what, "quality scorer", str(error)[:_ERROR_CHARS], "mend the scorer") from error


def kenlm_log10_per_token(model: Any) -> Callable[[Sequence[str]], Floats]:
    """`log10_per_token` of a `kenlm.Model` (any object whose `score(line)` is a total log10 probability).

    Tokens are the words of the line and its end, as KenLM counts them. Line breaks become spaces.
    """

    def log10_per_token(texts: Sequence[str]) -> Floats:
        lines = [" ".join(text.split()) for text in texts]
        return np.array([model.score(line) / (line.count(" ") + 2) for line in lines], dtype=np.float64)

    return log10_per_token


class _LazyScorer:
    """A scorer that is made at its first call, once a process."""

    def __init__(self, make: Callable[[], Scorer], fingerprint: str) -> None:
        self._make = make
        self.fingerprint = fingerprint

    def score(self, texts: Sequence[str]) -> Floats:
        return self._made.score(texts)

    @functools.cached_property
    def _made(self) -> Scorer:
        return self._make()


def as_scorer(found: Any, fingerprint: str, head: Head | None = None) -> Scorer:
    """A scorer of any of the shapes above. Raises UsageError for another, or for an encoder without its head."""
    if isinstance(found, type):
        return as_scorer(found(), fingerprint, head)
    if callable(getattr(found, "score", None)):
        return FunctionScorer(found.score, fingerprint)
    if callable(getattr(found, "encode", None)):
        if head is None:
            remedy = "train its head: `gristmill classifier train --scorer FILE.py:NAME ...`"
            raise UsageError("an encoder without a linear head", "quality scorer", fingerprint, remedy)
        return EmbeddingScorer(found.encode, head, fingerprint)
    if callable(getattr(found, "log10_per_token", None)):
        return PerplexityScorer(found.log10_per_token, fingerprint)
    arity = _arity(found)
    if arity == 0:
        return _LazyScorer(lambda: as_scorer(found(), fingerprint, head), fingerprint)
    if arity == 1:
        return FunctionScorer(found, fingerprint)
    raise UsageError("not a scorer", "quality scorer", type(found).__name__, _REMEDY)


def _arity(found: Any) -> int | None:
    """Arguments without defaults of a callable; None for what cannot be called."""
    if not callable(found):
        return None
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return None
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)

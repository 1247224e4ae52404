"""How good scores are: ranking (AUC), calibration (Brier, ECE), decisions (precision, recall, keep rate).

`positive` is 1.0 or 0.0, `weight` what each document stands for; `Weights` makes a class as frequent as `prior` says.
All functions are total for arrays in which both classes occur.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.manifests.errors import NoVerdictError
from gristmill.stages.protocol import Floats

ECE_BINS = 15
"""Bins of equal width (Guo et al. 2017, section 2)."""

MIN_KEPT = 10
"""A precision over fewer documents of the calibration part is not believed."""

Z95 = 1.959963984540054


@dataclass(frozen=True)
class Decision:
    """What a threshold does: counts of documents, and rates (weighted) with a 95 % Wilson interval of the precision."""

    threshold: float
    tp: int
    fp: int
    fn: int
    tn: int
    precision: float
    precision_low: float
    precision_high: float
    recall: float
    keep_rate: float


@dataclass(frozen=True)
class Reliability:
    """A bin of predicted probability: documents, their mean prediction and share of positives with its interval."""

    low: float
    high: float
    docs: int
    mean_score: float
    positive_frac: float
    positive_low: float
    positive_high: float


def class_weights(positive: Floats, prior: float | None) -> Floats:
    """Weights under which positives have the share `prior`; all 1 where it is None."""
    if prior is None:
        return np.ones_like(positive)
    share = positive.mean()
    return np.where(positive > 0, prior / share, (1 - prior) / (1 - share))


def auc(scores: Floats, positive: Floats) -> float:
    """Probability that a positive scores above a negative, ties counted half (Mann and Whitney 1947)."""
    _, group, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[group]
    ones = positive.sum()
    return float((rank[positive > 0].sum() - ones * (ones + 1) / 2) / (ones * (len(positive) - ones)))


def brier(scores: Floats, positive: Floats, weight: Floats) -> float:
    """Mean squared error of the probabilities."""
    return float(np.average((scores - positive) ** 2, weights=weight))


def ece(scores: Floats, positive: Floats, weight: Floats) -> float:
    """Expected calibration error: mean over bins of |share of positives - mean score|."""
    bins = _bins(scores)
    gap = np.bincount(bins, weights=weight * (positive - scores), minlength=ECE_BINS)
    return float(np.abs(gap).sum() / weight.sum())


def reliability(scores: Floats, positive: Floats, weight: Floats) -> list[Reliability]:
    """The bins of `ece` that are not empty."""
    bins, found = _bins(scores), []
    for index in np.unique(bins).tolist():
        inside = bins == index
        share, low, high = wilson(positive[inside], weight[inside])
        mean = float(np.average(scores[inside], weights=weight[inside]))
        found.append(Reliability(index / ECE_BINS, (index + 1) / ECE_BINS, int(inside.sum()), mean, share, low, high))
    return found


def decide(scores: Floats, positive: Floats, weight: Floats, threshold: float) -> Decision:
    """What keeping all scores at or above the threshold does."""
    kept, good = scores >= threshold, positive > 0
    precision, low, high = wilson(positive[kept], weight[kept])
    return Decision(
        threshold=threshold,
        tp=int((kept & good).sum()),
        fp=int((kept & ~good).sum()),
        fn=int((~kept & good).sum()),
        tn=int((~kept & ~good).sum()),
        precision=precision,
        precision_low=low,
        precision_high=high,
        recall=float(weight[kept & good].sum() / weight[good].sum()) if good.any() else float("nan"),
        keep_rate=float(weight[kept].sum() / weight.sum()),
    )


def wilson(positive: Floats, weight: Floats) -> tuple[float, float, float]:
    """Weighted share of positives and its 95 % interval (Wilson 1927), with (sum w)^2 / sum w^2 for the count.

    (NaN, 0, 1) for nothing.
    """
    if not len(positive):
        return float("nan"), 0.0, 1.0
    share = float(np.average(positive, weights=weight))
    count = float(weight.sum() ** 2 / (weight**2).sum())
    centre = share + Z95**2 / (2 * count)
    spread = Z95 * math.sqrt(share * (1 - share) / count + Z95**2 / (4 * count**2))
    scale = 1 + Z95**2 / count
    return share, max((centre - spread) / scale, 0.0), min((centre + spread) / scale, 1.0)


def threshold_for_precision(scores: Floats, positive: Floats, weight: Floats, precision: float) -> float:
    """The lowest score at which what is kept has the precision. Raises NoVerdictError where no score reaches it."""
    levels, reached = _precisions(scores, positive, weight)
    good = np.flatnonzero(reached >= precision)
    if not len(good):
        best = f"{reached.max():.4f}" if len(reached) else f"fewer than {MIN_KEPT} documents"
        what = f"no threshold reaches the precision {precision:g} on the calibration part"
        raise NoVerdictError(what, "--target-precision", f"at best {best}", "ask for less, or name better documents")
    return float(levels[good[0]])


def threshold_for_keep_rate(scores: Floats, weight: Floats, keep_rate: float) -> float:
    """The lowest score at which at most this share (weighted) is kept; just above the highest where ties leave none."""
    levels, group = np.unique(scores, return_inverse=True)
    mass = np.bincount(group, weights=weight)
    kept = np.cumsum(mass[::-1])[::-1] / mass.sum()
    fitting = np.flatnonzero(kept <= keep_rate + 1e-12)
    if not len(fitting):
        return min(float(levels[-1]) + 1e-4, 1.0)
    return float(levels[fitting[0]])


def _precisions(scores: Floats, positive: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """The scores at which at least MIN_KEPT documents are kept, ascending, and the precision there."""
    levels, group = np.unique(scores, return_inverse=True)

    def at_or_above(values: Floats) -> Floats:
        mass: Floats = np.bincount(group, weights=values).astype(np.float64)
        return mass[::-1].cumsum()[::-1]

    enough = at_or_above(np.ones_like(scores)) >= MIN_KEPT
    return levels[enough], (at_or_above(weight * positive) / at_or_above(weight))[enough]


def _bins(scores: Floats) -> npt.NDArray[np.int64]:
    return np.minimum((scores * ECE_BINS).astype(np.int64), ECE_BINS - 1)


def confusion(groups: Sequence[str], scores: Floats, positive: Floats, threshold: float) -> list[dict[str, Any]]:
    """For each group, by name: counts of documents kept and dropped rightly and wrongly, and AUC where it has one."""
    names, rows = np.array(groups, dtype=np.str_), []
    for name in sorted(set(groups)):
        inside = names == name
        counts = asdict(decide(scores[inside], positive[inside], np.ones(int(inside.sum())), threshold))
        both = 0 < positive[inside].sum() < inside.sum()
        rows.append(
            {
                "group": name,
                **{key: counts[key] for key in ("tp", "fp", "fn", "tn")},
                "auc": auc(scores[inside], positive[inside]) if both else None,
            }
        )
    return rows

"""Whether the pairs that an implementation finds are those that the theory of MinHash LSH expects.

A pair of Jaccard j meets in a band of r rows with chance q = j^r, and in at least one of b bands with chance
t = 1 - (1 - q)^b, for each seed anew. The joint test sums errors by Jaccard bin: R_k = sum over pairs of bin k and over
seeds of (hit - t), or (bands met - b q). Errors are clustered: pairs of one connected group share documents and are
not independent, so the covariance C of R under the theory is not that of independent pairs; it is taken from draws of
ideal hashing for whole groups (`ideal`). W = R' C^-1 R is held against chi-square of K bins at LEVEL.

The test of bands has one more sum, the spread: ((bands met - b q)^2 - v) / v with v = b q (1 - q). It sees lanes
that depend on each other: they leave the mean almost as it is, but pairs meet in many bands or in none.

`clustered` is the same W with C estimated from the errors themselves, summed by group (the sandwich r' r). It asks less
of the theory and has less power: it allows a group its own error as long as these cancel out.

Groups of more than MAX_GROUP pairs (90 versions of one licence are 4,000 pairs) rise and fall as one: they would be
most of each sum and tell no more than a few pairs, so they are left out; identical pairs must be found in them, too.
"""

import math
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.stages.dedup.truth.ideal import Ideal, groups_of
from tests.stages.dedup.truth.pairs import Truth

LEVEL = 0.01
EDGES = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Bins of Jaccard, half open; pairs of Jaccard 1 are no bin: each must be found, whatever the seed."""
MIN_VARIANCE = 2.0
"""Bins of less expected variance a seed-dozen than this are too close to certain for a normal law: they are merged."""
MAX_GROUP = 100
_MIN_SPREAD = 0.3
_SEEDS = 12

Floats = npt.NDArray[np.float64]
Pair = tuple[int, int]


def theory(jaccard: Floats, bands: int = 14, rows: int = 8) -> Floats:
    """Chance that a pair meets in a band at least."""
    return 1 - (1 - jaccard**rows) ** bands


@dataclass(frozen=True)
class Bin:
    """Recall of the pairs of `low <= jaccard < high`."""

    low: float
    high: float
    pairs: int
    expected: float
    found: float


@dataclass(frozen=True)
class JointTest:
    """What a joint test measured."""

    statistic: float
    df: int
    clustered: float
    missed_identical: int
    """How often a pair of Jaccard 1 was not found: 0 for any hash."""
    bins: tuple[Bin, ...]

    @property
    def p_value(self) -> float:
        """Chance of such a statistic or a larger one under the theory."""
        return chi_square_tail(self.statistic, self.df)

    @property
    def consistent(self) -> bool:
        """Whether neither form of the test rejects at LEVEL."""
        worst = max(self.statistic, self.clustered)
        return self.missed_identical == 0 and chi_square_tail(worst, self.df) >= LEVEL

    def __str__(self) -> str:
        bins = "; ".join(f"[{b.low}, {b.high}) {b.pairs}: {b.found:.4f} for {b.expected:.4f}" for b in self.bins)
        head = f"W {self.statistic:.2f} (clustered {self.clustered:.2f}) of df {self.df}, p {self.p_value:.4f}"
        return f"{head}, identical pairs missed {self.missed_identical}: {bins}"


@dataclass(frozen=True)
class Expected:
    """What the theory expects of a truth: bins, and the covariance of their errors for one seed."""

    truth: Truth
    bands: int
    rows: int
    bin_of: npt.NDArray[np.int64]
    """Bin of each pair; -1 for Jaccard 1 and in large groups."""
    edges: tuple[float, ...]
    hits_covariance: Floats
    bands_covariance: Floats

    @property
    def bins(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1


def expected(truth: Truth, sets: Sequence[Set[Any]], bands: int = 14, rows: int = 8, draws: int = 2400) -> Expected:
    """The theory for a truth made of `sets`; `draws` of ideal hashing estimate the covariance."""
    counted = (truth.jaccard < 1.0) & (np.bincount(truth.group)[truth.group] <= MAX_GROUP)
    edges = _merged_edges(truth.jaccard[counted], bands, rows)
    bin_of = np.where(counted, np.searchsorted(edges, truth.jaccard, side="right") - 1, -1)
    nothing = np.zeros((0, 0))
    bare = Expected(truth, bands, rows, bin_of, edges, nothing, nothing)
    ideal, rng = Ideal(truth, groups_of(truth, sets, MAX_GROUP), bands, rows), np.random.default_rng(5)
    hits, met = [], []
    for _ in range(draws // _SEEDS):
        drawn = ideal.bands_met(rng, _SEEDS)
        hits.append(_sums(bare, _hit_errors(bare, drawn > 0)))
        met.append(_sums(bare, _band_errors(bare, drawn)))
    return Expected(truth, bands, rows, bin_of, edges, _covariance(hits), _covariance(met))


def _covariance(sums: list[Floats]) -> Floats:
    """Second moments about 0, the mean under the theory."""
    drawn = np.concatenate(sums)
    return drawn.T @ drawn / len(drawn)


def _merged_edges(jaccard: Floats, bands: int, rows: int) -> tuple[float, ...]:
    chance = theory(jaccard, bands, rows)
    variance = _SEEDS * chance * (1 - chance)
    edges = [EDGES[-1]]
    for low in reversed(EDGES[:-1]):
        inside = (jaccard >= low) & (jaccard < edges[-1])
        if variance[inside].sum() >= MIN_VARIANCE:
            edges.append(low)
    return tuple(reversed(edges))


def _hit_errors(exp: Expected, hits: npt.NDArray[Any]) -> list[Floats]:
    return [hits - theory(exp.truth.jaccard, exp.bands, exp.rows)[:, None]]


def _band_errors(exp: Expected, met: npt.NDArray[Any]) -> list[Floats]:
    chance = exp.truth.jaccard**exp.rows
    variance = (exp.bands * chance * (1 - chance))[:, None]
    error = met - exp.bands * chance[:, None]
    spread = np.where(variance >= _MIN_SPREAD, (error**2 - variance) / np.maximum(variance, _MIN_SPREAD), 0.0)
    return [error, spread]


def _columns(exp: Expected, errors: list[Floats]) -> Floats:
    """What each pair and seed adds to each sum: (pairs, seeds, sums)."""
    inside = exp.bin_of[:, None] == np.arange(exp.bins)
    binned = errors[0][:, :, None] * inside[:, None, :]
    rest = [(more * (exp.bin_of >= 0)[:, None])[:, :, None] for more in errors[1:]]
    return np.concatenate([binned, *rest], axis=2)


def _sums(exp: Expected, errors: list[Floats]) -> Floats:
    """(seeds, sums)."""
    return _columns(exp, errors).sum(axis=0)


def hits_test(exp: Expected, hits: npt.NDArray[np.bool_]) -> JointTest:
    """The joint test of recall: `hits` (pairs, seeds) says whether a pair was a candidate."""
    return _joint_test(exp, _hit_errors(exp, hits), exp.hits_covariance, hits)


def bands_test(exp: Expected, met: npt.NDArray[np.int64]) -> JointTest:
    """The joint test of the bands that meet: `met` (pairs, seeds) counts them."""
    return _joint_test(exp, _band_errors(exp, met), exp.bands_covariance, met > 0)


def _joint_test(exp: Expected, errors: list[Floats], covariance: Floats, hits: npt.NDArray[np.bool_]) -> JointTest:
    by_pair = _columns(exp, errors).sum(axis=1)
    by_group = np.zeros((int(exp.truth.group.max()) + 1, by_pair.shape[1]))
    np.add.at(by_group, exp.truth.group, by_pair)
    total = by_group.sum(axis=0)
    identical = exp.truth.jaccard >= 1.0
    return JointTest(
        statistic=float(total @ np.linalg.solve(covariance * hits.shape[1], total)),
        df=len(total),
        clustered=float(total @ np.linalg.pinv(by_group.T @ by_group) @ total),
        missed_identical=int((~hits[identical]).sum()),
        bins=tuple(_bin(exp, number, hits) for number in range(exp.bins)),
    )


def _bin(exp: Expected, number: int, hits: npt.NDArray[np.bool_]) -> Bin:
    inside = exp.bin_of == number
    chance = theory(exp.truth.jaccard[inside], exp.bands, exp.rows)
    low, high = exp.edges[number : number + 2]
    return Bin(low, high, int(inside.sum()), float(chance.mean()), float(hits[inside].mean()))


def hits_of(truth: Truth, candidates: Callable[[int], Set[Pair]], seeds: Sequence[int]) -> npt.NDArray[np.bool_]:
    """(pairs, seeds): whether `candidates(seed)`, a set of (left, right) with left < right, holds each pair."""
    pairs = list(zip(truth.left.tolist(), truth.right.tolist(), strict=True))
    columns = ([pair in found for pair in pairs] for found in (candidates(seed) for seed in seeds))
    return np.array(list(columns), dtype=np.bool_).T


def chi_square_tail(value: float, df: int) -> float:
    """P(chi-square of `df` >= value), by the recurrence of the incomplete gamma function in steps of 1."""
    half = max(value, 0.0) / 2
    if half > 600:
        return 0.0
    shape, tail = (1.0, math.exp(-half)) if df % 2 == 0 else (0.5, math.erfc(math.sqrt(half)))
    while shape < df / 2:
        tail += half**shape * math.exp(-half) / math.gamma(shape + 1)
        shape += 1
    return tail

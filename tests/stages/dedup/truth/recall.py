"""Whether the pairs that an implementation finds are those that the theory of MinHash LSH expects.

A pair of Jaccard j meets in a band of r rows with chance q = j^r, and in at least one of b bands with chance
t = 1 - (1 - q)^b, for each seed anew. The joint test sums errors by Jaccard bin: R_k = sum over pairs of bin k and over
seeds of (hit - t), or (bands met - b q). Errors are clustered: pairs of one connected group share documents and are
not independent, so the covariance C of R under the theory is not that of independent pairs; it is taken from draws of
ideal hashing for whole groups (`ideal`). The statistic is W = R' C^-1 R. A few families hold most of some bins, so W
has longer tails than chi-square (held against it, 1.6 to 2 % of draws of ideal hashing were rejected at 1 %); its law
is therefore that of sums of as many seeds out of the same draws, RESAMPLED times. The theory is rejected at LEVEL by W
alone: two tests of which either may reject would not have that level.

The test of bands has one more sum, the spread: ((bands met - b q)^2 - v) / v with v = b q (1 - q). It sees lanes
that depend on each other: they leave the mean almost as it is, but pairs meet in many bands or in none.

`clustered` is the same W with C estimated from the errors themselves, summed by group (the sandwich r' r). It asks less
of the theory and has less power: it allows a group its own error as long as these cancel out. It is told, held against
chi-square, and decides nothing.

Groups of more than MAX_GROUP pairs (90 versions of one licence are 4,000 pairs) rise and fall as one: they would be
most of each sum and tell no more than a few pairs, so they are left out; identical pairs must be found in them, too.
(With one such group in it, `clustered` rejected ideal hashing in 18 of 60 tests at 1 %.)
"""

import functools
import math
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.stages.dedup.truth.ideal import Ideal, groups_of
from tests.stages.dedup.truth.pairs import Truth

LEVEL = 0.01
RESAMPLED = 40_000
EDGES = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Bins of Jaccard, half open; pairs of Jaccard 1 are no bin: each must be found, whatever the seed."""
MIN_VARIANCE = 2.0
"""Bins of less expected variance a seed-dozen than this are too close to certain for a normal law: they are merged."""
MAX_GROUP = 100
_MIN_SPREAD = 0.3
_SEEDS = 12
_SEEDS_AT_ONCE = 120

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
    p_value: float
    """Chance of such a statistic or a larger one under the theory, at least 1 / (RESAMPLED + 1)."""
    df: int
    clustered: float
    missed_identical: int
    """How often a pair of Jaccard 1 was not found: 0 for any hash."""
    bins: tuple[Bin, ...]

    @property
    def consistent(self) -> bool:
        """Whether the test does not reject at LEVEL, and no identical pair was missed."""
        return self.missed_identical == 0 and self.p_value >= LEVEL

    def __str__(self) -> str:
        bins = "; ".join(f"[{b.low}, {b.high}) {b.pairs}: {b.found:.4f} for {b.expected:.4f}" for b in self.bins)
        clustered = chi_square_tail(self.clustered, self.df)
        head = f"W {self.statistic:.2f} of {self.df} sums, p {self.p_value:.4f} (clustered p {clustered:.4f})"
        return f"{head}, identical pairs missed {self.missed_identical}: {bins}"


@dataclass(frozen=True)
class Null:
    """Sums of errors of single seeds under ideal hashing, (draws, sums)."""

    sums: Floats

    @functools.cached_property
    def inverse(self) -> Floats:
        """Of the covariance of one seed: second moments about 0, the mean under the theory."""
        return np.asarray(np.linalg.inv(self.sums.T @ self.sums / len(self.sums)), np.float64)

    def statistic(self, totals: Floats, seeds: int) -> Floats:
        """W of totals (n, sums) over so many seeds."""
        return np.einsum("ni,ij,nj->n", totals, self.inverse, totals) / seeds

    def law(self, seeds: int) -> Floats:
        """RESAMPLED values of W under the theory."""
        if seeds not in self._laws:
            rng = np.random.default_rng(seeds)
            totals = np.zeros((RESAMPLED, self.sums.shape[1]))
            for _ in range(seeds):
                totals += self.sums[rng.integers(0, len(self.sums), RESAMPLED)]
            self._laws[seeds] = self.statistic(totals, seeds)
        return self._laws[seeds]

    @functools.cached_property
    def _laws(self) -> dict[int, Floats]:
        return {}


@dataclass(frozen=True)
class Expected:
    """What the theory expects of a truth: bins, and the law of their errors."""

    truth: Truth
    bands: int
    rows: int
    bin_of: npt.NDArray[np.int64]
    """Bin of each pair; -1 for Jaccard 1 and in large groups."""
    edges: tuple[float, ...]
    hits: Null
    met: Null

    @property
    def bins(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1


def expected(truth: Truth, sets: Sequence[Set[Any]], bands: int = 14, rows: int = 8, draws: int = 6000) -> Expected:
    """The theory for a truth made of `sets`, with `draws` seeds of ideal hashing."""
    counted = (truth.jaccard < 1.0) & (np.bincount(truth.group)[truth.group] <= MAX_GROUP)
    edges = _merged_edges(truth.jaccard[counted], bands, rows)
    bin_of = np.where(counted, np.searchsorted(edges, truth.jaccard, side="right") - 1, -1)
    nothing = Null(np.zeros((0, 0)))
    bare = Expected(truth, bands, rows, bin_of, edges, nothing, nothing)
    ideal, rng = Ideal(truth, groups_of(truth, sets, MAX_GROUP), bands, rows), np.random.default_rng(5)
    hits, met = [], []
    for _ in range(draws // _SEEDS_AT_ONCE):
        drawn = ideal.bands_met(rng, _SEEDS_AT_ONCE)
        hits.append(_sums(bare, _hit_errors(bare, drawn > 0)))
        met.append(_sums(bare, _band_errors(bare, drawn)))
    return replace(bare, hits=Null(np.concatenate(hits)), met=Null(np.concatenate(met)))


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


def _weights(exp: Expected) -> Floats:
    """(sums of bins, pairs): 1 where a pair is of the bin."""
    return (exp.bin_of == np.arange(exp.bins)[:, None]).astype(np.float64)


def _sums(exp: Expected, errors: list[Floats]) -> Floats:
    """(seeds, sums): the first errors by bin, each of the others over all bins."""
    weights = _weights(exp)
    rest = [(weights.sum(axis=0) @ more)[None] for more in errors[1:]]
    return np.concatenate([weights @ errors[0], *rest]).T


def _by_pair(exp: Expected, errors: list[Floats]) -> Floats:
    """(pairs, sums): what each pair adds to each sum over all seeds."""
    weights = _weights(exp)
    rest = [(weights.sum(axis=0) * more.sum(axis=1))[None] for more in errors[1:]]
    return np.concatenate([weights * errors[0].sum(axis=1), *rest]).T


def hits_test(exp: Expected, hits: npt.NDArray[np.bool_]) -> JointTest:
    """The joint test of recall: `hits` (pairs, seeds) says whether a pair was a candidate."""
    return _joint_test(exp, _hit_errors(exp, hits), exp.hits, hits)


def bands_test(exp: Expected, met: npt.NDArray[np.int64]) -> JointTest:
    """The joint test of the bands that meet: `met` (pairs, seeds) counts them."""
    return _joint_test(exp, _band_errors(exp, met), exp.met, met > 0)


def _joint_test(exp: Expected, errors: list[Floats], null: Null, hits: npt.NDArray[np.bool_]) -> JointTest:
    by_pair = _by_pair(exp, errors)
    by_group = np.zeros((int(exp.truth.group.max()) + 1, by_pair.shape[1]))
    np.add.at(by_group, exp.truth.group, by_pair)
    total, seeds = by_group.sum(axis=0), hits.shape[1]
    statistic = float(null.statistic(total[None], seeds)[0])
    return JointTest(
        statistic=statistic,
        p_value=float(1 + (null.law(seeds) >= statistic).sum()) / (RESAMPLED + 1),
        df=len(total),
        clustered=float(total @ np.linalg.pinv(by_group.T @ by_group) @ total),
        missed_identical=int((~hits[exp.truth.jaccard >= 1.0]).sum()),
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

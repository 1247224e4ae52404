"""How much of supplies that hold documents of several lengths: each is drawn from evenly, so its lengths come together.

A table of cells that was fitted as if each could be had by itself is then not what is read. Here the amounts themselves
are sought: of those that keep the tokens of each domain and stay within each supply's cap the ones whose lengths are
nearest to the targets in relative entropy. That is convex; its conditions are a fixed point of the multiplicative steps
of Richardson (1972) and Lucy (1974), each followed by `fit.row_factors`, which restores domains and caps. At least the
share of the first bucket that a stage must replay is then had by moving towards the amounts with most of it, as far as
is needed and no farther.
"""

from dataclasses import dataclass

import numpy as np

from gristmill.pipeline.curriculum.cells import Floats
from gristmill.pipeline.curriculum.fit import row_factors

ROUNDS = 1000
TOLERANCE = 1e-8
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Together:
    """Supplies, each of one domain: `lengths` float64[supplies, buckets], rows of which add up to 1; `of_domain`
    bool[domains, supplies]; `caps` float64[supplies], parts of the stage's tokens as all amounts are."""

    lengths: Floats
    of_domain: np.ndarray
    caps: Floats

    def fitted(self, first: Floats, columns: Floats, replay: float) -> Floats:
        """float64[supplies] amounts with the domains' sums of `first`, which are within the caps.

        columns: float64[buckets], what is wanted of each; replay: the least of the first, held as far as it can be.
        """
        rows = self.of_domain @ first
        found = first
        for _ in range(ROUNDS):
            had = found @ self.lengths
            lacking = self.lengths @ (columns / np.maximum(had, _TINY))
            before, found = found, self._within(found * lacking, rows)
            if np.abs(found - before).max(initial=0.0) < TOLERANCE:
                break
        most = self._most_of_first(rows)
        have, could = float(found @ self.lengths[:, 0]), float(most @ self.lengths[:, 0])
        if have >= replay or could <= have:
            return found
        return found + (most - found) * min((replay - have) / (could - have), 1.0)

    def _within(self, weights: Floats, rows: Floats) -> Floats:
        table = self.of_domain * weights
        factors = row_factors(table, self.of_domain * self.caps, rows)
        return np.minimum((table * factors[:, None]).sum(axis=0), self.caps)

    def _most_of_first(self, rows: Floats) -> Floats:
        """The amounts with as much of the first bucket as there can be: of each domain the richest supplies first."""
        found, left = np.zeros(len(self.caps)), rows.copy()
        domain = self.of_domain.argmax(axis=0)
        for s in np.argsort(-self.lengths[:, 0], kind="stable").tolist():
            found[s] = min(self.caps[s], left[domain[s]])
            left[domain[s]] -= found[s]
        return found

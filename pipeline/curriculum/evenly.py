"""Supplies that hold documents of several lengths: each is drawn from evenly, so its lengths come together.

A table that was fitted as if each cell could be had by itself is then not quite what is read. At least the share of the
first bucket that a stage must replay is held: amounts move towards those with most of it, within domains and caps, as
far as is needed and no farther. What other lengths come to is told as missed.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gristmill.pipeline.curriculum.cells import Floats


@dataclass(frozen=True)
class Together:
    """Supplies, each of one domain: `short` float64[supplies], the part of each that is of the first bucket; `domain`
    int64[supplies]; `caps` float64[supplies], parts of the stage's tokens as all amounts are."""

    short: Floats
    domain: npt.NDArray[np.int64]
    caps: Floats

    def with_replay(self, amounts: Floats, replay: float) -> Floats:
        """float64[supplies] with the domains' sums of `amounts`, which are within the caps, and with `replay` of the
        first bucket, or as much as there can be."""
        have = float(amounts @ self.short)
        if have >= replay:
            return amounts
        most = self._most(amounts)
        could = float(most @ self.short)
        return amounts + (most - amounts) * min((replay - have) / (could - have), 1.0) if could > have else amounts

    def _most(self, amounts: Floats) -> Floats:
        """The amounts with as much of the first bucket as there can be: of each domain the richest supplies first."""
        found, left = np.zeros(len(amounts)), np.bincount(self.domain, amounts)
        for s in np.argsort(-self.short, kind="stable").tolist():
            found[s] = min(self.caps[s], left[self.domain[s]])
            left[self.domain[s]] -= found[s]
        return found

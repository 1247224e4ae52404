"""MinHash LSH under ideal hashing, simulated exactly, to see what the tests of `recall` reject.

In a connected group of documents, shingles that stand in the same documents are alike: of `n` such, the smallest of
`n` uniform hashes is all that counts, drawn as an exponential of rate `n` (the order is the same). A document's
minimum of a lane is that of the class with the smallest draw, and two documents agree in the lane where it is one
class. A pair alone in its group agrees in a lane with chance J, which saves its draws.
"""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.stages.dedup.truth.pairs import Truth

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """A connected group: numbers of its pairs, their ends as columns of `member`, shingles by class."""

    pairs: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    member: npt.NDArray[np.bool_]
    """(classes, documents): whether the shingles of a class stand in a document."""
    shingles: npt.NDArray[np.float64]
    """(classes): how many shingles a class has."""


def groups_of(truth: Truth, sets: Sequence[Set[Any]], max_pairs: int) -> list[Group]:
    """The groups of 2 to `max_pairs` pairs."""
    found: list[Group] = []
    sizes = np.bincount(truth.group)
    for number in np.flatnonzero((sizes > 1) & (sizes <= max_pairs)).tolist():
        pairs = np.flatnonzero(truth.group == number)
        docs = np.unique(np.concatenate([truth.left[pairs], truth.right[pairs]]))
        bits: Counter[Any] = Counter()
        for column, doc in enumerate(docs.tolist()):
            for shingle in sets[doc]:
                bits[shingle] += 1 << column
        classes = dict(sorted(Counter(bits.values()).items()))  # in no order of sets: draws follow it
        member = np.array([[mask >> column & 1 for column in range(len(docs))] for mask in classes], dtype=np.bool_)
        ends = np.searchsorted(docs, np.stack([truth.left[pairs], truth.right[pairs]], axis=1))
        found.append(Group(pairs, ends, member, np.array(list(classes.values()), dtype=np.float64)))
    return found


@dataclass(frozen=True)
class Ideal:
    """Bands that meet, by pair and seed, drawn anew by each call of `bands_met`. Pairs of no group of `groups` are
    drawn as if they stood alone."""

    truth: Truth
    groups: list[Group]
    bands: int = 14
    rows: int = 8

    def bands_met(self, rng: np.random.Generator, seeds: int) -> Counts:
        """How many bands of each pair agree for each seed, (pairs, seeds)."""
        chance = self.truth.jaccard[:, None] ** self.rows
        met = rng.binomial(self.bands, np.repeat(chance, seeds, axis=1))
        for group in self.groups:
            met[group.pairs] = self._of_group(group, rng, seeds)
        return met

    def _of_group(self, group: Group, rng: np.random.Generator, seeds: int) -> Counts:
        lanes = seeds * self.bands * self.rows
        draws = rng.standard_exponential((lanes, len(group.shingles)), dtype=np.float32)
        draws /= group.shingles.astype(np.float32)
        lowest = np.empty((group.member.shape[1], lanes), dtype=np.int32)
        for doc in range(len(lowest)):
            classes = np.flatnonzero(group.member[:, doc])
            lowest[doc] = classes[draws[:, classes].argmin(axis=1)]
        agree = lowest[group.ends[:, 0]] == lowest[group.ends[:, 1]]
        return agree.reshape(-1, seeds, self.bands, self.rows).all(axis=3).sum(axis=2)

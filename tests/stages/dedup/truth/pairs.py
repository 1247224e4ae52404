"""All pairs of a corpus that are alike, with their exact Jaccard: the truth against which candidates are held.

Shingles become integers by a dictionary, so nothing here rests on a hash's luck. Pairs meet in an inverted index
of the shingles that at most `max_df` documents hold; the few documents that consist of more frequent ones are
compared with each other one by one, so no pair at or above `floor` is missed.
"""

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

FLOOR = 0.3

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_PAIRS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Truth:
    """The pairs of `docs` documents whose Jaccard is at least `floor`, in ascending order of (left, right)."""

    docs: int
    floor: float
    left: Ints
    right: Ints
    jaccard: Floats
    group: Ints
    """Number of the connected group of each pair: two pairs with a document in common have one."""

    def as_dict(self) -> dict[tuple[int, int], float]:
        """Jaccard by pair (left < right)."""
        pairs = zip(self.left.tolist(), self.right.tolist(), strict=True)
        return dict(zip(pairs, self.jaccard.tolist(), strict=True))


def all_pairs(sets: Sequence[Set[Any]], floor: float = FLOOR, max_df: int = 200) -> Truth:
    """The truth of documents given by their sets of shingles."""
    rows = _as_integers(sets)
    df = np.bincount(np.concatenate([*rows, np.zeros(0, np.int64)]))
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    frequent = np.array([int((df[row] > max_df).sum()) for row in rows], dtype=np.int64)
    keys, shared = _shared_counts(rows, df, max_df)
    left, right = keys // len(rows), keys % len(rows)
    most = shared + np.minimum(frequent[left], frequent[right])
    possible = most >= floor * (sizes[left] + sizes[right] - most)
    pairs = set(zip(left[possible].tolist(), right[possible].tolist(), strict=True))
    made_of_frequent = np.flatnonzero(frequent >= np.maximum(floor * sizes, 1)).tolist()
    pairs.update(combinations(made_of_frequent, 2))
    found = [(i, j, s) for i, j in sorted(pairs) if (s := _jaccard(rows[i], rows[j])) >= floor]
    ends = np.array([(i, j) for i, j, _ in found], dtype=np.int64).reshape(-1, 2)
    groups = _groups(ends, len(rows))
    return Truth(len(rows), floor, ends[:, 0], ends[:, 1], np.array([s for *_, s in found]), groups)


def _as_integers(sets: Sequence[Set[Hashable]]) -> list[Ints]:
    numbers: dict[Hashable, int] = {}
    rows = (np.fromiter((numbers.setdefault(s, len(numbers)) for s in found), np.int64, len(found)) for found in sets)
    return [np.sort(row) for row in rows]


def _shared_counts(rows: list[Ints], df: Ints, max_df: int) -> tuple[Ints, Ints]:
    """Keys (left * n + right) of the pairs that share shingles of 2 to max_df documents, and how many they share."""
    shingle = np.concatenate([*rows, np.zeros(0, np.int64)])
    doc = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    order = np.lexsort((doc, shingle))
    shingle, doc = shingle[order], doc[order]
    counts = df[shingle]
    keys, shared = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for size in range(2, max_df + 1):
        members = doc[counts == size].reshape(-1, size)
        a, b = np.triu_indices(size, 1)
        step = max(1, _PAIRS_AT_ONCE // len(a))
        for at in range(0, len(members), step):
            part = members[at : at + step]
            more, n = np.unique(part[:, a] * len(rows) + part[:, b], return_counts=True)
            keys, where = np.unique(np.concatenate([keys, more]), return_inverse=True)
            shared = np.bincount(where, np.concatenate([shared, n]), len(keys)).astype(np.int64)
    return keys, shared


def _jaccard(a: Ints, b: Ints) -> float:
    both = len(np.intersect1d(a, b, assume_unique=True))
    return both / (len(a) + len(b) - both) if both else 0.0


def _groups(ends: Ints, docs: int) -> Ints:
    """Connected group of each pair, numbered from 0 in order of first appearance."""
    root = list(range(docs))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = i = root[root[i]]
        return i

    for i, j in ends.tolist():
        root[find(j)] = find(i)
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(find(i), len(numbers)) for i in ends[:, 0].tolist()], dtype=np.int64)

"""The plain-Python twin of `groups`: the kernels' test oracle."""

from collections.abc import Sequence
from itertools import pairwise


def group_starts(keys: Sequence[bytes]) -> list[int]:
    """Where each group of equal neighbours starts, and the number of keys."""
    return [at for at in range(len(keys)) if at == 0 or keys[at] != keys[at - 1]] + [len(keys)]


def candidate_pairs(key_starts: Sequence[int], cap: int, pivots: int) -> list[tuple[int, int]]:
    """Pairs (left, right) by group, right, left."""
    found: list[tuple[int, int]] = []
    for start, stop in pairwise(key_starts):
        for right in range(start, stop):
            best = right if stop - start <= cap else min(right, start + pivots)
            found += [(left, right) for left in range(start, best)]
    return found


def oversize(key_starts: Sequence[int], cap: int) -> list[int]:
    """The groups of more than `cap` members."""
    return [group for group, start in enumerate(key_starts[:-1]) if key_starts[group + 1] - start > cap]

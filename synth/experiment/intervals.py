"""Intervals of 95 % for shares and for differences between paired losses."""

from collections.abc import Sequence
from math import sqrt

from gristmill.render.draws import Draws

Z = 1.959964
DRAWN = 2000


def wilson(right: int, asked: int) -> tuple[float, float]:
    """Wilson's interval of a share; (0, 1) of nothing."""
    if not asked:
        return 0.0, 1.0
    share, spread = right / asked, Z * Z / asked
    middle = share + spread / 2
    width = Z * sqrt(share * (1 - share) / asked + spread / (4 * asked))
    return max(0.0, (middle - width) / (1 + spread)), min(1.0, (middle + width) / (1 + spread))


def paired(first: Sequence[float], second: Sequence[float]) -> tuple[float, float, float]:
    """How much larger the mean of `first` is than that of `second`, as a share of it, with a bootstrap interval."""
    draws = Draws("experiment bootstrap", len(first))
    count = len(first)
    found: list[float] = []
    for _ in range(DRAWN):
        chosen = [draws.integer(0, count) for _ in range(count)]
        found.append(sum(first[i] for i in chosen) / sum(second[i] for i in chosen) - 1)
    found.sort()
    return sum(first) / sum(second) - 1, found[int(0.025 * DRAWN)], found[int(0.975 * DRAWN)]

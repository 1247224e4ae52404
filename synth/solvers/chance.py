"""How unlikely counts are by chance: upper bounds of tails, so that a gate's false alarms can be said in advance.

`tail` bounds a sum of independent hits of unequal chances; `chi_tail` is the tail of the chi-square distribution.
"""

from math import erfc, exp, inf, log, pi, sqrt


def tail(hits: float, tasks: int, expected: float) -> float:
    """A bound of how probable it is to stray so far, on either side, with `tasks` independent hits of any chances that
    add up to `expected`: 2 exp(-tasks KL(hits / tasks, expected / tasks)), Hoeffding 1963, theorem 1. In (0, 1]."""
    if tasks == 0:
        return 1.0
    found, told = hits / tasks, expected / tasks
    return min(1.0, 2 * exp(-tasks * (_part(found, told) + _part(1 - found, 1 - told))))


def _part(found: float, told: float) -> float:
    if found <= 0:
        return 0.0
    return inf if told <= 0 else found * log(found / told)


def chi_tail(value: float, degrees: int) -> float:
    """How probable it is that chi-square with so many degrees of freedom exceeds the value (its finite series)."""
    if degrees < 1 or value <= 0:
        return 1.0
    half = value / 2
    if degrees % 2:
        total, term, first = erfc(sqrt(half)), 2 * sqrt(half / pi) * exp(-half), 3
    else:
        total, term, first = exp(-half), exp(-half) * half, 4
    for step in range(first, degrees + 1, 2):
        total += term
        term *= half / (step / 2)
    return min(1.0, total)

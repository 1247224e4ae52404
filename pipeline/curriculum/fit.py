"""Tables with given sums of rows and columns under a cap for each cell: iterative proportional fitting with clipping.

Of all tables within the caps the one nearest to a seed in relative entropy has the form min(a[d] * c[b] * seed[d, b],
cap[d, b]); a and c are found in turns, each exactly (the sum of a row is piecewise linear in its factor). Without caps
this is the fitting of Deming and Stephan (Annals of Mathematical Statistics 11, 1940). Rows come last: their sums hold
whenever their caps allow it, those of columns as far as rows and caps leave room.
"""

import numpy as np

from gristmill.pipeline.curriculum.cells import Floats

ROUNDS = 2000
"""Tens are enough for a table that stands off its bounds, and some hundreds near them (`room.fitted` helps)."""
TOLERANCE = 1e-9
_MOST = 1e60
_LEAST = 1e-60


def row_factors(weights: Floats, caps: Floats, targets: Floats) -> Floats:
    """float64[n]: f with sum over k of min(f[i] * weights[i, k], caps[i, k]) = targets[i], or _MOST where the caps (all
    finite) are less than that."""
    caps = np.where(weights > 0, caps, 0.0)
    bends = np.where(weights > 0, caps / np.maximum(weights, np.finfo(float).tiny), 0.0)
    order = np.argsort(bends, axis=1, kind="stable")
    bends, caps, weights = (np.take_along_axis(a, order, axis=1) for a in (bends, caps, weights))
    capped = np.cumsum(caps, axis=1) - caps
    free = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
    reached = capped + bends * free >= targets[:, None]
    first = np.argmax(reached, axis=1)[:, None]
    room = targets - np.take_along_axis(capped, first, axis=1)[:, 0]
    slope = np.take_along_axis(free, first, axis=1)[:, 0]
    factors = np.where(targets > 0, room / np.maximum(slope, np.finfo(float).tiny), 0.0)
    return np.where(reached.any(axis=1), np.clip(factors, _LEAST, _MOST), _MOST)


def fit_capped(seed: Floats, caps: Floats, rows: Floats, columns: Floats) -> Floats:
    """The table of these sums; see the module. All of the same unit, and about 1 in all; cells of seed 0 stay 0."""
    of_row = np.ones(len(rows))
    table = np.zeros_like(seed)
    for _ in range(ROUNDS):
        weights = seed * of_row[:, None]
        of_column = row_factors(weights.T, caps.T, columns)
        weights = seed * of_column[None, :]
        of_row = row_factors(weights, caps, rows)
        table = _within(weights, of_row, caps)
        # Not when the table stands still: factors of capped cells may still be on their way.
        if np.abs(table.sum(axis=0) - columns).max(initial=0.0) < TOLERANCE:
            break
        scale = of_row.max(initial=1.0)
        of_row = of_row / scale if scale < _MOST else of_row
    return table


def _within(weights: Floats, factors: Floats, caps: Floats) -> Floats:
    return np.where(weights > 0, np.minimum(weights * factors[:, None], caps), 0.0)

"""From raw scores to probabilities: monotone maps that are fitted on held-out documents and stored as numbers.

A calibration is plain JSON data: `{"method": "identity"}`, `{"method": "platt", "a", "b"}` (probability =
logistic(a * logit(raw) + b), a >= 0) or `{"method": "isotonic", "x", "y"}` (linear between the points, x = logit(raw),
flat outside). All maps go from [0, 1] to [0, 1] and never fall. Raw scores are held between EDGE and 1 - EDGE
before their logit is taken, since fastText's float32 reaches 0 and 1.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, TypeGuard, cast

import numpy as np

from gristmill.manifests.errors import InputError
from gristmill.stages.protocol import Floats

EDGE = 1e-6
IDENTITY: Mapping[str, Any] = {"method": "identity"}
ISOTONIC_MIN_DOCS = 1000
"""`auto` takes Platt's two numbers below this (Niculescu-Mizil and Caruana 2005, section 4: isotonic regression
overfits below about 1,000 examples)."""

_NEWTON_STEPS = 100
_LARGEST = 1e300
_RIDGE = 1e-9


def calibrated(calibration: Mapping[str, Any], raw: Floats) -> Floats:
    """The probability for each raw score, float64[n] in [0, 1]."""
    method = calibration["method"]
    if method == "identity":
        return np.clip(raw, 0.0, 1.0)
    if method == "platt":
        return logistic(calibration["a"] * logit(raw) + calibration["b"])
    if method == "isotonic":
        return np.clip(np.interp(logit(raw), calibration["x"], calibration["y"]), 0.0, 1.0)
    raise InputError("unknown calibration", value=method, remedy="the model was written by another version")


def is_calibration(found: Any) -> bool:
    """Whether plain data is a calibration as the module's text says: finite numbers, a map that never falls."""
    if not isinstance(found, dict):
        return False
    data = cast(dict[str, Any], found)
    if data.get("method") == "platt":
        return is_number(data.get("a")) and is_number(data.get("b")) and data["a"] >= 0
    if data.get("method") == "isotonic":
        return _is_rising(data.get("x"), data.get("y"))
    return data.get("method") == "identity"


def is_number(value: Any) -> TypeGuard[float]:
    """A finite number that a float can hold, and no bool."""
    return type(value) in (int, float) and abs(value) <= _LARGEST


def _is_rising(x: Any, y: Any) -> bool:
    if not isinstance(x, list) or not isinstance(y, list) or not 0 < len(cast(list[Any], x)) == len(cast(list[Any], y)):
        return False
    if not all(map(is_number, [*cast(list[Any], x), *cast(list[Any], y)])):
        return False
    xs, ys = cast(list[float], x), cast(list[float], y)
    return all(a < b for a, b in pairwise(xs)) and all(a <= b for a, b in pairwise(ys)) and ys[0] >= 0 and ys[-1] <= 1


def fit(method: str, raw: Floats, positive: Floats, weight: Floats) -> dict[str, Any]:
    """The calibration of raw scores, given 1.0 for each positive and 0.0 for each negative, and weights.

    `auto` chooses by the number of documents. Both classes must be there.
    """
    chosen = method if method != "auto" else ("isotonic" if len(raw) >= ISOTONIC_MIN_DOCS else "platt")
    return _fit_isotonic(raw, positive, weight) if chosen == "isotonic" else _fit_platt(raw, positive, weight)


def logit(raw: Floats) -> Floats:
    """log(p / (1 - p)) of scores held within [EDGE, 1 - EDGE]."""
    held = np.clip(raw, EDGE, 1 - EDGE)
    return np.log(held) - np.log1p(-held)


def logistic(x: Floats) -> Floats:
    """1 / (1 + exp(-x)), without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def _fit_platt(raw: Floats, positive: Floats, weight: Floats) -> dict[str, Any]:
    """Platt 1999 with his smoothed targets, by Newton's method as in Lin, Lin and Weng 2007."""
    x = logit(raw)
    ones, zeros = float(positive.sum()), float((1 - positive).sum())
    target = np.where(positive > 0, (ones + 1) / (ones + 2), 1 / (zeros + 2))
    design = np.stack([x, np.ones_like(x)], axis=1)
    params = np.zeros(2)
    loss = _log_loss(design @ params, target, weight)
    for _ in range(_NEWTON_STEPS):
        p = logistic(design @ params)
        gradient = design.T @ (weight * (p - target))
        hessian = (design * (weight * p * (1 - p))[:, None]).T @ design + _RIDGE * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        scale = 1.0
        while scale > _RIDGE and _log_loss(design @ (params - scale * step), target, weight) > loss:
            scale /= 2
        params = params - scale * step
        before, loss = loss, _log_loss(design @ params, target, weight)
        if before - loss <= 1e-12 * abs(before):
            break
    if params[0] < 0:
        # Scores that point the wrong way carry nothing: the share of positives is all that is known.
        share = float(np.average(positive, weights=weight))
        return {"method": "platt", "a": 0.0, "b": float(logit(np.array([share]))[0])}
    return {"method": "platt", "a": float(params[0]), "b": float(params[1])}


def _log_loss(z: Floats, target: Floats, weight: Floats) -> float:
    return float((weight * (np.logaddexp(0.0, z) - target * z)).sum())


def _fit_isotonic(raw: Floats, positive: Floats, weight: Floats) -> dict[str, Any]:
    """Pool adjacent violators (Ayer et al. 1955); each block stands at its mean logit."""
    x, group = np.unique(logit(raw), return_inverse=True)
    mass = np.bincount(group, weights=weight)
    level = np.bincount(group, weights=weight * positive) / mass
    blocks: list[tuple[float, float, float]] = []  # mean logit, level, mass
    for at, y, w in zip(x.tolist(), level.tolist(), mass.tolist(), strict=True):
        block = (at, y, w)
        while blocks and blocks[-1][1] >= block[1]:
            block = _pooled(blocks.pop(), block)
        blocks.append(block)
    return {"method": "isotonic", "x": [b[0] for b in blocks], "y": [b[1] for b in blocks]}


def _pooled(one: tuple[float, float, float], two: tuple[float, float, float]) -> tuple[float, float, float]:
    total = one[2] + two[2]
    return (one[0] * one[2] + two[0] * two[2]) / total, (one[1] * one[2] + two[1] * two[2]) / total, total

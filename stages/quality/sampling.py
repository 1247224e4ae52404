"""Keeping a document with a probability that rises with its score, drawn by content and seed alone.

`pareto`: keep with probability (2 - score) ** -alpha, which is what GPT-3's `pareto(alpha) > 1 - score` comes to (Brown
et al. 2020, appendix A, alpha = 9). `table`: linear between points (score, probability), flat outside.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from blake3 import blake3

from gristmill.manifests.errors import UsageError
from gristmill.stages.protocol import Floats

GPT3_ALPHA = 9.0

Table = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Curve:
    """Score -> probability of keeping, never falling. `table` goes before `alpha`."""

    alpha: float = GPT3_ALPHA
    table: Table = ()

    def keep_probability(self, scores: Floats) -> Floats:
        """float64[n] in [0, 1]."""
        if not self.table:
            return (2.0 - scores) ** -self.alpha
        points = np.asarray(self.table, dtype=np.float64)
        return np.interp(scores, points[:, 0], points[:, 1])


def check_curve(curve: Curve, where: str) -> None:
    """Raises UsageError where a curve could fall or leave [0, 1]."""
    if not curve.alpha >= 0:
        raise UsageError("must not be negative", f"{where}.alpha", curve.alpha)
    points = np.asarray(curve.table, dtype=np.float64).reshape(-1, 2)
    falls = (np.diff(points[:, 0]) <= 0).any() or (np.diff(points[:, 1]) < 0).any()
    if falls or not ((points >= 0) & (points <= 1)).all():
        remedy = "points (score, probability) within [0, 1], scores rising, probabilities not falling"
        raise UsageError("not a curve that rises", f"{where}.table", curve.table, remedy)


def draws(content_hashes: pa.Array, seed: int, name: str) -> Floats:
    """A number in [0, 1) for each content hash, float64[n] of 53 bits: BLAKE3 of seed, name and hash.

    Two documents of one content share their draw, and thus their fate, wherever they stand.
    """
    prefix = blake3(f"quality\0{seed}\0{name}\0".encode())
    return np.array([_draw(prefix, value) for value in content_hashes.to_pylist()], dtype=np.float64)


def _draw(prefix: blake3, value: bytes | None) -> float:
    hasher = prefix.copy()
    hasher.update(value or b"")
    return (int.from_bytes(hasher.digest(8), "big") >> 11) / (1 << 53)

"""How likely two documents become candidates, by their Jaccard similarity: the S-curve of b bands of r rows.

Two documents of similarity s agree in a lane with probability s, so that they share the key of at least one band with
probability 1 - (1 - s^r)^b (Leskovec, Rajaraman, Ullman: Mining of Massive Datasets, section 3.4.2).
"""

from dataclasses import dataclass

STEPS = 20
_BARS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Threshold:
    """Where the curve rises: `estimate` (1/b)^(1/r), near its steepest point; `half`, where one pair in two is met."""

    estimate: float
    half: float


def probability(jaccard: float, bands: int, rows: int) -> float:
    """Probability, in [0, 1], that a pair of this similarity shares a band."""
    return 1.0 - (1.0 - min(max(jaccard, 0.0), 1.0) ** rows) ** bands


def jaccard_of(containment: float, ratio: float = 1.0) -> float:
    """The Jaccard of two sets of which the larger has `ratio` (at least 1) times the elements of the smaller, and holds
    `containment` of it: 1 / ratio for a part of a whole."""
    return containment / (1.0 + ratio - containment)


def threshold(bands: int, rows: int) -> Threshold:
    """The estimate and the exact 50 % point."""
    return Threshold((1 / bands) ** (1 / rows), (1 - 0.5 ** (1 / bands)) ** (1 / rows))


def curve(bands: int, rows: int) -> list[tuple[float, float]]:
    """The probability at Jaccard 0, 0.05, ... 1."""
    return [(step / STEPS, probability(step / STEPS, bands, rows)) for step in range(STEPS + 1)]


def line(bands: int, rows: int) -> str:
    """The curve on one line, for `plan`: where it rises, and how it does from Jaccard 0 to 1."""
    at = threshold(bands, rows)
    bars = "".join(_BARS[round(found * (len(_BARS) - 1))] for _, found in curve(bands, rows))
    told = ", ".join(f"{probability(s, bands, rows):.1%} at {s}" for s in (0.5, 0.7, 0.8, 0.9))
    return f"{bands} bands x {rows} rows: half of the pairs at Jaccard {at.half:.3f} are found; {told}; 0 |{bars}| 1"

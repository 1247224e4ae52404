"""Which source each global index reads from: rates that hold at every prefix, not on average.

Rates are rounded to PERIOD-ths (largest remainders, so they add up), and one period of picks is laid out by Tijdeman's
solution of the chairman assignment problem (Discrete Mathematics 32, 1980): after any number of picks each of k sources
stands within 1 - 1/(2k - 2) rows of its rate. What a source has given before any index is then a table lookup, and
nothing but the index is state. Sampling at random would be off by the square root of the number of rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

PERIOD = 4096


def parts_of(rates: Sequence[float]) -> list[int]:
    """Rates as whole PERIOD-ths that add up to PERIOD; a rate above 0 keeps one at least.

    Raises ValueError when there is none, when one is negative or not finite, or when they do not add up to 1.
    """
    if not rates or not all(0 <= r <= 1 for r in rates) or abs(sum(rates) - 1) > 1e-6:
        raise ValueError(f"rates must be in [0, 1] and add up to 1, not {sum(rates):g}")
    if sum(r > 0 for r in rates) > PERIOD:
        raise ValueError(f"more than {PERIOD} sources")
    exact = [r * PERIOD for r in rates]
    parts = [max(int(e), 1) if e > 0 else 0 for e in exact]
    by_remainder = sorted(range(len(rates)), key=lambda i: (parts[i] - exact[i], i))
    for i in by_remainder[: max(PERIOD - sum(parts), 0)]:
        parts[i] += 1
    while sum(parts) > PERIOD:  # small rates were raised to one part: the largest give it
        parts[max(range(len(parts)), key=lambda i: (parts[i] - exact[i], parts[i]))] -= 1
    return parts


def parts_within(weights: Sequence[float], most: Sequence[int]) -> list[int]:
    """Weights, adding up to 1, as whole PERIOD-ths that add up to PERIOD and of which none is above its `most`.

    A weight above 0 keeps one part where it may have one. Raises ValueError where there is no room for PERIOD of them.
    """
    exact = [w * PERIOD for w in weights]
    parts = [min(max(int(e), 1), m) if e > 0 else 0 for e, m in zip(exact, most, strict=True)]
    while (missing := PERIOD - sum(parts)) > 0:
        free = [i for i, e in enumerate(exact) if e > 0 and parts[i] < most[i]]
        if not free:
            raise ValueError(f"caps leave room for {sum(parts)} of {PERIOD} parts")
        for i in sorted(free, key=lambda i: (parts[i] - exact[i], i))[:missing]:
            parts[i] += 1
    while sum(parts) > PERIOD:  # small weights were raised to one part: the largest give it
        parts[max(range(len(parts)), key=lambda i: (parts[i] > 1, parts[i] - exact[i], parts[i]))] -= 1
    return parts


def picks_of(parts: Sequence[int]) -> Ints:
    """int64[PERIOD]: the source of each index of a period."""
    sources = [i for i, p in enumerate(parts) if p]
    if len(sources) == 1:
        return np.full(PERIOD, sources[0], dtype=np.int64)
    slack = 2 * len(sources) - 2
    given = dict.fromkeys(sources, 0)
    picks = np.empty(PERIOD, dtype=np.int64)
    for t in range(1, PERIOD + 1):
        # In units of 1 / (slack * PERIOD) rows: who is owed 1 / slack of a row or more, and is due first.
        owed = {i: slack * (parts[i] * t - given[i] * PERIOD) for i in sources}
        ready = [i for i in sources if owed[i] >= PERIOD]
        pick = min(ready, key=lambda i: (((slack - 1) * PERIOD - owed[i]) / parts[i], i))
        given[pick] += 1
        picks[t - 1] = pick
    return picks


@dataclass(frozen=True)
class Mixture:
    """Sources by name with their picks. `given[i, s]`: rows of source s among the first i picks of a period."""

    names: tuple[str, ...]
    parts: tuple[int, ...]
    picks: Ints
    given: Ints

    @staticmethod
    def of(rates: Mapping[str, float]) -> "Mixture":
        """The mixture of sources by rate; their order is that of their names. Raises ValueError as `parts_of`."""
        names = tuple(sorted(rates))
        return Mixture.of_parts(dict(zip(names, parts_of([rates[name] for name in names]), strict=True)))

    @staticmethod
    def of_parts(parts_by_name: Mapping[str, int]) -> "Mixture":
        """The mixture of sources by their parts, which add up to PERIOD."""
        names = tuple(sorted(parts_by_name))
        parts = [parts_by_name[name] for name in names]
        picks = picks_of(parts)
        one_hot = (picks[:, None] == np.arange(len(names))[None, :]).astype(np.int64)
        return Mixture(
            names, tuple(parts), picks, np.concatenate([np.zeros((1, len(names)), np.int64), one_hot.cumsum(0)])
        )

    def before(self, index: int) -> list[int]:
        """Rows of each source among the first `index`."""
        periods, rest = divmod(index, PERIOD)
        return [periods * part + int(n) for part, n in zip(self.parts, self.given[rest], strict=True)]

    def counts(self, index: int) -> list[tuple[str, int]]:
        """`before`, with the names."""
        return list(zip(self.names, self.before(index), strict=True))

    def places(self, index: Ints) -> tuple[Ints, Ints]:
        """Source, and number within that source, of each index."""
        periods, rest = np.divmod(index, PERIOD)
        source = self.picks[rest]
        return source, periods * np.array(self.parts, dtype=np.int64)[source] + self.given[rest, source]

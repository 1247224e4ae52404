"""What the best possible reader of one window knows: epsilon(W), the gain over a guess, at its worst window.

The reader sees the query, every record that stands whole in [s, s + W), and the answers to earlier questions of the
same bank, wherever these stand. Positions are tokens.

* Sums: the numbers of a chain are independent and uniform, so a window without all of them is worth a guess, and one
  with all of them the answer.
* Paths: a reader that lacks the row of hop j and sees s_j rows of that map has n - s_j images left, less those of the
  q earlier questions, whose whole paths it is given for nothing. All else of the path may be known too. What is
  computed is thus an upper bound, 1 / max_j (n - s_j - q) over the hops that it lacks.

The worst window begins with a record: moving its start rightwards to the next one loses nothing.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gristmill.synth.solvers.spans import Span, fits_window

Ints = npt.NDArray[np.int64]

WINDOW_PARTS = (128, 16, 4)
"""epsilon is stored for windows of the context divided by these."""


def sum_epsilon(evidence: Sequence[Span], chance: float, window: int) -> float:
    """epsilon of a sum."""
    return 1 - chance if fits_window(evidence, window) else 0.0


class PathBank:
    """Rows of a bank of paths: starts[j][c], ends[j][c] of the row of chain c in map j; int64[hops, chains]."""

    def __init__(self, starts: Ints, ends: Ints) -> None:
        self.starts, self.ends = starts, ends
        self._edges = np.unique(starts)
        self._sorted = [(np.sort(s), np.sort(e)) for s, e in zip(starts, ends, strict=True)]

    def epsilon(self, chain: int, earlier: int, window: int) -> float:
        """epsilon of the question of `chain` when `earlier` questions of the bank were answered in front of it."""
        chains = self.starts.shape[1]
        best = np.zeros(len(self._edges), np.int64)
        for hop, (starts, ends) in enumerate(self._sorted):
            inside = np.searchsorted(ends, self._edges + window, "right") - np.searchsorted(starts, self._edges)
            left = chains - np.maximum(inside, 0) - earlier
            start, end = self.starts[hop, chain], self.ends[hop, chain]
            lacks = (start < self._edges) | (end > self._edges + window)
            best = np.maximum(best, np.where(lacks, np.maximum(left, 1), 0))
        success = np.where(best > 0, 1 / np.maximum(best, 1), 1.0)
        return float(success.max()) - 1 / chains

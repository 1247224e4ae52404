"""Which sums of columns a table can have, given the sums of its rows and a cap for each cell.

Columns S can hold at most f(S) = sum over rows d of min(rows[d], the caps of d in S) (max-flow, min-cut), and sums q of
columns can be had together if and only if no set of them wants more than that. f is submodular, so filling columns in
any order as far as there is room ends with all that can be placed. Sets are enumerated: 2^columns of them, with up to
MOST_COLUMNS columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gristmill.pipeline.curriculum.cells import Floats
from gristmill.pipeline.curriculum.fit import fit_capped

MOST_COLUMNS = 12
_TIGHT = 1e-9

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Room:
    """Sets of columns bool[2^columns, columns], and what each can hold. Sums are parts of about 1 in all."""

    sets: Bools
    holds: Floats

    @staticmethod
    def of(rows: Floats, caps: Floats) -> "Room":
        """rows float64[d], caps float64[d, b]."""
        columns = caps.shape[1]
        sets = (np.arange(1 << columns)[:, None] >> np.arange(columns)[None, :] & 1).astype(np.bool_)
        return Room(sets, np.minimum(rows[:, None], caps @ sets.T).sum(axis=0))

    def left(self, sums: Floats, column: int) -> float:
        """How much more a column can have beside these sums."""
        mine = self.sets[:, column]
        return max(float((self.holds[mine] - self.sets[mine] @ sums).min()), 0.0)

    def filled(self, wanted: Floats) -> Floats:
        """Of the sums wanted as much as can be had, the last column first."""
        sums = np.zeros_like(wanted)
        for column in reversed(range(len(wanted))):
            sums[column] = min(float(wanted[column]), self.left(sums, column))
        return sums

    def nearest(self, wanted: Floats) -> Floats:
        """`filled`, and what a column cannot have given to the nearest one with room, the one before it if two are."""
        sums = self.filled(wanted)
        for column in reversed(range(len(wanted))):
            lack = float(wanted[column] - sums[column])
            for other in _by_distance(column, len(wanted)):
                given = min(lack, self.left(sums, other)) if lack > 0 else 0.0
                sums[other] += given
                lack -= given
            wanted = np.where(np.arange(len(wanted)) == column, sums[column], wanted)
        return sums

    def tight(self, sums: Floats) -> Bools:
        """The sets that hold all that they can."""
        return self.sets[self.holds - self.sets @ sums < _TIGHT]


def _by_distance(column: int, count: int) -> Sequence[int]:
    return sorted((other for other in range(count) if other != column), key=lambda other: (abs(other - column), other))


def fitted(seed: Floats, caps: Floats, rows: Floats, columns: Floats) -> Floats:
    """`fit_capped` to the rows (which the caps allow), and to the nearest sums of columns that can be had with them.

    Where a set of columns is full, a row that fits into it stands there alone: told beforehand, that takes a few rounds
    of fitting and not thousands.
    """
    room = Room.of(rows, caps)
    sums = room.nearest(columns)
    open_cells = seed > 0
    for tight in room.tight(sums):
        inside = caps[:, tight].sum(axis=1) >= rows
        open_cells &= ~inside[:, None] | tight[None, :]
    return fit_capped(np.where(open_cells, seed, 0.0), caps, rows, sums)

"""Which row stands at a global index: a pure function of the plan, for any index, without going there.

Index g lies in stage s; the stage's mixture says whose turn it is and how many rows that source has given in the stage;
with what earlier stages drew, that is its counter c. Its epoch is c // rows, and its row the place of c % rows in the
permutation of that epoch (`permute`), within the range of rows that the source is.
"""

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gristmill.pipeline.reader.permute import permuted, round_keys
from gristmill.pipeline.reader.plan import Plan

Ints = npt.NDArray[np.int64]

WINDOW = 1024


@dataclass(frozen=True)
class Places:
    """Where the rows of some indices of one stage stand. `source` counts the stage's names, `row` in its dataset."""

    stage: int
    source: Ints
    row: Ints
    epoch: Ints


def stage_of(plan: Plan, index: int) -> int:
    """The stage that a global index lies in. Raises IndexError outside of the plan."""
    if not 0 <= index < plan.rows:
        raise IndexError(f"the plan has rows [0, {plan.rows}), not {index}")
    return bisect_right(plan.starts, index) - 1


class Window:
    """`places` of a plan, a block of WINDOW indices at a time: one by one they cost what reading a row does."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._block: tuple[int, int, Places] | None = None

    def places(self, indices: Ints) -> Places:
        """See `places`."""
        first, last = int(indices.min()), int(indices.max())
        block = self._block
        if last - first >= WINDOW:  # rows by index, far from each other
            return places(self._plan, indices)
        if block is None or not block[0] <= first <= last < block[1]:
            block = self._block = self._made(first, last)
        at, found = indices - block[0], block[2]
        return Places(found.stage, found.source[at], found.row[at], found.epoch[at])

    def _made(self, first: int, last: int) -> tuple[int, int, Places]:
        stop = min(max(first + WINDOW, last + 1), self._plan.starts[stage_of(self._plan, first) + 1])
        if last >= stop:
            raise IndexError("indices of several stages")
        return first, stop, places(self._plan, np.arange(first, stop, dtype=np.int64))


def places(plan: Plan, indices: Ints) -> Places:
    """Of global indices of one stage, in the order given."""
    number = stage_of(plan, int(indices[0]))
    stage = plan.stages[number]
    local = indices - plan.starts[number]
    if not 0 <= int(local.min()) <= int(local.max()) < stage.rows:
        raise IndexError("indices of several stages")
    source, given = stage.mixture.places(local)
    row, epoch = np.empty_like(local), np.empty_like(local)
    for s in np.unique(source).tolist():
        name = stage.mixture.names[s]
        here = np.flatnonzero(source == s)
        first_row, rows = plan.sources[name].first_row, plan.sources[name].rows
        epoch[here], at = np.divmod(given[here] + stage.drawn[name], rows)
        for e in np.unique(epoch[here]).tolist():
            turn = here[epoch[here] == e]
            row[turn] = first_row + permuted(at[epoch[here] == e], rows, round_keys(plan.seed, name, e))
    return Places(number, source, row, epoch)

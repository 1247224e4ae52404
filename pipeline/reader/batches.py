"""Which global indices make a batch: those of one stage that are not skipped, `global_batch` at a time.

A stage's indices that are left are numbered from 0; batch k of the stage takes the numbers [k * global_batch, (k + 1) *
global_batch). A stage whose rest fills no batch ends with a short one, which the stream drops or hands out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.reader.order import stage_of
from gristmill.pipeline.reader.plan import Plan

Ints = npt.NDArray[np.int64]
Ranges = Sequence[tuple[int, int]]


def merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Half-open ranges as sorted ones that do not touch; empty ones go."""
    out: list[tuple[int, int]] = []
    for first, stop in sorted(r for r in ranges if r[1] > r[0]):
        if out and first <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], stop))
        else:
            out.append((first, stop))
    return out


@dataclass(frozen=True)
class Left:
    """What of one stage is not skipped: range i holds indices [first[i], stop[i]), and before[i] are left before it."""

    stage_stop: int
    first: Ints
    stop: Ints
    before: Ints

    @staticmethod
    def of(plan: Plan, stage: int, skipped: Ranges) -> "Left":
        """`skipped` as `merged` gives it."""
        low, high = plan.starts[stage], plan.starts[stage + 1]
        inside = [(max(a, low), min(b, high)) for a, b in skipped if a < high and b > low]
        first = np.array([low, *(b for _, b in inside)], dtype=np.int64)
        stop = np.array([*(a for a, _ in inside), high], dtype=np.int64)
        full = stop > first
        first, stop = first[full], stop[full]
        return Left(high, first, stop, np.concatenate(([0], np.cumsum(stop - first))).astype(np.int64))

    @property
    def rows(self) -> int:
        """All that are left."""
        return int(self.before[-1])

    def number_of(self, index: int) -> int:
        """How many are left before a global index."""
        at = int(np.searchsorted(self.stop, index, side="right"))
        return int(self.before[at]) + (max(index - int(self.first[at]), 0) if at < len(self.first) else 0)

    def take(self, number: int, count: int) -> Ints:
        """int64: the indices numbered [number, number + count), as far as there are any."""
        stop = min(number + count, self.rows)
        if stop <= number:
            return np.empty(0, dtype=np.int64)
        low, high = (int(np.searchsorted(self.before, n, side="right")) - 1 for n in (number, stop - 1))
        if low == high:
            shift = int(self.first[low] - self.before[low])
            return np.arange(number + shift, stop + shift, dtype=np.int64)
        numbers = np.arange(number, stop, dtype=np.int64)
        at = np.searchsorted(self.before, numbers, side="right") - 1
        return numbers + (self.first[at] - self.before[at])

    def after(self, number: int) -> int:
        """The global index that a batch begins at whose first row is numbered so; the stage's end behind the last."""
        return self.stage_stop if number >= self.rows else int(self.take(number, 1)[0])


def first_index_of(plan: Plan, skipped: Ranges, global_batch: int, short: bool, step: int) -> int:
    """The global index that batch `step` begins at, all batches being of one size; `short` ones count as batches.

    Raises IndexError outside of the plan.
    """
    rest = step
    for stage in range(len(plan.stages)):
        left = Left.of(plan, stage, skipped)
        batches = _batches(left.rows, global_batch, short)
        if 0 <= rest < batches:
            return left.after(rest * global_batch)
        rest -= batches
    raise IndexError(f"the plan has no batch {step} of {global_batch} rows")


class Batches:
    """Batches from any index on; keeps what is left of the stage that was asked for last."""

    def __init__(self, plan: Plan, skipped: Ranges, global_batch: int) -> None:
        self._plan, self._skipped, self._global_batch = plan, skipped, global_batch
        self._left: tuple[int, Left] | None = None
        self._before: tuple[int, bool, int] | None = None

    def at(self, start: int) -> tuple[Ints, int]:
        """The indices of the batch that begins at or behind `start`, and where the one behind it begins."""
        left = self._of(stage_of(self._plan, start))
        number = left.number_of(start)
        return left.take(number, self._global_batch), left.after(number + self._global_batch)

    def ordinal(self, start: int, short: bool) -> int:
        """How many batches come before the one at `start`, from the plan's first row on; `short` ones count as batches.
        Of a batch that does not begin a whole number of batches behind its stage's begin: as many fit before it."""
        stage = stage_of(self._plan, start)
        if self._before is None or self._before[:2] != (stage, short):
            rows = (Left.of(self._plan, s, self._skipped).rows for s in range(stage))
            self._before = stage, short, sum(_batches(n, self._global_batch, short) for n in rows)
        return self._before[2] + self._of(stage).number_of(start) // self._global_batch

    def _of(self, stage: int) -> Left:
        if self._left is None or self._left[0] != stage:
            self._left = stage, Left.of(self._plan, stage, self._skipped)
        return self._left[1]


def _batches(rows: int, global_batch: int, short: bool) -> int:
    return -(-rows // global_batch) if short else rows // global_batch


def check_batches(plan: Plan, global_batch: int) -> None:
    """Raises UsageError where a stage has fewer rows than a batch, and would be left out whole."""
    for number, stage in enumerate(plan.stages):
        if stage.rows < global_batch:
            remedy = 'give a smaller global_batch, or ReadOptions(tail="short")'
            what = f"stage {number} has {stage.rows} rows, fewer than a batch: none would be read"
            raise UsageError(what, "TokenStream global_batch", global_batch, remedy)

"""Blocks of the next window are fetched while the rows of this one are read.

Of datasets that are shuffled in blocks and come through the cache of blocks. A look costs nothing until a window
changes. Where the cache does not hold two windows only this one is fetched ahead, and where rows are fetched one by one
none is: on many hosts each reads few rows of a block.
"""

from gristmill.pipeline.reader.block_shuffle import window_at, window_blocks
from gristmill.pipeline.reader.order import stage_of
from gristmill.pipeline.reader.permute import round_keys
from gristmill.pipeline.reader.plan import Plan


class Ahead:
    """Of one stream over a plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._asked: dict[str, tuple[int, int]] = {}

    def look(self, index: int) -> None:
        """Have fetched what follows a global index."""
        plan = self._plan
        if not plan.shuffles:
            return
        number = stage_of(plan, index)
        stage = plan.stages[number]
        given = stage.mixture.before(index - plan.starts[number])
        for name, rows in zip(stage.mixture.names, given, strict=True):
            if name in plan.shuffles and plan.datasets[name].fetches(plan.shuffles[name].block_rows):
                self._of(name, rows + stage.drawn[name])

    def _of(self, name: str, counter: int) -> None:
        dataset, shuffle = self._plan.datasets[name], self._plan.shuffles[name]
        epoch, at = divmod(counter, dataset.rows)
        keys = round_keys(self._plan.seed, name, epoch)
        window = window_at(at, dataset.rows, shuffle, keys)
        if self._asked.get(name) == (epoch, window):
            return
        self._asked[name] = epoch, window
        blocks = window_blocks(dataset.rows, shuffle, keys, window)
        if dataset.holds(2 * shuffle.window_blocks * shuffle.block_rows):
            more = window_blocks(dataset.rows, shuffle, keys, window + 1)
            again = round_keys(self._plan.seed, name, epoch + 1)
            blocks += more or window_blocks(dataset.rows, shuffle, again, 0)
        dataset.ahead([row for first, stop in blocks for row in (first, stop - 1)])

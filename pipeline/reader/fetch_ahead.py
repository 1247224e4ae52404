"""Blocks of the next window are fetched while the rows of this one are read.

Of datasets that are shuffled in blocks and come through the cache of blocks. A look costs nothing until a window
changes. Where the cache does not hold two windows only this one is fetched ahead, and where rows are fetched one by one
none is: on many hosts each reads few rows of a block.
"""

from gristmill.pipeline.reader.block_shuffle import window_at, window_blocks
from gristmill.pipeline.reader.order import stage_of
from gristmill.pipeline.reader.permute import round_keys
from gristmill.pipeline.reader.plan import Plan
from gristmill.pipeline.reader.sources import Source


class FetchAhead:
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
            of = plan.sources[name].dataset_name
            if of in plan.shuffles and plan.datasets[of].fetches(plan.shuffles[of].block_rows):
                self._of(plan.sources[name], rows + stage.drawn[name])

    def _of(self, source: Source, counter: int) -> None:
        dataset, shuffle = source.dataset, self._plan.shuffles[source.dataset_name]
        epoch, at = divmod(counter, source.rows)
        keys = round_keys(self._plan.seed, source.name, epoch)
        window = window_at(at, source.rows, shuffle, keys)
        if self._asked.get(source.name) == (epoch, window):
            return
        self._asked[source.name] = epoch, window
        blocks = window_blocks(source.rows, shuffle, keys, window)
        if dataset.holds(2 * shuffle.window_blocks * shuffle.block_rows):
            more = window_blocks(source.rows, shuffle, keys, window + 1)
            again = round_keys(self._plan.seed, source.name, epoch + 1)
            blocks += more or window_blocks(source.rows, shuffle, again, 0)
        dataset.ahead([source.first_row + row for first, stop in blocks for row in (first, stop - 1)])

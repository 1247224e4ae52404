"""A launcher of the engine datatrove that tests share: to start one takes seconds."""

from pathlib import Path

from gristmill.pipeline.engines.datatrove import DatatroveEngine
from gristmill.pipeline.engines.trove.local import LocalLauncher


class KeptLauncher(LocalLauncher):
    """Outlives the engines that it is lent to; `end` ends it."""

    def close(self) -> None:
        """Of an engine."""
        self.stop(False)

    def end(self) -> None:
        """Of the tests."""
        super().close()

    def engine(self, out: Path) -> DatatroveEngine:
        """An engine of an output."""
        return DatatroveEngine(out, self)

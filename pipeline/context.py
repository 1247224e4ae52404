"""What building a dataset needs to know, and the committed files that it works on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import FileEntry, Receipt
from gristmill.pipeline.engines.protocol import Engine, Notify, in_order
from gristmill.pipeline.recipe import Recipe
from gristmill.pipeline.replay import Replay
from gristmill.pipeline.resources import SMALL, Resources
from gristmill.pipeline.sources.protocol import InputFile
from gristmill.pipeline.task import Task


@dataclass(frozen=True)
class ShardRef:
    """A committed file: the key of its object, its entry and its full path here."""

    key: str
    entry: FileEntry
    path: Path


@dataclass(frozen=True)
class Context:
    """What building needs: the output's store, an engine, the recipe, how the run was asked for, the input listings
    that were frozen so far, by dataset, what each task of the steps at hand takes, and the output whose external
    effects are replayed."""

    store: ObjectStore
    engine: Engine
    recipe: Recipe
    notify: Notify
    measures_all: bool = False
    sample: float | None = None
    listings: dict[str, list[InputFile]] = field(default_factory=dict[str, list[InputFile]])
    resources: Resources = SMALL
    replay: Replay | None = None

    @property
    def base_dir(self) -> str:
        """Where user code of the recipe is found."""
        return str(self.recipe.base_dir)

    def map(self, tasks: Sequence[Task]) -> list[Receipt]:
        """Run tasks; receipts in their order."""
        return self._done(self.engine.map, tasks)

    def exchange(self, tasks: Sequence[Task]) -> list[Receipt]:
        """Run tasks that read parts of spill files (`Engine.exchange`); receipts in their order."""
        return self._done(self.engine.exchange, tasks)

    def _done(self, run: Callable[..., Iterator[tuple[int, Receipt]]], tasks: Sequence[Task]) -> list[Receipt]:
        sized = [replace(task, resources=self.resources) for task in tasks]
        if self.replay is None:
            return in_order(run(sized, self.notify))
        records = self.replay.records(sized)
        given = [self.replay.given(task, record) for task, record in zip(sized, records, strict=True)]
        receipts = in_order(run(given, self.notify))
        self.replay.check(sized, records, receipts)
        return receipts

    def refs(self, receipt: Receipt, role: str) -> list[ShardRef]:
        """The files of one role of an object."""
        return [ShardRef(receipt.key, f, self.store.path(receipt.key, f)) for f in receipt.role(role)]

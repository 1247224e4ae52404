"""An engine that does nothing: it finds what is committed. `plan`, and what a partial run leaves alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.engines.protocol import EngineEvent, Notify
from gristmill.pipeline.task import Task


class UnfinishedError(Exception):
    """Work that is not committed: how many of how many tasks, and the label of the first."""

    def __init__(self, missing: int, tasks: int, label: str) -> None:
        super().__init__(missing, tasks, label)
        self.missing = missing
        self.tasks = tasks
        self.label = label


@dataclass
class FindingEngine:
    """Counts what it finds in `found`; raises UnfinishedError at the first set of tasks with a gap."""

    store: ObjectStore
    name: str = "finding"
    found: int = field(default=0)

    def map(self, tasks: Sequence[Task], notify: Notify) -> Iterator[tuple[int, Receipt]]:
        """See Engine.map."""
        receipts = list(self.store.find_all(t.key for t in tasks))
        missing = [t for t, r in zip(tasks, receipts, strict=True) if r is None]
        self.found += len(tasks) - len(missing)
        if missing:
            raise UnfinishedError(len(missing), len(tasks), missing[0].label)
        for index, receipt in enumerate(receipts):
            assert receipt is not None
            notify(EngineEvent("reuse", tasks[index].label))
            yield index, receipt

    def exchange(self, tasks: Sequence[Task], notify: Notify) -> Iterator[tuple[int, Receipt]]:
        """See Engine.exchange."""
        return self.map(tasks, notify)

    def close(self) -> None:
        """Nothing to give back."""

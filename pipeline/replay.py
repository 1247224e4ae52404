"""The output whose external effects a run replays (`manifests.effects`).

Each task of the run that has a receipt there is given its record, and must end with the bytes of that receipt: what was
found done, from before the replay, is held against it, too. Tasks without a receipt there are done afresh, and counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gristmill.manifests.commit import OBJECTS, ObjectStore
from gristmill.manifests.effects import recorded_effects
from gristmill.manifests.errors import VerifyError
from gristmill.manifests.receipt import RECEIPT, Receipt
from gristmill.pipeline.task import RECORDED, Task


@dataclass
class Replay:
    """See the module; `shown` is how people name the output. `tasks` counts those of the run, `recorded` those of them
    that stand in it."""

    store: ObjectStore
    shown: str
    tasks: int = 0
    recorded: int = 0

    def records(self, tasks: Sequence[Task]) -> list[Receipt | None]:
        """The receipt that each task has there. Raises VerifyError where one is of another task."""
        found = list(self.store.receipts(task.key for task in tasks))
        for task, record in zip(tasks, found, strict=True):
            if record is not None and record.key != task.key:
                raise VerifyError("a receipt of another task", self._where(task), record.key, "see `gristmill verify`")
        self.tasks += len(tasks)
        self.recorded += sum(record is not None for record in found)
        return found

    def given(self, task: Task, record: Receipt | None) -> Task:
        """The task with its record. Raises VerifyError where that is none."""
        if record is None:
            return task
        return replace(task, payload={**task.payload, RECORDED: recorded_effects(record.facts, self._where(task))})

    def check(self, tasks: Sequence[Task], records: Sequence[Receipt | None], receipts: Sequence[Receipt]) -> None:
        """Raise VerifyError where a task ended with other bytes than those of its record."""
        for task, record, receipt in zip(tasks, records, receipts, strict=True):
            if record is not None and record.digest != receipt.digest:
                remedy = "give an empty --out: work from before the replay stays; or replay an output of this version"
                raise VerifyError("not the bytes of the replayed output", task.label, self._where(task), remedy)

    def _where(self, task: Task) -> str:
        return f"{self.shown}/{OBJECTS}/{task.key}/{RECEIPT}"

"""What an engine is: two verbs over tasks, nothing of stages (design section 6).

An engine gets tasks (plain data) and has every one of them run by `pipeline.task.run_task` somewhere, with
retries. It yields receipts as they come, with the index of their task. Finished work survives anything.
Errors: GristmillError of a task is raised as it is; a worker lost too often raises EngineLostError.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from gristmill.manifests.commit import Receipt
from gristmill.pipeline.task import Task


@dataclass(frozen=True)
class ExchangeJob:
    """An exchange: `emits[i]` spills shard i by key, and `reduces(receipts)` makes the tasks of the partitions
    from the receipts of all emits, in order."""

    emits: Sequence[Task]
    reduces: Callable[[Sequence[Receipt]], Sequence[Task]]


@dataclass(frozen=True)
class EngineEvent:
    """Something that people watch: `what` is start, commit, reuse, retry or lost."""

    what: str
    label: str
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])


Notify = Callable[[EngineEvent], None]


class Engine(Protocol):
    """See the module."""

    name: str

    def map(self, tasks: Sequence[Task], notify: Notify) -> Iterator[tuple[int, Receipt]]:
        """Run tasks in any order; (index, receipt) as they finish."""
        ...

    def exchange(self, job: ExchangeJob, notify: Notify) -> list[Receipt]:
        """Run an exchange; the receipts of the reduces, in order of partition."""
        ...

    def close(self) -> None:
        """Give processes and connections back."""
        ...


def run_all(engine: Engine, tasks: Sequence[Task], notify: Notify) -> list[Receipt]:
    """The receipts of all tasks, in their order."""
    receipts: dict[int, Receipt] = dict(engine.map(tasks, notify))
    return [receipts[i] for i in range(len(tasks))]

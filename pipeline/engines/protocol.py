"""What an engine is: two verbs over tasks, nothing of stages (design section 6).

An engine gets tasks (plain data) and has every one of them run by `pipeline.task.run_task` somewhere, with
retries. It yields receipts as they come, with the index of their task. Finished work survives anything.
Errors: GristmillError of a task is raised as it is; a worker lost too often raises EngineLostError.

An exchange is a `map` of tasks that leave spill files, cut into parts by their keys, and then an `exchange` of tasks
that read one part of each of them. How these parts get to where a task runs is the engine's affair; which rows stand in
which part never is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.resources import Resources
from gristmill.pipeline.task import Task


@dataclass(frozen=True)
class EngineEvent:
    """Something that people watch: `what` is start, commit, reuse, retry, waiting or lost."""

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

    def exchange(self, tasks: Sequence[Task], notify: Notify) -> Iterator[tuple[int, Receipt]]:
        """As `map`, for tasks whose payload names in `spills` the parts of spill files that they read (`[path, part,
        base]`, `pipeline.spill`): the engine may bring them to the task, and name other paths there."""
        ...

    def close(self) -> None:
        """Give processes and connections back."""
        ...


@runtime_checkable
class Bounded(Protocol):
    """An engine that knows what there is where its tasks run."""

    def refuse(self, wanted: Iterable[tuple[str, Resources]]) -> None:
        """Raise UsageError where tasks that take this (place in the recipe, resources) can never run. Asked of
        everything that a run may do, before it does anything."""
        ...


def found_done(
    store: ObjectStore, tasks: Sequence[Task], missing: dict[int, Task], notify: Notify
) -> Iterator[tuple[int, Receipt]]:
    """What is committed of some tasks; the others are put into `missing` by their indices."""
    for index, (task, found) in enumerate(zip(tasks, store.find_all(t.key for t in tasks), strict=True)):
        if found is None:
            missing[index] = task
        else:
            notify(EngineEvent("reuse", task.label))
            yield index, found


def in_order(found: Iterable[tuple[int, Receipt]]) -> list[Receipt]:
    """The receipts of all tasks, in their order."""
    receipts = dict(found)
    return [receipts[i] for i in range(len(receipts))]

"""What the engine wants of an executor: start a job, say which workers are gone and whether anything still works."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from gristmill.pipeline.engines.trove.job import Job, Worker
from gristmill.pipeline.task import Resources, Task


class Launcher(Protocol):
    """One executor of datatrove under supervision. A launch that does not stand fails in `start` or `over`.

    `pause_s` is the longest time between two looks at a job; `stuck_s` how long a job may stand without a task at
    work before it is given up and launched anew (inf: the executor knows better).
    """

    pause_s: float
    stuck_s: float

    def refuse(self, wanted: Iterable[tuple[str, Resources]]) -> None:
        """See Bounded.refuse: as far as it is known before anything is started."""
        ...

    def ranks_for(self, tasks: Sequence[Task], resources: Resources) -> int:
        """Into how many ranks so many tasks are worth being cut."""
        ...

    def start(self, job: Job, ranks: int, resources: Resources) -> None:
        """Hand the ranks of a job to the executor. Raises UsageError, EngineLostError when it cannot be had."""
        ...

    def is_gone(self, worker: Worker) -> bool:
        """Whether a worker that began a task is surely dead."""
        ...

    def over(self) -> str | None:
        """Why nothing of the job works any more; None while something may. EngineLostError: nothing will."""
        ...

    def stop(self, calm: bool) -> None:
        """End what still works for the job; `calm` says that all of its tasks are done. Nothing committed is lost."""
        ...

    def close(self) -> None:
        """Give back what is held between jobs."""
        ...

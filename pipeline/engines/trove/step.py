"""The one datatrove step: rank r runs the tasks of rank r of a job by the common runner, and marks how they end.

It takes and gives no documents. It never raises what a task raised, but marks it for the driver; so executors see
success whatever the task did, and what they note of completions means nothing.
"""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.open_store import open_store
from gristmill.pipeline.engines.answer import answer_to
from gristmill.pipeline.engines.processes import die_with_parent
from gristmill.pipeline.engines.trove.gpus import GpuSets
from gristmill.pipeline.engines.trove.job import Job
from gristmill.pipeline.task import Task, run_task

if TYPE_CHECKING:
    from datatrove.io import DataFolder
    from datatrove.pipeline.base import PipelineStep


at_work: list[tuple[Job, int, str]] = []
"""The job, number and label of the task that this process is at, for who has to end it; at most one."""


def split_step(folder: str, guarded: bool = False, gpus: GpuSets | None = None) -> "PipelineStep":
    """The step of the job in a folder. It is pickled as a call of this function: the folder's name is all it holds.

    `guarded`: a rank runs in a process of its own, whose death is told; for executors that would not notice it.
    `gpus`: what the processes of a pool see, each its own.
    """
    from datatrove.pipeline.base import PipelineStep

    class SplitStep(PipelineStep):
        name = "splits of gristmill"
        type = "Gristmill"

        def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Any:
            if gpus is not None:
                gpus.claim()
            (guard_rank if guarded else run_rank)(Job(Path(folder)), rank)
            yield from ()

        def __reduce__(self) -> tuple[Any, ...]:
            return split_step, (folder, guarded, gpus)

    return SplitStep()


def log_folder(job: Job) -> "DataFolder":
    """Where an executor of a job may write. It makes no folders: who is late finds that the job was called off."""
    from datatrove.io import DataFolder
    from fsspec.implementations.local import LocalFileSystem

    return DataFolder(str(job.log), fs=LocalFileSystem(auto_mkdir=False), auto_mkdir=False)


def guard_rank(job: Job, rank: int) -> None:
    """Run a rank in a child process, and say so when that dies; another says so when this one does."""
    guard = os.getpid()
    die_with_parent(os.getppid())
    heard, alive = os.pipe()
    witness = _fork(lambda: _witness(job, rank, heard, alive))
    os.close(heard)
    child = _fork(lambda: _guarded(job, rank, guard, alive))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        _lose(job, rank, f"exit code {code}")
    os.write(alive, b".")
    os.close(alive)
    os.waitpid(witness, 0)


def _fork(run: Callable[[], None]) -> int:
    """The pid of a child that runs something and ends."""
    child = os.fork()
    if child:
        return child
    try:
        run()
        os._exit(0)
    finally:
        os._exit(1)


def _guarded(job: Job, rank: int, guard: int, alive: int) -> None:
    os.close(alive)
    die_with_parent(guard)
    run_rank(job, rank)


def _witness(job: Job, rank: int, heard: int, alive: int) -> None:
    """Wait until a guard ends; it says so if nobody killed it. Its pool would wait for it for ever."""
    os.close(alive)
    if not os.read(heard, 1):
        _lose(job, rank, "the process that waits for the worker was killed")


def _lose(job: Job, rank: int, how: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        job.lose(next(job.tasks(rank))[0], how)


def run_rank(job: Job, rank: int) -> None:
    """Run the tasks of a rank; the first that raises ends it. A job whose folder is gone was called off."""
    store = open_store(job.root)
    with contextlib.suppress(FileNotFoundError):
        for number, task in job.tasks(rank):
            at_work[:] = [(job, number, task.label)]
            job.begin(number)
            error = error_of(store, task)
            at_work.clear()
            job.end(number, error)
            if error is not None:
                return


def error_of(store: ObjectStore, task: Task) -> BaseException | None:
    """Run a task; what the driver is to raise of it, None when it is done."""
    try:
        run_task(store, task)
    except BaseException as error:
        return answer_to(error, task.label)
    return None

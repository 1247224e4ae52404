"""The local engine: worker processes on this machine, one task in flight each.

Workers are spawned clean, ignore Ctrl-C (the driver ends them) and die with the driver. A worker that dies
(SIGKILL, a crash in native code) costs its task a retry in a new process, `MAX_ATTEMPTS` in all; then the run stops
with EngineLostError, and what is committed stays. With 0 workers tasks run in the driver itself (for debugging).
Tasks that say what they take share the machine by it (`engines.schedule`). Workers are its processors; one that runs
tasks with accelerators sees these alone, for all its life: CUDA reads its variable once.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.errors import EngineLostError
from gristmill.manifests.open_store import open_store
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.engines.answer import TaskError, answer_to
from gristmill.pipeline.engines.machine import VISIBLE, Machine, this_machine
from gristmill.pipeline.engines.processes import begin, started
from gristmill.pipeline.engines.protocol import EngineEvent, Notify, found_done
from gristmill.pipeline.engines.schedule import Schedule
from gristmill.pipeline.resources import Resources
from gristmill.pipeline.task import Task, run_task

__all__ = ["MAX_ATTEMPTS", "LocalEngine", "TaskError"]

MAX_ATTEMPTS = 3


def _work(pipe: Connection, parent_pid: int, root: str, gpus: tuple[str, ...]) -> None:
    """A worker: tasks in, (receipt or error) out, until the pipe closes."""
    begin(parent_pid)
    if gpus:
        os.environ[VISIBLE] = ",".join(gpus)
    store = open_store(root)
    while True:
        try:
            task: Task | None = pipe.recv()
        except EOFError:
            return
        if task is None:
            return
        try:
            answer: Any = run_task(store, task)
        except BaseException as error:
            answer = answer_to(error, task.label)
        pipe.send(answer)


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    gpus: tuple[str, ...]
    task: int | None = None


class LocalEngine:
    """See the module. `workers` processes; `root` is the output's folder; `machine` is this one if not given (its
    processors are the workers in any case)."""

    name = "local"

    def __init__(self, root: Path, workers: int, machine: Machine | None = None) -> None:
        self._root = root
        self._machine = replace(machine or this_machine(workers), cpus=max(workers, 1))
        self._count = workers
        self._workers: list[_Worker] = []

    def refuse(self, wanted: Iterable[tuple[str, Resources]]) -> None:
        """See Bounded.refuse."""
        self._machine.refuse(wanted)

    def map(self, tasks: Sequence[Task], notify: Notify) -> Iterator[tuple[int, Receipt]]:
        """See Engine.map. Large tasks start first."""
        store = open_store(self._root)
        schedule = Schedule(self._machine)
        missing: dict[int, Task] = {}
        yield from found_done(store, tasks, missing, notify)
        for index, task in missing.items():
            self.refuse([(task.label, task.resources)])
            schedule.add(index, task.bytes, task.resources)
        if self._count == 0:
            yield from self._inline(tasks, schedule, store, notify)
        else:
            yield from self._pooled(tasks, schedule, notify)

    def exchange(self, tasks: Sequence[Task], notify: Notify) -> Iterator[tuple[int, Receipt]]:
        """See Engine.exchange: the spill files lie on this machine's disk."""
        return self.map(tasks, notify)

    def _inline(
        self, tasks: Sequence[Task], schedule: Schedule, store: ObjectStore, notify: Notify
    ) -> Iterator[tuple[int, Receipt]]:
        while grant := schedule.take():
            index = grant.index
            notify(EngineEvent("start", tasks[index].label))
            try:
                receipt = run_task(store, tasks[index])
            except (SystemExit, MemoryError) as error:  # a stage's is no reason for the driver to end as if told to
                raise answer_to(error, tasks[index].label) from error
            schedule.give_back(index)
            notify(EngineEvent("commit", tasks[index].label, receipt.volatile))
            yield index, receipt

    def _pooled(self, tasks: Sequence[Task], schedule: Schedule, notify: Notify) -> Iterator[tuple[int, Receipt]]:
        attempts: dict[int, int] = {}
        while schedule.waits() or schedule.running:
            self._fill(tasks, schedule, notify)
            handles: list[Any] = [h for w in self._workers for h in (w.pipe, w.process.sentinel)]
            ready = set(wait(handles))
            for worker in list(self._workers):
                if worker.pipe not in ready and worker.process.sentinel not in ready:
                    continue
                index = worker.task
                answer = self._answer(worker)
                if answer is not None and index is not None:
                    worker.task = None
                    schedule.give_back(index)
                    notify(EngineEvent("commit", tasks[index].label, answer.volatile))
                    yield index, answer
                elif answer is None:
                    if index is not None:
                        schedule.give_back(index)
                    self._replace(worker, tasks, schedule, attempts, notify)

    def _fill(self, tasks: Sequence[Task], schedule: Schedule, notify: Notify) -> None:
        while grant := schedule.take():
            worker = self._idle_worker(grant.gpus)
            worker.task = grant.index
            task = tasks[grant.index]
            facts = {"gpus": list(grant.gpus)} if grant.gpus else {}
            notify(EngineEvent("start", task.label, {"pid": worker.process.pid, **facts}))
            try:
                worker.pipe.send(task)
            except (BrokenPipeError, ConnectionResetError):
                continue  # the sentinel tells, and the task is given out again

    def _idle_worker(self, gpus: tuple[str, ...]) -> _Worker:
        """One that sees these accelerators; made where there is none, in place of another if there are enough."""
        idle = [w for w in self._workers if w.task is None]
        for worker in idle:
            if worker.gpus == gpus:
                return worker
        if len(self._workers) >= self._count:
            self._end(idle[0])
            self._workers.remove(idle[0])
        self._workers.append(self._start(gpus))
        return self._workers[-1]

    def _start(self, gpus: tuple[str, ...]) -> _Worker:
        process, ours = started(_work, (str(self._root), gpus), "gristmill-worker")
        return _Worker(process, ours, gpus)

    def _answer(self, worker: _Worker) -> Receipt | None:
        """What the worker sent; None when it died. Raises the task's own error."""
        try:
            if not worker.pipe.poll():
                return None
            answer = worker.pipe.recv()
        except (EOFError, OSError):
            return None
        if isinstance(answer, Receipt):
            return answer
        worker.task = None
        raise answer

    def _replace(
        self,
        worker: _Worker,
        tasks: Sequence[Task],
        schedule: Schedule,
        attempts: dict[int, int],
        notify: Notify,
    ) -> None:
        self._workers.remove(worker)
        worker.process.join()
        worker.pipe.close()
        index = worker.task
        if index is None:
            return
        attempts[index] = attempts.get(index, 0) + 1
        how = f"exit code {worker.process.exitcode}"
        if attempts[index] >= MAX_ATTEMPTS:
            notify(EngineEvent("lost", tasks[index].label, {"how": how}))
            raise EngineLostError(
                f"a worker died {MAX_ATTEMPTS} times at the same split",
                where=tasks[index].label,
                value=how,
                remedy="run the same command to resume, with fewer --workers if memory ran out",
            )
        notify(EngineEvent("retry", tasks[index].label, {"how": how}))
        schedule.add(index, tasks[index].bytes, tasks[index].resources)

    def close(self) -> None:
        """End the workers; one in the middle of a task is killed, which loses nothing committed."""
        for worker in self._workers:
            if worker.task is not None:
                worker.process.kill()
            worker.pipe.close()
        for worker in self._workers:
            self._end(worker)
        self._workers.clear()

    def _end(self, worker: _Worker) -> None:
        worker.pipe.close()
        worker.process.join(timeout=5)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()

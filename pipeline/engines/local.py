"""The local engine: worker processes on this machine, one task in flight each.

Workers are spawned clean, ignore Ctrl-C (the driver ends them) and die with the driver. A worker that dies
(SIGKILL, a crash in native code) costs its task a retry in a new process, `MAX_ATTEMPTS` in all; then the run stops
with EngineLostError, and what is committed stays. With 0 workers tasks run in the driver itself (for debugging).
"""

import ctypes
import heapq
import multiprocessing
import os
import signal
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from gristmill.manifests.commit import ObjectStore, Receipt
from gristmill.manifests.errors import EngineLostError, GristmillError
from gristmill.manifests.open_store import open_store
from gristmill.pipeline.engines.protocol import EngineEvent, Notify
from gristmill.pipeline.task import Task, run_task

MAX_ATTEMPTS = 3
_PR_SET_PDEATHSIG = 1


class TaskError(GristmillError):
    """A task raised something unexpected: a bug. The worker's traceback is attached as a note."""


def _work(root: str, pipe: Connection, parent_pid: int) -> None:
    """A worker: tasks in, (receipt or error) out, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.dup2(2, 1)  # what a stage prints is no result of the command
    if hasattr(os, "getppid"):
        _die_with_parent(parent_pid)
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
        except (GristmillError, OSError) as error:
            answer = error
        except MemoryError:
            answer = EngineLostError(
                "a worker ran out of memory", task.label, remedy="run the same command with fewer --workers to resume"
            )
        except BaseException as error:
            wrapped = TaskError(f"{type(error).__name__}: {error}", where=task.label)
            answer = (wrapped, traceback.format_exc())
        pipe.send(answer)


def _die_with_parent(parent_pid: int) -> None:
    """Have the kernel end this process with the driver (Linux); elsewhere the closed pipe does."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent_pid:
        os._exit(1)


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    task: int | None = None


class LocalEngine:
    """See the module. `workers` processes; `root` is the output's folder."""

    name = "local"

    def __init__(self, root: Path, workers: int) -> None:
        self._root = root
        self._count = workers
        self._workers: list[_Worker] = []
        self._context = multiprocessing.get_context("spawn")

    def map(self, tasks: Sequence[Task], notify: Notify) -> Iterator[tuple[int, Receipt]]:
        """See Engine.map. Large tasks start first."""
        store = open_store(self._root)
        queue: list[tuple[int, int]] = []
        for index, (task, found) in enumerate(zip(tasks, store.find_all(t.key for t in tasks), strict=True)):
            if found is not None:
                notify(EngineEvent("reuse", task.label))
                yield index, found
            else:
                queue.append((-task.bytes, index))
        heapq.heapify(queue)
        if self._count == 0:
            yield from self._inline(tasks, queue, store, notify)
        else:
            yield from self._pooled(tasks, queue, notify)

    def exchange(self, tasks: Sequence[Task], notify: Notify) -> Iterator[tuple[int, Receipt]]:
        """See Engine.exchange: the spill files lie on this machine's disk."""
        return self.map(tasks, notify)

    def _inline(
        self, tasks: Sequence[Task], queue: list[tuple[int, int]], store: ObjectStore, notify: Notify
    ) -> Iterator[tuple[int, Receipt]]:
        while queue:
            _, index = heapq.heappop(queue)
            notify(EngineEvent("start", tasks[index].label))
            receipt = run_task(store, tasks[index])
            notify(EngineEvent("commit", tasks[index].label, receipt.volatile))
            yield index, receipt

    def _pooled(
        self, tasks: Sequence[Task], queue: list[tuple[int, int]], notify: Notify
    ) -> Iterator[tuple[int, Receipt]]:
        attempts: dict[int, int] = {}
        while queue or any(w.task is not None for w in self._workers):
            self._fill(tasks, queue, notify)
            handles: list[Any] = [h for w in self._workers for h in (w.pipe, w.process.sentinel)]
            ready = set(wait(handles))
            for worker in list(self._workers):
                if worker.pipe not in ready and worker.process.sentinel not in ready:
                    continue
                index = worker.task
                answer = self._answer(worker)
                if answer is not None and index is not None:
                    worker.task = None
                    notify(EngineEvent("commit", tasks[index].label, answer.volatile))
                    yield index, answer
                elif answer is None:
                    self._replace(worker, tasks, queue, attempts, notify)

    def _fill(self, tasks: Sequence[Task], queue: list[tuple[int, int]], notify: Notify) -> None:
        busy = sum(w.task is not None for w in self._workers)
        while len(self._workers) < min(self._count, busy + len(queue)):
            self._workers.append(self._start())
        for worker in self._workers:
            if worker.task is None and queue:
                _, index = heapq.heappop(queue)
                worker.task = index
                notify(EngineEvent("start", tasks[index].label, {"pid": worker.process.pid}))
                try:
                    worker.pipe.send(tasks[index])
                except (BrokenPipeError, ConnectionResetError):
                    continue  # the sentinel tells, and the task is given out again

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_work, args=(str(self._root), theirs, os.getpid()), daemon=False, name="gristmill-worker"
        )
        # A worker inherits the mask: one that is still importing when Ctrl-C comes would print a traceback.
        resource_tracker.ensure_running()  # else `start` does it, and unblocks the signal on the way
        held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
        theirs.close()
        return _Worker(process, ours)

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
        if isinstance(answer, GristmillError | OSError):
            raise answer
        error, remote = answer
        error.add_note(f"in the worker:\n{remote}")
        raise error

    def _replace(
        self,
        worker: _Worker,
        tasks: Sequence[Task],
        queue: list[tuple[int, int]],
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
        heapq.heappush(queue, (-tasks[index].bytes, index))

    def close(self) -> None:
        """End the workers; one in the middle of a task is killed, which loses nothing committed."""
        for worker in self._workers:
            if worker.task is not None:
                worker.process.kill()
            worker.pipe.close()
        for worker in self._workers:
            worker.process.join(timeout=5)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers.clear()

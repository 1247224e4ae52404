"""The engine datatrove: each set of tasks is a job of one of its executors, with one step that runs the common runner.

Receipts alone say what is done: datatrove's notes of completion are never read, each job has a fresh folder for them. A
worker that is lost costs its task a retry in a further job with what is missing, `MAX_ATTEMPTS` in all; then the run
stops with EngineLostError, and what is committed stays. An exchange is a job over the same spill files, so the
output lies where every worker sees it.
"""

import heapq
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.errors import EngineLostError, UsageError
from gristmill.manifests.open_store import open_store
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.working_copy import output_of
from gristmill.pipeline.engines.choose import Choice
from gristmill.pipeline.engines.local import MAX_ATTEMPTS
from gristmill.pipeline.engines.protocol import Engine, EngineEvent, Notify, found_done
from gristmill.pipeline.engines.trove.job import Job, Mark, Worker, write_job
from gristmill.pipeline.engines.trove.launch import Launcher
from gristmill.pipeline.resources import enough_for
from gristmill.pipeline.task import Resources, Task

_FIRST_PAUSE_S = 0.002
_STUCK_AFTER_LOSS_S = 2.0
"""A worker that is killed may take a lock of its pool along: then no other gets a task any more."""
_RECEIPT_LAG_S = 60.0
"""So long may a shared file system hide a receipt from us that another machine has written."""


class DatatroveEngine:
    """See the module. `root` is the output's folder."""

    name = "datatrove"

    def __init__(self, root: Path, launcher: Launcher) -> None:
        self._store = open_store(root)
        self._launcher = launcher

    def refuse(self, wanted: Iterable[tuple[str, Resources]]) -> None:
        """See Bounded.refuse."""
        self._launcher.refuse(wanted)

    def map(self, tasks: Sequence[Task], notify: Notify) -> Iterator[tuple[int, Receipt]]:
        """See Engine.map. Large tasks start first."""
        missing: dict[int, Task] = {}
        yield from found_done(self._store, tasks, missing, notify)
        if missing:
            self.refuse((task.label, task.resources) for task in missing.values())
            yield from _Map(self._store, self._launcher, missing, notify).run()

    def exchange(self, tasks: Sequence[Task], notify: Notify) -> Iterator[tuple[int, Receipt]]:
        """See Engine.exchange: the spill files lie where every worker sees them."""
        return self.map(tasks, notify)

    def close(self) -> None:
        """End what works; nothing committed is lost."""
        self._launcher.close()


class _Map:
    """One set of tasks on its way: `missing` by their indices; `lost` counts how often a task took its worker along."""

    def __init__(self, store: ObjectStore, launcher: Launcher, missing: dict[int, Task], notify: Notify) -> None:
        self.store = store
        self.launcher = launcher
        self.missing = missing
        self.tasks = len(missing)
        self.notify = notify
        self.lost: Counter[int] = Counter()
        self.barren = 0

    def run(self) -> Iterator[tuple[int, Receipt]]:
        """Jobs until nothing is missing."""
        resources = enough_for(task.resources for task in self.missing.values())
        while self.missing:
            wanted = self.launcher.ranks_for(list(self.missing.values()), resources)
            ranks = deal(self.missing, wanted, self.lost)
            job = write_job(self.store.root, ranks)
            watch = _Watch(self, job, ranks)
            try:
                self.launcher.start(job, len(ranks), resources)
                yield from watch.receipts()
            finally:
                self.launcher.stop(not self.missing)
                job.remove()
            self._count(watch)

    def _count(self, watch: "_Watch") -> None:
        """What a job that ended too soon cost."""
        for index in sorted(watch.gone & set(self.missing)):
            self.lost[index] += 1
            if self.lost[index] >= MAX_ATTEMPTS:
                self.give_up(index, f"a worker was lost {MAX_ATTEMPTS} times at the same split", watch.how)
            self.notify(EngineEvent("retry", self.missing[index].label, {"how": watch.how}))
        self.barren = 0 if watch.gone or not self.missing or watch.committed else self.barren + 1
        if self.barren >= MAX_ATTEMPTS:
            self.give_up(next(iter(self.missing)), f"{MAX_ATTEMPTS} jobs ended without beginning a task", watch.how)

    def give_up(self, index: int, what: str, how: str) -> None:
        """Raise EngineLostError, with what is committed and how to resume."""
        label = self.missing[index].label
        self.notify(EngineEvent("lost", label, {"how": how}))
        done = f"{self.tasks - len(self.missing)} of {self.tasks} tasks of this step are committed"
        remedy = f"{done}; run the same command to resume, with fewer --workers if memory ran out"
        raise EngineLostError(what, label, how, remedy)


class _Watch:
    """The supervision of one job: what its marks say, who is gone, and when there is nothing to wait for."""

    def __init__(self, of: _Map, job: Job, ranks: Sequence[Mapping[int, Task]]) -> None:
        self.of = of
        self.job = job
        self.rank_of = {index: rank for rank in ranks for index in rank}
        self.running: dict[int, Worker] = {}
        self.unseen: dict[int, float] = {}
        self.gone: set[int] = set()
        self.committed = 0
        self.how = ""
        self.busy_s = time.monotonic()

    def receipts(self) -> Iterator[tuple[int, Receipt]]:
        """Receipts as they come, until all are there or no more will come. Raises what a task raised."""
        pause_s = _FIRST_PAUSE_S
        while True:
            # Before the marks are read: who dies behind its mark is not lost.
            over = self.of.launcher.over()
            suspects = [i for i, worker in self.running.items() if self.of.launcher.is_gone(worker)]
            seen = self.committed
            for mark in self.job.marks():
                yield from self._heed(mark)
            for index in list(self.unseen):
                yield from self._commit(index)
            for index in suspects:
                yield from self._bury(index)
            if over is not None:
                for index in list(self.running):
                    yield from self._bury(index, over)
                self.how = self.how or over
                return
            if self._nothing_to_wait_for():
                return
            pause_s = _FIRST_PAUSE_S if self.committed > seen else min(1.3 * pause_s, self.of.launcher.pause_s)
            time.sleep(pause_s)

    def _heed(self, mark: Mark) -> Iterator[tuple[int, Receipt]]:
        self.busy_s = time.monotonic()
        if mark.what == "gone":
            if self.gone & set(self.rank_of[mark.number]):
                return  # told twice: its next task was not begun
            of_rank = [i for i in self.rank_of[mark.number] if i in self.of.missing]
            at_work = [i for i in of_rank if i in self.running] or of_rank[:1]
            for index in at_work:
                yield from self._bury(index, mark.how)
            return
        task = self.of.missing.get(mark.number)
        if task is None:
            return
        if mark.what == "start" and mark.worker is not None:
            again = mark.number in self.running  # a job of a cluster was queued again
            facts = {"host": mark.worker.host, "pid": mark.worker.pid}
            self.notify("retry" if again else "start", task, {**facts, **({"how": "queued again"} if again else {})})
            self.running[mark.number] = mark.worker
        elif mark.error is not None:
            raise mark.error
        else:
            self.running.pop(mark.number, None)
            self.unseen[mark.number] = time.monotonic()
            yield from self._commit(mark.number)

    def notify(self, what: str, task: Task, facts: Mapping[str, object]) -> None:
        """Pass an event on."""
        self.of.notify(EngineEvent(what, task.label, facts))

    def _commit(self, index: int) -> Iterator[tuple[int, Receipt]]:
        task = self.of.missing[index]
        receipt = self.of.store.find(task.key)
        if receipt is not None:
            self.committed += 1
            self.unseen.pop(index, None)
            del self.of.missing[index]
            self.notify("commit", task, receipt.volatile)
            yield index, receipt
        elif index in self.unseen and time.monotonic() - self.unseen[index] > _RECEIPT_LAG_S:
            del self.unseen[index]
            self.gone.add(index)
            self.how = "its receipt is not to be seen here"

    def _bury(self, index: int, how: str = "") -> Iterator[tuple[int, Receipt]]:
        """A worker that is gone: its task may be committed all the same."""
        worker = self.running.pop(index, None)
        if index not in self.of.missing or index in self.unseen:
            return
        yield from self._commit(index)
        if index in self.of.missing:
            self.gone.add(index)
            self.how = how or (f"process {worker.pid} of {worker.host} is gone" if worker else "")

    def _nothing_to_wait_for(self) -> bool:
        """Everything is there; or all that is missing was in the hands of those who are gone; or nobody works."""
        dead = {i for index in self.gone for i in self.rank_of[index]}
        if not set(self.of.missing) - dead:
            return True
        if self.running or self.unseen:
            return False
        idle_s = time.monotonic() - self.busy_s
        stuck = idle_s > min(self.of.launcher.stuck_s, _STUCK_AFTER_LOSS_S if self.gone else self.of.launcher.stuck_s)
        self.how = self.how or (f"no task was begun for {idle_s:.0f} s" if stuck else "")
        return stuck


def deal(tasks: Mapping[int, Task], ranks: int, lost: Mapping[int, int]) -> list[dict[int, Task]]:
    """Tasks as so many ranks at most, each about as large as another, the largest first; one that took its worker
    along has a rank for itself."""
    order = sorted(tasks, key=lambda i: (-tasks[i].bytes, i))
    alone = [{i: tasks[i]} for i in order if lost.get(i)]
    shared: list[dict[int, Task]] = [{} for _ in range(ranks)]
    sizes = [(0, 0, rank) for rank in range(ranks)]  # bytes, tasks: a heap
    for index in (i for i in order if not lost.get(i)):
        size, count, rank = sizes[0]
        shared[rank][index] = tasks[index]
        heapq.heapreplace(sizes, (size + tasks[index].bytes, count + 1, rank))
    return [rank for rank in (*shared, *alone) if rank]


def datatrove_engine(choice: Choice, out: Path) -> Engine:
    """The engine with the executor of a choice. Raises UsageError where what that needs is not there."""
    remote = output_of(out)
    if remote is not None and choice.executor != "local":
        remedy = "give --out on storage that all hosts share, or another engine"
        raise UsageError("jobs lie in the output's folder, which other hosts must see", "--out", str(remote), remedy)
    if choice.executor == "slurm":
        from gristmill.pipeline.engines.trove.slurm import SlurmLauncher

        launcher: Launcher = SlurmLauncher(choice.profile.slurm, choice.asked)
    elif choice.executor == "ray":
        from gristmill.pipeline.engines.trove.ray import RayLauncher

        launcher = RayLauncher(choice.profile.ray, choice.workers, choice.asked)
    else:
        from gristmill.pipeline.engines.trove.local import LocalLauncher

        launcher = LocalLauncher(choice.workers)
    return DatatroveEngine(out, launcher)

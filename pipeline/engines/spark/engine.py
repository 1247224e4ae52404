"""The engine `spark`: splits are Spark tasks, and the rows of an exchange go through Spark's shuffle.

Each task is one Spark task that runs the common runner; it reads and commits files itself, on storage that all
executors share, under the same paths. In an exchange the parts of spill files (fixed-width rows, sorted, cut by a
prefix of their key) are read file by file where Spark pleases, and shuffled block by block to the partition of the task
that merges them: the partition is the plan's, never that of an engine's hash, and shared storage is read once a file,
not once a file and partition.

Answers come back through an accumulator as tasks end, so that progress is seen; an answer may come twice. Spark tries a
lost task again; a task's own error is an answer, which ends the run at once.
"""

import os
import pickle
import queue
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import EngineLostError, GristmillError, UsageError
from gristmill.manifests.open_store import open_store
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.engines.choose import Choice
from gristmill.pipeline.engines.java import java_home
from gristmill.pipeline.engines.machine import this_machine
from gristmill.pipeline.engines.protocol import EngineEvent, Notify, found_done
from gristmill.pipeline.engines.spark.session import (
    MAX_FAILURES,
    Context,
    executors_of,
    first_line,
    is_idle,
    is_local,
    master_of,
    refuse_unreachable,
    ship,
    start_context,
    stop_context,
)
from gristmill.pipeline.engines.spark.worker import (
    Answer,
    Answers,
    Job,
    Part,
    read_pieces,
    run_tasks,
    run_with_pieces,
)
from gristmill.pipeline.recipe_files import RecipeFiles
from gristmill.pipeline.resources import SMALL, Resources, enough_for
from gristmill.pipeline.task import Task

LOG = "spark.log"
_PATIENCE_S = 60.0
_EXECUTOR_GPUS = "spark.executor.resource.gpu.amount"
_RESUME = "run the same command to resume; what is committed stays"

Numbered = list[tuple[int, Task]]
Act = Callable[[Job, Numbered], None]
"""Runs a job of Spark over tasks; answers come by its accumulator."""


def spark_engine(choice: Choice, out: Path, shipped: RecipeFiles) -> "SparkEngine":
    """The engine of a run into `out`; Spark starts with the first task that is not found done. What it cannot start
    without is missed here: UsageError without a Java, EngineLostError without a master."""
    master = master_of(choice.master, choice.workers)
    os.environ["JAVA_HOME"] = java_home()
    refuse_unreachable(master)
    return SparkEngine(out, master, dict(choice.profile.spark), shipped)


class SparkEngine:
    """See the module."""

    name = "spark"

    def __init__(self, out: Path, master: str, settings: dict[str, Any], shipped: RecipeFiles) -> None:
        self._root = out
        self._master = master
        self._settings = settings
        self._shipped = shipped
        self._context: Context = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def refuse(self, wanted: Iterable[tuple[str, Resources]]) -> None:
        """See Bounded.refuse; of a cluster nothing is known before it is asked."""
        if is_local(self._master):
            this_machine(1).refuse(wanted)

    def map(self, tasks: Sequence[Task], notify: Notify) -> Iterator[tuple[int, Receipt]]:
        """See Engine.map. Large tasks start first."""
        yield from self._some(tasks, notify, self._tasks)

    def exchange(self, tasks: Sequence[Task], notify: Notify) -> Iterator[tuple[int, Receipt]]:
        """See Engine.exchange."""
        yield from self._some(tasks, notify, self._shuffled)

    def _some(self, tasks: Sequence[Task], notify: Notify, act: Act) -> Iterator[tuple[int, Receipt]]:
        """What is committed, and then the rest by a job over it."""
        missing: dict[int, Task] = {}
        yield from found_done(open_store(self._root), tasks, missing, notify)
        if missing:
            left = sorted(missing.items(), key=lambda one: -one[1].bytes)
            yield from self._run(left, notify, act)

    def _tasks(self, job: Job, left: Numbered) -> None:
        resources, blobs = _enough(left), [pickle.dumps(one) for one in left]
        slices = _slices(self._started(), len(blobs), resources)
        dealt = [blob for first in range(slices) for blob in blobs[first::slices]]
        rdd = _sized(self._started().parallelize(dealt, slices), self._master, resources)
        rdd.foreachPartition(partial(run_tasks, job))

    def _shuffled(self, job: Job, left: Numbered) -> None:
        own = [(number, pickle.dumps(one)) for number, one in enumerate(left)]
        files = [(None, pickle.dumps(listed)) for listed in _parts_by_file(left).items()]
        listed = self._started().parallelize([*own, *files], max(1, len(files)))
        pieces = listed.mapPartitions(partial(read_pieces, job.root)).partitionBy(len(left), int)
        _sized(pieces, self._master, _enough(left)).foreachPartition(partial(run_with_pieces, job))

    def _run(self, left: Numbered, notify: Notify, action: Act) -> Iterator[tuple[int, Receipt]]:
        """Run a job and yield receipts as its answers come."""
        from pyspark import InheritableThread

        context = self._started()
        answers: queue.SimpleQueue[Answer | BaseException | None] = queue.SimpleQueue()
        accumulator = context.accumulator([], Answers(answers.put))
        job = Job(str(self._root), self._max_failures(), accumulator, bool(self._shipped.files))

        def act() -> None:
            try:
                action(job, left)
                answers.put(None)
            except BaseException as error:
                answers.put(error)

        thread = InheritableThread(target=act, daemon=True)
        thread.start()
        try:
            yield from self._answers(dict(left), answers, notify)
        finally:
            if thread.is_alive():
                with suppress(Exception):  # of a JVM that is gone: what ended the run is told, not this
                    context.cancelAllJobs()
            thread.join(timeout=30)

    def _answers(
        self, waiting: dict[int, Task], answers: "queue.SimpleQueue[Any]", notify: Notify
    ) -> Iterator[tuple[int, Receipt]]:
        while (answer := self._next(answers, waiting, notify)) is not None:
            if isinstance(answer, BaseException):
                raise self._lost(answer, waiting, notify)
            index, what, value, attempt = answer
            task = waiting.pop(index, None)
            if task is None:
                continue
            if attempt:
                notify(EngineEvent("retry", task.label, {"how": f"attempt {attempt + 1}"}))
            if what == "failed":
                raise value
            notify(EngineEvent("commit", task.label, value.volatile))
            yield index, value
        if waiting:
            raise EngineLostError("Spark ended without an answer", next(iter(waiting.values())).label, None, _RESUME)

    def _next(self, answers: "queue.SimpleQueue[Any]", waiting: dict[int, Task], notify: Notify) -> Any:
        """The next answer; while there is no executor to give one, that is told every minute."""
        while True:
            try:
                return answers.get(timeout=_PATIENCE_S)
            except queue.Empty:
                if waiting and not executors_of(self._context):
                    how = "no executor has joined: the cluster is busy, or they die at once, as its workers' logs tell"
                    how += f"; see {self._root / LOG}"
                    notify(EngineEvent("waiting", next(iter(waiting.values())).label, {"how": how}))
                elif waiting and is_idle(self._context):
                    self._refuse_large(list(waiting.items()))

    def _refuse_large(self, waiting: Numbered) -> None:
        """Raise EngineLostError where executors have had nothing to do for long, and tasks ask for more than one core:
        Spark waits for ever, without a word, for an executor that has room for them."""
        resources = _enough(waiting)
        if not _takes_more(self._master, resources):
            return
        asked = f"cpus: {resources.cpus}" + (f", gpus: {resources.gpus}" if resources.gpus else "")
        remedy = f"lower `resources`, or give executors more (spark.executor.cores of the profile); {_RESUME}"
        raise EngineLostError("no executor has room for a task", waiting[0][1].label, asked, remedy)

    def _lost(self, error: BaseException, waiting: dict[int, Task], notify: Notify) -> BaseException:
        if not isinstance(error, Exception) or isinstance(error, GristmillError):
            return error
        label, how = next((task.label.rpartition(" ")[0] for task in waiting.values()), ""), first_line(error)
        notify(EngineEvent("lost", label, {"how": how}))
        return EngineLostError("a job of Spark failed", label, how, f"{_RESUME}; {self._root / LOG} tells more")

    def _started(self) -> Context:
        if self._context is None:
            self._context = start_context(self._master, self._settings, self._root / LOG)
            if self._shipped.files:
                self._folder = tempfile.TemporaryDirectory(prefix="gristmill-shipped-")
                ship(self._context, self._shipped, Path(self._folder.name))
        return self._context

    def _max_failures(self) -> int:
        local = re.fullmatch(r"local\[[^,]+, *(\d+)\]", self._master)
        asked = self._started().getConf().get("spark.task.maxFailures", str(MAX_FAILURES))
        return int(local.group(1) if local else asked)

    def close(self) -> None:
        """End the session; a task in its middle is killed, which loses nothing committed."""
        if self._context is not None:
            stop_context(self._context)
            self._context = None
        if self._folder is not None:
            self._folder.cleanup()


def _enough(left: Numbered) -> Resources:
    return enough_for(task.resources for _, task in left)


def _slices(context: Context, tasks: int, resources: Resources) -> int:
    """One Spark task each; a local master knows nothing that a task takes, so fewer run at once there, and one alone
    where it takes accelerators."""
    if is_local(context.master) and resources != SMALL:
        most = 1 if resources.gpus else this_machine(context.defaultParallelism).at_once(resources)
        return min(tasks, max(1, most))
    return tasks


def _takes_more(master: str, resources: Resources) -> bool:
    """Whether a cluster is to be told that a task takes more than one core."""
    return not is_local(master) and (resources.cpus > 1 or resources.gpus > 0)


def _sized(rdd: Any, master: str, resources: Resources) -> Any:
    """The RDD with what each of its tasks takes, where a cluster can be told."""
    if not _takes_more(master, resources):
        return rdd
    from pyspark.resource import ResourceProfileBuilder, TaskResourceRequests

    asked = TaskResourceRequests().cpus(resources.cpus)
    if resources.gpus:
        if not rdd.context.getConf().contains(_EXECUTOR_GPUS):
            remedy = f'set "{_EXECUTOR_GPUS}" (and "spark.executor.resource.gpu.discoveryScript") in the profile'
            raise UsageError("executors have no accelerators", f"resources.gpus: {resources.gpus}", None, remedy)
        asked = asked.resource("gpu", resources.gpus)
    return rdd.withResources(ResourceProfileBuilder().require(asked).build)


def _parts_by_file(left: Numbered) -> dict[str, list[Part]]:
    """The parts of each spill file that the tasks read, by their place in it."""
    files: dict[str, list[Part]] = {}
    for number, (_, task) in enumerate(left):
        for spill, (path, part, _) in enumerate(task.payload["spills"]):
            start, stop = part[3:5]
            if stop > start:
                files.setdefault(os.fspath(path), []).append((number, spill, start, stop))
    return {path: sorted(parts, key=lambda part: part[2]) for path, parts in files.items()}

"""What runs on an executor: one task, and the moving of the parts of spill files to the task that reads them.

Everything that is sent to an executor is a function of this module by name, and plain data: an executor needs this
package (installed, or shipped by `gristmill submit`), and the paths of tasks.

An answer is `(index, what, value, attempt)`: of task `index`, `done` with its receipt, or `failed` with the error to be
raised. What another attempt may mend (a full disk, no memory) is raised here until the last one, so that Spark tries
again, elsewhere where it can.
"""

import os
import pickle
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import GristmillError, VerifyError
from gristmill.manifests.open_store import open_store
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.engines.answer import answer_to, sendable
from gristmill.pipeline.engines.machine import VISIBLE
from gristmill.pipeline.spill import head_of
from gristmill.pipeline.task import Task, run_task

BLOCK_BYTES = 1 << 18
"""Of what is moved at once. The writer of a shuffle holds up to a thousand of them before it looks at its memory."""

Answer = tuple[int, str, Any, int]
Part = tuple[int, int, int, int]
"""`(task, spill, start, stop)`: bytes of a file that are spill number `spill` of task number `task`."""
Piece = tuple[int, tuple[int, int, bytes]]
"""`(task, (spill, at, bytes))`; the task itself, pickled with its index, is that of `spill` TASK; FAILED: why a file
cannot be read."""

TASK, FAILED = -1, -2
SHIPPED = "gristmill-recipe"
_MORE_MEMORY = "give executors more memory, or fewer cores each, and run the same command to resume"


@dataclass(frozen=True)
class Job:
    """What every task of a job shares: the output, attempts at a task, where answers go, and whether the files beside
    the recipe were shipped."""

    root: str
    max_failures: int
    answers: Any
    shipped: bool = False


class Answers:
    """The parameter of an accumulator whose values are lists of answers: what arrives at the driver goes to `sink`."""

    def __init__(self, sink: Any = None) -> None:
        self._sink = sink

    def __reduce__(self) -> tuple[type["Answers"], tuple[()]]:
        """On an executor there is no sink."""
        return Answers, ()

    def zero(self, _: list[Answer]) -> list[Answer]:
        """No answer."""
        return []

    def addInPlace(self, one: list[Answer], other: list[Answer]) -> list[Answer]:
        """Both; on the driver nothing is kept."""
        if self._sink is None:
            return one + other
        for answer in other:
            self._sink(answer)
        return one


def run_tasks(job: Job, blobs: Iterable[bytes]) -> None:
    """Run pickled `(index, task)`, one after the other."""
    for blob in blobs:
        index, task = pickle.loads(blob)
        job.answers.add([_answer(job, index, _at_home(job, task))])


def _at_home(job: Job, task: Task) -> Task:
    """The task with the shipped files in place of the recipe's folder, where that is not seen."""
    base_dir = task.payload.get("base_dir")
    if not job.shipped or base_dir is None or os.path.isdir(base_dir):
        return task
    from pyspark import SparkFiles

    return replace(task, payload={**task.payload, "base_dir": SparkFiles.get(SHIPPED)})


def _answer(job: Job, index: int, task: Task) -> Answer:
    from pyspark import TaskContext

    context = TaskContext.get()
    attempt = context.attemptNumber() if context else 0
    gpus = context.resources().get("gpu") if context else None
    if gpus is not None:
        os.environ[VISIBLE] = ",".join(gpus.addresses)
    try:
        found: Receipt = run_task(open_store(job.root), task)
        return index, "done", found, attempt
    except (Exception, SystemExit) as error:
        is_machines = isinstance(error, OSError | MemoryError) and not isinstance(error, GristmillError)
        if is_machines and attempt + 1 < job.max_failures:
            raise
        return index, "failed", answer_to(error, task.label, _MORE_MEMORY), attempt


def read_pieces(root: str, listed: Iterable[tuple[Any, bytes]]) -> Iterator[Piece]:
    """The pieces of `(None, (path, parts) pickled)`; and `(task, (index, task) pickled)` as the piece that it is."""
    store = open_store(root)
    for number, blob in listed:
        if number is not None:
            yield number, (TASK, 0, blob)
            continue
        path, parts = pickle.loads(blob)
        try:
            store.fetch([path])
            yield from _pieces_of(Path(path), parts)
        except GristmillError as error:
            told = pickle.dumps(sendable(error))
            yield from ((task, (FAILED, 0, told)) for task, *_ in parts)


def _pieces_of(path: Path, parts: Iterable[Part]) -> Iterator[Piece]:
    head = head_of(path)
    with open(path, "rb") as file:
        for task, spill, start, stop in parts:
            if start:
                yield task, (spill, 0, head)
            file.seek(start)
            at, left = (len(head) if start else 0), stop - start
            while left:
                block = file.read(min(left, BLOCK_BYTES))
                if not block:
                    break  # a file cut short: the digest of the part tells
                yield task, (spill, at, block)
                at, left = at + len(block), left - len(block)


def run_with_pieces(job: Job, pieces: Iterable[Piece]) -> None:
    """Run the task of a partition on the spill files that its pieces make, which lie in a folder of this attempt."""
    # Spark's own folders for such things, of this executor: it removes them with the application, whoever was killed.
    local = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    folder = Path(tempfile.mkdtemp(prefix="gristmill-exchange-", dir=local[os.getpid() % len(local)] or None))
    try:
        found, why = lay_out(folder, pieces)
        if found is not None:
            index, task = found
            if why is None:
                answer = _answer(job, index, _at_home(job, brought(task, folder)))
                job.answers.add([named(answer, task, folder)])
            else:
                job.answers.add([(index, "failed", why, 0)])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def named(answer: Answer, task: Task, folder: Path) -> Answer:
    """Damage is told by the file that was read, not by its copy."""
    index, what, error, attempt = answer
    path = Path(getattr(error, "where", ""))
    if not isinstance(error, VerifyError) or path.parent != folder:
        return answer
    own = Path(task.payload["spills"][int(path.stem)][0])
    told = VerifyError(error.what, str(own), error.value, error.remedy.replace(str(folder), str(own.parent)))
    return index, what, told, attempt


def lay_out(folder: Path, pieces: Iterable[Piece]) -> tuple[tuple[int, Task] | None, GristmillError | None]:
    """Write pieces, in whatever order they come, into a file a spill; the task among them with its index, and why one
    of its files could not be read."""
    found: tuple[int, Task] | None = None
    why: GristmillError | None = None
    for _, (spill, at, data) in pieces:
        if spill == FAILED:
            why = pickle.loads(data)
            continue
        if spill == TASK:
            found = pickle.loads(data)
            continue
        handle = os.open(_file(folder, spill), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            _write(handle, data, at)
        finally:
            os.close(handle)
    return found, why


def _write(handle: int, data: bytes, at: int) -> None:
    left = memoryview(data)
    while left:
        written = os.pwrite(handle, left, at)
        left, at = left[written:], at + written


def _file(folder: Path, spill: int) -> Path:
    return folder / f"{spill}.arrow"


def brought(task: Task, folder: Path) -> Task:
    """The task with the paths of the parts that were brought; empty ones are left out."""
    spills: list[Any] = []
    for number, (_, part, base) in enumerate(task.payload["spills"]):
        *counts, start, stop, digest = part
        if start == stop:
            continue
        path = _file(folder, number)
        first = path.stat().st_size - (stop - start) if start else 0
        spills.append([str(path), [*counts, first, first + stop - start, digest], base])
    return replace(task, payload={**task.payload, "spills": spills})

"""A job: the tasks of one launch of an executor, frozen as files, and what becomes of them.

`OUT/.jobs/<uuid>/` holds `ranks.jsonl` (a line a rank: its tasks as plain data), `ranks.index` (where each line
begins, so that a rank reads its own), `log/` (what the executor writes; nobody reads it for correctness), and
`marks/`: `<n>.start` when a process begins the n-th task (host, pid, when that process was born), `<n>.done` when
the task is committed, `<n>.error` (pickled) when it raised, `<n>.gone` when the process died that ran the n-th task's
rank. Where the disk is too full for a mark, the file `spare` becomes `<n>.full`. The driver takes marks away as it
reads them. What is committed, receipts alone say. A folder goes when its job ends; what a killed driver left, the next
run into the output takes away.
"""

import contextlib
import errno
import json
import os
import pickle
import shutil
import socket
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gristmill.manifests.commit import TMP_PREFIX
from gristmill.manifests.errors import VerifyError
from gristmill.manifests.process_birth import born_ticks, pids_place
from gristmill.pipeline.engines.answer import TaskError
from gristmill.pipeline.own_files import JOBS
from gristmill.pipeline.task import Resources, Task

LEFT_AFTER_S = 7 * 86400.0
"""A job of a cluster may wait that long in its queue after its driver died."""
EXECUTOR_FOLDERS = ("completions", "logs", "slurm_logs", "stats")
"""Where datatrove's executors write in their folder."""
_OFFSET_BYTES = 8
_ORDER = ("start", "done", "error", "full", "gone")
_SPARE = "spare"
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class Worker:
    """The process that a task runs in; `born` is its start in clock ticks since boot, which no other pid shares.
    `place` names those whose pids mean the same: one start of one machine, one container; empty where none is told."""

    host: str
    pid: int
    born: int
    place: str = ""

    @staticmethod
    def this() -> "Worker":
        """The calling process."""
        return Worker(socket.gethostname(), os.getpid(), born_ticks(os.getpid()) or 0, pids_place())

    def is_gone(self) -> bool:
        """Whether a process of this machine is dead, or nobody any more."""
        return born_ticks(self.pid) != self.born

    def is_here(self) -> bool:
        """Whether `is_gone` can tell: another machine may bear the same name, and has the same pids."""
        return bool(self.place) and self.place == pids_place()


@dataclass(frozen=True)
class Mark:
    """What became of the n-th task of a job: `start` with its worker, `done`, `error` with what it raised, `full` with
    the error that says so, or `gone`: the process of its rank died, `how`."""

    number: int
    what: str
    worker: Worker | None = None
    error: BaseException | None = None
    how: str = ""


@dataclass(frozen=True)
class Job:
    """See the module."""

    folder: Path

    @property
    def root(self) -> Path:
        """The output."""
        return self.folder.parent.parent

    @property
    def log(self) -> Path:
        """Where the executor may write."""
        return self.folder / "log"

    def tasks(self, rank: int) -> Iterator[tuple[int, Task]]:
        """The tasks of a rank with their numbers. Raises FileNotFoundError when the job was called off."""
        with (self.folder / "ranks.index").open("rb") as index:
            index.seek(rank * _OFFSET_BYTES)
            offset = int.from_bytes(index.read(_OFFSET_BYTES), "little")
        with (self.folder / "ranks.jsonl").open("rb") as lines:
            lines.seek(offset)
            line = lines.readline()
        if not line.endswith(b"\n"):
            raise VerifyError("the file of a job is cut", str(self.folder), rank, "run the same command to resume")
        for number, data in json.loads(line):
            resources = Resources(**data.pop("resources"))
            yield number, Task(**data, resources=resources)

    def begin(self, number: int) -> None:
        """Say that this process begins a task."""
        self._mark(f"{number}.start", json.dumps(asdict(Worker.this())).encode())

    def end(self, number: int, error: BaseException | None) -> None:
        """Say how a task ended."""
        what, data = ("done", b"") if error is None else ("error", pickle.dumps(error))
        self._mark(f"{number}.{what}", data)

    def lose(self, number: int, how: str) -> None:
        """Say that the process is dead that ran the rank of a task."""
        self._mark(f"{number}.gone", how.encode())

    def _mark(self, name: str, data: bytes) -> None:
        tmp = self.folder / "marks" / f"{TMP_PREFIX}{uuid.uuid4().hex}"
        try:
            tmp.write_bytes(data)
            os.replace(tmp, tmp.with_name(name))
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            # A file that is there already takes no more room by another name. The first stops the run: one will do.
            with contextlib.suppress(FileNotFoundError):
                os.replace(self.folder / _SPARE, tmp.with_name(f"{name.partition('.')[0]}.full"))
            tmp.unlink(missing_ok=True)

    def marks(self) -> list[Mark]:
        """Take what was marked since the last call, in the order of events."""
        found: list[Mark] = []
        for entry in os.scandir(self.folder / "marks"):
            number, _, what = entry.name.partition(".")
            if entry.name.startswith(TMP_PREFIX):
                continue
            data = Path(entry.path).read_bytes()
            os.unlink(entry.path)
            found.append(_read_mark(int(number), what, data))
        return sorted(found, key=lambda mark: _ORDER.index(mark.what))

    @property
    def array_ids(self) -> Path:
        """Where the ids of a cluster's jobs stand; absent for a job whose workers die with the driver."""
        return self.folder / "array_ids"

    def remove(self) -> None:
        """Take the folder away; workers that still write in it find themselves called off."""
        for _ in range(3):  # a file that comes while its folder goes
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                break
        with contextlib.suppress(OSError):
            self.folder.parent.rmdir()


def write_job(root: Path, ranks: Sequence[Mapping[int, Task]]) -> Job:
    """Freeze tasks, by their numbers, rank by rank. The folder is the user's own: errors in it are pickled."""
    folder = root / JOBS / uuid.uuid4().hex
    folder.parent.mkdir(exist_ok=True)
    for name in (".", "marks", "log", *(f"log/{name}" for name in EXECUTOR_FOLDERS)):
        (folder / name).mkdir(mode=0o700)
    (folder / _SPARE).touch()
    with (folder / "ranks.jsonl").open("xb") as lines, (folder / "ranks.index").open("xb") as index:
        for rank in ranks:
            index.write(lines.tell().to_bytes(_OFFSET_BYTES, "little"))
            lines.write(json.dumps([(number, _plain(task)) for number, task in rank.items()]).encode() + b"\n")
    return Job(folder)


def _plain(task: Task) -> dict[str, Any]:
    return {**vars(task), "resources": asdict(task.resources)}


def _read_mark(number: int, what: str, data: bytes) -> Mark:
    worker = Worker(**json.loads(data)) if what == "start" else None
    error = _unpickled(data) if what == "error" else _no_room() if what == "full" else None
    return Mark(number, what, worker, error, data.decode(errors="replace") if what == "gone" else "")


def _no_room() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "--out")


def _unpickled(data: bytes) -> BaseException:
    """An error; one of a class that only the worker knew is told of by its name."""
    try:
        return pickle.loads(data)
    except Exception as error:
        return TaskError(f"a task raised what cannot be told here ({error})")


def is_old(job: Job) -> bool:
    """Whether a job was left so long ago that nobody waits for it."""
    try:
        return job.folder.stat().st_mtime < time.time() - LEFT_AFTER_S
    except OSError:
        return False


def left_jobs(root: Path) -> list[Job]:
    """Jobs of drivers that are no more: the caller holds the output's lock."""
    return [Job(folder) for folder in sorted((root / JOBS).glob("*")) if folder.is_dir()]

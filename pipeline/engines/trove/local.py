"""datatrove's LocalPipelineExecutor under supervision: it hangs for ever when one of its workers is killed.

The driver starts one host process, clean, with what tasks import; it runs no task and has no threads of Python. For
each job the host forks a launcher with a process group of its own, in which the executor forks its workers: they are
warm at once, and the group can be ended as one. Everybody dies with the process that made it.
"""

import contextlib
import importlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from gristmill.pipeline.engines.machine import Machine, this_machine
from gristmill.pipeline.engines.processes import begin, die_with_parent, started
from gristmill.pipeline.engines.trove.gpus import GpuSets, sets_of
from gristmill.pipeline.engines.trove.job import Job, Worker
from gristmill.pipeline.engines.trove.step import log_folder, split_step
from gristmill.pipeline.task import KINDS, Resources, Task

RANKS_A_WORKER = 4
"""A rank costs the executor up to 50 ms, for its log above all; more ranks balance the workers better."""
STUCK_S = 60.0
WARM = ("datatrove.executor.local", "multiprocess.managers", "multiprocess.pool", "pyarrow.parquet", "pandas")
"""What every worker would load for itself otherwise; Arrow loads pandas, where it is, at the first conversion."""
_SOCKET_CHARS = 60
"""Of a folder for a socket: its path must stay below 108."""


class LocalLauncher:
    """See Launcher and the module. `machine` is this one if not given; its processors are the workers in any case."""

    pause_s = 0.1
    stuck_s = STUCK_S

    def __init__(self, workers: int, machine: Machine | None = None) -> None:
        self._machine = replace(machine or this_machine(workers), cpus=max(workers, 1))
        self._host: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._group: int | None = None
        self._sockets = ""
        self._ended: str | None = None

    def refuse(self, wanted: Iterable[tuple[str, Resources]]) -> None:
        """See Bounded.refuse."""
        self._machine.refuse(wanted)

    def ranks_for(self, tasks: Sequence[Task], resources: Resources) -> int:
        """See Launcher."""
        return min(len(tasks), RANKS_A_WORKER * self._machine.at_once(resources))

    def start(self, job: Job, ranks: int, resources: Resources) -> None:
        """See Launcher."""
        pipe = self._pipe or self._start_host()
        # What the driver has loaded of this project by now is what the recipe's stages need.
        loaded = [name for name in sys.modules if name.startswith("gristmill.") and not name.endswith("__main__")]
        kinds = {task.kind for rank in range(ranks) for _, task in job.tasks(rank)}
        modules = sorted({*loaded, *(KINDS[kind] for kind in kinds)})
        workers = min(self._machine.at_once(resources), ranks)
        self._ended = None
        try:
            pipe.send((str(job.folder), ranks, workers, sets_of(self._machine.gpus, resources.gpus, workers), modules))
            self._group = pipe.recv()
        except (EOFError, OSError):
            self._lose_host()

    def _start_host(self) -> Connection:
        shorter = [d for d in (tempfile.gettempdir(), "/tmp") if len(d) < _SOCKET_CHARS and os.access(d, os.W_OK)]
        self._sockets = tempfile.mkdtemp(prefix="gristmill-", dir=shorter[0] if shorter else None)
        self._host, self._pipe = started(_host, (self._sockets,), "gristmill-host")
        return self._pipe

    def is_gone(self, worker: Worker) -> bool:
        """See Launcher."""
        return worker.is_gone()

    def over(self) -> str | None:
        """See Launcher."""
        if self._ended is None and self._pipe is not None:
            try:
                if self._pipe.poll():
                    self._ended = _told(self._pipe.recv())
                    self._group = None
            except (EOFError, OSError):
                self._lose_host()
        return self._ended

    def _lose_host(self) -> None:
        """The host was killed, and the launcher with it."""
        self._ended = "the process that starts workers was killed"
        self._end_host()

    def stop(self, calm: bool) -> None:
        """See Launcher. Workers at work are killed."""
        if self._group is None or self._pipe is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._group, signal.SIGKILL)
        self._group = None
        try:
            self._pipe.recv()  # the host has buried the launcher
        except (EOFError, OSError):
            self._lose_host()

    def close(self) -> None:
        """See Launcher."""
        self.stop(False)
        self._end_host()

    def _end_host(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
        if self._host is not None:
            self._host.kill()
            self._host.join()
        self._pipe = self._host = self._group = None
        shutil.rmtree(self._sockets, ignore_errors=True)


def _told(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return "the executor has ended" if code == 0 else f"the executor ended with exit code {code}"


def _host(pipe: Connection, driver: int, sockets: str) -> None:
    """The host: jobs in; for each the process group of its launcher out, then the launcher's exit status."""
    begin(driver)
    _load(WARM)
    while True:
        try:
            folder, ranks, workers, gpus, modules = pipe.recv()
        except EOFError:
            return
        _load(modules)
        host = os.getpid()
        launcher = os.fork()
        if launcher == 0:
            pipe.close()
            _launch(Job(Path(folder)), ranks, workers, host, GpuSets(sockets, gpus))
        with contextlib.suppress(OSError):  # the launcher may have done it itself
            os.setpgid(launcher, launcher)
        pipe.send(launcher)
        _, status = os.waitpid(launcher, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(launcher, signal.SIGKILL)
        pipe.send(status)


def _load(modules: Iterable[str]) -> None:
    for module in modules:
        with contextlib.suppress(Exception):  # a worker that needs it will say why
            importlib.import_module(module)


def _launch(job: Job, ranks: int, workers: int, host: int, gpus: GpuSets) -> Any:
    """The launcher: run the executor, and never return."""
    code = 1
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        die_with_parent(host)
        own = os.getpid()
        os.register_at_fork(after_in_child=lambda: die_with_parent(own) if os.getppid() == own else None)
        local_executor(job, ranks, workers, gpus).run()
        code = 0
    finally:
        os._exit(code)


def local_executor(job: Job, ranks: int, workers: int, gpus: GpuSets) -> Any:
    """The executor of a job in this process. The folder of the accelerators' locks is that of its sockets too."""
    from datatrove.executor.local import LocalPipelineExecutor
    from loguru import logger
    from multiprocess.process import current_process

    logger.disable("datatrove")  # marks say it all, and every rank would tell its pipeline on standard error
    # Its manager talks over a socket, whose path must be short, in a folder that nobody else would take away.
    getattr(current_process(), "_config")["tempdir"] = gpus.folder  # noqa: B009
    return LocalPipelineExecutor(
        [split_step(str(job.folder), gpus=gpus if gpus.sets else None)],
        tasks=ranks,
        workers=workers,
        logging_dir=log_folder(job),
        skip_completed=False,
        start_method="fork",
    )

"""datatrove's RayPipelineExecutor under supervision: it returns as if all were well when tasks failed, and its actors
wait for ever for a process of theirs that was killed.

One host process holds the connection, or a cluster of this machine made for the run (on the loopback, without
dashboard and without telling anybody), and runs the executor for one job after the other. It has a process group of
its own; where workers were lost it is ended as a whole, and the next job gets a new one. The output lies on storage
that every node sees.
"""

import contextlib
import importlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import EngineLostError
from gristmill.pipeline.engines.choose import require
from gristmill.pipeline.engines.probe import no_answer
from gristmill.pipeline.engines.processes import begin, started
from gristmill.pipeline.engines.trove.job import Job, Worker
from gristmill.pipeline.engines.trove.local import STUCK_S
from gristmill.pipeline.engines.trove.step import log_folder, split_step
from gristmill.pipeline.profile import RayProfile
from gristmill.pipeline.task import Resources, Task

RANKS_A_SLOT = 2
"""A rank costs Ray a process, some seconds until it has loaded what tasks need."""
START_S = 120.0
PROBE_S = 10.0
UNTOLD_S = 3.0
"""A worker that is dead for so long without a mark that says so: who should have told is dead too."""
_STORE_BYTES = 100 << 20
"""Of Ray's object store, through which nothing of ours goes."""
_GIB = 1 << 30
_PRIVATE = {"RAY_USAGE_STATS_ENABLED": "0"}
_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Else Ray takes a reachable address of the machine in place of 127.0.0.1, and its servers listen everywhere."""


class RayLauncher:
    """See Launcher and the module. `asked`: tasks at once, None what the cluster has processors for.

    Raises UsageError where Ray is not installed.
    """

    pause_s = 0.2
    stuck_s = 2 * STUCK_S

    def __init__(self, profile: RayProfile, workers: int, asked: int | None) -> None:
        require("ray")
        self._address = profile.address
        self._workers = max(workers, 1)
        self._asked = asked
        self._host: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._folder = ""
        self._nodes: list[dict[str, float]] = []
        self._ended: str | None = ""
        self._gone_s: dict[Worker, float] = {}

    def refuse(self, wanted: Iterable[tuple[str, Resources]]) -> None:
        """See Launcher: what no node has is known when there is a connection."""

    def ranks_for(self, tasks: Sequence[Task], resources: Resources) -> int:
        """See Launcher. Raises EngineLostError when the cluster cannot be reached or has no node for such a task."""
        if self._pipe is None:
            self._start_host()
        return min(len(tasks), RANKS_A_SLOT * self._slots(resources))

    def _slots(self, resources: Resources) -> int:
        """Tasks at once. A placement that no node has room for would be waited for for ever."""
        needs = {"CPU": max(resources.cpus, 1), "GPU": resources.gpus, "memory": resources.mem_bytes}
        room = [min(int(node.get(k, 0) // n) for k, n in needs.items() if n) for node in self._nodes]
        if not sum(room):
            wants = ", ".join(f"{k} {n}" for k, n in needs.items() if n)
            remedy = "lower the step's resources, or use a cluster that has them; then run the same command to resume"
            raise EngineLostError("no node of the Ray cluster has what a task takes", "--executor ray", wants, remedy)
        return max(min(sum(room), self._asked or sum(room)), 1)

    def _start_host(self) -> None:
        silent = _silence(self._address) if self._address is not None else ""
        if silent:
            raise self._unreachable(silent)
        # Ray's sockets lie in there: their paths must stay below 108.
        self._folder = tempfile.mkdtemp(prefix="gristmill-", dir="/tmp") if self._address is None else ""
        words = (self._address, self._workers, self._folder)
        self._host, self._pipe = started(_host, words, "gristmill-ray")
        try:
            answer: Any = self._pipe.recv() if self._pipe.poll(START_S) else "no answer"
        except (EOFError, OSError):
            answer = "its process has died"
        if isinstance(answer, str):
            self._end_host()
            raise self._unreachable(answer)
        self._nodes = answer

    def _unreachable(self, why: str) -> EngineLostError:
        remedy = "check the cluster and [PROFILE.ray] address, then run the same command to resume"
        return EngineLostError("Ray cannot be reached", self._address or "this machine", why, remedy)

    def start(self, job: Job, ranks: int, resources: Resources) -> None:
        """See Launcher."""
        assert self._pipe is not None
        self._ended = None
        self._gone_s.clear()
        try:
            self._pipe.send((str(job.folder), ranks, self._slots(resources), resources))
        except OSError:
            self._lose_host()

    def is_gone(self, worker: Worker) -> bool:
        """See Launcher: who waits for a worker tells of its death, on whatever node. Where nobody is left who could,
        this machine tells of its own."""
        if not worker.is_here() or not worker.is_gone():
            return False
        return time.monotonic() - self._gone_s.setdefault(worker, time.monotonic()) > UNTOLD_S

    def over(self) -> str | None:
        """See Launcher."""
        if self._ended is None and self._pipe is not None:
            try:
                if self._pipe.poll():
                    self._ended = self._pipe.recv()
            except (EOFError, OSError):
                self._lose_host()
        return self._ended

    def _lose_host(self) -> None:
        self._end_host()
        self._ended = "the connection to Ray was lost"

    def stop(self, calm: bool) -> None:
        """See Launcher. A calm executor is about to return, which leaves the cluster for the next job."""
        if self._pipe is None or self._ended is not None:
            return
        with contextlib.suppress(EOFError, OSError):
            if calm and self._pipe.poll(STUCK_S):
                self._ended = self._pipe.recv()
                return
        self._lose_host()

    def close(self) -> None:
        """See Launcher."""
        self._end_host()

    def _end_host(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
        if self._host is not None and self._host.pid is not None:
            self._host.join(5 if self._ended is not None else 0)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._host.pid, signal.SIGKILL)
            self._host.kill()
            self._host.join()
        self._pipe = self._host = None
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def _silence(address: str) -> str:
    """Why nobody answers at an address of the form HOST:PORT; empty when somebody does. Ray tries for minutes."""
    place = address.rpartition("://")[2]
    _, colon, port = place.rpartition(":")
    if not colon or not port.isdigit():
        return ""
    error = no_answer(place, PROBE_S)
    return "" if error is None else str(error)


def _host(pipe: Connection, driver: int, address: str | None, workers: int, folder: str) -> None:
    """The host: what nodes have (or why there are none), then jobs in, and why the executor ended out."""
    os.setpgid(0, 0)
    begin(driver)
    os.environ.update(_PRIVATE if address is not None else {**_PRIVATE, **_LOOPBACK})
    ray: Any = importlib.import_module("ray")
    quiet: dict[str, Any] = {"logging_level": "CRITICAL", "log_to_driver": False}
    try:
        if address is None:
            size = {"num_cpus": workers, "object_store_memory": _STORE_BYTES, "include_dashboard": False}
            ray.init(_node_ip_address="127.0.0.1", _temp_dir=folder, **size, **quiet)
        else:
            ray.init(address=address, **quiet)
        pipe.send([node["Resources"] for node in ray.nodes() if node["Alive"]])
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}"[:300])
        return
    with contextlib.suppress(EOFError):
        while True:
            made_of: tuple[str, int, int, Resources] = pipe.recv()
            pipe.send(_run(*made_of))
    ray.shutdown()


def _run(folder: str, ranks: int, workers: int, resources: Resources) -> str:
    """Run the executor of a job; why it ended, which says nothing of its tasks."""
    from datatrove.executor.ray import RayPipelineExecutor
    from loguru import logger

    logger.disable("datatrove")
    cpus = max(resources.cpus, 1)
    executor = RayPipelineExecutor(
        [split_step(folder, guarded=True)],
        tasks=ranks,
        workers=workers,
        cpus_per_task=cpus,
        mem_per_cpu_gb=resources.mem_bytes / cpus / _GIB,
        gpus_per_task=resources.gpus,
        logging_dir=log_folder(Job(Path(folder))),
        skip_completed=False,
    )
    try:
        executor.run()
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    return "the executor has ended"

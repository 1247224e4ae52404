"""Which accelerators a worker process of a forked pool sees: a set of its own, from its first task to its end.

CUDA reads its variable once, and a pool gives ranks to processes in any order; so a process claims a set by a lock that
the kernel takes back when it ends, however it ends.
"""

import fcntl
import os
import time
from dataclasses import dataclass
from pathlib import Path

from gristmill.pipeline.engines.machine import VISIBLE

_PAUSE_S = 0.05
_held: list[int] = []
"""The open lock of this process: closed, it would be another's."""


@dataclass(frozen=True)
class GpuSets:
    """`sets` of names, as many as there are workers; `folder` for their locks is on this machine, and theirs alone."""

    folder: str
    sets: tuple[tuple[str, ...], ...]

    def claim(self) -> None:
        """Have this process see the first free set, if it has none; waits for the process whose place it takes."""
        while not _held:
            for number, names in enumerate(self.sets):
                if _lock(Path(self.folder) / f"gpus-{number}"):
                    os.environ[VISIBLE] = ",".join(names)
                    return
            time.sleep(_PAUSE_S)


def _lock(path: Path) -> bool:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return False
    _held.append(handle)
    return True


def sets_of(gpus: tuple[str, ...], each: int, workers: int) -> tuple[tuple[str, ...], ...]:
    """For so many workers `each` of these; none where a task asks for none."""
    return tuple(gpus[n * each : (n + 1) * each] for n in range(workers)) if each else ()

"""One driver for one output: a lock that goes with the process that holds it, however that ends.

An output in object storage has a lock there, too (`manifests.remote_lock`); that of its working copy is one on its own
machine.
"""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from gristmill.manifests.errors import UsageError

LOCK = ".lock"


@contextmanager
def driver_lock(out: Path) -> Generator[None]:
    """Hold the output's lock. Raises UsageError, naming the holder's process, when another driver has it."""
    out.mkdir(parents=True, exist_ok=True)
    fd = os.open(out / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 100, 0).decode("ascii", "replace").strip()
            raise UsageError(
                "another run is writing to this output",
                where=str(out),
                value=f"process {holder}",
                remedy="wait for it, stop it, or choose another --out",
            ) from None
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(fd)

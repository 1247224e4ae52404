"""Processes of this machine, by what their command line holds: what a test kills, and what must not be left."""

import os
import time
from collections.abc import Callable
from pathlib import Path


def matching(*words: str) -> list[int]:
    """Processes whose command line holds all of these, but this one."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if line and all(word in line for word in words):
            found.append(int(entry.name))
    return found


def parent_of(pid: int) -> int:
    """Its parent; 0 where it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def wait_for(path: Path) -> None:
    """Wait for a file that another process makes."""
    wait_until(path.exists, 100, str(path))


def wait_until(true: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for something; AssertionError where it does not come."""
    end_s = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end_s, f"not in {seconds} s: {what}"
        time.sleep(0.05)

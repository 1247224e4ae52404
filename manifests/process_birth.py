"""Which process a pid means: pids are used again, and mean something within one start of one machine alone."""

import os
from pathlib import Path


def born_ticks(pid: int) -> int | None:
    """When a process of this machine was started, in clock ticks since boot, which no other of that pid shares; None
    when it is none or only waits to be buried."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def pids_place() -> str:
    """Where pids mean the same: one start of one machine, one container; empty where that is not told."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip() + os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""

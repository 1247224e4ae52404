"""What a sandboxed program takes while it runs, read from /proc and from its folder.

Memory is what its processes hold (resident) and what its files take, since these lie in memory. All sizes in bytes.
Functions give 0 for a process that has gone.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from gristmill.render.sandbox_bwrap import BOX

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Use:
    """Of a program, at one time."""

    memory_bytes: int
    files: int
    threads: int


def use_of(init_pid: int, box_bytes: int) -> Use:
    """`init_pid`: the process that is the first of the program's namespace, seen from here; `box_bytes`: the size of
    its folder, by which that is told from the machine's own before the namespace stands."""
    pids = [init_pid, *children_of(init_pid)]
    in_files, files = _box(init_pid, box_bytes)
    return Use(in_files + sum(map(resident_bytes, pids)), files, sum(map(_threads, pids)))


def children_of(pid: int) -> list[int]:
    """Children of a process, and theirs."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        for thread in threads:
            found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
    except OSError:
        return found
    return found + [grandchild for child in found for grandchild in children_of(child)]


def resident_bytes(pid: int) -> int:
    """Memory that a process holds, shared pages too."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0


def tree_resident_bytes(pid: int) -> int:
    """Memory of a process and all its descendants; pages that they share count several times."""
    return sum(map(resident_bytes, (pid, *children_of(pid))))


def _threads(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def _box(pid: int, box_bytes: int) -> tuple[int, int]:
    """Bytes and files in the folder that the program writes to."""
    try:
        found = os.statvfs(f"/proc/{pid}/root{BOX}")
    except OSError:
        return 0, 0
    if abs(found.f_blocks * found.f_frsize - box_bytes) >= _PAGE_BYTES:
        return 0, 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize, found.f_files - found.f_ffree

"""How much memory a process tree takes, and what kills it when that is too much.

Resident sizes count a page that several processes share once for each of them, so their sum is an upper bound that
costs little; only where it is over the limit the proportional sizes (`Pss`, each page divided among those who share
it) are read and decide. /proc is read, so this is for Linux.
"""

import contextlib
import os
import signal
import threading

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_EVERY_SECONDS = 0.1
_TICKS_PER_LISTING = 5


def descendants(root_pid: int, nearest: int = 1) -> list[int]:
    """Processes under `root_pid`, from its children (`nearest` 1), or only from theirs (2), on."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            children.setdefault(_parent(name), []).append(int(name))
    found: list[int] = []
    generation, depth = [root_pid], 1
    while generation:
        generation = [child for pid in generation for child in children.get(pid, ())]
        found += generation if depth >= nearest else []
        depth += 1
    return found


def resident_bytes(pids: list[int]) -> int:
    """Sum of resident sizes: at least what they take together."""
    return sum(_resident(pid) for pid in pids)


def proportional_bytes(pids: list[int]) -> int:
    """Sum of proportional sizes: what they take together."""
    return sum(_proportional(pid) for pid in pids)


class Watchdog:
    """A thread that kills what runs under the children of `root_pid` once all takes over `max_bytes`.

    `fired_bytes` then tells. The children themselves (the driver of the browser) live on and report the loss.
    """

    def __init__(self, root_pid: int, max_bytes: int) -> None:
        self.root_pid = root_pid
        self.max_bytes = max_bytes
        self.fired_bytes = 0
        self._stop = threading.Event()
        threading.Thread(target=self._watch, name="memory", daemon=True).start()

    def stop(self) -> None:
        """Watch no longer."""
        self._stop.set()

    def _watch(self) -> None:
        pids: list[int] = []
        ticks = 0
        while not self._stop.wait(_EVERY_SECONDS):
            if ticks % _TICKS_PER_LISTING == 0:
                pids = descendants(self.root_pid)
            ticks += 1
            size = resident_bytes(pids)
            if size > self.max_bytes:
                pids = descendants(self.root_pid)
                size = proportional_bytes(pids)
            if size > self.max_bytes:
                self.fired_bytes = size
                kill(descendants(self.root_pid))
                return


def kill(pids: list[int]) -> None:
    """SIGKILL to each that is still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _parent(pid: str) -> int:
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[1])
    return 0


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/statm", "rb") as file:
        fields = file.read().split()
        return int(fields[1]) * _PAGE_BYTES if len(fields) > 1 else 0
    return 0


def _proportional(pid: int) -> int:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", "rb") as file:
        for line in file:
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) << 10
    # An ordinary user may not read it of a process that has sandboxed itself: what it does not share, then.
    with contextlib.suppress(OSError), open(f"/proc/{pid}/statm", "rb") as file:
        fields = file.read().split()
        return (int(fields[1]) - int(fields[2])) * _PAGE_BYTES if len(fields) > 2 else 0
    return 0

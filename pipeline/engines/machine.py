"""What this machine gives to tasks: processors, memory and accelerators."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.resources import Resources, shown_memory

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Of a container, where there is one: cgroup 2, then 1."""
VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True)
class Machine:
    """`cpus` tasks of one processor at once, `mem_bytes` of memory, `gpus` by the names that CUDA knows them by."""

    cpus: int
    mem_bytes: int
    gpus: tuple[str, ...] = ()

    def refuse(self, wanted: Iterable[tuple[str, Resources]]) -> None:
        """Raise UsageError where a task can never run here, however long it waits. `wanted`: (place, resources)."""
        for where, resources in wanted:
            if resources.mem_bytes > self.mem_bytes:
                has, value = f"this machine has {shown_memory(self.mem_bytes)}", shown_memory(resources.mem_bytes)
                remedy = "write less, or run where there is as much"
                raise UsageError(f"resources.mem is more than there is ({has})", where, value, remedy)
            if resources.gpus > len(self.gpus):
                remedy = "write fewer, or run where there are as many"
                raise UsageError(
                    f"resources.gpus is more than there are (this machine shows {len(self.gpus)})",
                    where,
                    resources.gpus,
                    remedy,
                )

    def at_once(self, resources: Resources) -> int:
        """How many tasks may run at the same time. One that takes more processors than there are runs alone. 0: it
        takes what the machine does not have."""
        most = max(self.cpus // max(resources.cpus, 1), 1)
        if resources.mem_bytes:
            most = min(most, self.mem_bytes // resources.mem_bytes)
        if resources.gpus:
            most = min(most, len(self.gpus) // resources.gpus)
        return most


def this_machine(workers: int) -> Machine:
    """This machine, for so many worker processes (0: tasks run in the driver, one at a time)."""
    return Machine(max(workers, 1), memory_of_machine(), visible_gpus())


def memory_of_machine() -> int:
    """Bytes that all processes may take together: the machine's, or its container's where that is less."""
    return min([os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *_container_limits()])


def _container_limits() -> Iterable[int]:
    for name in _LIMITS:
        try:
            told = Path(name).read_text().strip()
        except OSError:
            continue
        if told.isdecimal():
            yield int(told)


def visible_gpus(devices: Path = Path("/dev")) -> tuple[str, ...]:
    """Those of `$CUDA_VISIBLE_DEVICES`, up to the first that is none, as CUDA reads it; else those of /dev."""
    told = os.environ.get(VISIBLE)
    if told is None:
        found = (re.fullmatch(r"nvidia([0-9]+)", path.name, re.ASCII) for path in devices.glob("nvidia[0-9]*"))
        return tuple(map(str, sorted(int(match[1]) for match in found if match)))
    names: list[str] = []
    for name in map(str.strip, told.split(",")):
        if not re.fullmatch(r"\d+|(GPU|MIG)-[\w/-]+", name, re.ASCII):
            break
        if name not in names:
            names.append(name)
    return tuple(names)

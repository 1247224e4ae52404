"""Which task runs next: never more processors, memory or accelerators at once than there are.

The largest waiting task that fits goes first. One that wants more processors than there are runs alone. All that is
`refuse`d by no machine runs at last: as soon as nothing runs, the first in the queue fits. Plain bookkeeping; starting
processes is the engine's affair.
"""

import heapq
from dataclasses import dataclass, field

from gristmill.pipeline.engines.machine import Machine
from gristmill.pipeline.resources import Resources


@dataclass(frozen=True)
class Grant:
    """A task that may run now, and the accelerators that are its own meanwhile."""

    index: int
    resources: Resources
    gpus: tuple[str, ...]


@dataclass
class Schedule:
    """See the module. `running` holds what was taken and not given back, by index."""

    machine: Machine
    running: dict[int, Grant] = field(default_factory=dict[int, Grant])
    # By resources: a queue holds one kind of them nearly always, and to look past what does not fit costs nothing.
    _waiting: dict[Resources, list[tuple[int, int]]] = field(default_factory=dict[Resources, list[tuple[int, int]]])

    def add(self, index: int, size: int, resources: Resources) -> None:
        """Have a task wait. `size` in bytes: large ones go first."""
        heapq.heappush(self._waiting.setdefault(resources, []), (-size, index))

    def waits(self) -> bool:
        """Whether any task waits."""
        return any(self._waiting.values())

    def take(self) -> Grant | None:
        """The next task, None when nothing that waits fits beside what runs."""
        fitting = [
            (queue[0], resources) for resources, queue in self._waiting.items() if queue and self._fits(resources)
        ]
        if not fitting:
            return None
        _, resources = min(fitting, key=lambda found: found[0])
        _, index = heapq.heappop(self._waiting[resources])
        grant = Grant(index, resources, self._free_gpus()[: resources.gpus])
        self.running[index] = grant
        return grant

    def give_back(self, index: int) -> None:
        """A task has ended, well or not."""
        del self.running[index]

    def _fits(self, wanted: Resources) -> bool:
        if not self.running:
            return True
        used = [grant.resources for grant in self.running.values()]
        return (
            sum(u.cpus for u in used) + wanted.cpus <= self.machine.cpus
            and sum(u.mem_bytes for u in used) + wanted.mem_bytes <= self.machine.mem_bytes
            and wanted.gpus <= len(self._free_gpus())
        )

    def _free_gpus(self) -> tuple[str, ...]:
        taken = {name for grant in self.running.values() for name in grant.gpus}
        return tuple(name for name in self.machine.gpus if name not in taken)

"""Which documents to look at when a filter is tried: dropped and kept ones near a limit, and the most extreme.

How near a value is to a limit is told by `|value - limit| / max(|limit|, 1)`, so that counts and fractions can be
compared. Of equal ones the smaller id goes first: the choice depends on the documents alone.
"""

import heapq
import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

NEAR_DROPPED, NEAR_KEPT, EXTREME = 7, 7, 6
MOST = NEAR_DROPPED + NEAR_KEPT + EXTREME
"""Twenty examples in all: where one kind has fewer, there are more of the others."""

TEXT_CHARS = 600

DROPPED, KEPT, FAR = "dropped near the limit", "kept near the limit", "extreme"
GONE = "gone by no limit"
"""Where a verdict bears no limit, as those of errors do; in the place of those near one."""


@dataclass(frozen=True, order=True)
class Example:
    """One document: why it is shown (`shows`), and what the stage said of it; `detail` may be an error's text."""

    distance: float
    id: str
    shows: str = field(compare=False)
    reason: str = field(compare=False)
    measure: str = field(compare=False)
    value: float = field(compare=False)
    limit: float = field(compare=False)
    source: str = field(compare=False)
    url: str | None = field(compare=False)
    chars: int = field(compare=False)
    text: str = field(compare=False)
    verdict: str = field(compare=False, default="drop")
    detail: str = field(compare=False, default="")


def distance(value: float, limit: float) -> float:
    """How far a value is from a limit; infinite where there is no number."""
    if not (math.isfinite(value) and math.isfinite(limit)):
        return math.inf
    return abs(value - limit) / max(abs(limit), 1.0)


class Examples:
    """Keeps the few that are wanted of each reason."""

    def __init__(self) -> None:
        self._heaps: dict[tuple[str, str], list[tuple[float, tuple[int, ...], Example]]] = defaultdict(list)

    def admits(self, shows: str, reason: str, far: float) -> bool:
        """Whether a document so far from the limit would be kept; asked before its text is taken."""
        heap = self._heaps[shows, reason]
        rank = -far if shows == FAR else far
        return len(heap) < MOST or rank <= -heap[0][0]

    def put(self, example: Example) -> None:
        """Enter a document."""
        heap = self._heaps[example.shows, example.reason]
        rank = -example.distance if example.shows == FAR else example.distance
        # A heap of the worst first: the largest rank, then the largest id.
        entry = (-rank, tuple(-ord(c) for c in example.id), example)
        if len(heap) < MOST:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)

    def chosen(self) -> list[Example]:
        """The examples, kind by kind, taken in turn from each reason; a document is shown once."""
        shown: set[str] = set()
        found: dict[str, list[Example]] = {}
        for shows in (GONE, DROPPED, KEPT, FAR):
            found[shows] = _in_turn(self._queues(shows), min(_size(shows), MOST - len(shown)), shown)
        for shows in (KEPT, DROPPED, FAR, GONE):
            found[shows] += _in_turn(self._queues(shows), MOST - len(shown), shown)
        return [example for examples in found.values() for example in examples]

    def _queues(self, shows: str) -> list[list[Example]]:
        return [self._sorted(s, r) for s, r in sorted(self._heaps) if s == shows]

    def _sorted(self, shows: str, reason: str) -> list[Example]:
        return [example for _, _, example in sorted(self._heaps[shows, reason], key=lambda e: (-e[0], e[2].id))]


def _size(shows: str) -> int:
    return {GONE: NEAR_DROPPED, DROPPED: NEAR_DROPPED, KEPT: NEAR_KEPT, FAR: EXTREME}[shows]


def _in_turn(queues: list[list[Example]], most: int, shown: set[str]) -> list[Example]:
    found: list[Example] = []
    queues = [list(queue) for queue in queues]
    while any(queues) and len(found) < most:
        for queue in queues:
            while queue and queue[0].id in shown:
                queue.pop(0)
            if queue and len(found) < most:
                found.append(queue.pop(0))
                shown.add(found[-1].id)
    return found


def as_data(example: Example) -> dict[str, Any]:
    """An example as plain data."""
    return {name: value for name, value in vars(example).items() if name != "distance"}

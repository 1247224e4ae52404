"""The gate of a batch: what short cuts gain, and how answers and evidence are spread, over all rows of a dataset.

In: `Reading`s of rows, one after the other (`add`); counts alone are kept. Out: `table`, a `Line` for each family and
each thing looked at, and `failures`, those that no chance explains:

* every cheater of `cheaters`: hits against those of a guess, two-sided;
* `answer_index`: where answers stand among their candidates in sorted order, by tenths; chi-square;
* `hop_place`: in which tenth of what is in front of the query the evidence of each hop stands, against all evidence
  of tasks with as many hops; chi-square;
* `hop_order`: in which order the first two and the last two hops stand in the row, each as likely; chi-square;
* `thin_tenth`, `thick_tenth`: the tenth in front of the query with the least, the most, of the evidence, which may not
  hold less than THIN nor more than THICK of it;
* `late_queries`: queries in the last tenth of the row, which are not less than LEAST_LATE of them.

A family of fewer than MIN_TASKS tasks is an indication and fails nothing. `bound` of a line bounds how probable such a
line is by chance (`chance.tail`; for chi-square the limiting distribution, looked at only where every cell expects
LEAST_CELL); a line fails where it is below FALSE_ALARM divided by the lines of the table, so that the whole table
raises a false alarm less often than FALSE_ALARM.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import factorial, sqrt
from typing import Any, NamedTuple

from gristmill.synth.solvers.chance import chi_tail, tail
from gristmill.synth.solvers.cheaters import CHEATERS, MIN_TASKS, Puzzle, puzzles
from gristmill.synth.solvers.reading import Reading

FALSE_ALARM = 1e-4
TENTHS = 10
LEAST_CELL = 10.0
THIN, THICK = 0.01, 0.3
"""Shares of evidence in a tenth of what stands in front of its query; by the plan between 0.03 and 0.2."""
HOP_LINES, HOP_EFFECT = ("hop_place", "hop_order"), 0.1
"""Lines on hops fail from this excess of chi-square a task on: hops in order give 23, a last hop that is always last 3,
and `log_correlation`, whose shares are held apart by plan, 0.02, which says nothing of answers."""
LEAST_LATE = 0.5
"""Of queries; by the plan 0.85."""


class Line(NamedTuple):
    """`found` and `expected` are hits, or a chi-square and its degrees of freedom; `deviation` is in sigmas."""

    family: str
    what: str
    tasks: int
    found: float
    expected: float
    sigma: float
    bound: float
    gated: bool

    @property
    def deviation(self) -> float:
        """In sigmas of a normal distribution; of tails `bound` tells more."""
        return (self.found - self.expected) / self.sigma if self.sigma else 0.0


@dataclass
class _Family:
    tasks: int = 0
    puzzles: int = 0
    expected: float = 0.0
    variance: float = 0.0
    late: int = 0
    hits: Counter[str] = field(default_factory=Counter[str])
    index: Counter[int] = field(default_factory=Counter[int])
    sizes: Counter[int] = field(default_factory=Counter[int])
    places: Counter[tuple[int, int, int]] = field(default_factory=Counter[tuple[int, int, int]])
    hops: Counter[int] = field(default_factory=Counter[int])
    orders: Counter[tuple[int, ...]] = field(default_factory=Counter[tuple[int, ...]])


class Gate:
    """Counts of a batch."""

    def __init__(self) -> None:
        self._families: dict[str, _Family] = {}

    def add(self, reading: Reading) -> None:
        """Count the tasks of a row that has been proved."""
        for task in reading.tasks:
            self.add_task(task, reading.context)
        for puzzle in puzzles(reading):
            self.add_puzzle(puzzle)

    def add_task(self, task: Mapping[str, Any], context: int) -> None:
        """Count where a task's evidence and query stand; evidence is in the order of its hops."""
        own = self._families.setdefault(task["family"], _Family())
        query, starts = task["query_start"], [part["start"] for part in task["evidence"]]
        own.tasks += 1
        own.late += query >= context - context // TENTHS
        own.hops[len(starts)] += 1
        own.places.update((len(starts), hop, min(TENTHS - 1, s * TENTHS // query)) for hop, s in enumerate(starts))
        ends = starts if len(starts) <= 4 else [*starts[:2], *starts[-2:]]
        own.orders[tuple(sorted(range(len(ends)), key=ends.__getitem__))] += 1

    def add_puzzle(self, puzzle: Puzzle) -> None:
        """Count what each cheater says."""
        own = self._families.setdefault(puzzle.family, _Family())
        size = len(puzzle.candidates)
        own.puzzles += 1
        own.expected += 1 / size
        own.variance += (1 - 1 / size) / size
        own.sizes[size] += 1
        own.index[puzzle.candidates.index(puzzle.answer) * TENTHS // size] += 1
        own.hits.update(name for name, cheater in CHEATERS.items() if cheater(puzzle) == puzzle.answer)

    def table(self) -> list[Line]:
        """All lines, the least probable first."""
        lines = [line for name in sorted(self._families) for line in _lines(name, self._families[name])]
        return sorted(lines, key=lambda line: line.bound)

    def failures(self) -> list[Line]:
        """The lines that fail, the worst first."""
        lines = self.table()
        return [line for line in lines if line.gated and line.bound < FALSE_ALARM / len(lines) and _matters(line)]


def _matters(line: Line) -> bool:
    return line.what not in HOP_LINES or line.found - line.expected >= HOP_EFFECT * line.tasks


def _lines(name: str, own: _Family) -> list[Line]:
    gated = own.tasks >= MIN_TASKS
    sigma = sqrt(own.variance)
    lines = [
        Line(name, cheater, own.puzzles, hits, own.expected, sigma, tail(hits, own.puzzles, own.expected), gated)
        for cheater, hits in ((cheater, own.hits[cheater]) for cheater in CHEATERS)
    ]
    for what, cells in (("answer_index", _index(own)), ("hop_place", _hop_places(own)), ("hop_order", _orders(own))):
        value, degrees = _chi_square(cells)
        lines.append(Line(name, what, own.tasks, value, degrees, sqrt(2 * degrees), chi_tail(value, degrees), gated))
    return [*lines, *_limits(name, own, gated)]


Cells = Sequence[Sequence[tuple[float, float]]]
"""Groups of cells, found and expected; each group has a given sum."""


def _chi_square(groups: Cells) -> tuple[float, int]:
    """Of the groups whose cells all expect enough. A cell that nothing can be in is none."""
    value, degrees = 0.0, 0
    for group in groups:
        cells = [(found, expected) for found, expected in group if expected or found]
        if len(cells) > 1 and min(expected for _, expected in cells) >= LEAST_CELL:
            value += sum((found - expected) ** 2 / expected for found, expected in cells)
            degrees += len(cells) - 1
    return value, degrees


def _index(own: _Family) -> Cells:
    expected = [0.0] * TENTHS
    for size, count in own.sizes.items():
        for value in range(size):
            expected[value * TENTHS // size] += count / size
    return [[(own.index[tenth], expected[tenth]) for tenth in range(TENTHS)]]


def _hop_places(own: _Family) -> Cells:
    """Of each tenth a group of cells, one a hop: which hops stand there."""
    groups: list[list[tuple[float, float]]] = []
    for hops in own.hops:
        for tenth in range(TENTHS):
            found = [own.places[hops, hop, tenth] for hop in range(hops)]
            groups.append([(count, sum(found) / hops) for count in found])
    return groups


def _orders(own: _Family) -> Cells:
    totals: Counter[int] = Counter()
    for order, count in own.orders.items():
        totals[len(order)] += count
    groups: list[list[tuple[float, float]]] = []
    for length, total in totals.items():
        expected = total / factorial(length)
        seen = [(float(n), expected) for order, n in own.orders.items() if len(order) == length]
        groups.append(seen + [(0.0, expected)] * (factorial(length) - len(seen)))
    return groups


def _limits(name: str, own: _Family, gated: bool) -> list[Line]:
    """Lines of what may not be too few or too many: at the limit where it is within."""
    tenths: Counter[int] = Counter()
    for (_, _, tenth), count in own.places.items():
        tenths[tenth] += count
    total = tenths.total()
    limits = (
        ("thin_tenth", min(tenths[t] for t in range(TENTHS)), total, THIN, -1),
        ("thick_tenth", max(tenths[t] for t in range(TENTHS)), total, THICK, 1),
        ("late_queries", own.late, own.tasks, LEAST_LATE, -1),
    )
    lines: list[Line] = []
    for what, found, of, share, side in limits:
        bound = tail(found, of, share * of) if (found - share * of) * side > 0 else 1.0
        lines.append(Line(name, what, of, found, share * of, sqrt(share * (1 - share) * of), bound, gated))
    return lines

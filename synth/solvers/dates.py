"""Reference solver of `before_after`, and what a reader of some events knows of an event's neighbours.

The n events stand on different days, drawn from DAYS; h of them are hidden. Any h of the days that nothing has been
seen on are as likely, and so is any way to give the hidden names to them. That no hidden event lies in stretches of
g such days together, of f in all, has the probability C(f - g, h) / C(f, h). Places tell nothing.

What earlier answers say is left out: nothing hidden lies beside events that they named, which can only crowd the
other stretches, so that the chance that one of these is empty is bounded from above.
"""

import re
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from math import exp, lgamma, perm
from typing import NamedTuple

from gristmill.synth.solvers.weighing import Part, Rules, Visible, weighed_law
from gristmill.synth.solvers.words import Contradiction, names_in, numbers_in

FIRST_DAY, DAYS = date(1700, 1, 1), 73_000
SIDE = 2
"""Events asked about on each side."""
_MONTHS = {
    m: i + 1 for i, m in enumerate(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
}
_DATE = re.compile(
    rf"(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?[ -](?:of )?(?P<m1>(?:{'|'.join(_MONTHS)})[a-z]*)[ -](?P<y1>\d{{4}})"
    rf"|(?P<y2>\d{{4}}), (?P<m2>(?:{'|'.join(_MONTHS)})[a-z]*) (?P<d2>\d{{1,2}})(?!\d)"
    rf"|(?P<m3>(?:{'|'.join(_MONTHS)})[a-z]*) (?:the )?(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y3>\d{{4}})",
    re.IGNORECASE,
)


class Event(NamedTuple):
    """A record: its name, and days since FIRST_DAY."""

    name: str
    day: int


class Chronicle(NamedTuple):
    """The event that is asked about, all events in order of place, and how many the query counts."""

    asked: str
    events: tuple[Event, ...]
    total: int


def read(query: str, records: Sequence[str]) -> Chronicle:
    """Raises Contradiction where a record or the query cannot be read in one way, or two events share a day."""
    names, counts = set(names_in(query)), numbers_in(query)
    pairs = [names_in(text) for text in records]
    books = set[str](names).intersection(*(set(pair) for pair in pairs))
    if len(names) != 2 or len(books) != 1 or len(counts) != 1:
        raise Contradiction(f"a query with names {sorted(names)} and counts {counts}")
    events: list[Event] = []
    for text, pair in zip(records, pairs, strict=True):
        own = [name for name in pair if name not in books]
        if len(own) != 1 or len(pair) != 2:
            raise Contradiction(f"a record with names {pair}")
        events.append(Event(own[0], read_day(text)))
    if len({e.day for e in events}) < len(events) or len({e.name for e in events}) < len(events):
        raise Contradiction("two events of one day or of one name")
    (asked,) = names - books
    return Chronicle(asked, tuple(events), counts[0])


def read_day(text: str) -> int:
    """The one date with its month in letters. Raises Contradiction."""
    found = list(_DATE.finditer(text))
    if len(found) != 1:
        raise Contradiction(f"a record with {len(found)} dates")
    groups = found[0].groupdict()
    year, month, day = (next(groups[f"{part}{i}"] for i in (1, 2, 3) if groups[f"{part}{i}"]) for part in "ymd")
    try:
        return (date(int(year), _MONTHS[month[:3].lower()], int(day)) - FIRST_DAY).days
    except ValueError:
        raise Contradiction(f"no such day: {found[0].group()}") from None


def solve(problem: Chronicle, without: int) -> tuple[str | None, tuple[int, ...]]:
    """The SIDE events before and as many after, by day; None where fewer events are there than the query counts."""
    line = sorted((event.day, i) for i, event in enumerate(problem.events) if i != without)
    if len(line) > problem.total:
        raise Contradiction(f"{len(line)} events where {problem.total} are counted")
    at = next((n for n, (_, i) in enumerate(line) if problem.events[i].name == problem.asked), -1)
    if len(line) < problem.total or at < 0:
        return None, ()
    if not SIDE <= at < problem.total - SIDE:
        raise Contradiction(f"event {at + 1} of {problem.total} has too few neighbours")
    used = tuple(i for _, i in line[at - SIDE : at + SIDE + 1])
    return ", ".join(problem.events[i].name for i in used if problem.events[i].name != problem.asked), used


def _empty(days: int, free: int, hidden: int) -> float:
    """The probability that `hidden` of `free` days miss so many of them."""
    if days <= 0 or not hidden:
        return 1.0
    if free - days < hidden:
        return 0.0
    return exp(
        lgamma(free - days + 1) - lgamma(free - days - hidden + 1) - lgamma(free + 1) + lgamma(free - hidden + 1)
    )


def _exactly(ones: Sequence[int], empty: int, free: int, hidden: int) -> float:
    """The probability that one hidden event lies in each of these stretches, and none in `empty` days beside them."""
    value = 1.0
    for number, days in enumerate(ones):
        value *= days * max(hidden - number, 0) / (free - number)
    count = len(ones)
    return value * _empty(sum(ones) - count + empty, free - count, max(hidden - count, 0))


class Side(NamedTuple):
    """One way for the two events on a side: `unseen` of them hidden, when `empty` days have no hidden event and each
    of `ones` has one."""

    empty: int
    ones: tuple[int, ...]
    unseen: int


def _sides(days: Sequence[int], own: int, end: int) -> tuple[list[Side], int, int]:
    """Ways for one side; `days` are those of the events seen there, the nearest first, `end` where the line ends.

    Also how many hidden events there must be at least, and on how many days.
    """
    near = [abs(day - own) - 1 for day in days[:SIDE]]
    ways = [Side(0, (), 2)]
    if near:
        ways += [Side(near[0], (), 1), Side(0, (near[0],), 1)]
    if len(near) == SIDE:
        ways.append(Side(near[1] - 1, (), 0))
    return ways, SIDE - len(near), abs(end - own) - len(days)


def posterior(problem: Chronicle, visible: Visible) -> list[float]:
    """Of the likeliest answer of each kind, by which of the four are seen; where two kinds overlap both are counted
    in full, so each is an upper bound."""
    line = sorted(problem.events[i].day for i in visible)
    hidden, free = problem.total - len(line), DAYS - len(line)
    own = next((e.day for i, e in enumerate(problem.events) if i in visible and e.name == problem.asked), None)
    if own is None:
        return _of_hidden(line, free, hidden)
    below, need_below, room_below = _sides([day for day in reversed(line) if day < own], own, -1)
    above, need_above, room_above = _sides([day for day in line if day > own], own, DAYS)
    lacking = sum(
        sum(_exactly((room,) * n, 0 if n else room, free, hidden) for n in range(need))
        for need, room in ((need_below, room_below), (need_above, room_above))
    )
    known = max(1 - lacking, 1e-9)
    return [
        min(1.0, _exactly((*left.ones, *right.ones), left.empty + right.empty, free, hidden) / known)
        / max(perm(hidden, left.unseen + right.unseen), 1)
        for left in below
        for right in above
    ]


def _of_hidden(line: Sequence[int], free: int, hidden: int) -> list[float]:
    """Where the event itself is hidden: it lies alone between four that are seen, or beside other hidden ones.

    known: it is none of the first or last SIDE events, of which no hidden event is more likely one than another.
    """
    gaps = [b - a - 1 for a, b in pairwise((-1, *line, DAYS))]
    alone = [
        gaps[i] / free * _empty(gaps[i - 1] + gaps[i] - 1 + gaps[i + 1], free - 1, hidden - 1)
        for i in range(2, len(gaps) - 2)
    ]
    unseen = max(1, 2 * SIDE - len(line))
    known = max(1 - 2 * SIDE / hidden, 1e-9)
    return [min(1.0, p / known) for p in (*alone, max(gaps) / free / max(perm(hidden - 1, unseen), 1))]


def _best(problem: Chronicle, visible: Visible) -> float:
    return max(posterior(problem, visible))


def _space(problem: Chronicle) -> int:
    return perm(problem.total - 1, 2 * SIDE)


def _parts(problem: Chronicle) -> tuple[Part, ...]:
    """One for each neighbour."""
    names = tuple(sorted(e.name for e in problem.events if e.name != problem.asked))
    values = tuple((e.name,) if e.name != problem.asked else () for e in problem.events)
    answer = (solve(problem, -1)[0] or ", ").split(", ")
    return tuple(Part(problem.asked, names, values, part) for part in answer)


CHRONICLES = weighed_law(Rules(read, solve, _best, _space, _parts))

"""The laws of shares: parts of an answer that are independent and uniform, wherever they stand.

A solver reads a query and the records that it needs (`Solved`). Proved: it finds the answer by the stored evidence and
no other record, and none without any one of these. A window that lacks a share knows nothing (`all_or_none`), so
epsilon is exact where all evidence are shares, and an upper bound where some records only tell which shares are meant.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gristmill.synth.solvers.asking import Asked, Found, Law, Records, Seen, Unproved, View
from gristmill.synth.solvers.spans import Span
from gristmill.synth.solvers.windows import WINDOW_PARTS, sum_epsilon


@dataclass(frozen=True)
class Solved:
    """What a solver finds; `answer` is None where a record is missing.

    used: all records that the answer needs; shares: those with a part of it, in the order in which `combine` takes
    them; key: the name that the query asks about.
    """

    key: str
    answer: str | None
    used: tuple[int, ...]
    shares: tuple[int, ...]
    candidates: tuple[str, ...]
    combine: Callable[[Sequence[int]], str]


Solve = Callable[[str, Records, int], Solved]
"""Of a query, from records, as if one of them were not there (-1: all are). Raises Contradiction."""
Values = Callable[[str], tuple[str, ...]]
"""The answers that the text of a record suggests by itself."""
Epsilon = Callable[[Sequence[Span], int, int], float]
"""Of the spans of the shares, how many candidates there are, and the tokens of a window."""
Views = Callable[[str, Records, str], tuple[View, ...]]


def all_or_none(shares: Sequence[Span], candidates: int, window: int) -> float:
    """A window without all shares is worth a guess."""
    return sum_epsilon(shares, 1 / candidates, window)


def shares_law(solve: Solve, values: Values, epsilon: Epsilon = all_or_none, views: Views | None = None) -> Law:
    """The law of a solver. `views`: how cheaters see its tasks, where it is not as `_view` has it."""

    def prove(seen: Seen, asked: Asked) -> Found:
        found = _solved(solve, seen, asked)
        ends = dict(asked.evidence)
        shares = [(start, ends[start]) for start in found.shares]
        windows = (seen.reading.context // parts for parts in WINDOW_PARTS)
        return Found(found.candidates, tuple(epsilon(shares, len(found.candidates), window) for window in windows))

    def look(query: str, records: Records, answer: str) -> tuple[View, ...]:
        found = solve(query, records, -1)
        shown = {start: values(text) for start, text in records.texts.items()}
        return (View(found.key, found.candidates, shown, answer, found.shares, found.combine),)

    return Law(prove, views or look, lambda query, records: solve(query, records, -1).answer)


def _solved(solve: Solve, seen: Seen, asked: Asked) -> Solved:
    found = solve(asked.query, seen.records, -1)
    if found.answer != asked.answer or set(found.used) != {start for start, _ in asked.evidence}:
        raise Unproved("unsolved", f"the solver finds {found.answer!r} by {len(found.used)} records", asked.index)
    if not seen.records.named.get(found.key, frozenset()) <= {start for start, _ in asked.bank}:
        raise Unproved("leak", f"{found.key!r} stands in records of another bank", asked.index)
    for start in found.used:
        if solve(asked.query, seen.records, start).answer is not None:
            raise Unproved("not_necessary", f"the record at {start}", asked.index)
    return found

"""The laws of tasks whose leak is computed: what the best reader of a window knows, from a posterior in closed form.

A family brings `Rules`: how the records of its bank and a query are read, solved, and weighed. Proved: the solver finds
the answer by the stored evidence; without any one of these records it finds none; the bank's names stand in no
other records; and epsilon of each window: the largest posterior that any answer has for who sees that window, at its
worst window, less the worth of a guess.

The reader of a window sees the records that stand whole in it, and all evidence of earlier questions of the bank.
Windows are those that begin with a record or end with one: every set of records that a window can hold stands in one
of these, or is a subset of one. Indices of records count those of the bank in order of place.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from gristmill.synth.solvers.asking import MAX_ANSWERS, Asked, Found, Law, Records, Seen, Unproved, View
from gristmill.synth.solvers.reading import Reading
from gristmill.synth.solvers.spans import Span
from gristmill.synth.solvers.windows import WINDOW_PARTS
from gristmill.synth.solvers.words import names_in

P = TypeVar("P")
Visible = frozenset[int]


class Part(NamedTuple):
    """A part of an answer as cheaters see it: `values[i]` are the candidates that record i mentions."""

    key: str
    candidates: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    answer: str


@dataclass(frozen=True)
class Rules(Generic[P]):
    """How a family is read and weighed; `read` and `solve` raise Contradiction.

    read: the query and the texts of the bank's records, in order of place; solve: (answer, records that it takes) as
    if one record (-1: none) were not there, the answer None where one is missing; best: the largest posterior of any
    answer for who sees these records; space: how many answers there are; parts: what cheaters guess.
    """

    read: Callable[[str, Sequence[str]], P]
    solve: Callable[[P, int], tuple[str | None, tuple[int, ...]]]
    best: Callable[[P, Visible], float]
    space: Callable[[P], int]
    parts: Callable[[P], tuple[Part, ...]]


def weighed_law(
    rules: Rules[P], klass: str = "B", distance_only: bool = False, solved_by: frozenset[str] = frozenset()
) -> Law:
    """The law of a family with these rules; the rest as in `Law`."""

    def prove(seen: Seen, asked: Asked) -> Found:
        bank = asked.bank
        texts = [seen.records.texts[start] for start, _ in bank]
        _check_alone(seen, asked, texts)
        problem = rules.read(asked.query, texts)
        _check_solved(rules, problem, asked)
        given, known = _given(seen.reading, asked), dict[Visible, float]()
        windows = (seen.reading.context // parts for parts in WINDOW_PARTS)
        space = min(rules.space(problem), MAX_ANSWERS)
        epsilons = tuple(worst(rules, problem, bank, given, window, known) - 1 / space for window in windows)
        return Found(rules.parts(problem)[0].candidates, epsilons, space)

    def look(query: str, records: Records, answer: str) -> tuple[View, ...]:
        starts = sorted(records.texts)
        parts = rules.parts(rules.read(query, [records.texts[start] for start in starts]))
        return tuple(View(p.key, p.candidates, dict(zip(starts, p.values, strict=True)), p.answer) for p in parts)

    def solve(query: str, records: Records) -> str | None:
        return rules.solve(rules.read(query, [records.texts[start] for start in sorted(records.texts)]), -1)[0]

    return Law(prove, look, solve, klass, distance_only, solved_by)


def _check_alone(seen: Seen, asked: Asked, texts: Sequence[str]) -> None:
    """Names of the bank stand in no record of another."""
    own = {start for start, _ in asked.bank}
    known = ("alone", asked.bank)
    if known not in seen.records.memo:
        seen.records.memo[known] = all(seen.records.named[name] <= own for text in texts for name in names_in(text))
    if not seen.records.memo[known]:
        raise Unproved("leak", "a name of the bank stands in records of another", asked.index)


def _check_solved(rules: Rules[P], problem: P, asked: Asked) -> None:
    found, used = rules.solve(problem, -1)
    if found != asked.answer or {asked.bank[i] for i in used} != set(asked.evidence):
        raise Unproved("unsolved", f"the solver finds {found!r} by {len(used)} records", asked.index)
    for index in used:
        if rules.solve(problem, index)[0] is not None:
            raise Unproved("not_necessary", f"the record at {asked.bank[index][0]}", asked.index)


def _given(reading: Reading, asked: Asked) -> Visible:
    """Evidence of the questions of the bank that were answered in front of this one."""
    task, at = reading.tasks[asked.index], {span: i for i, span in enumerate(asked.bank)}
    return frozenset(
        at[e["start"], e["end"]]
        for other in reading.tasks
        if other["family"] == task["family"] and (other["answer_end"] or 0) <= task["query_start"]
        for e in other["evidence"] or ()
        if (e["start"], e["end"]) in at
    )


def worst(
    rules: Rules[P], problem: P, bank: Sequence[Span], given: Visible, window: int, known: dict[Visible, float]
) -> float:
    """The largest posterior at any window of so many tokens; `known` keeps what was weighed."""
    starts, ends = [start for start, _ in bank], [end for _, end in bank]
    most = 0.0
    for edge in sorted({*starts, *(max(0, end - window) for end in ends)}):
        first, stop = bisect_left(starts, edge), bisect_right(ends, edge + window)
        visible = given.union(range(first, stop))
        if visible not in known:
            known[visible] = rules.best(problem, visible)
        most = max(most, known[visible])
    return most

"""Reference solver of `two_versions`, and what a reader of some statements knows.

Nothing tells the pair that differs from the others but its two values. Who has seen both statements of a thing knows
whether it is the one; every other thing that is stated twice is as likely. The reader is given for nothing which
things are stated once, so this is an upper bound.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from gristmill.synth.solvers.weighing import Part, Rules, Visible, weighed_law
from gristmill.synth.solvers.words import Contradiction, names_in, numbers_in

_ENTRY = re.compile(r"entry (\d{1,9})(?!\d)")


class Statement(NamedTuple):
    """A record: its number, what it speaks of, and what it says."""

    entry: int
    thing: str
    value: int


class Book(NamedTuple):
    """All statements in order of place, and of each thing their indices."""

    name: str
    statements: tuple[Statement, ...]
    of: dict[str, tuple[int, ...]]


def read(query: str, records: Sequence[str]) -> Book:
    """Raises Contradiction where a record or the query cannot be read in one way."""
    books = set(names_in(query))
    if len(books) != 1:
        raise Contradiction(f"a query with names {sorted(books)}")
    (book,) = books
    statements: list[Statement] = []
    of: dict[str, tuple[int, ...]] = {}
    for index, text in enumerate(records):
        names, entries, numbers = names_in(text), [int(n) for n in _ENTRY.findall(text)], numbers_in(text)
        announced = len(entries) == 1 and entries[0] in numbers  # a date behind "entry" is no number
        if len(names) != 2 or book not in names or not announced or len(numbers) != 2:
            raise Contradiction(f"a record with names {names}, entries {entries} and numbers {numbers}")
        names.remove(book)
        numbers.remove(entries[0])
        statements.append(Statement(entries[0], names[0], numbers[0]))
        of[names[0]] = (*of.get(names[0], ()), index)
    if any(len(own) > 2 for own in of.values()) or len({s.entry for s in statements}) < len(statements):
        raise Contradiction("a thing that is stated three times, or two entries of one number")
    return Book(book, tuple(statements), of)


def solve(problem: Book, without: int) -> tuple[str | None, tuple[int, ...]]:
    """The numbers of the two statements that differ, the smaller first. Raises Contradiction where more do."""
    kept = (tuple(i for i in own if i != without) for own in problem.of.values())
    found = [own for own in kept if _differ(problem, own)]
    if len(found) > 1:
        raise Contradiction(f"{len(found)} things are stated in two ways")
    if not found:
        return None, ()
    return _told(problem, found[0]), found[0]


def _differ(problem: Book, own: Sequence[int]) -> bool:
    return len({problem.statements[i].value for i in own}) > 1


def _told(problem: Book, own: Sequence[int]) -> str:
    return " and ".join(str(n) for n in sorted(problem.statements[i].entry for i in own))


def posterior(problem: Book, visible: Visible) -> dict[str, float]:
    """Of every thing that is stated twice."""
    left: list[str] = []
    for thing, own in problem.of.items():
        if len(own) == 2 and not visible.issuperset(own):
            left.append(thing)
        elif len(own) == 2 and _differ(problem, own):
            return {thing: 1.0}
    return dict.fromkeys(left, 1 / len(left))


def _best(problem: Book, visible: Visible) -> float:
    return max(posterior(problem, visible).values())


def _space(problem: Book) -> int:
    return sum(len(own) == 2 for own in problem.of.values())


def _parts(problem: Book) -> tuple[Part, ...]:
    """The pairs; a record mentions its own."""
    told = {thing: _told(problem, own) for thing, own in problem.of.items() if len(own) == 2}
    values = tuple((told[s.thing],) if s.thing in told else () for s in problem.statements)
    return (Part(problem.name, tuple(sorted(told.values())), values, solve(problem, -1)[0] or ""),)


BOOKS = weighed_law(Rules(read, solve, _best, _space, _parts))

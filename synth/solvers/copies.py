"""Reference solver of `copy_distance`: the line of four names that begins as the query says ends in the answer."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from gristmill.synth.solvers.weighing import Part, Rules, Visible, weighed_law
from gristmill.synth.solvers.words import Contradiction, names_in

PREFIX = 3


class Lines(NamedTuple):
    """The beginning that is asked for, and all lines, a beginning and an end each."""

    asked: tuple[str, ...]
    lines: tuple[tuple[tuple[str, ...], str], ...]


def read(query: str, records: Sequence[str]) -> Lines:
    """Raises Contradiction where names do not stand in one row, as many as there should be."""
    lines = [_row(text, PREFIX + 1) for text in records]
    return Lines(_row(query, PREFIX), tuple((line[:PREFIX], line[PREFIX]) for line in lines))


def _row(text: str, count: int) -> tuple[str, ...]:
    names = tuple(names_in(text))
    if len(names) != count or not re.search(" ".join(names), text):
        raise Contradiction(f"names {names} where {count} in a row were expected")
    return names


def solve(problem: Lines, without: int) -> tuple[str | None, tuple[int, ...]]:
    """The end of the line with this beginning."""
    found = [i for i, (start, _) in enumerate(problem.lines) if start == problem.asked and i != without]
    if len(found) > 1:
        raise Contradiction(f"{len(found)} lines begin with {problem.asked}")
    return (problem.lines[found[0]][1], (found[0],)) if found else (None, ())


def posterior(problem: Lines, visible: Visible) -> dict[str, float]:
    """Of every end: who does not see the line has those of all lines unseen, each as likely."""
    for index in visible:
        if problem.lines[index][0] == problem.asked:
            return {problem.lines[index][1]: 1.0}
    unseen = [end for i, (_, end) in enumerate(problem.lines) if i not in visible]
    return dict.fromkeys(unseen, 1 / len(unseen))


def _best(problem: Lines, visible: Visible) -> float:
    return max(posterior(problem, visible).values())


def _parts(problem: Lines) -> tuple[Part, ...]:
    ends = tuple(sorted(end for _, end in problem.lines))
    values = tuple((end,) for _, end in problem.lines)
    return (Part(problem.asked[-1], ends, values, solve(problem, -1)[0] or ""),)


RULES = Rules(read, solve, _best, lambda problem: len(problem.lines), _parts)
_LOOK_UPS = frozenset(("latest_with_key", "first_with_key", "best_match", "all_but_one"))
"""One record holds both key and answer."""
COPIES = weighed_law(RULES, klass="A", distance_only=True, solved_by=_LOOK_UPS)

"""Reference solver of paths whose rows have a direction: each `Edge` leads from one key to what comes next.

The key of a row stands in no other row of the bank. A path takes as many steps as its query says, or goes on until a
number ends it. None where a row is missing; Contradiction where two would do, or where a path comes back to itself.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from gristmill.synth.solvers.following import PathQuery, PathReader
from gristmill.synth.solvers.words import NAME_PATTERN, Contradiction, names_in, numbers_in

_EARLIER = re.compile(rf"\b(?:from|after) ({NAME_PATTERN})")


class Edge(NamedTuple):
    """A row: what it is found by, and what it leads to."""

    key: str
    leads: str


def follow(query: PathQuery, edges: Sequence[Edge], without: int = -1) -> tuple[str | None, list[int]]:
    """(answer, rows that lead to it) as `PathReader.walk`."""
    by_key: dict[str, list[int]] = {}
    for index, edge in enumerate(edges):
        by_key.setdefault(edge.key, []).append(index)
    here, path = query.start, list[int]()
    while len(path) < query.steps if query.steps else not here.isdigit():
        found = [index for index in by_key.get(here, ()) if index != without]
        if len(found) > 1 or set(found) & set(path):
            raise Contradiction(f"{len(found)} records lead on from {here}")
        if not found:
            return None, path
        path += found
        here = edges[found[0]].leads
    return here, path


def starts(query: PathQuery, edges: Sequence[Edge]) -> list[str]:
    """The keys that as many rows lead to as to the start of the query."""
    leads_to = {edge.leads: edge.key for edge in edges}

    def depth(key: str) -> int:
        steps = 0
        while key in leads_to and steps <= len(edges):
            key, steps = leads_to[key], steps + 1
        return steps

    wanted = depth(query.start)
    return sorted(edge.key for edge in edges if depth(edge.key) == wanted)


def read_link(query: PathQuery, text: str) -> Edge:
    """A record of two names: what stands behind "from" or "after" comes first, or else what is named first."""
    names = names_in(text)
    if len(names) != 2 or names[0] == names[1] or numbers_in(text):
        raise Contradiction(f"a record with names {names} and numbers {numbers_in(text)}")
    earlier = _EARLIER.findall(text)
    if len(earlier) > 1:
        raise Contradiction(f"a record with two beginnings {earlier}")
    return Edge(names[1], names[0]) if earlier == names[1:] else Edge(names[0], names[1])


def read_steps(text: str) -> PathQuery:
    """A query of one name and the number of steps. Raises Contradiction."""
    names, numbers = set(names_in(text)), numbers_in(text)
    if len(names) != 1 or len(numbers) != 1 or numbers[0] < 1:
        raise Contradiction(f"a query with names {sorted(names)} and numbers {numbers}")
    return PathQuery(names.pop(), steps=numbers[0])


def _links(query: PathQuery, texts: Sequence[str]) -> list[Edge]:
    return [read_link(query, text) for text in texts]


THREADS = PathReader(read_steps, _links, follow, starts)
GRAPHS = PathReader(read_steps, _links, follow, starts, spare=True)

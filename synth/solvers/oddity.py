"""Reference solvers of `common_member` and `most_cargo`, and what a reader of some records knows.

Everybody (a member, a ship) has k records; all k of one are hits (a list that is asked about, the goods that are asked
for), and all but one of each other, at a place of its own. Who has been seen with a miss is not the one. Who has been
seen with j hits and no miss is k / (k - j) times as likely as who has not been seen: a miss would have hidden among
the k - j unseen records with probability (k - j) / k. Where records stand tells nothing, as everybody's stand alike.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gristmill.synth.solvers.weighing import Part, Rules, Visible, weighed_law
from gristmill.synth.solvers.words import Contradiction, names_in, words_in


class Crowd(NamedTuple):
    """Of everybody the records, in order of place, and which of all records are hits. key: what the query names.

    most: k.
    """

    records: dict[str, tuple[int, ...]]
    hits: tuple[bool, ...]
    names: tuple[str, ...]
    key: str
    most: int


def read_lists(query: str, records: Sequence[str]) -> Crowd:
    """Members and lists; who stands with a list that is asked about is a member.

    Raises Contradiction where a record has not one member and one list, or two records have the same.
    """
    lists, pairs = names_in(query), [tuple(names_in(text)) for text in records]
    if len(set(pairs)) < len(pairs) or any(len(pair) != 2 for pair in pairs):
        raise Contradiction("records that are the same, or without two names")
    known = {name for pair in pairs if set(pair) & set(lists) for name in pair if name not in lists}
    members: list[str] = []
    for pair in pairs:
        own = [name for name in pair if name in known]
        if len(own) != 1:
            raise Contradiction(f"a record with names {pair}")
        members += own
    hits = [bool(set(pair) & set(lists)) for pair in pairs]
    return _crowd(members, hits, lists[0] if lists else "", len(lists))


def read_cargo(query: str, records: Sequence[str]) -> Crowd:
    """Ships and goods at one port. Raises Contradiction where a record or the query names not one of each."""
    ports = set(names_in(query))
    asked = [word for word in words_in(query) if word in GOODS]
    if len(ports) != 1 or len(asked) != 1:
        raise Contradiction(f"a query with ports {sorted(ports)} and goods {asked}")
    (port,) = ports
    ships: list[str] = []
    hits: list[bool] = []
    for text in records:
        names, goods = names_in(text), [word for word in words_in(text) if word in GOODS]
        if len(names) != 2 or port not in names or len(goods) != 1:
            raise Contradiction(f"a record with names {names} and goods {goods}")
        names.remove(port)
        ships += names
        hits.append(goods == asked)
    counts = {ship: sum(h for s, h in zip(ships, hits, strict=True) if s == ship) for ship in ships}
    return _crowd(ships, hits, port, max(map(ships.count, counts), default=0))


GOODS = frozenset(
    ["barley", "copper", "timber", "salt", "wool", "cement", "herring", "glass", "coal", "oranges", "tea", "bricks"]
)


def _crowd(names: Sequence[str], hits: Sequence[bool], key: str, most: int) -> Crowd:
    records: dict[str, tuple[int, ...]] = {}
    for index, name in enumerate(names):
        records[name] = (*records.get(name, ()), index)
    return Crowd(records, tuple(hits), tuple(names), key, most)


def solve(problem: Crowd, without: int) -> tuple[str | None, tuple[int, ...]]:
    """Who has a hit k times; None where nobody has. Raises Contradiction where two have."""
    found = {
        name: own
        for name, own in problem.records.items()
        if sum(problem.hits[i] for i in own if i != without) == problem.most
    }
    if len(found) > 1:
        raise Contradiction(f"{len(found)} have {problem.most} of them")
    return next(iter(found.items()), (None, ()))


def posterior(problem: Crowd, visible: Visible) -> dict[str, float]:
    """Of everybody."""
    weights: dict[str, float] = {}
    for name, own in problem.records.items():
        seen = [problem.hits[i] for i in own if i in visible]
        if len(seen) == problem.most and all(seen):
            return {name: 1.0}
        weights[name] = problem.most / (problem.most - len(seen)) if all(seen) else 0.0
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def _best(problem: Crowd, visible: Visible) -> float:
    return max(posterior(problem, visible).values())


def _parts(problem: Crowd) -> tuple[Part, ...]:
    values = tuple((name,) for name in problem.names)
    return (Part(problem.key, tuple(sorted(problem.records)), values, solve(problem, -1)[0] or ""),)


MEMBERS = weighed_law(Rules(read_lists, solve, _best, lambda problem: len(problem.records), _parts))
CARGO = weighed_law(Rules(read_cargo, solve, _best, lambda problem: len(problem.records), _parts))

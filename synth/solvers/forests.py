"""Reference solver of `news_tree`, and what a reader of some edges knows of the nodes two steps away.

An edge goes from the first name of its record to the second. The bank is a forest of depth two in which every inner
node has as many children as the query says; its nodes are as if drawn without replacement, so of the hidden edges
each way to attach the children that nobody has been seen to have is as likely.
"""

import re
from collections.abc import Sequence
from itertools import combinations_with_replacement
from math import comb
from typing import NamedTuple

from gristmill.synth.solvers.weighing import Part, Rules, Visible, weighed_law
from gristmill.synth.solvers.words import Contradiction, names_in

_FAN = re.compile(r"(?<!\d)(\d) others")
_STEPS = re.compile(r"round (\d)(?!\d)")
FAN, STEPS = 2, 2
"""What the posterior is worked out for."""


class Forest(NamedTuple):
    """The start, the edges, and the children of each giver as indices of edges."""

    start: str
    edges: tuple[tuple[str, str], ...]
    children: dict[str, tuple[int, ...]]


def read(query: str, records: Sequence[str]) -> Forest:
    """Raises Contradiction where a record is no edge, or the query asks for another depth or width."""
    starts = set(names_in(query))
    if len(starts) != 1 or _FAN.findall(query) != [str(FAN)] or _STEPS.findall(query) != [str(STEPS)]:
        raise Contradiction(f"a query with starts {sorted(starts)}, or not {FAN} others and {STEPS} rounds")
    edges: list[tuple[str, str]] = []
    children: dict[str, tuple[int, ...]] = {}
    for index, text in enumerate(records):
        names = names_in(text)
        if len(names) != 2:
            raise Contradiction(f"a record with names {names}")
        edges.append((names[0], names[1]))
        children[names[0]] = (*children.get(names[0], ()), index)
    if len({taker for _, taker in edges}) < len(edges):
        raise Contradiction("somebody hears the news from two")
    return Forest(starts.pop(), tuple(edges), children)


def solve(problem: Forest, without: int) -> tuple[str | None, tuple[int, ...]]:
    """The nodes at depth STEPS, in the order of the alphabet."""
    reached, used = [problem.start], list[int]()
    for _ in range(STEPS):
        following: list[str] = []
        for node in reached:
            own = [i for i in problem.children.get(node, ()) if i != without]
            if len(own) > FAN:
                raise Contradiction(f"{node} tells {len(own)} others")
            if len(own) < FAN:
                return None, tuple(used)
            used += own
            following += [problem.edges[i][1] for i in own]
        reached = following
    return ", ".join(sorted(reached)), tuple(used)


def posterior(problem: Forest, visible: Visible) -> list[float]:
    """Of the likeliest answer of each kind: by how many of the hidden middles' children have been seen.

    lacking: children unseen of the start's seen children; a hidden middle is any node of the first layer whose edge
    from a root has not been seen. An answer that holds a seen child of such a node is made by that node alone.
    """
    inner = {taker for _, taker in problem.edges if taker in problem.children}
    hidden = [taker for i, (_, taker) in enumerate(problem.edges) if i not in visible]
    orphans = [taker for taker in hidden if taker in inner]
    leaves = len(hidden) - len(orphans)
    known = [problem.edges[i][1] for i in problem.children[problem.start] if i in visible]
    lacking = sum(FAN - _seen(problem, middle, visible) for middle in known)
    unknown = FAN - len(known)
    if not unknown:
        return [1 / comb(leaves, lacking)]
    counts = [_seen(problem, orphan, visible) for orphan in orphans]
    sets = comb(len(orphans), unknown)
    out: list[float] = []
    for chosen in combinations_with_replacement(sorted(set(counts)), unknown):
        if any(chosen.count(seen) > counts.count(seen) for seen in chosen):
            continue
        ways = comb(counts.count(0), chosen.count(0))
        out.append(ways / sets / comb(leaves, lacking + FAN * unknown - sum(chosen)))
    return out


def _seen(problem: Forest, node: str, visible: Visible) -> int:
    """How many of a node's children have been seen."""
    return sum(i in visible for i in problem.children.get(node, ()))


def _best(problem: Forest, visible: Visible) -> float:
    return max(posterior(problem, visible))


def _space(problem: Forest) -> int:
    takers = {taker for _, taker in problem.edges}
    leaves = sum(taker not in problem.children for taker in takers)
    return comb(leaves, FAN**STEPS)


def _parts(problem: Forest) -> tuple[Part, ...]:
    """The answers of all roots; an edge to a leaf mentions the one that the leaf is part of."""
    takers = {taker for _, taker in problem.edges}
    answers: dict[int, str] = {}
    leaves = frozenset(i for i, (_, taker) in enumerate(problem.edges) if taker not in problem.children)
    for root in sorted(set(problem.children) - takers):
        answer, used = solve(problem._replace(start=root), -1)
        answers.update(dict.fromkeys(used, answer or ""))
    values = tuple((answers[i],) if i in leaves else () for i in range(len(problem.edges)))
    return (Part(problem.start, tuple(sorted(set(answers.values()))), values, solve(problem, -1)[0] or ""),)


FORESTS = weighed_law(Rules(read, solve, _best, _space, _parts), solved_by=frozenset(("all_but_one",)))
"""Two steps are all that there are."""

"""Reference solver of `chat_recall`, and what a reader of some replies knows of the order of all.

The n turns of a kind are drawn from [t, t + SPAN_TURNS), t uniform over a range so much longer that its ends do not
matter. Who sees v turns, with gaps g between them (as parts of SPAN_TURNS, G together), knows of the others only how
many may lie in each gap, below and above. Given that t is as likely wherever all seen turns fit, that m_0 lie below,
m_1 .. m_(v-1) in the gaps and m_v above has the probability

    h! / (m_1! .. m_(v-1)!) * g_1^m_1 .. g_(v-1)^m_(v-1) * (1 - G)^(m_0 + m_v) / (m_0 + m_v + 1)!

for h = n - v: below and above, every way to share is as likely. Turns are taken as real numbers. Places tell nothing.
"""

import re
from collections.abc import Sequence
from itertools import combinations, pairwise
from math import factorial, perm
from typing import NamedTuple

from gristmill.synth.solvers.weighing import Part, Rules, Visible, weighed_law
from gristmill.synth.solvers.words import Contradiction, names_in

SPAN_TURNS = 4000
_TURN = re.compile(r"turn[ =](\d{1,9})(?!\d)")
_KIND = re.compile(r"\b(limerick|riddle|recipe|sonnet|speech|fable) about ([a-z]+)")
_RANKS = re.compile(r"numbers (\d{1,9}), (\d{1,9}), (\d{1,9}) and (\d{1,9})(?!\d)")


class Reply(NamedTuple):
    """A reply of the kind that is asked for: its record, its turn, its first word."""

    record: int
    turn: int
    opening: str


class Chat(NamedTuple):
    """The replies of one kind by turn, how many there are, and the ranks that are asked for, from 0.

    records: how many the bank has.
    """

    chat: str
    replies: tuple[Reply, ...]
    total: int
    ranks: tuple[int, ...]
    records: int


def read(query: str, records: Sequence[str]) -> Chat:
    """Raises Contradiction where a record or the query cannot be read in one way."""
    chats, kinds, ranks = set(names_in(query)), set(_KIND.findall(query)), _RANKS.findall(query)
    counts = [int(n) for n in re.findall(r"(?<!\d)\d{1,9}(?!\d)", _RANKS.sub(" ", _without_dates(query)))]
    if len(chats) != 1 or len(kinds) != 1 or len(ranks) != 1 or len(counts) != 1:
        raise Contradiction(f"a query with chats {sorted(chats)}, kinds {kinds}, ranks {ranks} and counts {counts}")
    chat, kind = chats.pop(), kinds.pop()
    replies: list[Reply] = []
    for index, text in enumerate(records):
        names, turns, found = names_in(text), _TURN.findall(text), set(_KIND.findall(text))
        if len(names) != 2 or chat not in names or len(turns) != 1 or len(found) != 1:
            raise Contradiction(f"a record with names {names}, turns {turns} and kinds {found}")
        names.remove(chat)
        if found == {kind}:
            replies.append(Reply(index, int(turns[0]), names[0]))
    replies.sort(key=lambda reply: reply.turn)
    if any(a.turn == b.turn for a, b in pairwise(replies)):
        raise Contradiction("two replies at one turn")
    return Chat(chat, tuple(replies), counts[0], tuple(int(rank) - 1 for rank in ranks[0]), len(records))


def _without_dates(text: str) -> str:
    return re.sub(r"\d{4}-\d{2}-\d{2}|\d{2}:\d{2}:\d{2}", " ", text)


def solve(problem: Chat, without: int) -> tuple[str | None, tuple[int, ...]]:
    """The openings of the ranks; None where there are fewer replies than the query counts."""
    own = [reply for reply in problem.replies if reply.record != without]
    if len(own) > problem.total or not 0 <= min(problem.ranks) <= max(problem.ranks) < problem.total:
        raise Contradiction(f"{len(own)} replies where {problem.total} are counted, ranks {problem.ranks}")
    used = tuple(reply.record for reply in own)
    if len(own) < problem.total:
        return None, used
    return ", ".join(own[rank].opening for rank in problem.ranks), used


def posterior(problem: Chat, visible: Visible) -> dict[tuple[int, ...], float]:
    """Of each way to fill the ranks with replies seen (their records) or unseen (-1).

    A key stands for as many answers, each as likely, as there are ways to choose its unseen replies.
    """
    seen = [reply for reply in problem.replies if reply.record in visible]
    hidden = problem.total - len(seen)
    gaps = [(b.turn - a.turn) / SPAN_TURNS for a, b in pairwise(seen)]
    out: dict[tuple[int, ...], float] = {}
    for places in combinations(range(problem.total), len(seen)):
        at = {place: reply.record for place, reply in zip(places, seen, strict=True)}
        key = tuple(at.get(rank, -1) for rank in problem.ranks)
        out[key] = out.get(key, 0.0) + _weight(places, gaps, hidden)
    return out


def _weight(places: Sequence[int], gaps: Sequence[float], hidden: int) -> float:
    """The probability that the seen replies are those of these ranks."""
    if not places:
        return 1.0
    value = float(factorial(hidden))
    for (a, b), gap in zip(pairwise(places), gaps, strict=True):
        value *= gap ** (b - a - 1) / factorial(b - a - 1)
    outside = hidden - (places[-1] - places[0] + 1 - len(places))
    return value * max(0.0, 1 - sum(gaps)) ** outside / factorial(outside + 1)


def _best(problem: Chat, visible: Visible) -> float:
    hidden = problem.total - sum(reply.record in visible for reply in problem.replies)
    return max(p / perm(hidden, key.count(-1)) for key, p in posterior(problem, visible).items())


def _parts(problem: Chat) -> tuple[Part, ...]:
    """One for each rank."""
    openings = tuple(sorted(reply.opening for reply in problem.replies))
    values: list[tuple[str, ...]] = [()] * problem.records
    for reply in problem.replies:
        values[reply.record] = (reply.opening,)
    return tuple(Part(problem.chat, openings, tuple(values), problem.replies[rank].opening) for rank in problem.ranks)


CHATS = weighed_law(Rules(read, solve, _best, lambda problem: perm(problem.total, len(problem.ranks)), _parts))

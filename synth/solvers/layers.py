"""Reference solver of `config_layers`, and what a reader of some settings knows of the values in force.

Each setting is made in `times` of the layers, and any such choice of layers is as likely; values are independent and
uniform over two digits. Who has seen v of a setting's records, the highest in the layer of rank r, of which a layers
below have not been seen to make it, knows that it is in force with C(a, times - v) / C(layers - v, times - v); any
other value has what is left, one part of 90. Settings are independent of each other, and of places.
"""

import re
from collections.abc import Sequence
from math import comb, prod
from typing import NamedTuple

from gristmill.synth.solvers.weighing import Part, Rules, Visible, weighed_law
from gristmill.synth.solvers.words import Contradiction, names_in, numbers_in

VALUES = range(10, 100)
_LIST = re.compile(r"[A-Z][a-z]+(?:, [A-Z][a-z]+)+")


class Made(NamedTuple):
    """A record: its index in the bank, the rank of its layer, and the value."""

    record: int
    rank: int
    value: int


class Stack(NamedTuple):
    """The settings that are asked for, and of each what makes it, lowest layer first. records: of the whole bank."""

    settings: tuple[str, ...]
    made: dict[str, tuple[Made, ...]]
    layers: int
    times: int
    records: int


def read(query: str, records: Sequence[str]) -> Stack:
    """Layers are those names of the query that the records of its other names hold. Raises Contradiction."""
    names, times = list(dict.fromkeys(names_in(query))), numbers_in(query)
    lists = [tuple(found.split(", ")) for found in _LIST.findall(query)]
    pairs = [tuple(names_in(text)) for text in records]
    if len(times) != 1 or len(lists) != 2 or sorted(names) != sorted((*lists[0], *lists[1])):
        raise Contradiction(f"a query with lists {lists} and numbers {times}")
    layers, settings = sorted(lists, key=lambda own: sum(name in pair for pair in pairs for name in own))[::-1]
    made: dict[str, tuple[Made, ...]] = {}
    for index, (text, pair) in enumerate(zip(records, pairs, strict=True)):
        own, values = [name for name in pair if name in layers], numbers_in(text)
        if len(pair) != 2 or len(own) != 1 or len(values) != 1 or values[0] not in VALUES:
            raise Contradiction(f"a record with names {pair} and numbers {values}")
        setting = pair[0] if pair[1] == own[0] else pair[1]
        made[setting] = (*made.get(setting, ()), Made(index, layers.index(own[0]), values[0]))
    ordered = {name: tuple(sorted(own, key=lambda m: m.rank)) for name, own in made.items()}
    if any(len({m.rank for m in own}) < len(own) for own in ordered.values()):
        raise Contradiction("a setting that is made twice in one layer")
    return Stack(settings, ordered, len(layers), times[0], len(records))


def solve(problem: Stack, without: int) -> tuple[str | None, tuple[int, ...]]:
    """The value of each setting in its highest layer; None where one is not made as often as the query says."""
    tops: list[Made] = []
    for setting in problem.settings:
        own = [made for made in problem.made.get(setting, ()) if made.record != without]
        if len(own) > problem.times:
            raise Contradiction(f"{setting} is made {len(own)} times")
        if len(own) < problem.times:
            return None, ()
        tops.append(own[-1])
    return " ".join(str(made.value) for made in tops), tuple(made.record for made in tops)


def posterior(problem: Stack, visible: Visible) -> list[dict[int, float]]:
    """Of each setting, the probability of every value."""
    out: list[dict[int, float]] = []
    for setting in problem.settings:
        seen = [made for made in problem.made[setting] if made.record in visible]
        hidden = problem.times - len(seen)
        holds = 0.0
        if seen:
            below = seen[-1].rank - (len(seen) - 1)
            holds = comb(below, hidden) / comb(problem.layers - len(seen), hidden)
        weights = dict.fromkeys(VALUES, (1 - holds) / len(VALUES))
        if seen:
            weights[seen[-1].value] += holds
        out.append(weights)
    return out


def _best(problem: Stack, visible: Visible) -> float:
    return prod(max(weights.values()) for weights in posterior(problem, visible))


def _parts(problem: Stack) -> tuple[Part, ...]:
    """A setting each, whose candidates are the values that it is given, where these differ."""
    parts: list[Part] = []
    for setting in problem.settings:
        own = problem.made[setting]
        candidates = tuple(sorted({str(made.value) for made in own}))
        values: list[tuple[str, ...]] = [()] * problem.records
        for made in own:
            values[made.record] = (str(made.value),)
        if len(candidates) == problem.times:
            parts.append(Part(setting, candidates, tuple(values), str(own[-1].value)))
    return tuple(parts)


STACKS = weighed_law(Rules(read, solve, _best, lambda problem: len(VALUES) ** len(problem.settings), _parts))

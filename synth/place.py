"""Where the facts and questions of a bank go: positions in [0, 1) of the filler, before any secret is looked at.

Sums may be spread: the facts of a chain stand one in each of as many strata, in random order, in front of the
question; no set that lacks one says anything, wherever they stand. Paths may not: all rows of a bank are placed
independently and uniformly, and those are asked whose path happens to be spread (`is_wide`); with a share `alpha` of
starts that are, a reader of places gains at most (1 / alpha - 1) / n (reference 2.2). Where alpha is below MIN_ALPHA,
those are asked whose path spans PATH_APART, and any start where these are fewer than MIN_ALPHA_APART. Other placings
are those of `protocol.Placing`.

A question stands behind all that it needs, at least `gap` away.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gristmill.render.draws import Draws
from gristmill.synth.protocol import SPREAD, Bank, Family, Size

LATE = 0.9
LATE_FRAC = 0.85
"""Share of questions in the last tenth."""
EARLIEST = 0.4
"""Other questions stand behind this."""
GAP_LATE, GAP_INSIDE, GAP_FAR = 1 / 256, 1 / 64, 1 / 16
NEAR_FRAC, NEAR = 0.5, 1 / 256
"""Share of late questions with a fact right in front of the gap: else the end of the window holds no evidence."""
SPAN_LATE, SPAN_INSIDE = 0.76, 0.26
"""Least distance between the first and the last evidence of a sum, of the whole sequence."""
MAX_TRIES = 400
PATH_SPAN, PATH_COVER_16TH = 0.3, 3
FEW_ROWS = 3
"""Paths of so few rows are asked for at the end alone: in half a sequence, a sixteenth would often hold all of one."""
PATH_APART = 1.3 / 16
"""Paths of few rows span this: no sixteenth of the sequence holds all of one."""
MIN_ALPHA, MIN_ALPHA_APART = 0.95, 0.9
APART = 1 / 7


@dataclass(frozen=True)
class Placed:
    """`facts[i]` is where fact i goes; `asked` holds chains with where their question goes; `alpha` as above."""

    facts: tuple[float, ...]
    asked: tuple[tuple[int, float], ...]
    alpha: float


How = Literal["spread", "scattered", "even", "far", "apart"]


def placing_of(family: Family) -> How:
    """How the banks of a family are placed."""
    if family.placing == "by_law":
        return "spread" if family.law in SPREAD else "scattered"
    return family.placing


def place(bank: Bank, size: Size, how: How, asked: int, draws: Draws) -> Placed:
    """Places for a bank, `asked` of whose questions are asked. Raises ValueError where it has fewer."""
    if not 0 < asked <= len(bank.questions):
        raise ValueError(f"{asked} questions of a bank with {len(bank.questions)}")
    if how == "spread":
        return _spread(bank, size, asked, draws)
    if how == "scattered":
        return _scattered(bank, asked, draws)
    first, gap = _first(draws) if how == "far" else (LATE, GAP_LATE)
    limit = first - (GAP_FAR if how == "far" else gap)
    if how == "far":
        facts = [draws.real(0, limit) for _ in bank.facts]
    else:
        facts = _by_chains(bank, limit, _strata if how == "even" else _apart, draws)
    return Placed(tuple(facts), _asked_of(range(len(bank.questions)), asked, first, draws), 1.0)


def _first(draws: Draws, late: bool = False) -> tuple[float, float]:
    """Where the questions of a bank begin, and how far behind its facts."""
    if late or draws.chance(LATE_FRAC):
        return LATE, GAP_LATE
    return draws.real(EARLIEST, LATE), GAP_INSIDE


def _asked_of(chains: Sequence[int], asked: int, first: float, draws: Draws) -> tuple[tuple[int, float], ...]:
    return tuple((chain, draws.real(first, 1)) for chain in sorted(draws.some(chains, asked)))


def _by_chains(
    bank: Bank, limit: float, places: Callable[[int, float, Draws], list[float]], draws: Draws
) -> list[float]:
    """Each chain's facts have places of their own, whatever they say."""
    chains: dict[int, list[int]] = {}
    for index, fact in enumerate(bank.facts):
        chains.setdefault(fact.chain, []).append(index)
    facts = [0.0] * len(bank.facts)
    for own in chains.values():
        for index, at in zip(own, places(len(own), limit, draws), strict=True):
            facts[index] = at
    return facts


def _apart(count: int, limit: float, draws: Draws) -> list[float]:
    """One place, or two that are APART from each other."""
    places = [draws.real(0, limit) for _ in range(count)]
    while max(places) - min(places) < APART and count > 1:
        places = [draws.real(0, limit) for _ in range(count)]
    return places


def _spread(bank: Bank, size: Size, asked: int, draws: Draws) -> Placed:
    """Chains that are not asked are placed as those that are."""
    facts = [0.0] * len(bank.facts)
    where: list[float] = []
    for question, chain in zip(bank.questions, _by_chain(bank, size), strict=True):
        late = draws.chance(LATE_FRAC)
        at = draws.real(LATE, 1) if late else draws.real(EARLIEST, LATE)
        limit = at - (GAP_LATE if late else GAP_INSIDE)
        places = _strata(len(chain), limit, draws)
        for _ in range(MAX_TRIES):
            at_fact = dict(zip(chain, places, strict=True))
            far = _extent(at_fact, question.evidence) >= (SPAN_LATE if late else SPAN_INSIDE)
            if far and _extent(at_fact, question.shares or question.evidence) >= SPAN_INSIDE:
                break
            places = _strata(len(chain), limit, draws)
        if late and draws.chance(NEAR_FRAC):
            places[places.index(max(places))] = draws.real(limit - NEAR, limit)
        for fact, p in zip(chain, places, strict=True):
            facts[fact] = p
        where.append(at)
    chosen = sorted(draws.some(range(size.chains), asked))
    return Placed(tuple(facts), tuple((chain, where[chain]) for chain in chosen), 1.0)


def _extent(places: Mapping[int, float], facts: Sequence[int]) -> float:
    return max(places[fact] for fact in facts) - min(places[fact] for fact in facts)


def _by_chain(bank: Bank, size: Size) -> list[list[int]]:
    chains: list[list[int]] = [[] for _ in range(size.chains)]
    for index, fact in enumerate(bank.facts):
        chains[fact.chain].append(index)
    return chains


def _strata(count: int, limit: float, draws: Draws) -> list[float]:
    """One place in each of `count` equal parts of [0, limit), in random order."""
    return [(part + draws.frac()) / count * limit for part in draws.shuffled(range(count))]


def _scattered(bank: Bank, asked: int, draws: Draws) -> Placed:
    first, gap = _first(draws, len(bank.questions[0].evidence) <= FEW_ROWS)
    facts = tuple(draws.real(0, first - gap) for _ in bank.facts)
    for good, least in ((is_wide, MIN_ALPHA), (is_apart, MIN_ALPHA_APART)):
        chains = [c for c, q in enumerate(bank.questions) if good([facts[e] for e in q.evidence])]
        alpha = len(chains) / len(bank.questions)
        if alpha >= least and len(chains) >= asked:
            return Placed(facts, _asked_of(chains, asked, first, draws), alpha)
    return Placed(facts, _asked_of(range(len(bank.questions)), asked, first, draws), 1.0)


def is_wide(places: Sequence[float]) -> bool:
    """Whether a path's rows span PATH_SPAN and touch PATH_COVER_16TH sixteenths of the sequence."""
    return max(places) - min(places) >= PATH_SPAN and len({int(p * 16) for p in places}) >= PATH_COVER_16TH


def is_apart(places: Sequence[float]) -> bool:
    """Whether a path's rows span PATH_APART."""
    return max(places) - min(places) >= PATH_APART

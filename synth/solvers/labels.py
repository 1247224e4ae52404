"""Reference solver of `label_map`, and what a reader of some examples knows of the labels of other things.

A map gives its kinds different labels of two digits. Of a kind whose example has not been seen the label is any of
those that the map has not been seen to give, and so on: of u such kinds, 1 / (f (f - 1) .. (f - u + 1)) for f left.
"""

from collections.abc import Sequence
from math import perm
from typing import NamedTuple

from gristmill.synth.solvers.things import KIND_OF
from gristmill.synth.solvers.weighing import Part, Rules, Visible, weighed_law
from gristmill.synth.solvers.words import Contradiction, names_in, numbers_in, words_in

LABELS = range(10, 100)


class Example(NamedTuple):
    """A record: its map, the kind of its thing, and the label."""

    scheme: str
    kind: str
    label: int


class Scheme(NamedTuple):
    """The map that is asked about, the kinds of the things in the query, and all examples in order of place."""

    name: str
    kinds: tuple[str, ...]
    examples: tuple[Example, ...]


def read(query: str, records: Sequence[str]) -> Scheme:
    """Raises Contradiction where a record or the query cannot be read, or a map gives a kind two examples."""
    names, kinds = set(names_in(query)), tuple(_kinds(query))
    if len(names) != 1 or len(set(kinds)) < len(kinds) or not kinds:
        raise Contradiction(f"a query with names {sorted(names)} and kinds {kinds}")
    examples: list[Example] = []
    for text in records:
        own, found, labels = names_in(text), _kinds(text), numbers_in(text)
        if len(own) != 1 or len(found) != 1 or len(labels) != 1 or labels[0] not in LABELS:
            raise Contradiction(f"a record with names {own}, kinds {found} and numbers {labels}")
        examples.append(Example(own[0], found[0], labels[0]))
    by_kind, by_label = {e[:2] for e in examples}, {(e.scheme, e.label) for e in examples}
    if min(len(by_kind), len(by_label)) < len(examples):
        raise Contradiction("a map with two examples of a kind, or two kinds of a label")
    return Scheme(names.pop(), kinds, tuple(examples))


def _kinds(text: str) -> list[str]:
    return [KIND_OF[word] for word in words_in(text) if word in KIND_OF]


def _own(problem: Scheme) -> dict[str, int]:
    """The example of each kind in the map that is asked about."""
    return {e.kind: i for i, e in enumerate(problem.examples) if e.scheme == problem.name}


def solve(problem: Scheme, without: int) -> tuple[str | None, tuple[int, ...]]:
    """The labels, in the order of the things; None where a kind has no example."""
    own = _own(problem)
    used = tuple(own[kind] for kind in problem.kinds if own.get(kind, without) != without)
    if len(used) < len(problem.kinds):
        return None, used
    return " ".join(str(problem.examples[i].label) for i in used), used


def posterior(problem: Scheme, visible: Visible) -> list[float]:
    """Of any answer that agrees with what has been seen: all are as likely."""
    own = _own(problem)
    seen = sum(i in visible for i in own.values())
    unknown = sum(own[kind] not in visible for kind in problem.kinds)
    return [1 / perm(len(LABELS) - seen, unknown)]


def _best(problem: Scheme, visible: Visible) -> float:
    return max(posterior(problem, visible))


def _space(problem: Scheme) -> int:
    return perm(len(LABELS), len(problem.kinds))


def _parts(problem: Scheme) -> tuple[Part, ...]:
    """A thing each; a cheater that has found its map chooses among the labels of this map."""
    own = _own(problem)
    labels = tuple(sorted(str(problem.examples[i].label) for i in own.values()))
    values = tuple((str(e.label),) if e.scheme == problem.name else () for e in problem.examples)
    return tuple(Part(problem.name, labels, values, str(problem.examples[own[kind]].label)) for kind in problem.kinds)


SCHEMES = weighed_law(Rules(read, solve, _best, _space, _parts))

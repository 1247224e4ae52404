"""Passages of documents that tasks of class C put apart: which atoms, and which documents are fit for it.

A bank takes one run of atoms of each of some documents, an atom a part; its documents are given to it by the plan and
are no filler. A document is passed over where a part has fewer than MIN_WORDS words, or shares a stretch of
`solvers.passages.GRAM_WORDS` words with any other part of the bank: what is alike could be put in order, or told apart,
by its words.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gristmill.render.draws import Draws
from gristmill.synth.atoms import Prepared
from gristmill.synth.solvers.passages import MIN_WORDS, grams

PASSAGE_TOKENS = 400
"""What a part is reckoned to take of a sequence; 200 to 300 are usual."""


class Cut(NamedTuple):
    """Atom `atom` of the document that stands at `doc` in the plan."""

    doc: int
    atom: int
    text: str
    before: int
    """Tokens of the document in front of it."""
    code: bool


class NoPassages(Exception):
    """Too few of the documents are fit."""


def choose(documents: Sequence[tuple[int, Prepared]], wanted: int, parts: int, draws: Draws) -> list[list[Cut]]:
    """Runs of `parts` atoms of `wanted` of these documents (place in the plan, document). Raises NoPassages."""
    taken: set[tuple[str, ...]] = set()
    runs: list[list[Cut]] = []
    for place, document in draws.shuffled(documents):
        run = _run(place, document, parts, draws)
        own = [grams(cut.text) for cut in run]
        if len(run) == parts and all(own) and _apart([taken, *own]):
            taken.update(*own)
            runs.append(run)
            if len(runs) == wanted:
                return runs
    raise NoPassages(f"{len(runs)} of {len(documents)} documents can be taken apart, {wanted} are wanted")


def _run(place: int, document: Prepared, parts: int, draws: Draws) -> list[Cut]:
    """Atoms that follow each other, each long enough; fewer than `parts` where there are not so many."""
    if len(document.tokens) < parts:
        return []
    first = draws.integer(0, len(document.tokens) - parts + 1)
    code = document.source.domain == "code"
    run = [
        Cut(place, atom, document.atom(atom), sum(document.tokens[:atom]), code) for atom in range(first, first + parts)
    ]
    return [cut for cut in run if len(cut.text.split()) >= MIN_WORDS]


def _apart(sets: Sequence[set[tuple[str, ...]]]) -> bool:
    return sum(map(len, sets)) == len(set[tuple[str, ...]]().union(*sets))

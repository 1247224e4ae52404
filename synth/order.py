"""In which order the parts of documents stand in a sequence: the four ways of permuting.

* concat: documents whole, one after the other;
* interleave: groups of up to GROUP documents, the chunks of a group mixed;
* knot: each document in two or three parts, all parts mixed, with ties in words where a document goes on elsewhere;
* task: chunks of all documents mixed; records and questions are planted between atoms.

Every order is a uniformly random one among those that keep the atoms of each document in their order: the multiset of
document numbers is shuffled, and each number takes its document's next part (a linear extension of disjoint chains).
A part is a run of atoms of one document.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from gristmill.render.draws import Draws

Mode = Literal["concat", "interleave", "knot", "task"]
MODES: tuple[Mode, ...] = ("concat", "interleave", "knot", "task")

GROUP = 8
MIN_CHUNK, MAX_CHUNK = 1024, 4096
"""Tokens of a chunk: drawn anew for each, uniform over octaves."""
KNOT_PARTS = (2, 3)


class Part(NamedTuple):
    """Atoms [first, stop) of document `doc`."""

    doc: int
    first: int
    stop: int


def order(mode: Mode, documents: Sequence[Sequence[int]], knots: Sequence[int], draws: Draws) -> list[Part]:
    """Parts in the order of the sequence; documents[d] holds the tokens of each of its atoms, knots[d] its parts."""
    if mode == "concat":
        return [Part(d, 0, len(atoms)) for d, atoms in enumerate(documents) if atoms]
    if mode == "knot":
        both = enumerate(zip(documents, knots, strict=True))
        return mixed([_knot_parts(d, len(atoms), count, draws) for d, (atoms, count) in both], draws)
    parts = [_chunks(d, atoms, draws) for d, atoms in enumerate(documents)]
    if mode == "task":
        return mixed(parts, draws)
    groups = [parts[at : at + GROUP] for at in range(0, len(parts), GROUP)]
    return [part for group in groups for part in mixed(group, draws)]


def mixed(parts: Sequence[Sequence[Part]], draws: Draws) -> list[Part]:
    """All parts, those of each document in their order; each such order is as likely."""
    turns = draws.shuffled([d for d, own in enumerate(parts) for _ in own])
    following = [iter(own) for own in parts]
    return [next(following[d]) for d in turns]


def _chunks(doc: int, atoms: Sequence[int], draws: Draws) -> list[Part]:
    parts: list[Part] = []
    first, tokens, aim = 0, 0, _aim(draws)
    for at, count in enumerate(atoms):
        if tokens and tokens + count > aim:
            parts.append(Part(doc, first, at))
            first, tokens, aim = at, 0, _aim(draws)
        tokens += count
    return [*parts, Part(doc, first, len(atoms))] if atoms else []


def _aim(draws: Draws) -> int:
    octave = MIN_CHUNK << draws.integer(0, (MAX_CHUNK // MIN_CHUNK).bit_length() - 1)
    return draws.integer(octave, 2 * octave)


def _knot_parts(doc: int, atoms: int, wanted: int, draws: Draws) -> list[Part]:
    """As many parts as wanted, fewer of a document with few atoms; cut places are drawn among all."""
    count = min(wanted, atoms)
    cuts = sorted(draws.some(range(1, atoms), count - 1)) if count > 1 else []
    bounds = [0, *cuts, atoms]
    return [Part(doc, a, b) for a, b in pairwise(bounds) if b > a]

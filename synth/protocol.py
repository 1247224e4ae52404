"""What a task family is: facts to scatter, questions that need all of their evidence, and the words for both.

A family builds a `Bank`: records that several questions share. Each question belongs to a chain of facts; the chains
of a bank are exchangeable, so that the records carry nothing about which of them are asked. Where facts go is decided
without looking at their values (`place`), how they are worded likewise (`grammar`).

Classes (reference 2): A exactly nothing leaks from a window without all evidence but what elimination tells, which is
bounded; B the leak is computed; C natural text, checked empirically only and never called scattered-only.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from gristmill.render.draws import Draws
from gristmill.synth.registers import Register

Klass = Literal["A", "B", "C"]
Law = Literal["sum", "group", "codebook", "path", "weighed", "passage"]
"""How answers follow from facts. sum: independent uniform numbers are added modulo M, so a set that lacks one says
nothing, wherever the numbers stand (their places may be spread). group: as sums, of operations whose order counts.
codebook: each letter of the answer is a uniform one of its own. path: rows of injective maps are followed; a reader
may eliminate the images that it sees, and places must be independent of each other. weighed: what a reader knows is
computed from a posterior of the family's own. passage: stretches of real documents are put apart, and nothing is
proved of what a reader knows."""
SPREAD: frozenset[Law] = frozenset(("sum", "group", "codebook"))
"""Laws whose facts may be spread."""
WHOLE: frozenset[Law] = frozenset(("path", "weighed", "passage"))
"""Laws whose banks are of one piece: none is made smaller to fit."""

Placing = Literal["by_law", "even", "far", "apart"]
"""Where facts stand (`place`). by_law: as SPREAD says, else independently; even: one fact of a chain in each of as
many strata, all chains having as many; far: far in front of the question; apart: the two of a chain an eighth apart."""


@dataclass(frozen=True)
class Drawing:
    """A picture of a record before it is drawn: an SVG of `width` by `height` pixels."""

    svg: str
    width: int
    height: int


@dataclass(frozen=True)
class Fact:
    """One record before it is worded. `chain`: the question that it belongs to; `hop`: its place in it, from 0.

    ahead, behind: passages of documents that stand right in front of the record and right behind it: (document, part)
    as the family's `cuts` count them. `body`: lines that follow its words as they are; `drawing`: the picture beside
    it; `wording`: its words where these are not those of its family.
    """

    slots: Mapping[str, str]
    chain: int
    hop: int
    ahead: tuple[int, int] | None = None
    behind: tuple[int, int] | None = None
    body: str = ""
    drawing: Drawing | None = None
    wording: "Wording | None" = None


@dataclass(frozen=True)
class Question:
    """What can be asked of a chain. `evidence`: indices of facts, in the order of use; all are needed.

    shares: those of the evidence that carry an independent part of the answer and are spread; () means all.
    """

    slots: Mapping[str, str]
    evidence: tuple[int, ...]
    answer: str
    shares: tuple[int, ...] = ()


@dataclass(frozen=True)
class Bank:
    """Facts and one question for each chain; `candidates` are as likely as each other to who sees no evidence."""

    facts: tuple[Fact, ...]
    questions: tuple[Question, ...]
    candidates: tuple[str, ...]
    params: Mapping[str, int]

    @property
    def chance(self) -> float:
        """What a guess is worth."""
        return 1 / len(self.candidates)


@dataclass(frozen=True)
class Size:
    """How large a bank is: `chains` of `hops` facts each, and `spare` ones that no question needs.

    `modulus` is that of sums (0: none), `asked` how many chains may be asked, `tier` the difficulty: 0 one fact, far
    away; 1 two or three; 2 four to six; 3 seven and more.
    """

    tier: int
    chains: int
    hops: int
    asked: int
    modulus: int = 0
    spare: int = 0

    @property
    def facts(self) -> int:
        """Records of such a bank."""
        return self.chains * (self.hops + self.spare)


@dataclass(frozen=True)
class Wording:
    """16 clauses and 8 fields for records, 8 ways to ask; `{slots}` of facts and questions by name.

    A clause follows "that", begins in lower case or with a name, and has no full stop. `registers`: those of the
    family, () for `registers.REGISTERS`.
    """

    clauses: tuple[str, ...]
    fields: tuple[str, ...]
    asks: tuple[str, ...]
    registers: tuple[Register, ...] = ()


class Cuts(NamedTuple):
    """How many documents a bank takes apart, and into how many parts each."""

    documents: Callable[[Size], int]
    parts: Callable[[Size], int]


@dataclass(frozen=True)
class Family:
    """A kind of task. `version` is raised when its output changes; `sizes` go from hard to easy.

    `names_needed(size)` tells how many invented names a bank takes, `build(size, names, draws)` makes it; all that is
    secret comes from `draws`. `embeds`: its records are read by names and numbers alone, so that they may stand beside
    any sentence (`hosts`). `pictured`: some of its records have pictures.
    """

    name: str
    version: int
    klass: Klass
    law: Law
    sizes: tuple[Size, ...]
    wording: Wording
    names_needed: Callable[[Size], int]
    build: Callable[[Size, Sequence[str], Draws], Bank]
    placing: Placing = "by_law"
    cuts: Cuts | None = None
    embeds: bool = False
    pictured: bool = False

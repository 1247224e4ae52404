"""What is planted in a sequence: the banks of its plan as worded pieces, each with its place in the filler.

Secrets, places and words have streams of draws of their own, so that none tells about another. Names are absent from
the filler in every spelling that `leaks` knows. A piece is text that begins with no white space and ends in a line
break, so that its joins are safe. One with a picture has U+FFFC in its place, in front of the words or behind them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.render.draws import Draws
from gristmill.synth import grammar
from gristmill.synth.atoms import Prepared
from gristmill.synth.cuts import Cut, choose
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.grammar import Split
from gristmill.synth.hosts import embed
from gristmill.synth.lexicon import names
from gristmill.synth.media import Shown
from gristmill.synth.place import Placed, place, placing_of
from gristmill.synth.plan import BankPlan
from gristmill.synth.protocol import Bank, Drawing, Fact, Family
from gristmill.synth.scenes.drawing import draw
from gristmill.synth.solvers.leaks import NameScan

Chain = tuple[int, int]
"""A question: its bank, by number, and its chain in that."""
PieceKind = Literal["record", "query", "answer", "text", "code"]
IN_FRONT_FRAC = 0.5
"""Share of pictures that stand in front of the words of their record."""


@dataclass(frozen=True)
class Piece:
    """A planted piece of text. `at`: its place in [0, 1) of the filler; pieces of one place keep their order.

    `media` stand in the places of U+FFFC in the text. `cut`: of which document it is a passage.
    """

    kind: PieceKind
    text: str
    at: float
    template: int
    media: tuple[Shown, ...] = ()
    cut: Cut | None = None


@dataclass(frozen=True)
class Asked:
    """A task before it has positions: `facts`, `others`, `query`, `answer` index the pieces of the sequence.

    facts: evidence in the order of hops; others: the bank's other records, with their chains.
    """

    family: Family
    bank: int
    chain: int
    tier: int
    facts: tuple[int, ...]
    others: tuple[tuple[int, int], ...]
    query: int
    answer: int
    answer_text: str
    candidates: tuple[str, ...]
    alpha: float
    params: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Planted:
    """All pieces of a sequence, and its tasks."""

    pieces: tuple[Piece, ...]
    tasks: tuple[Asked, ...]


@dataclass(frozen=True)
class Manner:
    """How records are worded: templates of a split, and the share of them that stands beside one of the `hosts`.

    unasked: questions that are left out; nothing else changes.
    """

    split: Split
    embedded_frac: float = 0.0
    hosts: tuple[str, ...] = ()
    unasked: frozenset[Chain] = frozenset()


def plant(
    banks: Sequence[BankPlan],
    filler: Sequence[bytes],
    manner: Manner,
    draws: Draws,
    documents: Sequence[Prepared] = (),
) -> Planted:
    """The pieces of these banks; `filler` is all text that they are to stand in, as UTF-8, `documents` those of the
    plan. Raises NoPassages."""
    hosts = draws.child("hosts").shuffled(manner.hosts)
    needed = [FAMILIES[b.family].names_needed(b.size) for b in banks]
    lexicon = names(draws.child("names"), sum(needed), lambda some: NameScan(some).found(filler))
    pieces: list[Piece] = []
    tasks: list[Asked] = []
    at = 0
    for number, (plan, count) in enumerate(zip(banks, needed, strict=True)):
        family, stream = FAMILIES[plan.family], draws.child("bank", number)
        bank = family.build(plan.size, lexicon[at : at + count], stream.child("secrets"))
        placed = place(bank, plan.size, placing_of(family), plan.asked, stream.child("places"))
        cuts = _cuts(family, plan, documents, stream.child("cuts"))
        context = _Context(family, plan, number, manner, stream.child("words"), hosts, cuts, _drawn(bank))
        _word(context, bank, placed, pieces, tasks)
        at += count
    return Planted(tuple(pieces), tuple(tasks))


def record_text(text: str, fact: Fact, words: Draws) -> str:
    """A record whole: its words, its body, and the place of its picture."""
    whole = f"{text}\n{fact.body}" if fact.body else text
    if fact.drawing is None:
        return whole + "\n\n"
    parts = (MEDIUM_CHAR, whole) if words.chance(IN_FRONT_FRAC) else (whole, MEDIUM_CHAR)
    return "\n\n".join((*parts, ""))


def _drawn(bank: Bank) -> dict[Drawing | None, tuple[Shown, ...]]:
    """The pictures of a bank."""
    drawings = sorted({f.drawing for f in bank.facts if f.drawing is not None}, key=lambda d: d.svg)
    return {drawing: (draw(drawing),) for drawing in drawings}


@dataclass(frozen=True)
class _Context:
    family: Family
    plan: BankPlan
    number: int
    manner: Manner
    words: Draws
    hosts: list[str]
    """Taken from its end."""
    cuts: Sequence[Sequence[Cut]]
    pictures: Mapping[Drawing | None, tuple[Shown, ...]]


def _cuts(family: Family, plan: BankPlan, documents: Sequence[Prepared], draws: Draws) -> list[list[Cut]]:
    if family.cuts is None:
        return []
    some = [(place, documents[place]) for place in plan.docs]
    return choose(some, family.cuts.documents(plan.size), family.cuts.parts(plan.size), draws)


def _record(context: _Context, fact: Fact) -> tuple[int, str]:
    """The template of a record, and its text."""
    manner, words, wording = context.manner, context.words, fact.wording or context.family.wording
    embedded = context.family.embeds and words.chance(manner.embedded_frac) and bool(context.hosts)
    of = grammar.embedded_of if embedded else grammar.records_of
    number = words.pick(of(wording, manner.split))
    text = grammar.fill(grammar.record_template(wording, number), fact.slots, words)
    return number, record_text(embed(text, context.hosts.pop(), words) if embedded else text, fact, words)


def _word(context: _Context, bank: Bank, placed: Placed, pieces: list[Piece], tasks: list[Asked]) -> None:
    """Add a bank's pieces and tasks."""
    wording, words = context.family.wording, context.words
    told: list[range] = []
    for fact, at in zip(bank.facts, placed.facts, strict=True):
        number, text = _record(context, fact)
        record = Piece("record", text, at, number, media=context.pictures.get(fact.drawing, ()))
        own = [*_passage(context, fact.ahead, at), record, *_passage(context, fact.behind, at)]
        told.append(range(len(pieces), len(pieces) + len(own)))
        pieces += own
    for chain, at in placed.asked:
        question = bank.questions[chain]
        number = words.pick(grammar.ASKS_OF[context.manner.split])
        text = grammar.fill(grammar.ask_template(wording, number), question.slots, words)
        if (context.number, chain) in context.manner.unasked:
            continue
        pieces.append(Piece("query", text + "\n", at, number))
        pieces.append(Piece("answer", question.answer + "\n\n", at, number))
        others = [(p, f.chain) for i, f in enumerate(bank.facts) if i not in question.evidence for p in told[i]]
        tasks.append(
            Asked(
                family=context.family,
                bank=context.number,
                chain=chain,
                tier=context.plan.size.tier,
                facts=tuple(p for e in question.evidence for p in told[e]),
                others=tuple(others),
                query=len(pieces) - 2,
                answer=len(pieces) - 1,
                answer_text=question.answer,
                candidates=bank.candidates,
                alpha=placed.alpha,
                params=tuple(sorted({**bank.params, "bank": context.number}.items())),
            )
        )


def _passage(context: _Context, part: tuple[int, int] | None, at: float) -> list[Piece]:
    if part is None:
        return []
    cut = context.cuts[part[0]][part[1]]
    return [Piece("code" if cut.code else "text", cut.text, at, -1, cut=cut)]

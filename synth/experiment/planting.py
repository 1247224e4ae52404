"""What the experiment plants: the families of `synth` with few hops, questions at chosen distances.

Places serve a curve over distance, not a proof: a question of one hop is a matter of distance alone. In training the
distance is log-uniform, so that near questions teach what far ones need; for scoring it is one of DISTANCES, and every
record of a bank stands in front of all its questions but for those that are near. Names are new in every sequence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log

from gristmill.render.draws import Draws
from gristmill.synth import grammar
from gristmill.synth.atoms import Prepared
from gristmill.synth.experiment.settings import CONTEXT, DISTANCES
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.grammar import Split
from gristmill.synth.lexicon import names
from gristmill.synth.plan import BankPlan
from gristmill.synth.plant import Asked, Manner, Piece, Planted
from gristmill.synth.protocol import Bank
from gristmill.synth.solvers.leaks import NameScan

NEAREST = 96 / CONTEXT
EARLIEST, ZONE = 0.1, 0.05
"""Where the questions of a bank may begin in training, and how far they spread."""
SCORED_FROM, SCORED_ZONE = 0.7, 0.29
JITTER = (0.8, 1.05)


@dataclass(frozen=True)
class Planter:
    """Plants banks (`materialise.Planting`); `scored`: at the distances of the evaluation; `random`: false answers."""

    scored: bool = False
    random: bool = False

    def __call__(
        self,
        banks: Sequence[BankPlan],
        filler: Sequence[bytes],
        manner: Manner,
        draws: Draws,
        documents: Sequence[Prepared],
    ) -> Planted:
        needed = [FAMILIES[b.family].names_needed(b.size) for b in banks]
        lexicon = iter(names(draws.child("names"), sum(needed), lambda some: NameScan(some).found(filler)))
        pieces: list[Piece] = []
        tasks: list[Asked] = []
        for number, (plan, count) in enumerate(zip(banks, needed, strict=True)):
            stream = draws.child("bank", number)
            own = [next(lexicon) for _ in range(count)]
            bank = FAMILIES[plan.family].build(plan.size, own, stream.child("secrets"))
            if self.random:
                bank = _randomised(bank, stream.child("random answers"))
            _word(
                plan,
                number,
                bank,
                manner.split,
                self._places(bank, plan, stream.child("places")),
                pieces,
                tasks,
                stream,
            )
        return Planted(tuple(pieces), tuple(tasks))

    def _places(self, bank: Bank, plan: BankPlan, draws: Draws) -> "_Places":
        first = SCORED_FROM if self.scored else draws.real(EARLIEST, 1 - ZONE)
        facts = [draws.real(0, first) for _ in bank.facts]
        asked: list[tuple[int, float]] = []
        for chain in sorted(draws.some(range(plan.size.chains), plan.asked)):
            at = first + draws.real(0, SCORED_ZONE if self.scored else ZONE)
            reach = _scored_reach(at, draws) if self.scored else exp(draws.real(log(NEAREST), log(at)))
            evidence = draws.shuffled(bank.questions[chain].evidence)
            facts[evidence[0]] = at - reach
            for fact in evidence[1:]:
                facts[fact] = draws.real(at - reach, at)
            asked.append((chain, at))
        return _Places(tuple(facts), tuple(asked))


@dataclass(frozen=True)
class _Places:
    facts: tuple[float, ...]
    asked: tuple[tuple[int, float], ...]


def _scored_reach(at: float, draws: Draws) -> float:
    return min(draws.pick(DISTANCES) / CONTEXT * draws.real(*JITTER), at)


def _randomised(bank: Bank, draws: Draws) -> Bank:
    """Every answer a random candidate: the form of the questions without what they ask for."""
    questions = tuple(replace(q, answer=draws.pick(bank.candidates)) for q in bank.questions)
    return replace(bank, questions=questions)


def _word(
    plan: BankPlan,
    number: int,
    bank: Bank,
    split: Split,
    places: _Places,
    pieces: list[Piece],
    tasks: list[Asked],
    draws: Draws,
) -> None:
    """Add a bank's pieces and tasks."""
    family, first, words = FAMILIES[plan.family], len(pieces), draws.child("words")
    for fact, at in zip(bank.facts, places.facts, strict=True):
        template = words.pick(grammar.records_of(family.wording, split))
        text = grammar.fill(grammar.record_template(family.wording, template), fact.slots, words)
        pieces.append(Piece("record", text + "\n\n", at, template))
    for chain, at in places.asked:
        question, template = bank.questions[chain], words.pick(grammar.ASKS_OF[split])
        text = grammar.fill(grammar.ask_template(family.wording, template), question.slots, words)
        pieces.append(Piece("query", text + "\n", at, template))
        pieces.append(Piece("answer", question.answer + "\n\n", at, template))
        tasks.append(
            Asked(
                family=family,
                bank=number,
                chain=chain,
                tier=plan.size.tier,
                facts=tuple(first + e for e in question.evidence),
                others=(),
                query=len(pieces) - 2,
                answer=len(pieces) - 1,
                answer_text=question.answer,
                candidates=bank.candidates,
                alpha=1.0,
                params=(("hops", plan.size.hops),),
            )
        )

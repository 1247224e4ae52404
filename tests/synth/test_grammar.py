"""Templates: enough of them, different enough, and every one of them read by the solvers."""

from itertools import combinations, cycle, islice

import pytest

from gristmill.render.draws import Draws
from gristmill.synth import grammar
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.lexicon import names
from gristmill.synth.protocol import Bank, Fact, Family
from gristmill.synth.registers import REGISTERS
from gristmill.synth.scenes.drawing import draw
from gristmill.synth.solvers.laws import LAWS
from gristmill.synth.solvers.records import records_of
from gristmill.synth.solvers.words import names_in, numbers_in

MIN_TEMPLATES = 200
MAX_JACCARD = 0.5


def bank_of(family: Family) -> Bank:
    draws, size = Draws("test grammar", family.name), family.sizes[-1]
    return family.build(size, names(draws, family.names_needed(size), lambda _: set()), draws)


def overlaps(masked: list[tuple[str, ...]]) -> list[float]:
    trigrams = [frozenset(zip(w, w[1:], w[2:], strict=False)) for w in masked]
    return [len(a & b) / max(len(a | b), 1) for a, b in combinations(trigrams, 2)]


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda f: f.name)
class TestTemplates:
    def test_enough_and_distinct(self, family: Family) -> None:
        masked = [
            grammar.masked(grammar.record_template(family.wording, n))
            for n in range(grammar.record_templates(family.wording))
        ]
        assert len(set(masked)) == len(masked) >= MIN_TEMPLATES
        assert max(overlaps(masked)) < MAX_JACCARD

    def test_ways_to_ask(self, family: Family) -> None:
        masked = [grammar.masked(grammar.ask_template(family.wording, n)) for n in range(grammar.ASK_TEMPLATES)]
        assert len(set(masked)) == len(masked)
        assert max(overlaps(masked)) < MAX_JACCARD

    def test_held_out_cores_are_never_trained_on(self, family: Family) -> None:
        cores: dict[str, set[str]] = {}
        for split in grammar.SPLITS:
            cores[split] = {_core(family, n) for n in grammar.records_of(family.wording, split)}
            assert len(grammar.records_of(family.wording, split)) >= grammar.record_templates(family.wording) // 4
        assert not cores["train"] & cores["held_out"]
        assert not set(grammar.ASKS_OF["train"]) & set(grammar.ASKS_OF["held_out"])

    def test_every_way_to_tell_and_to_ask_is_read(self, family: Family) -> None:
        """Each round words all facts, and asks, in other templates; what the solver finds is the answer."""
        bank, draws = bank_of(family), Draws("fill", family.name)
        count = grammar.record_templates(family.wording)
        templates, asks = iter(range(count)), cycle(range(grammar.ASK_TEMPLATES))
        pictures = {n: draw(fact.drawing).data for n, fact in enumerate(bank.facts) if fact.drawing is not None}
        told = 0
        while told < count:
            texts = [_told(family, fact, next(templates, told % 7), draws) for fact in bank.facts]
            told += len(texts)
            records = records_of(dict(enumerate(texts)), pictures)
            for number in asks if told >= count else islice(asks, 8):
                question = bank.questions[number % len(bank.questions)]
                text = grammar.fill(grammar.ask_template(family.wording, number), question.slots, draws)
                law, answer = LAWS[family.name], question.answer
                assert law.solve(text, records) == (None if family.klass == "C" else answer), text
                if family.klass == "C":
                    names = names_in(question.slots.get("pieces", "") + question.slots.get("names", ""))
                    assert list(law.look(text, records, answer)[0].candidates) == names, text
                if number == grammar.ASK_TEMPLATES - 1:
                    break


def _told(family: Family, fact: Fact, number: int, draws: Draws) -> str:
    wording = fact.wording or family.wording
    text = grammar.fill(grammar.record_template(wording, number), fact.slots, draws)
    assert text == text.strip() and "\n\n" not in text and "{" not in text
    told = " ".join(fact.slots.values())
    assert sorted(names_in(text)) == sorted(names_in(told)), text
    assert sorted(numbers_in(text)) == sorted(numbers_in(told)), text
    return f"{text}\n{fact.body}" if fact.body else text


def _core(family: Family, number: int) -> str:
    register = grammar.registers_of(family.wording)[number // grammar.PER_REGISTER]
    cores = family.wording.clauses if register.kind == "clause" else family.wording.fields
    return cores[register.cores[number % grammar.SQUARE]]


def test_registers_fit_the_square() -> None:
    assert len({register.name for register in REGISTERS}) == len(REGISTERS) >= 5
    for register in {r for family in FAMILIES.values() for r in grammar.registers_of(family.wording)}:
        assert len(register.leads) == len(register.tails) == len(register.cores) == grammar.SQUARE
        assert not names_in(" ".join((*register.leads, *register.tails)))


def test_fill_is_decided_by_its_draws() -> None:
    assert grammar.fill("{date} {time} {person} {x}", {"x": "y"}, Draws("a")) == grammar.fill(
        "{date} {time} {person} {x}", {"x": "y"}, Draws("a")
    )
    with pytest.raises(KeyError):
        grammar.fill("{unknown}", {}, Draws("a"))

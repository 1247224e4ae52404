"""Every family: its banks are proved, damaged ones are not, and short cuts stay at chance on 2,000 tasks."""

import re
from dataclasses import replace
from itertools import count

import pytest

from gristmill.render.draws import Draws
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.plant import Planted
from gristmill.synth.solvers.asking import Unproved
from gristmill.synth.solvers.cheaters import CHEATERS, MIN_TASKS, Puzzle, puzzles, scores
from gristmill.synth.solvers.words import NAME_PATTERN, Contradiction
from tests.synth.banks import planted, prove_all, reading_of, some_size, with_piece

REFUSED = (Unproved, Contradiction)

FEW, FEW_PICTURED = 120, {"render_match": 21, "page_needle": 24}
"""Tasks that are tried: 60 where there are pictures, or fewer where a bank takes seconds to draw and to read."""
UNREAD = {"table_join": 1, "render_match": 12}
"""How many words of a record may be changed unnoticed: cells that nobody asked for, hundredths of a pixel."""


@pytest.mark.parametrize("family", FAMILIES)
class TestFamily:
    def test_banks_of_every_size_are_proved(self, family: str) -> None:
        for size in FAMILIES[family].sizes:
            bank = planted(family, size, 1)
            for found, asked in zip(prove_all(reading_of(bank)), bank.tasks, strict=True):
                assert set(found.candidates) == set(asked.candidates) and asked.answer_text in found.candidates

    def test_another_answer_is_refused(self, family: str) -> None:
        bank = planted(family, some_size(family), 2, 1)
        (asked,) = bank.tasks
        for answer in asked.candidates[:20]:
            if answer != asked.answer_text:
                with pytest.raises(REFUSED):
                    prove_all(reading_of(Planted(bank.pieces, (replace(asked, answer_text=answer),))))

    def test_a_record_that_is_missing_is_noticed(self, family: str) -> None:
        bank = planted(family, some_size(family), 3, 1)
        (asked,) = bank.tasks
        for fact in asked.facts:
            empty = with_piece(bank, fact, replace(bank.pieces[fact], text="Nothing was said.\n\n"))
            with pytest.raises(REFUSED):
                prove_all(reading_of(empty))
            fewer = replace(asked, facts=tuple(f for f in asked.facts if f != fact))
            with pytest.raises(REFUSED):
                prove_all(reading_of(Planted(empty.pieces, (fewer,))))

    def test_a_record_that_stands_twice_is_noticed(self, family: str) -> None:
        bank = planted(family, some_size(family), 4, 1)
        (asked,) = bank.tasks
        for fact in asked.facts:
            twice = Planted(
                (*bank.pieces, replace(bank.pieces[fact], at=0.01)),
                (replace(asked, others=(*asked.others, (len(bank.pieces), 0))),),
            )
            with pytest.raises(REFUSED):
                prove_all(reading_of(twice))

    def test_a_changed_word_of_the_evidence_is_noticed(self, family: str) -> None:
        """Every name and number of the facts is made another that the bank has, or another number."""
        bank = planted(family, some_size(family), 5, 1)
        (asked,) = bank.tasks
        for fact in asked.facts:
            unread = 0
            for at in range(len(_words(bank.pieces[fact].text))):
                donors = [asked.others[at % len(asked.others)], *asked.others]
                other = _changed(bank.pieces[fact].text, at, "".join(bank.pieces[index].text for index, _ in donors))
                try:
                    prove_all(reading_of(with_piece(bank, fact, replace(bank.pieces[fact], text=other))))
                    unread += 1
                except REFUSED:
                    pass
            assert unread <= UNREAD.get(family, 0), bank.pieces[fact].text

    def test_short_cuts_are_at_chance_on_a_few(self, family: str) -> None:
        found = scores(tasks_of(family, FEW_PICTURED.get(family, FEW // 2) if FAMILIES[family].pictured else FEW))
        assert len(found) == len(CHEATERS)
        assert [s for s in found if not s.at_chance] == []

    @pytest.mark.slow
    @pytest.mark.timeout(300)
    def test_short_cuts_are_at_chance(self, family: str) -> None:
        found = scores(tasks_of(family, MIN_TASKS))
        assert found[0].tasks >= MIN_TASKS
        assert [s for s in found if not s.at_chance] == []


_WORD = re.compile(rf"{NAME_PATTERN}|(?<![-:\d])\d+(?![-:\d])")


def _words(text: str) -> list[re.Match[str]]:
    return list(_WORD.finditer(text))


def _changed(text: str, at: int, donor: str) -> str:
    """The text with another word in the place of word `at`: a name of the donor, a number of as many digits."""
    word = _words(text)[at]
    if word.group().isdigit():
        other = word.group()[:-1] + str((int(word.group()[-1]) + 1) % 10)
    else:
        other = next(w for w in re.findall(NAME_PATTERN, donor) if w not in text)
    return text[: word.start()] + other + text[word.end() :]


def tasks_of(family: str, tasks: int) -> list[Puzzle]:
    """At least so many of them, of all sizes in turn."""
    found: list[Puzzle] = []
    for key in count():
        sizes = FAMILIES[family].sizes
        found += puzzles(reading_of(planted(family, sizes[key % len(sizes)], 100 + key)))
        if len(found) >= tasks:
            return found
    raise AssertionError


def test_banks_are_decided_by_their_draws() -> None:
    for family in FAMILIES:
        size = some_size(family)
        assert planted(family, size, 1) == planted(family, size, 1) != planted(family, size, 2)
        assert Draws("x").key

"""Short cuts stay at chance on what is built, and are caught where a batch rewards one."""

from dataclasses import replace
from functools import cache

import pytest

from gristmill.synth.build import build_all
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.plan import SynthParams
from gristmill.synth.solvers.cheaters import (
    CHEATERS,
    MIN_TASKS,
    Puzzle,
    all_but_one,
    first_with_key,
    latest_with_key,
    never_mentioned,
    puzzles,
    scores,
)
from gristmill.synth.solvers.reading import read_row
from tests.synth.corpus import documents, form, tokenizer

CONTEXT = 131_072
BUILT = ("share_sum", "table_chain", "version_track")
"""Families whose short cuts are tried on whole sequences; `test_families` tries those of all on banks alone."""
SEQUENCES = {"table_chain": 125, "share_sum": 20, "version_track": 34}
"""Enough for MIN_TASKS."""
FEW_SIGMAS = 4.5
"""Of a few tasks: a hundred scores are looked at, and hits that are few are no normal distribution."""


@cache
def batch(family: str, sequences: int) -> list[Puzzle]:
    """Puzzles of one family; many tasks a sequence, as nothing but tasks is looked at."""
    density = 128 if FAMILIES[family].law == "path" else 1400
    params = SynthParams(
        context=CONTEXT,
        sequences=sequences,
        seed=11,
        modes={"task": 1},
        families=(family,),
        tasks_per_million=density,
        max_uses=sequences,
    )
    rows = build_all(params, documents(300_000), tokenizer(), form(CONTEXT), {})
    return [puzzle for row in rows for puzzle in puzzles(read_row(row, tokenizer()))]


@pytest.mark.parametrize("family", BUILT)
def test_short_cuts_are_at_chance_on_a_few(family: str) -> None:
    found = scores(batch(family, 4))
    assert len(found) == len(CHEATERS) and found[0].tasks >= 60
    assert [s for s in found if abs(s.deviation) > FEW_SIGMAS] == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("family", BUILT)
def test_short_cuts_are_at_chance(family: str) -> None:
    found = scores(batch(family, SEQUENCES[family]))
    assert found[0].tasks >= MIN_TASKS
    assert [s for s in found if not s.at_chance] == []


def test_what_cheaters_see_holds_the_answer() -> None:
    for family in BUILT:
        for puzzle in batch(family, 4):
            assert puzzle.answer in puzzle.candidates and puzzle.key in puzzle.query
            assert FAMILIES[family].law == "path" or all(seen.values for seen in puzzle.records)


def caught(given: list[Puzzle]) -> set[str]:
    return {score.cheater for score in scores(given) if not score.at_chance}


def test_a_batch_that_rewards_a_short_cut_is_caught() -> None:
    own = batch("share_sum", 4)
    for cheater in (latest_with_key, first_with_key, all_but_one, never_mentioned):
        assert cheater.__name__ in caught([replace(puzzle, answer=cheater(puzzle)) for puzzle in own])


def test_a_short_cut_that_is_never_right_is_caught_too() -> None:
    own = batch("share_sum", 4) * 2
    wrong = [replace(p, answer=next(c for c in p.candidates if c != latest_with_key(p))) for p in own]
    assert "latest_with_key" in caught(wrong)


def test_answers_of_sums_are_uniform() -> None:
    """By tens of their modulus: chi-square with 9 degrees, 0.1 %."""
    found, expected = [0.0] * 10, [0.0] * 10
    for puzzle in batch("share_sum", 4) + batch("version_track", 4):
        size = len(puzzle.candidates)
        found[int(puzzle.answer) * 10 // size] += 1
        for value in range(size):
            expected[value * 10 // size] += 1 / size
    assert sum((f - e) ** 2 / e for f, e in zip(found, expected, strict=True)) < 27.9

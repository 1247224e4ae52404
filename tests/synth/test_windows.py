"""Cover numbers against every choice of windows, and epsilon against every world that a reader cannot tell apart."""

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.render.draws import Draws
from gristmill.synth import grammar
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.lexicon import names
from gristmill.synth.protocol import Question
from gristmill.synth.solvers import codebooks
from gristmill.synth.solvers.laws import LAWS
from gristmill.synth.solvers.records import records_of
from gristmill.synth.solvers.spans import cover_number, extent, fits_window, touched
from gristmill.synth.solvers.windows import PathBank, sum_epsilon
from gristmill.synth.solvers.words import NAME_PATTERN

SPANS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 8)).map(lambda s: (s[0], s[0] + s[1])), min_size=1, max_size=5
)


@given(SPANS, st.integers(8, 40))
def test_no_fewer_windows_hold_all_spans(spans: list[tuple[int, int]], window: int) -> None:
    count = cover_number(spans, window)
    starts = sorted({start for start, _ in spans})

    def held(chosen: tuple[int, ...]) -> bool:
        return all(any(s <= start and end <= s + window for s in chosen) for start, end in spans)

    assert any(held(chosen) for chosen in combinations(starts, count))
    assert not any(held(chosen) for chosen in combinations(starts, count - 1))
    assert fits_window(spans, window) == (count == 1)
    assert extent(spans) == max(e for _, e in spans) - min(s for s, _ in spans)


def test_touched_parts() -> None:
    assert touched([(0, 1), (127, 129), (1000, 1024)], 1024, 8) == {0, 1, 7}


def test_epsilon_of_a_sum_is_nothing_or_all() -> None:
    assert sum_epsilon([(0, 5), (90, 100)], 0.01, 99) == 0
    assert sum_epsilon([(0, 5), (90, 100)], 0.01, 100) == 0.99


def best_reader(maps: list[list[int]], seen: set[tuple[int, int]], chain: int, told: list[int]) -> Fraction:
    """The share of worlds with the likeliest answer, among those with the rows seen and the answers told.

    maps[j][i]: image of node i in map j; a world is a permutation for each map.
    """

    def end(world: tuple[tuple[int, ...], ...], start: int) -> int:
        for mapped in world:
            start = mapped[start]
        return start

    size = len(maps[0])
    truth = tuple(map(tuple, maps))
    answers = [0] * size
    for world in product(permutations(range(size)), repeat=len(maps)):
        rows = all(world[j][i] == maps[j][i] for j, i in seen)
        if rows and all(end(world, t) == end(truth, t) for t in told):
            answers[end(world, chain)] += 1
    return Fraction(max(answers), sum(answers))


@pytest.mark.parametrize("earlier", [0, 1])
def test_no_reader_of_a_window_beats_epsilon(earlier: int) -> None:
    """All worlds of two maps of four nodes: the bound holds everywhere, and is met where nothing was told before."""
    met = 0
    for key in range(12):
        draws = Draws("worlds", key)
        maps = [draws.shuffled(range(4)) for _ in range(2)]
        places = draws.shuffled(range(0, 80, 10))
        starts = np.array([places[:4], places[4:]])
        by_chain = starts.copy()
        by_chain[1] = [starts[1][maps[0][c]] for c in range(4)]
        bank = PathBank(by_chain, by_chain + 5)
        for window in (15, 35, 55):
            bound = bank.epsilon(0, earlier, window) + 0.25
            real = Fraction(0)
            for left in range(0, 80, 10):
                seen = {(j, i) for j in range(2) for i in range(4) if left <= starts[j][i] <= left + window - 5}
                real = max(real, best_reader(maps, seen, 0, list(range(1, 1 + earlier))))
            assert float(real) <= bound + 1e-9
            met += abs(float(real) - bound) < 1e-9
    assert met >= (12 if earlier == 0 else 1)


def test_a_window_with_the_whole_path_knows_the_answer() -> None:
    starts = np.array([[0, 50], [10, 60]])
    assert PathBank(starts, starts + 5).epsilon(0, 0, 15) == 0.5
    assert PathBank(starts, starts + 5).epsilon(0, 0, 14) == 0.0


def test_a_window_that_lacks_what_stands_in_front_of_it_knows_nothing() -> None:
    starts = np.array([[0, 100, 200], [60, 160, 260]])
    assert PathBank(starts, starts + 5).epsilon(0, 0, 20) == 0.0


SECRETS = {
    "share_sum": "value",
    "version_track": "value",
    "weighted_count": "value",
    "ledger": "value",
    "computation_graph": "right",
    "log_correlation": "other",
    "group_state": "order",
}
"""The slot of a share that holds its part of the answer."""


def values_of(family: str, modulus: int) -> list[str]:
    """All that may stand in that slot."""
    if family == "group_state":
        return ["".join(map(str, order)) for order in permutations(range(1, modulus + 1))]
    return [f"{number} ms" if family == "log_correlation" else str(number) for number in range(modulus)]


@pytest.mark.parametrize("family", SECRETS)
def test_who_lacks_one_share_finds_all_answers_alike(family: str) -> None:
    """In every world that differs in one share alone, the answer is another: each candidate once."""
    made, size, draws = FAMILIES[family], FAMILIES[family].sizes[-1], Draws("worlds", family)
    bank = made.build(size, names(draws, made.names_needed(size), lambda _: set()), draws)
    question, slot = bank.questions[0], SECRETS[family]
    template = grammar.record_template(made.wording, 70)
    texts = {at: grammar.fill(template, fact.slots, draws) for at, fact in enumerate(bank.facts)}
    query = grammar.fill(grammar.ask_template(made.wording, 0), question.slots, draws)
    for share in question.shares or question.evidence:
        answers: list[str | None] = []
        for value in values_of(family, size.modulus):
            told = grammar.fill(template, {**bank.facts[share].slots, slot: value}, draws)
            answers.append(LAWS[family].solve(query, records_of({**texts, share: told})))
        assert len(set(answers)) == len(answers) and set(answers) == set(bank.candidates)


def image(texts: list[str], chains: Sequence[Question], hop: int, chain: int) -> str:
    """What row `hop` of a chain leads to: the word that the next row has as well, and not those of all chains."""
    if hop + 1 == len(chains[chain].evidence):
        return chains[chain].answer
    here, after = (set(WORD.findall(texts[chains[chain].evidence[h]])) for h in (hop, hop + 1))
    others = [set(WORD.findall(texts[other.evidence[hop + 1]])) for other in chains]
    (word,) = (here & after) - set.intersection(*others)
    return word


WORD = re.compile(rf"{NAME_PATTERN}|\[\d+\]")


@pytest.mark.parametrize(
    "family", [name for name, made in FAMILIES.items() if made.law == "path" and not made.pictured]
)
def test_who_lacks_three_rows_of_a_map_finds_three_answers_alike(family: str) -> None:
    """All worlds that a reader of everything else cannot tell apart: the images of the three, in any order."""
    made, size, draws = FAMILIES[family], FAMILIES[family].sizes[-1], Draws("worlds", family)
    bank = made.build(size, names(draws, made.names_needed(size), lambda _: set()), draws)
    texts = [grammar.fill(grammar.record_template(made.wording, 3), fact.slots, draws) for fact in bank.facts]
    query = grammar.fill(grammar.ask_template(made.wording, 0), bank.questions[0].slots, draws)
    for hop in range(size.hops):
        rows = [bank.questions[chain].evidence[hop] for chain in range(3)]
        images = [image(texts, bank.questions, hop, chain) for chain in range(3)]
        answers: list[str | None] = []
        for world in permutations(images):
            told = dict(zip(images, world, strict=True))
            pattern = re.compile("|".join(map(re.escape, images)))
            changed = {row: pattern.sub(lambda m, told=told: told[m.group()], texts[row]) for row in rows}
            answers.append(LAWS[family].solve(query, records_of({**dict(enumerate(texts)), **changed})))
        assert sorted(Counter(answers).values()) == [2, 2, 2] and set(answers) <= set(bank.candidates)


def test_shares_are_told_for_all_families_of_shares() -> None:
    assert set(SECRETS) | {"codebook"} == {
        name for name, f in FAMILIES.items() if f.law in ("sum", "group", "codebook") and not f.pictured
    }


@settings(max_examples=25)
@given(st.permutations(range(3)), st.integers(5, 45))
def test_no_reader_of_a_window_knows_more_of_a_word(order: list[int], window: int) -> None:
    """All words of three letters: the likeliest that a window leaves is as likely as epsilon says."""
    rows = [(20 * place, 20 * place + 5) for place in order]
    truth = codebooks.words(3)[417]
    best = Fraction(0)
    for left in range(41):
        seen = [left <= start and end <= left + window for start, end in rows]
        left_over = [
            w for w in codebooks.words(3) if all(not s or a == b for s, a, b in zip(seen, w, truth, strict=True))
        ]
        best = max(best, Fraction(1, len(left_over)))
    assert float(best) == pytest.approx(codebooks.word_epsilon(rows, 1000, window) + 1 / 1000)

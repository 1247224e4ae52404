"""Proofs that all families of class B share, and that of tasks which ask for nothing but a long way."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from gristmill.synth.build import build_all
from gristmill.synth.plan import SynthParams
from gristmill.synth.plant import Planted
from gristmill.synth.solvers import copies, oddity
from gristmill.synth.solvers.asking import Law, Unproved
from gristmill.synth.solvers.laws import LAWS
from gristmill.synth.solvers.verify import verify_row
from gristmill.synth.solvers.weighing import Rules, Visible, weighed_law, worst
from tests.synth.banks import planted, prove_all, reading_of, some_size
from tests.synth.corpus import documents, form, tokenizer


@pytest.fixture
def laws() -> Iterator[dict[str, Law]]:
    """The table, as it was afterwards."""
    assert isinstance(LAWS, dict)
    before = dict(LAWS)
    yield LAWS
    LAWS.update(before)


def test_a_record_that_is_not_needed_is_noticed(laws: dict[str, Law]) -> None:
    """A solver that finds the answer although a record is missing."""
    bank = planted("copy_distance", some_size("copy_distance"), 1)
    prove_all(reading_of(bank))
    laws["copy_distance"] = weighed_law(replace(copies.RULES, solve=lambda problem, _: copies.solve(problem, -1)))
    with pytest.raises(Unproved, match="not_necessary"):
        prove_all(reading_of(bank))


@pytest.mark.parametrize("family", ["copy_distance", "news_tree", "common_member", "two_versions"])
def test_a_name_of_the_bank_in_another_record_is_noticed(family: str) -> None:
    bank = planted(family, some_size(family), 2)
    stray = replace(bank.pieces[bank.tasks[0].facts[0]], at=0.02)
    with pytest.raises(Unproved, match="leak"):
        prove_all(reading_of(Planted((*bank.pieces, stray), bank.tasks)))


def test_a_record_that_stands_near_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    params = SynthParams(context=16_384, sequences=1, seed=2, modes={"task": 1}, families=("copy_distance",))
    (row,) = build_all(params, documents(50_000), tokenizer(), form(16_384), {})
    (plain,) = row.to_pylist()
    assert {task["tier"] for task in plain["tasks"]} == {0}
    assert min(task["min_gap"] for task in plain["tasks"]) >= 16_384 // 32
    assert all(task["window_eps"][0] == pytest.approx(1 - task["chance"]) for task in plain["tasks"])
    monkeypatch.setattr("gristmill.synth.solvers.prove.NEAR_PARTS", 1)
    with pytest.raises(Unproved, match="spread"):
        verify_row(row, tokenizer())


def test_windows_are_all_that_hold_other_records() -> None:
    """Every window of so many tokens, one by one, knows no more than the worst that is found."""
    spans = [(start, start + 4) for start in (3, 9, 20, 22 + 4, 40, 47)]

    def best(problem: int, visible: Visible) -> float:
        return sum((i + problem) ** 2 for i in visible) / 1000 if len(visible) != problem else 1.0

    for problem in range(1, 5):
        rules = _rules(best)
        for window in range(4, 52):
            every = (
                frozenset(i for i, (s, e) in enumerate(spans) if left <= s and e <= left + window)
                for left in range(-window, 60)
            )
            assert worst(rules, problem, spans, frozenset(), window, {}) >= max(
                best(problem, visible) for visible in every if _largest(visible, spans, window)
            )


def _rules(best: Callable[[int, Visible], float]) -> Rules[int]:
    return Rules(lambda query, records: 0, lambda p, w: (None, ()), best, lambda p: 1, lambda p: ())


def _largest(visible: Visible, spans: list[tuple[int, int]], window: int) -> bool:
    """Whether no window holds these records and more."""
    if not visible:
        return False
    first, last = spans[min(visible)][0], spans[max(visible)][1]
    more = [i for i, (s, e) in enumerate(spans) if i not in visible and max(e, last) - min(s, first) <= window]
    return not more


def test_evidence_of_earlier_questions_is_given() -> None:
    """The last question of a bank is answered by who has seen the evidence of all others."""
    bank = planted("copy_distance", some_size("copy_distance"), 3)
    found = prove_all(reading_of(bank))
    assert len({f.epsilons for f in found}) == 1
    trees = planted("news_tree", some_size("news_tree"), 3)
    by_place = sorted(zip([t.query for t in trees.tasks], prove_all(reading_of(trees)), strict=True))
    alone = [
        prove_all(reading_of(Planted(trees.pieces, (task,))))[0]
        for task in sorted(trees.tasks, key=lambda task: task.query)
    ]
    later = [f.epsilons[0] - own.epsilons[0] for (_, f), own in zip(by_place, alone, strict=True)]
    assert max(later) > 0 and min(later) >= -1e-12


def test_who_has_shown_a_miss_is_not_the_one() -> None:
    crowd = oddity.Crowd({"a": (0, 1), "b": (2, 3)}, (True, False, True, True), ("a", "a", "b", "b"), "", 2)
    assert oddity.posterior(crowd, frozenset((1,))) == {"a": 0.0, "b": 1.0}
    assert oddity.posterior(crowd, frozenset((0,))) == {"a": pytest.approx(2 / 3), "b": pytest.approx(1 / 3)}

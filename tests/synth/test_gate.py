"""The gate of a batch passes what is sound and fails what rewards a short cut or stands in order."""

from dataclasses import replace
from functools import cache
from itertools import count
from math import comb, isclose

import pytest

from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.solvers.chance import chi_tail, tail
from gristmill.synth.solvers.cheaters import CHEATERS, MIN_TASKS, latest_with_key, puzzles
from gristmill.synth.solvers.gate import FALSE_ALARM, Gate
from gristmill.synth.solvers.reading import Reading
from tests.synth.banks import planted, reading_of

FAMILY = "share_sum"


@cache
def batch() -> tuple[Reading, ...]:
    """Enough tasks of one family, of its smallest size, in rows of one bank."""
    size = min(FAMILIES[FAMILY].sizes, key=lambda s: s.facts)
    readings: list[Reading] = []
    for key in count():
        readings.append(reading_of(planted(FAMILY, size, 500 + key)))
        if sum(len(r.tasks) for r in readings) >= MIN_TASKS:
            return tuple(readings)
    raise AssertionError


def failed(gate: Gate) -> set[str]:
    return {line.what for line in gate.failures()}


def test_a_good_batch_passes() -> None:
    gate = Gate()
    for reading in batch():
        gate.add(reading)
    assert failed(gate) == set()
    lines = gate.table()
    assert all(line.gated for line in lines) and {line.what for line in lines} > set(CHEATERS)
    assert min(line.expected for line in lines if line.what == "hop_order") > 0


@pytest.mark.parametrize("share, side", [(0.2, 1), (1.0, 1), (0.0, -1)])
def test_a_short_cut_that_is_right_or_never_right_is_caught(share: float, side: int) -> None:
    gate = Gate()
    for number, reading in enumerate(batch()):
        for task in reading.tasks:
            gate.add_task(task, reading.context)
        for puzzle in puzzles(reading):
            few = replace(puzzle, view=replace(puzzle.view, candidates=puzzle.candidates[:20]))
            said = latest_with_key(few)
            options = few.candidates if said in few.candidates else (*few.candidates, said)
            few = replace(few, view=replace(few.view, candidates=options))
            other = next(c for c in options[number % len(options) :] + options if c != said)
            gate.add_puzzle(replace(few, answer=said if number % 100 < share * 100 else other))
    worst = next(line for line in gate.table() if line.what == "latest_with_key")
    assert "latest_with_key" in failed(gate) and worst.deviation * side > 5


def test_hops_in_order_are_caught() -> None:
    gate = Gate()
    for reading in batch():
        for task in reading.tasks:
            gate.add_task({**task, "evidence": sorted(task["evidence"], key=lambda e: e["start"])}, reading.context)
    assert failed(gate) == {"hop_order", "hop_place"}


def test_a_last_hop_that_is_always_last_is_caught() -> None:
    gate = Gate()
    for reading in batch():
        for task in reading.tasks:
            last = max(task["evidence"], key=lambda e: e["start"])
            others = [e for e in task["evidence"] if e is not last]
            gate.add_task({**task, "evidence": [*others, last]}, reading.context)
    assert failed(gate) == {"hop_order", "hop_place"}


def test_answers_that_are_not_uniform_are_caught() -> None:
    gate = Gate()
    for number, reading in enumerate(batch()):
        for task in reading.tasks:
            gate.add_task(task, reading.context)
        for puzzle in puzzles(reading):
            size = len(puzzle.candidates)
            at = puzzle.candidates.index(puzzle.answer)
            gate.add_puzzle(replace(puzzle, answer=puzzle.candidates[at // 2 if number % 4 == 0 else at % size]))
    assert "answer_index" in failed(gate)


def test_evidence_and_queries_that_crowd_are_caught() -> None:
    gate = Gate()
    for reading in batch():
        for task in reading.tasks:
            half = [{**e, "start": e["start"] // 2} for e in task["evidence"]]
            gate.add_task({**task, "evidence": half, "query_start": task["query_start"]}, reading.context * 3)
    assert {"thin_tenth", "late_queries"} <= failed(gate)
    gate = Gate()
    for reading in batch():
        for task in reading.tasks:
            gate.add_task({**task, "evidence": [{**e, "start": e["start"] // 16} for e in task["evidence"]]}, 1 << 19)
    assert {"thin_tenth", "thick_tenth"} <= failed(gate)


def test_an_order_that_is_hardly_bent_fails_nothing() -> None:
    """As plans bend it that hold shares apart: one task in twenty in order."""
    gate = Gate()
    for number, reading in enumerate(batch() * 3):
        for task in reading.tasks:
            evidence = sorted(task["evidence"], key=lambda e: e["start"]) if number % 20 == 0 else task["evidence"]
            gate.add_task({**task, "evidence": evidence}, reading.context)
    assert failed(gate) == set()
    assert next(line.bound for line in gate.table() if line.what == "hop_order") < 0.01


def test_few_tasks_fail_nothing() -> None:
    gate = Gate()
    for reading in batch()[:100]:
        for task in reading.tasks:
            gate.add_task({**task, "evidence": sorted(task["evidence"], key=lambda e: e["start"])}, reading.context)
    assert gate.failures() == [] and not any(line.gated for line in gate.table())
    assert min(line.bound for line in gate.table()) < FALSE_ALARM


def test_bounds_are_bounds() -> None:
    """Of binomials against their exact tails; of chi-square against tables."""
    for tasks, p in ((40, 0.1), (200, 0.02), (30, 0.5)):
        for hits in range(tasks + 1):
            exact = [comb(tasks, i) * p**i * (1 - p) ** (tasks - i) for i in range(tasks + 1)]
            one = sum(exact[hits:]) if hits > tasks * p else sum(exact[: hits + 1])
            assert one <= tail(hits, tasks, tasks * p) * (1 + 1e-9)
    assert tail(0, 10, 0.0) == 1.0 and tail(1, 10, 0.0) == 0.0 and tail(0, 0, 0.0) == 1.0
    for value, degrees, told in ((3.841, 1, 0.05), (21.666, 9, 0.01), (13.277, 4, 0.01), (27.877, 9, 0.001)):
        assert isclose(chi_tail(value, degrees), told, rel_tol=2e-3)

"""What windows know in families of class B, against every world that fits what has been seen.

A world is what a bank could have been; all are as likely. Of small banks all are listed: those that agree with the
records seen are counted by their answers, and the likeliest answer's share is what `posterior` must give.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations, permutations, product

import pytest

from gristmill.render.draws import Draws
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.solvers import conflicts, copies, dates, forests, labels, layers, oddity, turns
from gristmill.synth.solvers.laws import LAWS
from gristmill.synth.solvers.windows import WINDOW_PARTS
from tests.synth.banks import CONTEXT, planted, prove_all, reading_of

WEIGHED = tuple(name for name, family in FAMILIES.items() if family.law == "weighed")

World = Sequence[Hashable]
"""What each record says; record i of a world stands where record i of every other does."""


def likeliest(worlds: Iterable[tuple[World, Hashable]], truth: World, visible: Iterable[int]) -> float:
    """The share of the likeliest answer among worlds (records, answer) that agree with the truth in what is seen."""
    seen = tuple(visible)
    told = Counter(answer for records, answer in worlds if all(records[i] == truth[i] for i in seen))
    return max(told.values()) / sum(told.values())


def some_views(records: int, key: str) -> list[frozenset[int]]:
    """All sets of records for few, 60 of them for many."""
    every = [frozenset(own) for size in range(records + 1) for own in combinations(range(records), size)]
    return every if len(every) <= 64 else Draws("views", key).some(every, 60)


def test_copies() -> None:
    starts = [("A", "B", c) for c in "CDEF"]
    worlds = [(list(zip(starts, ends, strict=True)), ends[0]) for ends in permutations("wxyz")]
    truth = worlds[5][0]
    problem = copies.Lines(starts[0], tuple((s, str(e)) for s, e in truth))
    for visible in some_views(4, "copies"):
        assert max(copies.posterior(problem, visible).values()) == pytest.approx(likeliest(worlds, truth, visible))


def test_forests() -> None:
    """Two roots, three middles, six leaves."""
    small = _forest_worlds()
    truth = small[77][0]
    edges = tuple((str(g), str(t)) for g, t in truth)
    children: dict[str, tuple[int, ...]] = {}
    for i, (giver, _) in enumerate(edges):
        children[giver] = (*children.get(giver, ()), i)
    problem = forests.Forest("R", edges, children)
    for visible in some_views(len(edges), "forests"):
        real = likeliest(small, truth, visible)
        assert max(forests.posterior(problem, visible)) == pytest.approx(real), sorted(visible)


def _forest_worlds() -> list[tuple[tuple[tuple[str, str], ...], Hashable]]:
    worlds: list[tuple[tuple[tuple[str, str], ...], Hashable]] = []
    for middles in permutations("ABC"):
        for leaves in permutations("uvwxyz"):
            slots = {m: leaves[2 * i : 2 * i + 2] for i, m in enumerate("ABC")}
            edges = (("R", middles[0]), ("R", middles[1]), ("Q", middles[2]))
            edges += tuple((m, leaf) for m in "ABC" for leaf in slots[m])
            worlds.append((edges, frozenset((*slots[middles[0]], *slots[middles[1]]))))
    return worlds


def test_oddities() -> None:
    """Three with three records each; a miss anywhere among those of all but one."""
    worlds: list[tuple[World, Hashable]] = []
    for one in range(3):
        for misses in product(range(3), repeat=2):
            at = iter(misses)
            rows = [[True] * 3 if who == one else [i != m for i in range(3)] for who, m in _others(one, at)]
            worlds.append(([hit for row in rows for hit in row], str(one)))
    truth = worlds[4][0]
    own = {str(who): tuple(range(3 * who, 3 * who + 3)) for who in range(3)}
    problem = oddity.Crowd(own, tuple(map(bool, truth)), tuple(str(i // 3) for i in range(9)), "", 3)
    for visible in some_views(9, "oddities"):
        real = likeliest(worlds, truth, visible)
        assert max(oddity.posterior(problem, visible).values()) == pytest.approx(real)


def _others(one: int, misses: Iterable[int]) -> list[tuple[int, int]]:
    at = iter(misses)
    return [(who, -1 if who == one else next(at)) for who in range(3)]


def test_conflicts() -> None:
    """Three pairs and a single, of three values: which pair differs; the reader is told which stands alone."""
    worlds = [
        ([*values, 0], one)
        for one in range(3)
        for values in product(range(3), repeat=6)
        if all((values[2 * pair] != values[2 * pair + 1]) == (pair == one) for pair in range(3))
    ]
    for truth, _ in worlds[::20]:
        things = [*"aabbcc", "d"]
        statements = tuple(
            conflicts.Statement(i, thing, int(str(v))) for i, (thing, v) in enumerate(zip(things, truth, strict=True))
        )
        of = {thing: tuple(i for i, t in enumerate(things) if t == thing) for thing in "abcd"}
        problem = conflicts.Book("", statements, of)
        for visible in some_views(7, "conflicts"):
            real = likeliest(worlds, truth, visible)
            assert max(conflicts.posterior(problem, visible).values()) == pytest.approx(real)


def test_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A map of four kinds and five labels."""
    monkeypatch.setattr(labels, "LABELS", range(5))
    worlds = [(own, own[:2]) for own in permutations(range(5), 4)]
    truth = worlds[17][0]
    problem = labels.Scheme(
        "m", ("a", "b"), tuple(labels.Example("m", k, v) for k, v in zip("abcd", truth, strict=True))
    )
    for visible in some_views(4, "labels"):
        assert max(labels.posterior(problem, visible)) == pytest.approx(likeliest(worlds, truth, visible))


def test_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """One setting that two of four layers make, with one of three values each. The records are those of the truth's
    layers, so that a world with other layers has records that the window cannot have seen."""
    monkeypatch.setattr(layers, "VALUES", range(3))
    for ranks in combinations(range(4), 2):
        for values in product(range(3), repeat=2):
            made = tuple(layers.Made(i, rank, value) for i, (rank, value) in enumerate(zip(ranks, values, strict=True)))
            problem = layers.Stack(("s",), {"s": made}, 4, 2, 2)
            for visible in some_views(2, "layers"):
                told: Counter[int] = Counter()
                for others in combinations(range(4), 2):
                    for given in product(range(3), repeat=2):
                        world = dict(zip(others, given, strict=True))
                        if all(world.get(made[i].rank) == made[i].value for i in visible):
                            told[given[1]] += 1
                (found,) = layers.posterior(problem, visible)
                for value in range(3):
                    assert found[value] == pytest.approx(told[value] / sum(told.values()))


def test_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five turns among 24, wherever these begin; the formula takes turns as real numbers, hence the tolerance."""
    span, total = 24, 5
    monkeypatch.setattr(turns, "SPAN_TURNS", span)
    for known in ((100, 109), (100, 103, 118), (107,), (100, 101, 102, 112)):
        replies = [turns.Reply(i, turn, str(i)) for i, turn in enumerate((*known, *range(900, 905 - len(known))))]
        problem = turns.Chat("", tuple(replies), total, (1, 3), total)
        found = turns.posterior(problem, frozenset(range(len(known))))
        told: Counter[tuple[int, ...]] = Counter()
        for start in range(max(known) - span + 1, min(known) + 1):
            free = [t for t in range(start, start + span) if t not in known]
            for hidden in combinations(free, total - len(known)):
                line = sorted((*known, *hidden))
                told[tuple(known.index(line[r]) if line[r] in known else -1 for r in (1, 3))] += 1
        assert sum(found.values()) == pytest.approx(1, abs=0.02)
        for key, count in told.items():
            assert found[key] == pytest.approx(count / sum(told.values()), abs=0.04), (known, key)


def test_nothing_seen_of_turns_is_a_guess() -> None:
    replies = tuple(turns.Reply(i, 100 * i, str(i)) for i in range(6))
    problem = turns.Chat("", replies, 6, (0, 2, 5), 6)
    assert turns.CHATS.klass == "B" and turns.posterior(problem, frozenset()) == {(-1, -1, -1): 1.0}
    assert sum(turns.posterior(problem, frozenset(range(6))).values()) == pytest.approx(1)


def test_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six events on eight days. The bound is never below the truth, and meets it where all neighbours are seen."""
    monkeypatch.setattr(dates, "DAYS", 8)
    names, met = "abcdef", 0
    for key in range(6):
        days = sorted(Draws("dates", key).some(range(8), 6))
        problem = dates.Chronicle(names[2 + key % 2], tuple(map(dates.Event, names, days)), 6)
        for visible in some_views(6, "dates"):
            bound = max(dates.posterior(problem, visible))
            real = _dates_known(problem, visible)
            assert bound >= real - 1e-9, (days, sorted(visible))
            met += bound == pytest.approx(real)
    assert met >= 20


def _dates_known(problem: dates.Chronicle, visible: frozenset[int]) -> float:
    seen = [problem.events[i] for i in visible]
    hidden = [event.name for i, event in enumerate(problem.events) if i not in visible]
    free = [day for day in range(8) if day not in {event.day for event in seen}]
    told: Counter[tuple[str, ...]] = Counter()
    for days in permutations(free, len(hidden)):
        line = sorted([(event.day, event.name) for event in seen] + list(zip(days, hidden, strict=True)))
        order = [name for _, name in line]
        at = order.index(problem.asked)
        if 2 <= at < 4:
            told[tuple(order[at - 2 : at] + order[at + 1 : at + 3])] += 1
    return max(told.values()) / sum(told.values())


@pytest.mark.parametrize("family", WEIGHED)
def test_windows_know_no_more_than_they_may(family: str) -> None:
    """Of 12 banks a size: more tokens never know less, epsilon at a sixteenth is small, nothing of distance alone."""
    over = tasks = 0
    for size in FAMILIES[family].sizes:
        for key in range(6):
            for found in prove_all(reading_of(planted(family, size, 50 + key))):
                tiny, small, large = found.epsilons
                assert tiny + 1 / found.answers >= -1e-9 and large <= 1 and tiny <= small + 0.02
                tasks, over = tasks + 1, over + (small > 0.02)
    assert tasks >= 12 and WINDOW_PARTS == (128, 16, 4) and CONTEXT % 128 == 0
    assert over == tasks if LAWS[family].distance_only else over <= 0.04 * tasks

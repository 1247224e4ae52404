"""What is measured of rows by copying: against slow counts, against what was planted, and of rows as they are built."""

import time
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.synth.build import build_all
from gristmill.synth.order import Mode
from gristmill.synth.plan import ALL, SynthParams
from gristmill.synth.solvers.chance import tail
from gristmill.synth.solvers.measures import BINS, copied, copy_hits, grams, induction_mass, previous, repeated
from tests.synth.corpus import documents, form, tokenizer


def ids_of(values: object) -> np.ndarray:
    return np.array(values, np.uint32)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2), max_size=120))
def test_measures_are_what_a_slow_count_finds(values: list[int]) -> None:
    ids = ids_of(values)
    for size in (2, 6):
        told = [tuple(values[i : i + size]) for i in range(len(values) - size + 1)]
        slow = [max((j for j in range(i) if told[j] == told[i]), default=-1) for i in range(len(told))]
        assert previous(grams(ids, size)).tolist() == slow
    right = 0
    for at in range(6, len(values)):
        last = [j for j in range(at - 6) if values[j : j + 6] == values[at - 6 : at]]
        right += bool(last) and values[last[-1] + 6] == values[at]
    assert round(sum(induction_mass(ids)) * len(values)) == right
    whole = [tuple(values[i : i + 32]) for i in range(len(values) - 31)]
    assert round(repeated(ids) * len(whole)) == sum(g in whole[:i] for i, g in enumerate(whole))
    for place in range(len(values)):
        told_here = -1
        for size in range(8, 1, -1):
            if place < size:
                continue
            earlier = [j for j in range(place - size) if values[j : j + size] == values[place - size : place]]
            if earlier:
                told_here = values[earlier[-1] + size]
                break
        if place % 17 == 0:
            assert copied(ids, [place]) == [told_here]


@pytest.mark.parametrize(
    "distance, place", [(700, 0), (1024, 0), (1025, 1), (8192, 1), (50_000, 2), (200_000, 3), (300_000, 4)]
)
def test_a_copy_counts_at_its_distance(distance: int, place: int) -> None:
    ids = np.arange(400_000).astype(np.uint32)
    ids[distance : distance + 106] = ids[:106]
    mass = induction_mass(ids)
    assert [round(share * len(ids)) for share in mass] == [100 if n == place else 0 for n in range(len(BINS) + 1)]


def test_what_is_not_kept_is_not_repeated() -> None:
    ids = np.concatenate([np.arange(1000), np.arange(500)]).astype(np.uint32)
    keep = np.ones(1500, np.bool_)
    assert repeated(ids) == pytest.approx(469 / 1469)
    keep[1000:] = False
    assert repeated(ids, keep) == 0 and repeated(ids[:31]) == 0 and repeated(ids[:31], keep[:31]) == 0
    with pytest.raises(ValueError, match="outside"):
        copied(ids, [1500])


def built(
    mode: Mode, context: int, sequences: int = 1, density: int = 400, families: tuple[str, ...] = ALL
) -> list[dict[str, np.ndarray]]:
    """Rows as plain columns; the same documents for each mode."""
    params = SynthParams(
        context=context,
        sequences=sequences,
        seed=3,
        modes={mode: 1},
        max_uses=sequences,
        tasks_per_million=density,
        families=families,
    )
    found: list[dict[str, np.ndarray]] = []
    for row in build_all(params, documents(300_000), tokenizer(), form(context), {}):
        (told,) = row.select(["segments", "tasks", "n_tokens"]).to_pylist()
        found.append({"ids": row.column("input_ids").flatten().to_numpy()[: told["n_tokens"]], **told})
    return found


def test_permutation_moves_copies_away_and_keeps_them() -> None:
    """Of the same documents: fewer 1K to 8K behind, more 8K to 256K behind, and as many in all."""
    (plain,), (mixed,) = built("concat", 131_072), built("interleave", 131_072)
    near, far = induction_mass(plain["ids"]), induction_mass(mixed["ids"])
    assert far[1] < 0.8 * near[1] and sum(far[2:4]) > 1.1 * sum(near[2:4])
    assert sum(far) == pytest.approx(sum(near), rel=0.1)


def test_filler_is_hardly_repeated() -> None:
    """Of clean input; a haystack that is tiled is told from it."""
    (row,) = built("task", 131_072)
    keep = np.zeros(len(row["ids"]), np.bool_)
    for part in row["segments"]:
        keep[part["start"] : part["end"]] = part["kind"] not in ("record", "query", "answer")
    share = repeated(row["ids"], keep)
    assert share <= 0.02
    assert repeated(np.concatenate([row["ids"], row["ids"]])) > 0.49


def test_answers_cannot_be_copied() -> None:
    """At the token where candidates differ: within three sigmas of chance, both ways; where the answer stands behind
    the same words already it is caught."""
    hits = asked = 0
    expected = 0.0
    for row in built("task", 65_536, 4, 1400):
        places = [t["answer_start"] + t["disc_offset"] for t in row["tasks"]]
        found = copy_hits(row["ids"], places)
        hits, asked = hits + found.hits, asked + found.asked
        expected += sum(t["chance"] for t in row["tasks"])
    assert asked >= 100 and tail(hits, asked, expected) > 0.0027


def test_an_answer_that_stood_behind_the_same_words_is_caught() -> None:
    (row,) = built("task", 65_536, density=1400)
    hits = 0
    for task in row["tasks"][:20]:
        place = task["answer_start"] + task["disc_offset"]
        ids = np.concatenate([row["ids"][: place + 1], row["ids"][place - 8 : place + 1]])
        hits += copy_hits(ids, [len(ids) - 1]).hits
    assert hits == 20 and tail(hits, 20, 20 * 0.02) < 1e-9


LENGTHS = ((8192, 48), (65_536, 6), (262_144, 2))
"""Tokens and sequences, of as many tasks each."""


def dispersion(context: int, sequences: int) -> dict[str, float]:
    """What reference 2.6 asks of tasks, of sums of eight entries, in shares of the row."""
    tasks = [t for row in built("task", context, sequences, families=("share_sum",)) for t in row["tasks"]]
    return {
        "tasks": len(tasks),
        "span": fmean(t["span_frac"] for t in tasks),
        "gap": fmean(t["min_gap"] / context for t in tasks),
        "cover_16th": fmean(t["cover_16th"] / len(t["evidence"]) for t in tasks),
        "cover_4th": fmean(t["cover_4th"] for t in tasks),
        "query": fmean(t["query_start"] / context for t in tasks),
        "evidence": fmean(e["start"] / t["query_start"] for t in tasks for e in t["evidence"]),
        "hops": fmean(len(t["evidence"]) for t in tasks),
    }


TOLERANCES = {
    "span": 0.05,
    "gap": 0.015,
    "cover_16th": 0.06,
    "cover_4th": 0.3,
    "query": 0.04,
    "evidence": 0.03,
    "hops": 0.0,
}
"""About three standard errors of a difference of means over 150 tasks."""


def test_tasks_are_spread_alike_at_every_length() -> None:
    found = [dispersion(*length) for length in LENGTHS]
    assert min(one["tasks"] for one in found) >= 100
    for name, tolerance in TOLERANCES.items():
        values = [one[name] for one in found]
        assert max(values) - min(values) <= tolerance, (name, values)


def test_a_long_row_is_measured_fast() -> None:
    ids = np.random.default_rng(5).integers(0, 50_000, 1 << 20).astype(np.uint32)
    started = time.process_time()
    induction_mass(ids)
    repeated(ids)
    assert time.process_time() - started < 3

"""The statistics of recall: their level under ideal hashing, their power against faulty hashes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from tests.stages.dedup.truth import corpus, recall, twin
from tests.stages.dedup.truth.ideal import Ideal, groups_of
from tests.stages.dedup.truth.pairs import Truth, all_pairs

SEEDS = 12
LANES = 112

Counts = npt.NDArray[np.int64]
Lanes = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Case:
    """The quick corpus: shingles of each document, the pairs that are alike, what theory expects of them."""

    docs: list[corpus.Doc]
    sets: Sequence[frozenset[twin.Shingle]]
    truth: Truth
    expected: recall.Expected


@pytest.fixture(scope="module")
def case() -> Case:
    docs = corpus.build()
    sets = [twin.shingles(doc.text, doc.domain) for doc in docs]
    truth = all_pairs(sets)
    return Case(docs, sets, truth, recall.expected(truth, sets))


def test_the_theory_by_hand() -> None:
    found = recall.theory(np.array([0.0, 0.5, 0.8, 1.0]))
    assert found == pytest.approx([0.0, 1 - (1 - 0.5**8) ** 14, 1 - (1 - 0.8**8) ** 14, 1.0])


@pytest.mark.parametrize(("value", "df"), [(6.635, 1), (9.210, 2), (11.345, 3), (15.086, 5), (16.812, 6)])
def test_the_tail_of_chi_square_at_its_tabled_percent(value: float, df: int) -> None:
    assert recall.chi_square_tail(value, df) == pytest.approx(0.01, abs=1e-5)
    assert recall.chi_square_tail(0.0, df) == 1.0
    assert recall.chi_square_tail(1e5, df) == 0.0


def test_ideal_hashing_has_the_mean_of_the_theory(case: Case) -> None:
    ideal = Ideal(case.truth, groups_of(case.truth, case.sets))
    met = ideal.bands_met(np.random.default_rng(3), 1200)
    chance = case.truth.jaccard**8
    error = (met.mean(axis=1) - 14 * chance) / np.sqrt(np.maximum(14 * chance * (1 - chance), 1e-3) / 1200)
    assert np.abs(error).max() < 5
    assert abs(error.mean()) < 0.3


@pytest.mark.parametrize("draws", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_level_of_the_joint_tests(case: Case, draws: int) -> None:
    """Of so many draws of ideal hashing about 1 % are rejected, and at 5 % about 5 %."""
    ideal, rng = Ideal(case.truth, groups_of(case.truth, case.sets)), np.random.default_rng(11)
    p_values: list[tuple[float, float]] = []
    rejected = np.zeros(2)
    for _ in range(draws):
        met = ideal.bands_met(rng, SEEDS)
        hits, bands = recall.hits_test(case.expected, met > 0), recall.bands_test(case.expected, met)
        p_values.append((hits.p_value, bands.p_value))
        rejected += [not hits.consistent, not bands.consistent]
    below = (np.array(p_values) < 0.05).mean(axis=0)
    assert (rejected / draws <= 0.03).all()
    assert ((below > 0.02) & (below < 0.09)).all()
    assert np.mean(p_values, axis=0) == pytest.approx([0.5, 0.5], abs=0.07)


def signatures(case: Case, seed: int, change: Callable[[Lanes, Lanes], None] | None = None) -> npt.NDArray[np.uint32]:
    """A small MinHash of its own: top half of a*x + c mod 2^64, x a random number of each shingle."""
    numbers: dict[twin.Shingle, int] = {}
    rows = [[numbers.setdefault(s, len(numbers)) for s in found] for found in case.sets]
    x = np.random.default_rng(99).integers(0, 2**64, len(numbers), dtype=np.uint64)
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2**63, LANES, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    c = rng.integers(0, 2**64, LANES, dtype=np.uint64)
    if change is not None:
        change(a, c)
    lanes = np.zeros((len(rows), LANES), dtype=np.uint32)
    for number, row in enumerate(rows):
        if row:
            lanes[number] = ((x[row][:, None] * a + c) >> np.uint64(32)).min(axis=0)
    return lanes


def bands_met(
    case: Case, change: Callable[[Lanes, Lanes], None] | None = None, bands: int = 14, rows: int = 8
) -> Counts:
    """Bands that meet by pair and seed, (pairs, SEEDS)."""
    columns: list[Counts] = []
    for seed in range(SEEDS):
        lanes = signatures(case, seed, change)[:, : bands * rows]
        agree = lanes[case.truth.left] == lanes[case.truth.right]
        columns.append(agree.reshape(-1, bands, rows).all(axis=2).sum(axis=1))
    return np.stack(columns, axis=1)


@pytest.fixture(scope="module")
def sound(case: Case) -> Counts:
    return bands_met(case)


def test_a_sound_hash_passes(case: Case, sound: Counts) -> None:
    assert recall.hits_test(case.expected, sound > 0).consistent
    assert recall.bands_test(case.expected, sound).consistent


def repeat_lanes(a: Lanes, c: Lanes) -> None:
    """Half of the bands are copies of the others."""
    a[56:], c[56:] = a[:56], c[:56]


def share_multiplier(a: Lanes, c: Lanes) -> None:
    """All lanes are rotations of one order."""
    a[:] = a[0]


def test_repeated_lanes_are_rejected(case: Case) -> None:
    met = bands_met(case, repeat_lanes)
    assert not recall.hits_test(case.expected, met > 0).consistent
    assert not recall.bands_test(case.expected, met).consistent


def test_lanes_that_share_a_multiplier_are_rejected_by_their_bands(case: Case) -> None:
    assert recall.bands_test(case.expected, bands_met(case, share_multiplier)).p_value < 1e-4


@pytest.mark.parametrize(("bands", "rows"), [(14, 7), (12, 9)])
def test_other_rows_than_declared_are_rejected(case: Case, bands: int, rows: int) -> None:
    met = bands_met(case, bands=bands, rows=rows)
    assert not recall.hits_test(case.expected, met > 0).consistent
    assert not recall.bands_test(case.expected, met).consistent


def test_a_band_too_few_is_rejected(case: Case) -> None:
    assert recall.bands_test(case.expected, bands_met(case, bands=13)).p_value < 1e-4


def test_a_seed_that_is_ignored_is_rejected(case: Case, sound: Counts) -> None:
    assert not recall.bands_test(case.expected, np.repeat(sound[:, :1], SEEDS, axis=1)).consistent


def test_an_identical_pair_that_is_missed_is_rejected(case: Case, sound: Counts) -> None:
    met = sound.copy()
    met[np.flatnonzero(case.truth.jaccard == 1.0)[0], 3] = 0
    found = recall.hits_test(case.expected, met > 0)
    assert (found.missed_identical, found.consistent) == (1, False)
    assert "identical pairs missed 1" in str(found)


def test_hits_are_taken_from_sets_of_candidates(case: Case) -> None:
    pairs = list(case.truth.as_dict())
    hits = recall.hits_of(case.truth, lambda seed: {pairs[seed], pairs[-1]}, [0, 5])
    assert hits.shape == (len(pairs), 2)
    assert np.argwhere(hits).tolist() == [[0, 0], [5, 1], [len(pairs) - 1, 0], [len(pairs) - 1, 1]]

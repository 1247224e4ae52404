"""The S-curve: ends, monotony, the points that the literature and the reference name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.dedup.lsh_curve import curve, jaccard_of, line, probability, threshold

SHAPES = st.tuples(st.integers(1, 256), st.integers(1, 64))


@given(SHAPES)
def test_it_rises_from_0_to_1(shape: tuple[int, int]) -> None:
    points = curve(*shape)
    assert points[0] == (0.0, 0.0)
    assert points[-1] == (1.0, 1.0)
    found = [value for _, value in points]
    assert found == sorted(found)
    assert [at for at, _ in points] == sorted({at for at, _ in points})


@given(SHAPES)
def test_half_is_where_one_pair_in_two_is_found(shape: tuple[int, int]) -> None:
    at = threshold(*shape)
    assert probability(at.half, *shape) == pytest.approx(0.5)
    assert 0 < at.half <= 1
    assert 0 < at.estimate <= 1


@pytest.mark.parametrize(
    ("jaccard", "bands", "rows", "wanted"),
    [
        # Leskovec, Rajaraman, Ullman, figure 3.8: b = 20, r = 5.
        (0.2, 20, 5, 0.006),
        (0.4, 20, 5, 0.186),
        (0.6, 20, 5, 0.802),
        (0.8, 20, 5, 0.9996),
        # Penedo et al. 2024 for 14 x 8: 56 %, 77 %, 92 % and 98.8 % at 0.7, 0.75, 0.8, 0.85.
        (0.7, 14, 8, 0.565),
        (0.75, 14, 8, 0.772),
        (0.8, 14, 8, 0.924),
        (0.85, 14, 8, 0.988),
        (-0.1, 14, 8, 0.0),
        (1.1, 14, 8, 1.0),
    ],
)
def test_known_points(jaccard: float, bands: int, rows: int, wanted: float) -> None:
    assert probability(jaccard, bands, rows) == pytest.approx(wanted, abs=6e-4)


def test_estimate() -> None:
    assert threshold(20, 5).estimate == pytest.approx(0.5493, abs=1e-4)
    assert threshold(14, 8).half == pytest.approx(0.6847, abs=1e-4)


@given(st.integers(1, 50), st.integers(0, 50), st.integers(0, 50))
def test_containment_as_jaccard_is_that_of_sets(shared: int, smaller_alone: int, more: int) -> None:
    smaller = set(range(shared + smaller_alone))
    larger = set(range(shared)) | set(range(1000, 1000 + smaller_alone + more))
    wanted = len(smaller & larger) / len(smaller | larger)
    assert jaccard_of(shared / len(smaller), len(larger) / len(smaller)) == pytest.approx(wanted)


def test_a_part_of_a_whole_has_the_jaccard_of_their_sizes() -> None:
    assert (jaccard_of(1.0, 2), jaccard_of(1.0, 5), jaccard_of(1.0)) == (0.5, 0.2, 1.0)
    assert jaccard_of(0.7) == pytest.approx(0.7 / 1.3)


def test_line() -> None:
    shown = line(14, 8)
    assert "\n" not in shown
    assert "14 bands x 8 rows" in shown
    assert "0.685" in shown
    assert "56.5% at 0.7" in shown
    assert shown.endswith("█| 1")

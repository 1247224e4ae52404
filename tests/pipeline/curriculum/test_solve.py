"""The solver: the published curriculum again, and what holds for any."""

from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import RecipeError
from gristmill.pipeline.curriculum import BOUNDS, Demand, Drawn, Problem, Supply, bucket_names, solve, supplies_of
from gristmill.pipeline.curriculum.cells import Floats, buckets_spanned, span_name
from gristmill.pipeline.curriculum.solve import DOMAIN_SLACK
from tests.pipeline.curriculum import published

BUCKETS = bucket_names(BOUNDS)
SEEDS = st.integers(0, 2**32 - 1)


def stages_of(cells: Floats, cap: float = 4.0) -> list[Demand]:
    """The published stages over a pool."""
    return [
        Demand(name, tokens, published.RATES, np.array(buckets), supplies_of("pool", cells, cap))
        for name, tokens, buckets in zip(published.NAMES, published.TOKENS, published.BUCKETS, strict=True)
    ]


def solved(
    cells: Floats, order: Literal["backwards", "forwards"] = "backwards", cap: float = 4.0
) -> tuple[list[Drawn], Floats]:
    """Draws, and epochs by cell."""
    drawn, epochs = solve(Problem(published.DOMAINS, BUCKETS, stages_of(cells, cap)), order=order)
    return drawn, epochs["pool"]


def test_the_published_tables_come_out() -> None:
    """0.2 points: their figures are rounded to 0.1, and the pool that they are solved over follows from such."""
    drawn, epochs = solved(published.pool())
    for found, tokens, table in zip(drawn, published.TOKENS, published.TABLES, strict=True):
        assert np.abs(100 * found.cells / tokens - np.array(table)).max() < 0.2
        assert not found.missed
    assert epochs.max() <= 3.3
    assert np.abs(epochs[:, 4] / published.LONGEST_EPOCHS - 1).max() < 0.12
    share = published.BUCKET_SHARES
    assert round(drawn[3].cells[:, 4].sum() / published.TOKENS[3] / share[4]) in (27, 28)
    assert round(drawn[2].cells[:, 3].sum() / published.TOKENS[2] / share[3]) == 7


def test_forwards_the_first_stage_uses_up_what_the_last_needs() -> None:
    """With a thirtieth of the web and mathematics over 512K the order decides: caps bind."""
    pool = published.pool()
    pool[[0, 2], 4] /= 30
    backwards, _ = solved(pool)
    forwards, epochs = solved(pool, "forwards")
    assert np.allclose(epochs[[0, 2], 4], 4.0)
    assert forwards[3].cells[[0, 2], 4].sum() / published.TOKENS[3] < 0.0005
    kept = backwards[3].cells[[0, 2], 4] / published.TOKENS[3]
    assert kept.min() > 0.004, "the last stage has what it asks for"
    assert backwards[0].cells[[0, 2], 4].sum() < forwards[0].cells[[0, 2], 4].sum() / 5


def random_problem(seed: int) -> tuple[Floats, Floats, list[tuple[float, Floats]], float]:
    """A pool, domain rates, stages and a cap; some cells are empty."""
    draw = np.random.default_rng(seed)
    cells = draw.lognormal(0, 2, (3, 5)) * (draw.random((3, 5)) < 0.8) * 1e9
    rates = (draw.dirichlet([3, 3, 3]) + 2 * cells.sum(axis=1) / cells.sum()) / 3
    stages = [(float(t), draw.dirichlet(np.ones(5))) for t in draw.lognormal(0, 1.5, 3) * cells.sum() / 12]
    return cells, rates, stages, float(draw.uniform(0.5, 4))


def solve_random(
    cells: Floats, rates: Floats, stages: list[tuple[float, Floats]], cap: float
) -> tuple[list[Drawn], Floats]:
    demands = [Demand(str(i), t, rates, q, supplies_of("p", cells, cap)) for i, (t, q) in enumerate(stages)]
    drawn, epochs = solve(Problem(("a", "b", "c"), BUCKETS, demands))
    return drawn, epochs["p"]


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_budgets_are_exact_caps_hold_and_domains_keep_their_rates(seed: int) -> None:
    cells, rates, stages, cap = random_problem(seed)
    try:
        drawn, epochs = solve_random(cells, rates, stages, cap)
    except RecipeError:
        assume(False)
        return
    for found, (tokens, _) in zip(drawn, stages, strict=True):
        assert found.cells.sum() == pytest.approx(tokens, rel=1e-6)
        assert sum(found.sources.values()) == pytest.approx(tokens, rel=1e-6)
        assert np.abs(found.cells.sum(axis=1) / tokens - rates).max() <= DOMAIN_SLACK + 1e-6
        assert (found.cells[cells == 0] == 0).all()
    total = sum(found.cells for found in drawn)
    assert (total <= cap * cells * (1 + 1e-9)).all()
    assert np.allclose(epochs[cells > 0], (total / np.maximum(cells, 1))[cells > 0])


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_what_is_refused_lacks_a_domain(seed: int) -> None:
    """The only reason there is: more of a domain is wanted over the run than caps and slack allow."""
    cells, rates, stages, cap = random_problem(seed)
    wanted = sum(t for t, _ in stages)
    try:
        solve_random(cells, rates, stages, cap)
    except RecipeError:
        assert (cap * cells.sum(axis=1) < wanted * (rates + DOMAIN_SLACK) + 1).any()
    else:
        assert (cap * cells.sum(axis=1) >= wanted * (rates - DOMAIN_SLACK) - 1).all()


@given(SEEDS, st.floats(1.0, 5.0))
@settings(max_examples=20, deadline=None)
def test_more_supply_never_makes_a_plan_infeasible(seed: int, more: float) -> None:
    cells, rates, stages, cap = random_problem(seed)
    try:
        drawn, _ = solve_random(cells, rates, stages, cap)
    except RecipeError:
        assume(False)
        return
    # Where a domain lacks within the slack, more of it leaves more of its lack to earlier stages.
    assume(all(np.allclose(d.cells.sum(axis=1), t * rates) for d, (t, _) in zip(drawn, stages, strict=True)))
    grown = cells * np.random.default_rng(seed).uniform(1, more, cells.shape)
    _, epochs = solve_random(grown, rates, stages, cap)
    assert epochs.max() <= cap * (1 + 1e-9)


@given(SEEDS, st.sampled_from([1e-3, 7.0, 1e4]))
@settings(max_examples=20, deadline=None)
def test_the_unit_of_tokens_does_not_matter(seed: int, unit: float) -> None:
    cells, rates, stages, cap = random_problem(seed)
    try:
        drawn, epochs = solve_random(cells, rates, stages, cap)
    except RecipeError:
        assume(False)
        return
    scaled, same = solve_random(cells * unit, rates, [(t * unit, q) for t, q in stages], cap)
    assert np.allclose(epochs, same, atol=1e-4)
    for one, other in zip(drawn, scaled, strict=True):
        assert np.allclose(one.cells * unit, other.cells, rtol=1e-3, atol=1e-4 * one.cells.sum() * unit)


def one_stage(cells: Any, **changed: Any) -> Drawn:
    """A stage of 100 tokens over two domains and five buckets."""
    table = np.array(cells, dtype=float)
    fields: dict[str, Any] = {"rates": np.array([0.5, 0.5]), "buckets": np.array([0.4, 0.1, 0.1, 0.2, 0.2]), **changed}
    stage = Demand("C2", 100.0, supplies=supplies_of("p", table, 1.0), **fields)
    return solve(Problem(("web", "code"), BUCKETS, [stage]))[0][0]


def test_a_bucket_that_lacks_is_filled_by_its_neighbour() -> None:
    full = [50.0, 50.0, 50.0, 50.0]
    found = one_stage([[*full, 2.0], [*full, 3.0]])
    shares = found.cells.sum(axis=0)
    assert shares[4] == pytest.approx(5) and shares[3] == pytest.approx(35)
    assert np.allclose(shares[:3], [40, 10, 10], atol=1e-3)
    assert set(found.missed) == {BUCKETS[3], BUCKETS[4]}
    assert found.missed[BUCKETS[4]] == pytest.approx((0.2, 0.05), abs=1e-5)
    found = one_stage([[50, 50, 50, 1, 0], [50, 50, 50, 1, 0]])
    assert np.allclose(found.cells.sum(axis=0), [40, 10, 48, 2, 0], atol=1e-3), "and so on, nearest first"


def test_what_lacks_is_synthesised_before_a_neighbour_gives_it() -> None:
    synthesised = supplies_of("s", np.array([[0, 0, 0, 0, 30.0], [0, 0, 0, 0, 30.0]]), 1.0)
    full = [50.0, 50.0, 50.0, 50.0]
    found = one_stage([[*full, 2.0], [*full, 3.0]], synthesised=synthesised)
    assert found.stood_for[:, 4].sum() == pytest.approx(15, abs=1e-3) and not found.missed
    assert sum(found.sources[s.name] for s in synthesised) == pytest.approx(15, abs=1e-3)
    assert sum(found.sources.values()) == pytest.approx(100)


def test_synthesised_sequences_stand_for_the_shortest_above_the_first_bucket() -> None:
    synthesised = supplies_of("s", np.array([[0, 0, 0, 0, 30.0], [0, 0, 0, 0, 30.0]]), 1.0)
    found = one_stage(np.full((2, 5), 50.0), synthesised=synthesised, synth=0.3)
    assert np.allclose(found.stood_for.sum(axis=0), [0, 10, 10, 10, 0], atol=1e-6)
    assert np.allclose(found.cells.sum(axis=0), [40, 0, 0, 10, 20], atol=1e-3)
    assert np.allclose((found.cells + found.stood_for).sum(axis=1), [50, 50])
    assert sum(found.sources[s.name] for s in synthesised) == pytest.approx(30)


@pytest.mark.parametrize(
    ("cells", "changed", "told"),
    [
        ([[5] * 5, [50] * 5], {}, r"C2: domain web, bucket <8K: 20 tokens are needed, 5 are there \(50 and 25"),
        ([[50] * 5, [0] * 5], {}, "domain code, bucket .* 0 are there"),
        ([[50] * 5, [50] * 5], {"synth": 0.3}, "synthesised sequences: 30 tokens are needed, 0 are there"),
        ([[1, 50, 50, 50, 50]] * 2, {"replay": 0.4}, "replay, bucket <8K: 40 tokens are needed, 2 can be had"),
    ],
)
def test_what_cannot_be_had_is_refused_by_name(cells: Any, changed: dict[str, Any], told: str) -> None:
    with pytest.raises(RecipeError, match=told):
        one_stage(cells, **changed)


def test_a_domain_may_lack_two_points() -> None:
    found = one_stage([[9.7] * 5, [50] * 5])
    assert found.cells.sum(axis=1).tolist() == pytest.approx([48.5, 51.5])


def test_a_supply_of_several_buckets_is_drawn_from_evenly() -> None:
    merged = Supply("merged", "p", np.array([[0, 10.0, 10.0, 10.0, 10.0], [0] * 5]), 1.0)
    short = Supply("short", "p", np.array([[100.0, 0, 0, 0, 0], [100.0, 0, 0, 0, 0]]), 1.0)
    stage = Demand("P1", 100.0, np.array([0.5, 0.5]), np.array([0.8, 0.0, 0.0, 0.0, 0.2]), [merged, short])
    drawn, epochs = solve(Problem(("web", "code"), BUCKETS, [stage]))
    assert sum(drawn[0].sources.values()) == pytest.approx(100)
    assert epochs["p"][0, 1] == epochs["p"][0, 4] == pytest.approx(drawn[0].sources["merged"] / 40)


def test_epochs_add_up_over_packings_of_one_pool_and_over_stages_that_are_given() -> None:
    cells = np.full((2, 5), 30.0)
    packed = [[Supply(f"{n}{s.name}", "p", s.cells, s.cap) for s in supplies_of("p", cells, 1.0)] for n in ("a", "b")]
    even = (np.array([0.5, 0.5]), np.full(5, 0.2))
    stages = [Demand(str(i), 140.0, *even, supplies) for i, supplies in enumerate(packed)]
    _, epochs = solve(Problem(("web", "code"), BUCKETS, stages))
    assert np.allclose(epochs["p"], 280 / 300)
    with pytest.raises(RecipeError, match="0: domain"):
        solve(Problem(("web", "code"), BUCKETS, stages, {"p": np.full((2, 5), 0.2)}))


def test_buckets_are_named_and_spanned_by_their_bounds() -> None:
    assert BUCKETS == ("<8K", "8K-32K", "32K-128K", "128K-512K", ">=512K")
    assert [
        list(buckets_spanned(a, b, BOUNDS)) for a, b in ((0, 8192), (8192, 131_072), (524_288, None), (0, None))
    ] == [
        [0],
        [1, 2],
        [4],
        [0, 1, 2, 3, 4],
    ]
    assert span_name(0, None) == "any" and span_name(100, 1 << 20) == "100-1M"

"""What a plan says of minhash_dedup before any work."""

import pytest

from gristmill.stages.dedup.lsh_curve import probability
from gristmill.stages.dedup.minhash import MinhashDedup


def test_a_plan_tells_how_many_pairs_at_the_threshold_are_found() -> None:
    told = MinhashDedup().about()
    assert told["curve_of"] == "jaccard"
    assert told["found_at_threshold"] == pytest.approx(probability(0.7, 14, 8))
    assert "56.5% at the threshold 0.7" in told["summary"] and "of parts" not in told["summary"]


def test_with_containment_it_says_that_bands_find_by_jaccard() -> None:
    told = MinhashDedup(similarity="containment").about()
    assert "the curve is of Jaccard" in told["summary"] and "at the threshold" not in told["summary"]
    assert "5.33% of one 2 times as long, 0.00% of one 5 times as long" in told["summary"]
    assert told["found_at_threshold"] == pytest.approx(probability(0.7 / 1.3, 14, 8))
    wide = MinhashDedup(similarity="containment", bands=40, rows=2).about()
    assert "100.00% of one 2 times as long, 80.46% of one 5 times as long" in wide["summary"]

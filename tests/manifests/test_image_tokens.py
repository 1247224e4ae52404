"""The cost of pictures: the same everywhere, within the cap, of the picture's own aspect."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.image_tokens import MAX_SIDE_PX, ImageCost

COST = ImageCost()
sides = st.one_of(st.integers(1, 200), st.integers(1, 20_000), st.integers(1, MAX_SIDE_PX))
costs = st.builds(
    ImageCost,
    patch_px=st.integers(1, 32),
    merge=st.integers(1, 4),
    delimiters=st.integers(0, 3),
    max_tokens=st.integers(4, 20_000),
)


def test_vectors() -> None:
    """By hand: ceil(w / 28) * ceil(h / 28) + 2."""
    assert [COST.image_tokens(*size) for size in ((1, 1), (28, 28), (29, 28), (280, 56), (280, 280))] == [
        3,
        3,
        4,
        22,
        102,
    ]
    assert COST.resized(1000, 700) == (1000, 700)
    assert COST.video_tokens(280, 56, 1) == COST.image_tokens(280, 56) == 22
    assert COST.video_tokens(280, 56, 5) == 3 * 20 + 2


@given(costs, sides, sides)
def test_a_picture_fits_keeps_its_aspect_and_is_seen_once(cost: ImageCost, width: int, height: int) -> None:
    seen = cost.resized(width, height)
    tokens = cost.image_tokens(width, height)
    assert tokens <= cost.max_tokens or min(seen) == 1
    assert seen[0] <= width and seen[1] <= height and min(seen) >= 1
    assert cost.resized(*seen) == seen and cost.image_tokens(*seen) == tokens
    wanted = min(height, max(1, height * seen[0] / width)), min(width, max(1, width * seen[1] / height))
    assert abs(seen[1] - wanted[0]) <= 1 or abs(seen[0] - wanted[1]) <= 1
    assert cost.resized(height, width) == (seen[1], seen[0])


@given(costs, sides, sides)
def test_no_larger_size_would_fit(cost: ImageCost, width: int, height: int) -> None:
    longer, shorter = max(width, height), min(width, height)
    seen = max(cost.resized(width, height))
    if seen < longer:
        beside = max(1, (2 * shorter * (seen + 1) + longer) // (2 * longer))
        cell = cost.patch_px * cost.merge
        cells = -(-(seen + 1) // cell) * -(-beside // cell)
        assert cells + cost.delimiters > cost.max_tokens


@pytest.mark.parametrize("size", [(0, 5), (5, 0), (-1, 1), (MAX_SIDE_PX + 1, 1)])
def test_what_is_no_size_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="a picture of"):
        COST.image_tokens(*size)
    with pytest.raises(ValueError, match="a video of 0 frames"):
        COST.video_tokens(10, 10, 0)


@pytest.mark.parametrize("wrong", [{"patch_px": 0}, {"merge": -1}, {"max_tokens": 2}, {"delimiters": -1}])
def test_numbers_that_make_no_sense_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        ImageCost(**wrong)

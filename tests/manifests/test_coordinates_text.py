"""Both views of a box and of a point, and what is too small for each."""

import math

import pytest
from hypothesis import assume, given

from gristmill.manifests.coordinates import Box, Point, Size
from gristmill.manifests.coordinates_text import (
    VIEWS,
    TextView,
    box_text,
    decimals,
    point_text,
    read_box,
    read_point,
    step_px,
    too_small,
    view_sentence,
)
from tests.manifests.test_coordinates import boxes, points

FLOAT = 1e-9


def test_examples() -> None:
    box, size = (41.2, 233.3, 107.2, 264.3), Size(1024, 768)
    assert box_text(box, "pixels", size) == "[41, 233, 108, 265]"
    assert box_text(box, "normalised", size) == "[0.040, 0.304, 0.105, 0.344]"
    assert point_text((74.2, 248.8), "pixels", size) == "[74, 248]"
    assert point_text((74.2, 248.8), "normalised", size) == "[0.072, 0.324]"
    whole = (0.0, 0.0, 1024.0, 768.0)
    assert box_text(whole, "pixels", size) == "[0, 0, 1024, 768]"
    assert box_text(whole, "normalised", size) == "[0.000, 0.000, 1.000, 1.000]"
    assert box_text(whole, "normalised", Size(2001, 768)) == "[0.0000, 0.0000, 0.5117, 1.0000]"


def test_halves_are_rounded_to_even() -> None:
    assert box_text((0.5, 1.5, 2.5, 3.5), "normalised", Size(1000, 1000)) == "[0.000, 0.002, 0.002, 0.004]"


@given(points())
def test_no_point_is_told_beside_the_picture(drawn: tuple[Point, Size]) -> None:
    point, size = drawn
    x, y = (int(part) for part in point_text(point, "pixels", size).strip("[]").split(","))
    assert x <= size.width - 1 and y <= size.height - 1 and (x, y) == (math.floor(point[0]), math.floor(point[1]))
    assert "1.0" not in point_text(point, "normalised", size)


def test_a_point_on_the_far_edge_is_told_within() -> None:
    assert point_text((10.0, 5.0), "pixels", Size(10, 5)) == "[9, 4]"
    assert point_text((10.0, 5.0), "normalised", Size(10, 5)) == "[0.999, 0.999]"


@pytest.mark.parametrize("view", VIEWS)
@given(boxes())
def test_a_box_comes_back_within_a_step(view: TextView, drawn: tuple[Box, Size]) -> None:
    box, size = drawn
    found = read_box(f"It is at {box_text(box, view, size)}.", view, size)
    assert found is not None
    across, down = step_px(view, size)
    share = 1.0 if view == "pixels" else 0.5
    for i, (at, wanted) in enumerate(zip(found, box, strict=True)):
        assert abs(at - wanted) <= share * (across, down)[i % 2] + FLOAT * max(size)
    if view == "pixels":
        assert found[0] <= box[0] and found[1] <= box[1] and found[2] >= box[2] and found[3] >= box[3]


@pytest.mark.parametrize("view", VIEWS)
@given(points())
def test_a_point_comes_back_within_a_step(view: TextView, drawn: tuple[Point, Size]) -> None:
    point, size = drawn
    found = read_point(point_text(point, view, size), view, size)
    assert found is not None
    across, down = step_px(view, size)
    assert abs(found[0] - point[0]) <= across + FLOAT * max(size)
    assert abs(found[1] - point[1]) <= down + FLOAT * max(size)


@pytest.mark.parametrize("view", VIEWS)
@given(boxes())
def test_what_is_not_too_small_keeps_its_extent(view: TextView, drawn: tuple[Box, Size]) -> None:
    """Four steps lose a quarter at most on a side; in pixels the outer box only grows."""
    box, size = drawn
    assume(not too_small(box, view, size))
    found = read_box(box_text(box, view, size), view, size)
    assert found is not None
    for axis in (0, 1):
        was, now = box[axis + 2] - box[axis], found[axis + 2] - found[axis]
        assert 0.75 * was - FLOAT * max(size) <= now <= 1.5 * was + FLOAT * max(size)


def test_too_small_is_below_four_steps() -> None:
    assert not too_small((0, 0, 4, 4), "pixels", Size(5000, 5000))
    assert too_small((0, 0, 3.9, 40), "pixels", Size(5000, 5000))
    # 3 decimals of 1,500 px: a step is 1.5 px. 4 decimals of 5,000: half a pixel.
    assert too_small((0, 0, 5.9, 40), "normalised", Size(1500, 100))
    assert not too_small((0, 0, 6, 40), "normalised", Size(1500, 100))
    assert not too_small((0, 0, 2, 40), "normalised", Size(5000, 100))
    assert (decimals(Size(2000, 10)), decimals(Size(10, 2001))) == (3, 4)


@pytest.mark.parametrize(
    "text", ["", "[1, 2, 3]", "[1, 2, 3, 4, 5]", "[1, 2, 3, x]", "1, 2, 3, 4", "[1, , 2, 3]", "[.]"]
)
def test_what_is_no_box_reads_as_none(text: str) -> None:
    assert read_box(text, "pixels", Size(10, 10)) is None
    assert read_point(text, "pixels", Size(10, 10)) is None


def test_a_view_says_what_it_is() -> None:
    assert "pixels of the 1024x768 picture" in view_sentence("pixels", Size(1024, 768))
    assert "[0, 1]" in view_sentence("normalised", Size(1024, 768), "point")
    assert "[x, y]" in view_sentence("normalised", Size(1024, 768), "point")
    assert len({view_sentence(v, Size(9, 9), of) for v in VIEWS for of in ("box", "point")}) == 4

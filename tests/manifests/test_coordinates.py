"""Coordinates: what a box is, and every system of others there and back, within its own precision."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gristmill.manifests import coordinates_formats as formats
from gristmill.manifests.coordinates import (
    Box,
    Point,
    Size,
    area,
    box_of,
    boxes_of_ids,
    clipped,
    iou,
    is_box,
    is_point,
    mask_box,
    overlap,
    size_of,
)

SIDES = st.integers(1, 8000)
SIZES = st.builds(Size, SIDES, SIDES)
HALVES = st.floats(0, 1, allow_nan=False)


@st.composite
def boxes(draw: st.DrawFn, size: Size | None = None, least_px: float = 0.01) -> tuple[Box, Size]:
    """A box and its picture."""
    size = size or draw(SIZES)
    low = [draw(st.floats(0, side - least_px)) for side in size]
    high = [draw(st.floats(at + least_px, side)) for at, side in zip(low, size, strict=True)]
    return (low[0], low[1], high[0], high[1]), size


@st.composite
def points(draw: st.DrawFn) -> tuple[Point, Size]:
    """A point and its picture."""
    size = draw(SIZES)
    return (draw(st.floats(0, size.width, exclude_max=True)), draw(st.floats(0, size.height, exclude_max=True))), size


def close(found: tuple[float, ...], wanted: tuple[float, ...], within: tuple[float, float]) -> bool:
    return all(abs(f - w) <= within[i % 2] for i, (f, w) in enumerate(zip(found, wanted, strict=True)))


FLOAT = 1e-9
EXACT: dict[str, tuple[Callable[..., Box], Callable[..., Box]]] = {
    "xywh": (lambda box, size: formats.to_xywh(box), formats.from_xywh),
    "yolo": (formats.to_yolo, formats.from_yolo),
    "fractions": (formats.to_fractions, formats.from_fractions),
    "resized": (
        lambda box, size: formats.to_resized(box, Size(812, 588), size),
        lambda box, size: formats.from_resized(box, Size(812, 588), size),
    ),
}
STEPPED: dict[str, tuple[Callable[..., Box], Callable[..., Box]]] = {
    "per mille": (formats.to_per_mille, formats.from_per_mille),
    "per mille, y first": (formats.to_per_mille_y_first, formats.from_per_mille_y_first),
}


@pytest.mark.parametrize("system", EXACT)
@given(boxes())
def test_exact_systems_come_back(system: str, drawn: tuple[Box, Size]) -> None:
    box, size = drawn
    to, back = EXACT[system]
    within = FLOAT * max(size)
    assert close(back(to(box, size), size), box, (within, within))


@pytest.mark.parametrize("system", STEPPED)
@given(boxes())
def test_whole_numbers_cost_half_a_step(system: str, drawn: tuple[Box, Size]) -> None:
    box, size = drawn
    to, back = STEPPED[system]
    told = to(box, size)
    assert all(isinstance(n, int) and 0 <= n <= 1000 for n in told)
    try:
        found = back(told, size)
    except ValueError:
        # It was narrower than a step, on one side at least.
        assert min((box[2] - box[0]) / size.width, (box[3] - box[1]) / size.height) <= 1 / 1000
        return
    assert close(found, box, (size.width / 2000 + FLOAT * size.width, size.height / 2000 + FLOAT * size.height))


@given(points())
def test_points_come_back(drawn: tuple[Point, Size]) -> None:
    point, size = drawn
    half = (size.width / 2000 + FLOAT * size.width, size.height / 2000 + FLOAT * size.height)
    float_error = (FLOAT * size.width, FLOAT * size.height)
    seen = Size(812, 588)
    pairs = [
        (formats.point_from_fractions(formats.point_to_fractions(point, size), size), float_error),
        (formats.point_from_resized(formats.point_to_resized(point, seen, size), seen, size), float_error),
        (formats.point_from_per_mille(formats.point_to_per_mille(point, size), size), half),
        (formats.point_from_per_mille_y_first(formats.point_to_per_mille_y_first(point, size), size), half),
        (formats.point_from_percent(formats.point_to_percent(point, size), size), half),
    ]
    for found, within in pairs:
        assert close(found, point, within)
        assert is_point(found, size)


def test_the_systems_are_those_of_their_authors() -> None:
    box, size = (100.0, 50.0, 300.0, 250.0), Size(1000, 500)
    assert formats.to_xywh(box) == (100, 50, 200, 200)
    assert formats.to_yolo(box, size) == pytest.approx((0.2, 0.3, 0.2, 0.4))
    assert formats.to_fractions(box, size) == (0.1, 0.1, 0.3, 0.5)
    assert formats.to_per_mille(box, size) == (100, 100, 300, 500)
    assert formats.to_per_mille_y_first(box, size) == (100, 100, 500, 300)
    assert formats.to_resized(box, Size(500, 500), size) == (50, 50, 150, 250)
    assert formats.point_to_percent((615.2, 202.0), size) == (61.5, 40.4)
    assert formats.point_to_per_mille_y_first((100.0, 400.0), size) == (800, 100)


def test_halves_go_to_even_by_the_numbers_and_not_by_their_floats() -> None:
    assert [formats.steps(at, 1000, 1000) for at in (0.5, 1.5, 2.5, 3.5)] == [0, 2, 2, 4]
    assert [formats.steps(at, 3000, 1000) for at in (1.5, 4.5, 7.5)] == [0, 2, 2]
    # As floats these are just below a half, and went down: round(501.5 / 1000 * 1000) is 501.
    assert (formats.steps(501.5, 1000, 1000), formats.steps(609.0, 1200, 1000)) == (502, 508)


@given(st.lists(st.floats(), min_size=4, max_size=4), SIZES)
def test_what_comes_from_outside_is_a_box_of_ours_or_refused(numbers: list[float], size: Size) -> None:
    for read in (formats.from_xywh, formats.from_yolo, formats.from_fractions, formats.from_per_mille):
        try:
            found = read(numbers, size)
        except ValueError:
            continue
        assert is_box(found, size)


@given(st.lists(st.floats(), min_size=2, max_size=2), SIZES)
def test_points_from_outside_are_in_the_picture_or_refused(numbers: list[float], size: Size) -> None:
    for read in (formats.point_from_fractions, formats.point_from_per_mille, formats.point_from_percent):
        try:
            found = read(numbers, size)
        except ValueError:
            continue
        assert is_point(found, size)


@given(arrays.arrays(np.bool_, st.tuples(st.integers(1, 12), st.integers(1, 12))))
def test_the_box_of_a_mask_holds_its_pixels_and_no_less_would(
    mask: np.ndarray[tuple[int, int], np.dtype[np.bool_]],
) -> None:
    box = mask_box(mask)
    if box is None:
        assert not mask.any()
        return
    x0, y0, x1, y1 = map(int, box)
    assert mask[y0:y1, x0:x1].sum() == mask.sum()
    assert mask[y0, :].any() and mask[y1 - 1, :].any() and mask[:, x0].any() and mask[:, x1 - 1].any()
    assert is_box(box, Size(mask.shape[1], mask.shape[0]))


@given(arrays.arrays(np.int32, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=st.integers(0, 4)))
def test_the_boxes_of_an_id_map_are_those_of_its_masks(ids: np.ndarray[tuple[int, int], np.dtype[np.int32]]) -> None:
    wanted = {i: (mask_box(ids == i), int((ids == i).sum())) for i in range(1, 5) if (ids == i).any()}
    assert boxes_of_ids(ids) == wanted


def test_one_pixel_is_a_box_of_one() -> None:
    mask = np.zeros((4, 6), np.bool_)
    mask[1, 5] = True
    assert mask_box(mask) == (5, 1, 6, 2)


@given(boxes(Size(100, 80)), boxes(Size(100, 80)))
def test_overlap_is_that_of_both(one: tuple[Box, Size], other: tuple[Box, Size]) -> None:
    assert overlap(one[0], other[0]) == overlap(other[0], one[0]) <= min(area(one[0]), area(other[0]))
    assert 0 <= iou(one[0], other[0]) <= 1
    assert iou(one[0], one[0]) == 1


def test_limits() -> None:
    size = size_of(10, 5)
    assert is_box((0, 0, 10, 5), size)
    nothing = [(0, 0, 10, 5.1), (-0.1, 0, 1, 1), (1, 1, 1, 2), (0, 0, math.nan, 1), (0, 0, 1), (0, 0, math.inf, 1)]
    assert not any(is_box(box, size) for box in nothing)
    assert is_point((9.99, 0), size) and not is_point((10, 0), size) and not is_point((math.nan, 0), size)
    assert clipped((-5, -5, 3, 3), size) == (0, 0, 3, 3)
    assert clipped((10, 0, 12, 3), size) is None and clipped((math.nan, 0, 1, 1), size) is None
    assert box_of([0, 0, 1, 1], size) == (0, 0, 1, 1)
    for wrong in ((0, 0), (0, 0, 11, 1)):
        with pytest.raises(ValueError, match="no box"):
            box_of(wrong, size)
    with pytest.raises(ValueError, match="picture of 0"):
        size_of(0, 1)

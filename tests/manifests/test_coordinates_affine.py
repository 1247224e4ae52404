"""One affine for picture and annotations: what is drawn stays where it is said to be."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from gristmill.manifests.coordinates import Box, Size, is_box, is_point, mask_box, overlap
from gristmill.manifests.coordinates_affine import Affine, crop, resize, seen_by, shown
from gristmill.manifests.image_tokens import ImageCost
from tests.manifests.test_coordinates import boxes

SIZE = Size(120, 90)


def annotation(box: Box, **other: Any) -> dict[str, Any]:
    """An element that is seen whole, its point in the middle."""
    middle = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2]
    made = {"id": "a", "role": "bar", "text": "", "bbox_full": list(box), "bbox_visible": list(box), "z": 3}
    return made | {"point": middle, "visible_frac": 1.0, "truncated": False, "polygon": None} | other


def drawn(box: tuple[int, int, int, int]) -> Image.Image:
    """A picture that is white in a box."""
    picture = Image.new("L", SIZE)
    picture.paste(255, box)
    return picture


def seen(picture: Image.Image) -> Box | None:
    return mask_box(np.asarray(picture) > 127)


@st.composite
def crops(draw: st.DrawFn) -> Affine:
    to = Size(draw(st.integers(1, SIZE.width)), draw(st.integers(1, SIZE.height)))
    left, top = draw(st.integers(0, SIZE.width - to.width)), draw(st.integers(0, SIZE.height - to.height))
    return crop(SIZE, left, top, to)


@st.composite
def whole_boxes(draw: st.DrawFn) -> tuple[int, int, int, int]:
    x0, y0 = draw(st.integers(0, SIZE.width - 1)), draw(st.integers(0, SIZE.height - 1))
    return x0, y0, draw(st.integers(x0 + 1, SIZE.width)), draw(st.integers(y0 + 1, SIZE.height))


@given(whole_boxes(), crops())
def test_a_crop_moves_pixels_and_box_alike(box: tuple[int, int, int, int], affine: Affine) -> None:
    picture, kept = shown(affine, drawn(box), [annotation(tuple(map(float, box)))])  # type: ignore[arg-type]
    assert picture.size == affine.size
    found = seen(picture)
    if not kept:
        share = overlap(box, affine.window) / ((box[2] - box[0]) * (box[3] - box[1]))
        assert found is None or share < 0.3
        return
    assert tuple(kept[0]["bbox_visible"]) == found
    assert kept[0]["truncated"] == (overlap(box, affine.window) < (box[2] - box[0]) * (box[3] - box[1]))
    assert kept[0]["visible_frac"] >= 0.3


@given(whole_boxes(), st.integers(1, 4), st.integers(1, 4))
def test_an_enlarged_picture_shows_the_box_where_it_is_said_to_be(
    box: tuple[int, int, int, int], across: int, down: int
) -> None:
    affine = resize(SIZE, Size(SIZE.width * across, SIZE.height * down))
    picture, kept = shown(affine, drawn(box), [annotation(tuple(map(float, box)))])  # type: ignore[arg-type]
    found = seen(picture)
    assert found is not None and kept[0]["truncated"] is False and kept[0]["visible_frac"] == 1
    assert all(abs(f - k) <= 1 for f, k in zip(found, kept[0]["bbox_visible"], strict=True))


@given(boxes(SIZE), crops(), st.floats(0.01, 1))
def test_all_that_is_left_lies_in_the_new_picture(drawn_box: tuple[Box, Size], affine: Affine, frac: float) -> None:
    box, _ = drawn_box
    polygon = [box[0], box[1], box[2], box[1], box[2], box[3], box[0], box[3]]
    for kept in affine.annotations([annotation(box, polygon=polygon, visible_frac=frac)]):
        assert is_box(kept["bbox_full"], affine.size) and is_box(kept["bbox_visible"], affine.size)
        assert kept["point"] is None or is_point(kept["point"], affine.size)
        corners = np.array(kept["polygon"]).reshape(-1, 2)
        assert corners.min() >= 0 and (corners.max(axis=0) <= affine.size).all()
        bounds = (*corners.min(axis=0), *corners.max(axis=0))
        assert bounds == pytest.approx(kept["bbox_full"], abs=1e-9)
        assert 0 <= kept["visible_frac"] <= frac
        assert (kept["id"], kept["role"], kept["z"]) == ("a", "bar", 3)


@given(boxes(SIZE), crops(), st.integers(1, 300), st.integers(1, 300))
def test_one_after_the_other_is_one(drawn_box: tuple[Box, Size], first: Affine, width: int, height: int) -> None:
    box, _ = drawn_box
    second = resize(first.size, Size(width, height))
    assert first.then(second).box(box) == pytest.approx(second.box(first.box(box)), abs=1e-6)
    assert first.back(first.point(box[:2])) == pytest.approx(box[:2], abs=1e-9)


def test_the_limit_of_visibility() -> None:
    half = crop(SIZE, 0, 0, Size(60, 90))
    box = (40.0, 10.0, 90.0, 20.0)  # two fifths are left
    assert half.annotations([annotation(box)])[0]["visible_frac"] == pytest.approx(0.4)
    assert half.annotations([annotation(box, visible_frac=0.75)])[0]["visible_frac"] == pytest.approx(0.3)
    assert half.annotations([annotation(box, visible_frac=0.74)]) == []
    assert half.annotations([annotation((60.0, 0.0, 90.0, 20.0))]) == []
    hidden = annotation((10.0, 10.0, 20.0, 20.0), visible_frac=0.1)
    assert half.annotations([hidden])[0]["visible_frac"] == 0.1, "the crop takes nothing from it"


def test_a_point_that_is_cut_away_is_no_point() -> None:
    (kept,) = crop(SIZE, 0, 0, Size(60, 90)).annotations([annotation((20.0, 0.0, 70.0, 10.0), point=[65.0, 5.0])])
    assert kept["point"] is None and kept["truncated"]


def test_what_covers_others_is_cut_where_it_is_hidden() -> None:
    """The full box is cut, what is seen of it is not."""
    told = annotation(
        (20.0, 0.0, 70.0, 10.0), bbox_visible=[20.0, 0.0, 30.0, 10.0], point=[25.0, 5.0], visible_frac=0.2
    )
    (kept,) = crop(SIZE, 0, 0, Size(60, 90)).annotations([told])
    assert kept["truncated"] and kept["visible_frac"] == 0.2 and kept["bbox_full"] == [20, 0, 60, 10]


def test_the_size_that_a_model_sees() -> None:
    cost = ImageCost(max_tokens=200)
    size = Size(4000, 3000)
    affine = seen_by(cost, size)
    assert affine.size == Size(*cost.resized(4000, 3000)) != size
    (kept,) = affine.annotations([annotation((1000.0, 750.0, 4000.0, 3000.0))])
    width, height = affine.size
    assert kept["bbox_full"] == pytest.approx([width / 4, height / 4, width, height])
    assert kept["truncated"] is False


@pytest.mark.parametrize("window", [(-1, 0, 10, 10), (0, 0, 121, 10), (5, 5, 5, 9)])
def test_a_window_beyond_the_picture_is_refused(window: Box) -> None:
    with pytest.raises(ValueError, match="no box"):
        Affine(window, Size(10, 10)).picture(drawn((0, 0, 1, 1)))


def test_a_concave_polygon_is_clipped() -> None:
    arrow = [50.0, 10.0, 90.0, 10.0, 70.0, 30.0, 90.0, 50.0, 50.0, 50.0]
    (kept,) = crop(SIZE, 0, 0, Size(80, 90)).annotations([annotation((50.0, 10.0, 90.0, 50.0), polygon=arrow)])
    corners = np.array(kept["polygon"]).reshape(-1, 2)
    assert corners[:, 0].max() == 80 and [70.0, 30.0] in corners.tolist()

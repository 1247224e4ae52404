"""Poles, tables, the rule for two pictures and the cascade, against plain ways of finding the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("lxml")
pytest.importorskip("tinycss2")

from lxml import etree

from gristmill.render.svg import compare, css, forms, path_data
from gristmill.render.svg.contrast import contrast
from gristmill.render.svg.flat import Flat
from gristmill.render.svg.places import bounds, pole
from gristmill.render.svg.style import cascade
from gristmill.render.svg.tables import table
from tests.render.svg.drawings import HEAD

MASKS = st.integers(1, 14).flatmap(
    lambda width: st.lists(st.lists(st.booleans(), min_size=width, max_size=width), min_size=1, max_size=14)
)


def reach(mask: np.ndarray, x: int, y: int) -> int:
    """Half the side of the largest square of true pixels about a pixel, by trying."""
    size = 0
    while True:
        x0, y0, x1, y1 = x - size, y - size, x + size + 1, y + size + 1
        inside = x0 >= 0 and y0 >= 0 and x1 <= mask.shape[1] and y1 <= mask.shape[0]
        if not inside or not mask[y0:y1, x0:x1].all():
            return size - 1
        size += 1


def off_centre(mask: np.ndarray, x: int, y: int) -> float:
    """Square of the distance of a pixel from a mask's centre."""
    return (2 * x - mask.shape[1] + 1) ** 2 + (2 * y - mask.shape[0] + 1) ** 2


@settings(max_examples=150, deadline=None)
@given(MASKS)
def test_poles_are_as_far_inside_as_any_pixel(rows: list[list[bool]]) -> None:
    mask = np.array(rows)
    if not mask.any():
        assert bounds(mask) is None
        return
    x, y = pole(mask)
    ys, xs = np.nonzero(mask)
    reaches = {(int(a), int(b)): reach(mask, int(a), int(b)) for a, b in zip(xs, ys, strict=True)}
    farthest = [place for place, found in reaches.items() if found == max(reaches.values())]
    assert (x, y) in farthest
    assert off_centre(mask, x, y) == min(off_centre(mask, *place) for place in farthest)
    assert bounds(mask) == (xs.min(), ys.min(), xs.max() + 1, ys.max() + 1)


def test_poles_of_large_masks_lie_inside() -> None:
    ys, xs = np.mgrid[:700, :700]
    ring = np.abs(np.hypot(xs - 350, ys - 350) - 300) < 20
    x, y = pole(ring)
    assert ring[y, x]
    assert reach(ring, x, y) >= 8


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), min_size=7, max_size=7), min_size=1, max_size=9))
def test_tables_are_what_each_number_says_alone(rows: list[list[int]]) -> None:
    labels = np.array(rows, np.uint32)
    found = table(labels, 4)
    for key in range(4):
        mask = labels == key + 1
        assert found.of(key, key + 1) == (int(mask.sum()), bounds(mask))
    group = (labels == 2) | (labels == 3)
    assert found.of(1, 3) == (int(group.sum()), bounds(group))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_unmatched_pixels_are_those_outside_the_neighbourhood(seed: int, spread: int) -> None:
    draw = np.random.default_rng(seed)
    a = draw.integers(0, 256, (12, 15, 4), np.uint8)
    b = np.clip(a.astype(int) + draw.integers(-3 * spread, 3 * spread + 1, a.shape), 0, 255).astype(np.uint8)
    a[..., 3] = b[..., 3] = 255

    def plain(one: np.ndarray, other: np.ndarray, reach: int = 2, levels: int = 48) -> int:
        count = 0
        for y in range(12):
            for x in range(15):
                near = other[max(y - reach, 0) : y + reach + 1, max(x - reach, 0) : x + reach + 1].astype(int)
                pixel = one[y, x].astype(int)
                count += bool(np.any((pixel > near.max((0, 1)) + levels) | (pixel < near.min((0, 1)) - levels)))
        return count

    assert compare.unmatched_px(a, b) == max(plain(a, b), plain(b, a))
    assert compare.screened_px(a, b) == max(plain(a, b, 1, 40), plain(b, a, 1, 40))
    assert compare.mean_abs_diff(a, b) == pytest.approx(np.abs(a[..., :3].astype(int) - b[..., :3]).mean())


def test_contrast_is_that_of_the_standard() -> None:
    black, white, grey = (np.array([value] * 3, float) for value in (0, 255, 119))
    assert contrast(black, white) == pytest.approx(21)
    assert contrast(grey, white) == pytest.approx(4.48, abs=0.01)


def test_the_map_says_how_letters_are_set_as_resvg_reads_it() -> None:
    root = etree.fromstring(f'{HEAD}<text style="font-kerning:none;font-size:20px">AV</text></svg>')
    text = etree.fromstring(Flat(root).document(lambda _: True, lambda number: f"#{number:06x}"))[0]
    assert (text.get("style"), text.get("font-size"), text.get("fill")) == ("font-kerning:none", "20px", "#000002")


@pytest.mark.parametrize(
    ("sheet", "fill"),
    [
        ("rect{fill:red}", "red"),
        (".a{fill:red} rect{fill:blue}", "red"),
        ("#r{fill:lime} .a.b{fill:red}", "lime"),
        ("g > rect{fill:red}", "red"),
        ("svg > rect{fill:red}", "black"),
        ("svg rect{fill:red}", "red"),
        ("svg g.c > *{fill:red}", "red"),
        (".x, rect{fill:red} rect{fill:teal}", "teal"),
    ],
)
def test_the_cascade_follows_the_standard(sheet: str, fill: str) -> None:
    text = f'{HEAD}<style>{sheet}</style><g class="c"><rect id="r" class="a b" fill="black"/></g></svg>'
    root = etree.fromstring(text)
    assert cascade(root)[root[1][0]]["fill"] == fill
    assert css.read_sheet(sheet)


PATHS = [
    "M10 10h5v-5l3 3H2V1z m4 4c1 1 2 2 3 0s2-2 3 0q1 1 2 0t2 0a5 5 0 0 1 4 4a5 5 0 104-4z",
    "M.5.5-3-4 5 6C1e1 2 3 4 5 6",
    "m1 1 2 2zm5 5a2,2 30 1,0 3,3L0 0",
]


@pytest.mark.parametrize("data", PATHS)
def test_shorter_paths_go_the_same_way(data: str) -> None:
    short = path_data.shorter(data, 3)
    before, after = list(path_data.steps(data)), list(path_data.steps(short))
    assert [step.letter for step in before] == [step.letter for step in after]
    for one, other in zip(before, after, strict=True):
        assert one.args == pytest.approx(other.args, abs=0.002)
    assert len(short) <= len(data)


def test_forms_keep_the_words_of_texts_and_squeeze_the_rest() -> None:
    text = f'{HEAD}<text x="1.50"> a <tspan> b </tspan> </text>\n<g style="fill : #aabbcc ; "/></svg>'
    found = forms.forms(text, 1)
    for form in found.values():
        assert "> a <tspan> b </tspan> </text>" in form
    assert 'x="1.5"' in found["minified"] and '<g style="fill:#abc"/></svg>' in found["minified"]

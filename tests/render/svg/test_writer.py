"""How a drawing is written: whatever the habits, the same drawing."""

from dataclasses import replace
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.hand import Hand, hand_of, sample_hand
from gristmill.render.svg.metrics import FACES, kerning_px, text_width_px
from gristmill.render.svg.nodes import Node, circle, fill, group, pen, rect, text
from gristmill.render.svg.numbers import number, path_data
from gristmill.render.svg.paths import Path, parse, placed
from gristmill.render.svg.skeleton import shape, skeleton
from gristmill.render.svg.writer import MAX_PARTS, document

COORDINATE = st.floats(-999, 999).map(lambda value: round(value, 3))
POINT = st.tuples(COORDINATE, COORDINATE)
SEGMENT = st.one_of(
    POINT.map(lambda p: ("L", *p)),
    st.tuples(POINT, POINT, POINT).map(lambda p: ("C", *p[0], *p[1], *p[2])),
    st.tuples(POINT, POINT).map(lambda p: ("Q", *p[0], *p[1])),
    POINT.map(lambda p: ("T", *p)),
    st.tuples(st.integers(1, 99), st.booleans(), st.booleans(), POINT).map(
        lambda a: ("A", a[0], a[0] + 1, 0, int(a[1]), int(a[2]), *a[3])
    ),
)


def hand(**changes: object) -> Hand:
    plain = hand_of({"hand": sample_hand(Draws("hand"), (1,))})
    return replace(plain, decimals=2, styling="attributes", gather=False, wrap=False, comments=False, **changes)  # pyright: ignore[reportArgumentType]


@given(POINT, st.lists(SEGMENT, max_size=8), st.booleans(), st.booleans(), st.sampled_from((" ", ",", "tight")))
def test_a_path_reads_back_as_it_was(
    start: tuple[float, float], rest: Path, relative: bool, short: bool, glue: str
) -> None:
    path: Path = [("M", *start), *rest, ("Z",)]
    written = path_data(path, hand(relative=relative, shortcuts=short, separator=glue))
    back = parse(written)
    assert [segment[0] for segment in back] == [segment[0] for segment in path]
    for mine, theirs in zip(path, back, strict=True):
        assert theirs[1:] == pytest.approx(mine[1:], abs=0.0051)


@given(st.floats(-1e6, 1e6), st.integers(0, 3))
def test_numbers_are_short_and_right(value: float, decimals: int) -> None:
    shown = number(value, decimals)
    assert float(shown) == pytest.approx(value, abs=0.51 * 10**-decimals)
    assert "e" not in shown and shown != "-0" and not (shown.endswith("0") and "." in shown)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_is_not_written(value: float) -> None:
    with pytest.raises(ValueError, match="not a number"):
        number(value, 2)


def drawing() -> list[Node]:
    bars = [rect(10 + 20 * n, 30, 15, 40, fill("#336699")).named("bar") for n in range(5)]
    return [
        group(bars),
        circle(200, 40, 20, pen("#112233", 2)).named("ring"),
        text(10, 90, "A < B & C", 12, "#000000").named("label"),
    ]


@pytest.mark.parametrize("styling", ["attributes", "style", "class"])
@pytest.mark.parametrize("gather", [False, True])
@pytest.mark.parametrize("wrap", [False, True])
def test_habits_change_neither_parts_nor_shape(styling: str, gather: bool, wrap: bool) -> None:
    view = View(256, 128)
    plain = {
        "hand": sample_hand(Draws("x"), (1,)) | {"styling": "attributes", "gather": False, "wrap": False},
        "title": "T",
    }
    other = {"hand": {**plain["hand"], "styling": styling, "gather": gather, "wrap": wrap}, "title": "T"}  # pyright: ignore[reportGeneralTypeIssues]
    first, parts = document(drawing(), [], plain, view)
    second, others = document(drawing(), [], other, view)
    assert shape(first) == shape(second)
    assert [(part.role, part.text) for part in parts] == [(part.role, part.text) for part in others]
    nodes = list(etree.fromstring(second.encode()).iter("*"))
    assert [nodes[int(part.key)].tag.rpartition("}")[2] for part in others] == ["rect"] * 5 + ["circle", "text"]


def test_text_is_escaped_and_read_back() -> None:
    svg, parts = document(drawing(), [], {"hand": sample_hand(Draws("y"))}, View(256, 128))
    assert escape("A < B & C", quote=False) in svg
    assert parts[-1].text == "A < B & C" == etree.fromstring(svg.encode()).findtext(".//{*}text")


def test_of_too_many_parts_the_commonest_role_gives_way() -> None:
    nodes = [rect(n, 0, 9, 9, fill("#000000")).named("cell") for n in range(60)] + [
        circle(9, 9, 5, fill("#ffffff")).named("dot")
    ]
    _, parts = document(nodes, [], {"hand": sample_hand(Draws("z"))}, View(256, 128))
    assert len(parts) == MAX_PARTS and parts[-1].role == "dot"


def test_skeletons_see_structure_and_not_its_dress() -> None:
    one = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="3" height="4" fill="red"/><path d="M0 0L1 1H5"/></svg>'
    two = (
        '<svg xmlns="http://www.w3.org/2000/svg"><title>t</title>'
        '<rect id="a" style="fill:#000" height="1" width="2"/><path d="m9 9 l1 1 v4"/></svg>'
    )
    more = (
        '<svg xmlns="http://www.w3.org/2000/svg"><rect width="3" height="4" fill="red"/><path d="M0 0L1 1H5Z"/></svg>'
    )
    assert skeleton(one) == skeleton(two)
    assert skeleton(one) != skeleton(more)


def test_widths_are_those_of_the_fonts() -> None:
    image_font = pytest.importorskip("PIL.ImageFont")
    matplotlib = pytest.importorskip("matplotlib")
    folder = f"{matplotlib.get_data_path()}/fonts/ttf/"
    files = {"sans": "DejaVuSans", "serif-bold": "DejaVuSerif-Bold", "mono": "DejaVuSansMono"}
    for face, file in files.items():
        font = image_font.truetype(f"{folder}{file}.ttf", 2048, layout_engine=0)
        for words in ("hamburgefonstiv", "0123456789", "Mill Lane"):
            kerned = kerning_px(words, 2048, face)
            assert text_width_px(words, 2048, face) == pytest.approx(font.getlength(words), abs=kerned + 2)
    assert set(files) < set(FACES)


def test_a_path_made_larger_and_moved() -> None:
    assert placed(parse("M1 2l3 0a1 1 0 0 1 2 2z"), 2, 10, 20) == [
        ("M", 12, 24),
        ("L", 18, 24),
        ("A", 2, 2, 0, 0, 1, 22, 28),
        ("Z",),
    ]


def test_no_part_is_named_alone_that_one_left_out_is_named_like() -> None:
    words = [f"w{place}" for place in range(MAX_PARTS)] + ["w3"]
    drawn = [text(1, 9, word, 9, "#000").named("label") for word in words]
    many = [text(1, 9, "same", 9, "#000").named("label") for _ in range(2)]
    _, parts = document([*many, *drawn], [], {"hand": sample_hand(Draws("hand"), (1,))}, View(99, 99))
    kept = [part.text for part in parts]
    assert "w3" not in kept
    assert kept.count("same") == 2
    assert len(kept) == MAX_PARTS - 1

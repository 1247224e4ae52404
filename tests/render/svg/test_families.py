"""Every template family: pure, plain, varied; its parts are there, its words fit, no two families draw alike."""

import json
from functools import cache
from itertools import combinations

import pytest
from lxml import etree

from gristmill.manifests.errors import UsageError
from gristmill.render.draws import Draws
from gristmill.render.protocol import Part, View
from gristmill.render.svg.catalogue import FAMILIES, load
from gristmill.render.svg.skeleton import shape, skeleton
from gristmill.render.svg.writer import MAX_PARTS
from tests.render.svg.reading import lines_of_text, overlap

FEW, MANY = 12, 200
FONTS = ("DejaVu Sans", "DejaVu Sans Mono", "DejaVu Serif")


@cache
def drawn(name: str, place: int) -> tuple[View, str, tuple[Part, ...]]:
    family = load(name)
    view, params = family.sample(Draws("test", name, place))
    text, parts = family.write(json.loads(json.dumps(params)), view)
    return view, text, parts


@cache
def skeletons(name: str, count: int) -> frozenset[str]:
    return frozenset(skeleton(drawn(name, place)[1]) for place in range(count))


def elements(text: str) -> list[etree._Element]:
    return list(etree.fromstring(text.encode()).iter("*"))


def test_there_are_enough_families() -> None:
    assert len(FAMILIES) >= 44
    assert list(FAMILIES) == sorted(set(FAMILIES))


def test_an_unknown_family_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="no_such"):
        load("no_such")


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_says_what_it_is(name: str) -> None:
    assert load(name).doc.endswith(".")


@pytest.mark.parametrize("name", FAMILIES)
def test_writing_is_pure_and_params_are_plain(name: str) -> None:
    family = load(name)
    view, params = family.sample(Draws("pure", name))
    again, same = family.sample(Draws("pure", name))
    assert (again, same) == (view, params)
    assert family.write(params, view) == family.write(json.loads(json.dumps(params)), view)
    assert 256 <= view.width_px <= 1024 and 256 <= view.height_px <= 1024


@pytest.mark.parametrize("name", FAMILIES)
def test_parts_are_elements_and_say_their_text(name: str) -> None:
    for place in range(FEW):
        _, text, parts = drawn(name, place)
        nodes = elements(text)
        assert len({part.key for part in parts}) == len(parts)
        assert 4 <= len(parts) <= MAX_PARTS, place
        for part in parts:
            node = nodes[int(part.key)]
            assert part.role
            if etree.QName(node).localname == "text":
                assert part.text == " ".join("".join(inner.split("\n")) for inner in node.itertext() if inner.strip())


@pytest.mark.parametrize("name", FAMILIES)
def test_words_stand_inside_the_picture_and_can_be_read(name: str) -> None:
    touching = 0
    for place in range(FEW):
        view, text, _ = drawn(name, place)
        lines = lines_of_text(text, view.width_px)
        for line in lines:
            x0, y0, x1, y1 = line.box
            assert line.size_px >= 8.9, (place, line)
            assert x0 >= -1 and y0 >= -1 and x1 <= view.width_px + 1 and y1 <= view.height_px + 1, (place, line)
        touching += any(overlap(a, b) > 0.08 for a, b in combinations(lines, 2)) and name != "poster_type"
    assert touching <= 1


@pytest.mark.parametrize("name", FAMILIES)
def test_only_the_fonts_that_ship_are_named(name: str) -> None:
    for place in range(FEW // 3):
        _, text, _ = drawn(name, place)
        for node in elements(text):
            family = node.get("font-family")
            assert family is None or family in FONTS


@pytest.mark.parametrize("name", FAMILIES)
def test_a_few_draws_already_differ(name: str) -> None:
    assert len(skeletons(name, FEW)) >= FEW * 2 // 3


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_fifty_skeletons_in_two_hundred(name: str) -> None:
    assert len(skeletons(name, MANY)) >= 50
    assert len({shape(drawn(name, place)[1]) for place in range(MANY)}) >= 50


def test_families_share_few_skeletons() -> None:
    _share_few(FEW)


@pytest.mark.slow
def test_families_share_few_skeletons_of_many() -> None:
    _share_few(MANY)


def _share_few(count: int) -> None:
    for one, two in combinations(FAMILIES, 2):
        a, b = skeletons(one, count), skeletons(two, count)
        assert len(a & b) < 0.3 * min(len(a), len(b)), (one, two)

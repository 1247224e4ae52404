"""Families of web pages: pure, various, readable, and what their parts say is in the page."""

import json
import re
from collections.abc import Iterator
from itertools import combinations

import pytest

from gristmill.render.draws import Draws
from gristmill.render.web.catalogue import FAMILIES, load
from gristmill.render.web.family import needs_script
from gristmill.render.web.palette import contrast
from gristmill.render.web.skeleton import skeleton
from tests.render.web.reading import read

QUICK = 6
WHOLE = 200
MIN_SKELETONS = 50
MAX_SHARED = 0.3
OUTSIDE = re.compile(r"https?:|//[a-z]|@import|url\(|<link|<iframe|<img|<object|src=", re.IGNORECASE)


def samples(name: str, count: int, key: str = "test") -> Iterator[tuple[dict, str, tuple]]:
    family = load(name)
    for slot in range(count):
        view, params = family.sample(Draws(key, name, slot))
        text, parts = family.write(params, view)
        yield params, text, parts


def test_there_are_enough_families_sorted_and_with_a_line_about_each() -> None:
    assert len(FAMILIES) >= 42
    assert list(FAMILIES) == sorted(set(FAMILIES))
    assert all(load(name).doc.endswith(".") for name in FAMILIES)


def test_a_name_that_is_no_family_is_refused() -> None:
    with pytest.raises(ValueError, match="no family of web pages"):
        load("os")


@pytest.mark.parametrize("name", FAMILIES)
def test_pages_come_from_plain_params_alone(name: str) -> None:
    family = load(name)
    for slot in range(QUICK):
        view, params = family.sample(Draws("test", name, slot))
        assert family.sample(Draws("test", name, slot)) == (view, params)
        again = json.loads(json.dumps(params, ensure_ascii=False))
        assert again == params
        assert family.write(again, view) == family.write(params, view)


@pytest.mark.parametrize("name", FAMILIES)
def test_pages_are_well_formed_and_reach_for_nothing_outside(name: str) -> None:
    for params, text, _ in samples(name, QUICK):
        assert read(text).faults == []
        assert OUTSIDE.findall(text) == []
        assert needs_script(text) <= params["script"]
        assert f'lang="{params["lang"]}"' in text
        assert ('dir="rtl"' in text) == (params["lang"] in ("ar", "he"))


@pytest.mark.parametrize("name", FAMILIES)
def test_parts_are_in_the_page_with_their_texts(name: str) -> None:
    for params, text, parts in samples(name, QUICK):
        assert 1 <= len(parts) <= 40
        found = read(text).texts
        for part in parts:
            if not needs_script(text) or part.key in found:
                assert " ".join(found[part.key].split()) == part.text, (params["lang"], part)
            assert part.role


@pytest.mark.parametrize("name", FAMILIES)
def test_text_can_be_read_on_its_ground(name: str) -> None:
    family = load(name)
    for slot in range(QUICK * 2):
        view, params = family.sample(Draws("shade", name, slot))
        params |= {"script": False, "markup": params["markup"] | {"mode": "inline", "vars": False}}
        text, _ = family.write(params, view)
        shades = read(text).shades
        assert shades
        assert [pair for pair in shades if contrast(*pair) < 4.5] == []


@pytest.mark.parametrize("name", FAMILIES)
def test_skeletons_of_a_family_differ(name: str) -> None:
    count = 24
    found = {skeleton(text) for _, text, _ in samples(name, count)}
    assert len(found) >= count // 2


def test_families_share_few_skeletons() -> None:
    found = {name: {skeleton(text) for _, text, _ in samples(name, 10)} for name in FAMILIES}
    assert shared(found) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_hundred_records_of_each_family_are_various() -> None:
    found = {name: {skeleton(text) for _, text, _ in samples(name, WHOLE)} for name in FAMILIES}
    assert {name: len(seen) for name, seen in found.items() if len(seen) < MIN_SKELETONS} == {}
    assert shared(found) == []


def shared(found: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Pairs of families that have too many skeletons in common, by the smaller of the two."""
    return [
        (a, b)
        for a, b in combinations(found, 2)
        if len(found[a] & found[b]) >= MAX_SHARED * min(len(found[a]), len(found[b]))
    ]

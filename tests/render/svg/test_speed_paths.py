"""What was made cheaper gives what the plain way gives."""

import importlib.util
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

pytest.importorskip("lxml")
pytest.importorskip("tinycss2")

from gristmill.render.svg import css, fonts, grammar, png
from gristmill.render.svg.vocabulary import Refused
from tests.render.needs import skip_without_svg
from tests.render.svg.drawings import HEAD

SIZES = st.tuples(st.integers(1, 40), st.integers(1, 40))
NUMBERS = st.text(alphabet="07.-e+% \n٣", max_size=5)
COLOURS = st.text(alphabet="09afAFg\n", max_size=10)
VALUES = st.text(alphabet="0123456789.-+eE%px ,#abcdefABCDEF\n٣", max_size=14)


@settings(max_examples=60, deadline=None)
@given(SIZES, st.integers(0, 2**32 - 1))
def test_a_png_holds_the_pixels_it_was_made_of(size: tuple[int, int], seed: int) -> None:
    pixels = np.random.default_rng(seed).integers(0, 256, (*size, 4), np.uint8)
    body = png.encode(pixels)
    assert body == png.encode(pixels.view(np.uint32)[..., 0])
    with Image.open(io.BytesIO(body)) as picture:
        assert picture.mode == "RGB"
        assert np.array_equal(np.asarray(picture), pixels[..., 2::-1])


def accepts(check: Callable[[str], None], value: str) -> bool:
    """Whether a check lets a value through."""
    try:
        check(value)
    except Refused:
        return False
    return True


@pytest.mark.parametrize("check", [grammar.check_lengths, grammar.check_length])
@settings(max_examples=400, deadline=None)
@given(value=NUMBERS)
@example(value="--1")
@example(value="1.2.3")
@example(value="1\n")
@example(value="٣")
def test_plain_numbers_pass_as_all_numbers_do(check: Callable[[str], None], value: str) -> None:
    # A space more is all the same to the grammar, and is no plain number.
    assert accepts(check, value) == accepts(check, f"{value} ")


@settings(max_examples=400, deadline=None)
@given(COLOURS.map("#{}".format))
@example("#123456789")
@example("#1234")
@example("#abc\n")
def test_plain_colours_pass_as_the_grammar_says(value: str) -> None:
    assert accepts(grammar.check_colour, value) == bool(re.fullmatch(r"#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})", value))


def test_declarations_that_are_remembered_cannot_be_changed() -> None:
    css.declarations("fill: red; stroke: blue").append(("x", "y"))
    assert css.declarations("fill: red; stroke: blue") == [("fill", "red"), ("stroke", "blue")]
    for _ in range(2):
        with pytest.raises(Refused):
            css.declarations("fill: red !important")


def test_fonts_have_another_name_and_the_same_glyphs() -> None:
    pytest.importorskip("fontTools")
    from fontTools.ttLib import TTFont

    body = Path(fonts.font_files()[0]).read_bytes()
    old, new = TTFont(io.BytesIO(body)), TTFont(io.BytesIO(fonts.renamed(body, "Arial")))
    assert new["name"].getDebugName(1) == "Arial"
    assert old["name"].getDebugName(1) != "Arial"
    assert old["glyf"] == new["glyf"]
    with pytest.raises(ValueError, match="without names"):
        fonts.renamed(b"\0\1\0\0" + bytes(8), "Arial")


def resvg_pixels(body: str) -> np.ndarray:
    """A drawing by resvg."""
    from gristmill.render.svg import resvg_paint

    return resvg_paint.draw(f"{HEAD}{body}</svg>")


@pytest.mark.parametrize(
    ("family", "same"),
    [
        ("sans-serif", "DejaVu Sans"),
        ("serif", "DejaVu Serif"),
        ("monospace", "DejaVu Sans Mono"),
        ("Nowhere, monospace", "DejaVu Sans Mono"),
        ("Nowhere", "DejaVu Serif"),
    ],
)
@pytest.mark.parametrize("style", ["", 'font-weight="bold"', 'font-style="italic"'])
def test_resvg_has_families_of_each_kind(family: str, same: str, style: str) -> None:
    skip_without_svg()
    found, wanted = (
        resvg_pixels(f'<text x="2" y="40" font-size="30" {style} font-family="{name}">Ham</text>')
        for name in (family, same)
    )
    assert np.array_equal(found, wanted)
    assert len(np.unique(found.reshape(-1, 4), axis=0)) > 4
    assert (found[..., 3] == 255).all()


@pytest.mark.parametrize("text", ["", "<svg", '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="3"/>'])
def test_what_resvg_does_not_read_costs_no_child(text: str) -> None:
    skip_without_svg()
    from gristmill.render.svg import resvg_paint

    with pytest.raises(ValueError):
        resvg_paint.draw(text)


def test_pictures_with_or_without_alpha_are_read_alike() -> None:
    skip_without_svg()
    from gristmill.render.svg.resvg_paint import decoded

    rgb = Image.fromarray(np.random.default_rng(5).integers(0, 256, (7, 9, 3), np.uint8))
    wanted = np.dstack([np.asarray(rgb), np.full((7, 9), 255, np.uint8)])
    for picture in (rgb, rgb.convert("RGBA")):
        out = io.BytesIO()
        picture.save(out, "PNG")
        assert np.array_equal(decoded(out.getvalue()), wanted)


def unchanged(name: str) -> Any:
    """A module of cairosvg as it stands in its file, whatever was put into the one that is imported."""
    found = importlib.util.find_spec(f"cairosvg.{name}")
    assert found is not None and found.origin is not None
    spec = importlib.util.spec_from_file_location(f"cairosvg.unchanged_{name}", found.origin)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@settings(max_examples=200, deadline=None)
@given(st.one_of(VALUES, st.sampled_from(["red", "rgb(1, 2, 3)", "url(#a) red", "#abc", "1-2-3", "", None])))
def test_what_is_remembered_of_cairosvg_is_what_it_says(value: str | None) -> None:
    skip_without_svg()
    from gristmill.render.svg import cairo_memo

    colors, helpers = unchanged("colors"), unchanged("helpers")
    for _ in range(2):
        assert cairo_memo.paint(value) == helpers.paint(value)
        assert outcome(cairo_memo.color, value) == outcome(colors.color, value)
        if value is not None:
            assert cairo_memo.normalize(value) == helpers.normalize(value)


def outcome(function: Callable[[str | None], object], value: str | None) -> object:
    """What a function gives for a value, or the kind of its error."""
    try:
        return function(value)
    except ValueError as error:
        return type(error)

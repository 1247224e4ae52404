"""What a text is said to say, and where: only what is seen of it, and nothing that the fonts lack."""

import pytest

from gristmill.render.make import Ask, Sample, make_existing
from gristmill.render.protocol import Annotation
from gristmill.render.svg.domain import SvgDomain

DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" width="120" height="100" viewBox="0 0 120 100">
<rect x="10" y="10" width="60" height="40" fill="#c33"/>{more}</svg>"""
LINE = '<text x="5" y="90" font-size="12">{}</text>'


def text_in(svg: SvgDomain, more: str) -> Annotation | str:
    """The one text of the drawing; the reason where there is no sample."""
    made = make_existing(svg, "ab" * 16, "a.svg", DRAWING.format(more=more).encode(), Ask(0, ()))
    if not isinstance(made, Sample):
        return made.reason
    found = [one for one in made.looked.annotations if one.role == "text"]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    "part",
    [
        '<tspan display="none">three</tspan>',
        '<tspan visibility="hidden">three</tspan>',
        '<tspan fill="none">three</tspan>',
        '<tspan fill-opacity="0">three</tspan>',
        '<tspan fill="white">three</tspan>',
        '<tspan font-size="0.1">three</tspan>',
        '<tspan x="500">three</tspan>',
    ],
)
def test_a_part_that_is_not_seen_is_not_said(svg: SvgDomain, part: str) -> None:
    assert text_in(svg, LINE.format(f"one {part}")) == "text_missing"


def test_parts_that_are_seen_are_said(svg: SvgDomain) -> None:
    found = text_in(svg, LINE.format('one <tspan dy="-5" fill="red">two.</tspan> 3'))
    assert isinstance(found, Annotation)
    assert found.text == "one two. 3"


@pytest.mark.parametrize("text", ["中文", "กา", "ab\ue000", "a\u200bb", "a\u00adb"])
def test_what_the_fonts_lack_is_refused(svg: SvgDomain, text: str) -> None:
    assert text_in(svg, LINE.format(text)) == "no_glyph"


def test_letters_beyond_ascii_have_glyphs(svg: SvgDomain) -> None:
    found = text_in(svg, LINE.format("Größe × Ωθ → Жя"))
    assert isinstance(found, Annotation)
    assert found.text == "Größe × Ωθ → Жя"


@pytest.mark.parametrize(
    "more",
    [
        '<text x="5" y="90" font-size="12"><tspan x="5" y="70">two</tspan></text>',
        '<path id="p" d="M5 90H115" fill="none"/><text font-size="12"><textPath href="#p">along</textPath></text>',
    ],
)
def test_the_full_box_of_a_text_in_parts_holds_its_letters_alone(svg: SvgDomain, more: str) -> None:
    found = text_in(svg, more)
    assert isinstance(found, Annotation)
    assert found.bbox_full == pytest.approx(found.bbox_visible, abs=2)


def test_a_text_that_a_clip_cuts_is_told_as_cut(svg: SvgDomain) -> None:
    clip = '<clipPath id="c"><rect x="5" y="75" width="{}" height="20"/></clipPath>'
    text = '<text x="5" y="90" font-size="12" clip-path="url(#c)">clipped words</text>'
    cut, whole = (text_in(svg, clip.format(width) + text) for width in (20, 110))
    assert isinstance(cut, Annotation)
    assert isinstance(whole, Annotation)
    assert (cut.truncated, whole.truncated) == (True, False)

"""The SVG domain over hand-written code: places are known by hand, and what verification says."""

import io
import math

import numpy as np
import pytest
from PIL import Image

from gristmill.render.draws import Draws
from gristmill.render.protocol import Part, Rejected
from gristmill.render.svg.domain import SvgDomain
from tests.render.svg.drawings import HAND_WRITTEN, HEAD, by_id, code, first_failure, scattered

SQUARES = (
    f'{HEAD}<rect width="200" height="200" fill="#eee"/><rect x="20" y="30" width="80" height="60" fill="red"/>'
    '<rect x="60" y="30" width="80" height="60" fill="blue"/><circle cx="190" cy="150" r="30" fill="green"/>'
    '<rect x="62" y="32" width="20" height="20" fill="blue"/><rect x="20" y="120" width="50" height="50" fill="red"/>'
    '<rect x="10" y="110" width="70" height="70" fill="black"/></svg>'
)


@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_hand_written_code_is_accepted(svg: SvgDomain, name: str) -> None:
    sample = code(HAND_WRITTEN[name])
    shot = svg.render(sample)
    annotations = svg.annotate(sample, shot)
    report = svg.verify(sample, shot, annotations)
    assert annotations
    assert first_failure(svg.rules(), report) == "", report


def test_places_are_those_of_the_code(svg: SvgDomain) -> None:
    sample = code(SQUARES)
    found = by_id(svg.annotate(sample, svg.render(sample)))
    assert found["2"].bbox_full == (20, 30, 100, 90)
    assert found["2"].bbox_visible == (20, 30, 60, 90)
    assert found["2"].visible_frac == pytest.approx(0.5)
    assert found["4"].truncated
    assert found["4"].bbox_full == (160, 120, 200, 180)
    assert not found["3"].truncated
    assert [one.z for one in svg.annotate(sample, svg.render(sample))] == list(range(len(found)))


def test_what_cannot_be_seen_is_not_named(svg: SvgDomain) -> None:
    sample = code(SQUARES)
    found = by_id(svg.annotate(sample, svg.render(sample)))
    assert "5" not in found, "blue on blue"
    assert "6" not in found, "wholly covered"


def test_covers_that_are_not_opaque_hide_nothing(svg: SvgDomain) -> None:
    sample = code(HAND_WRITTEN["soft"])
    found = by_id(svg.annotate(sample, svg.render(sample)))
    assert found["1"].bbox_visible == (20, 40, 140, 160)
    assert found["2"].bbox_visible == (60, 40, 180, 160)
    assert found["1"].visible_frac == pytest.approx(1 - 400 / (math.pi * 3600), abs=0.005)


def test_points_lie_inside_rings(svg: SvgDomain) -> None:
    ring = f'{HEAD}<circle cx="100" cy="100" r="70" fill="none" stroke="#a40" stroke-width="20"/></svg>'
    one = svg.annotate(code(ring), svg.render(code(ring)))[0]
    assert 60 < math.dist(one.point, (100, 100)) < 80


def test_parts_give_names_and_gather(svg: SvgDomain) -> None:
    text = HAND_WRITTEN["sheet"]
    parts = (Part("2", "card", "Some words"), Part("3", "box"), Part("4", "caption", "Some words"))
    sample = code(text, parts=parts)
    shot = svg.render(sample)
    found = by_id(svg.annotate(sample, shot))
    assert {key: one.role for key, one in found.items()} == {"2": "card", "3": "box", "4": "caption"}
    card, box, caption = found["2"].bbox_visible, found["3"].bbox_visible, found["4"].bbox_visible
    assert card == (*map(min, box[:2], caption[:2]), *map(max, box[2:], caption[2:]))
    assert first_failure(svg.rules(), svg.verify(sample, shot, tuple(found.values()))) == ""


def test_scale_makes_pictures_and_places_larger(svg: SvgDomain) -> None:
    sample = code(SQUARES, side_px=400)
    shot = svg.render(sample)
    assert (shot.width, shot.height) == (400, 400)
    assert by_id(svg.annotate(sample, shot))["2"].bbox_full == (40, 60, 200, 180)


def test_pictures_are_the_same_bytes_again(svg: SvgDomain) -> None:
    for seed in range(8):
        assert svg.render(scattered(seed)).png == svg.render(scattered(seed)).png


def test_the_ground_is_white(svg: SvgDomain) -> None:
    text = f'{HEAD}<rect x="50" y="50" width="100" height="100" fill="#123456"/></svg>'
    with Image.open(io.BytesIO(svg.render(code(text)).png)) as picture:
        pixels = np.asarray(picture)
    assert pixels.shape == (200, 200, 3)
    assert tuple(pixels[0, 0]) == (255, 255, 255)
    assert tuple(pixels[100, 100]) == (0x12, 0x34, 0x56)


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("blank", f'{HEAD}<rect x="5" y="5" width="6" height="6" fill="#fdfdfd"/><path d="M9 9h5v5h-5z"/></svg>'),
        ("low_contrast", f'{HEAD}<rect width="200" height="200" fill="#aaa"/><text y="90" font-size="40">'
         '<tspan fill="#b8b8b8">Words</tspan></text><circle cx="50" cy="150" r="30"/></svg>'),
    ],
)  # fmt: skip
def test_poor_drawings_fail_with_a_reason(svg: SvgDomain, reason: str, text: str) -> None:
    sample = code(text)
    shot = svg.render(sample)
    assert first_failure(svg.rules(), svg.verify(sample, shot, svg.annotate(sample, shot))) == reason


def test_another_picture_fails(svg: SvgDomain) -> None:
    sample, other = scattered(1), scattered(2)
    shot = svg.render(sample)
    report = svg.verify(sample, svg.render(other), svg.annotate(sample, shot))
    assert first_failure(svg.rules(), report) == "engines_differ"


def test_a_drawing_without_anything_to_name_is_rejected(svg: SvgDomain) -> None:
    with pytest.raises(Rejected, match="nothing_named"):
        svg.render(code(f"{HEAD}<g/></svg>"))


def test_every_rule_has_its_measure_and_reason(svg: SvgDomain) -> None:
    sample = scattered(3)
    shot = svg.render(sample)
    report = svg.verify(sample, shot, svg.annotate(sample, shot))
    reasons = {reason.reason for reason in svg.reasons()}
    for rule in svg.rules():
        assert rule.measure in report.measures
        assert rule.reason in reasons


def test_probes_say_that_the_engines_work(svg: SvgDomain) -> None:
    assert [(state.name, state.works) for state in svg.engines()] == [("cairosvg", True), ("resvg", True)]
    assert all(svg.fingerprint().values())


def test_forms_look_the_same_and_keep_the_elements(svg: SvgDomain) -> None:
    seen: set[str] = set()
    for name, text in HAND_WRITTEN.items():
        sample = code(text)
        found = svg.code_forms(sample)
        assert "pretty" in found, name
        seen |= set(found)
        for form, other in found.items():
            shot = svg.render(code(other))
            report = svg.verify(code(other), shot, svg.annotate(sample, svg.render(sample)))
            assert first_failure(svg.rules(), report) == "", (name, form)
            assert other != text
    assert seen == {"minified", "pretty", "simplified"}


def test_code_with_room_for_it_has_all_forms(svg: SvgDomain) -> None:
    made = (svg.to_code(svg.sample_spec(name, Draws("forms", name))) for name in ("bar_chart", "face"))
    for sample in (code(HAND_WRITTEN["sheet"]), *made):
        assert set(svg.code_forms(sample)) == {"minified", "pretty", "simplified"}

"""The web domain over pages written by hand: pictures, annotations, verification, engines."""

import io
import math
import re
from dataclasses import replace
from operator import sub

import pytest
from PIL import Image

from gristmill.render.make import first_failing
from gristmill.render.protocol import Annotation, Code, Part, Rejected, Report, Shot, View
from gristmill.render.web.domain import WebDomain, client
from gristmill.render.web.probe import run_probe
from tests.extras.web_pages import code, pages, skip_without_browser

skip_without_browser()
pytestmark = pytest.mark.timeout(150)
DOMAIN = WebDomain()


def failed(report: Report) -> list[str]:
    """Reasons of the rules that a report fails."""
    return [rule.reason for rule in DOMAIN.rules() if first_failing([rule], report) is not None]


def look(page: Code) -> tuple[Shot, tuple[Annotation, ...], Report]:
    shot = DOMAIN.render(page)
    annotations = DOMAIN.annotate(page, shot)
    return shot, annotations, DOMAIN.verify(page, shot, annotations)


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("name", sorted(pages()))
def test_a_right_page_passes(name: str, scale: float) -> None:
    page = code(pages()[name], scale)
    shot, annotations, report = look(page)
    assert failed(report) == [], report.notes
    with Image.open(io.BytesIO(shot.png)) as image:
        assert image.size == (shot.width, shot.height) == (1024 * scale, 768 * scale)
    assert len(annotations) >= 12
    assert len({a.id for a in annotations}) == len(annotations)
    for a in annotations:
        (x0, y0, x1, y1), (u0, v0, u1, v1) = a.bbox_full, a.bbox_visible
        assert 0 <= x0 <= u0 < u1 <= x1 <= shot.width
        assert 0 <= y0 <= v0 < v1 <= y1 <= shot.height
        assert u0 <= a.point[0] <= u1
        assert v0 <= a.point[1] <= v1
        assert 0 < a.visible_frac <= 1
        assert min(u1 - u0, v1 - v0) >= 4


def test_boxes_scale_with_the_device() -> None:
    one, two = (DOMAIN.annotate(page, DOMAIN.render(page)) for page in (code(pages()["form"], s) for s in (1.0, 2.0)))
    boxes = {a.id: a.bbox_full for a in two}
    twice = {a.id: [2 * v for v in a.bbox_full] for a in one}
    same = [key for key, box in twice.items() if key in boxes and max(map(abs, map(sub, box, boxes[key]))) < 2.1]
    assert len(same) >= len(one) - 2


def test_the_same_page_gives_the_same_bytes_whatever_came_before() -> None:
    page = code(pages()["mail"])
    first = DOMAIN.render(page)
    annotations = DOMAIN.annotate(page, first)
    for other in ("grid", "arabic"):
        DOMAIN.render(code(pages()[other], 1.5, 640, 480))
    again = DOMAIN.render(page)
    assert again.png == first.png
    assert DOMAIN.annotate(page, again) == annotations


def test_roles_states_and_names() -> None:
    page = code(pages()["form"])
    found = {(a.role, a.text) for a in DOMAIN.annotate(page, DOMAIN.render(page))}
    assert ("text field", "Full name") in found
    assert ("text field, required", "Mail") in found
    assert ("radio, checked", "Free") in found
    assert ("radio", "Paid") in found
    assert ("checkbox, disabled", "I agree") in found
    assert ("button, disabled", "Create account") in found
    assert ("heading", "Sign up") in found
    assert ("text line", "Full name") in found


def test_lines_are_what_is_painted() -> None:
    html = """<!doctype html><style>body{font:16px "DejaVu Sans";width:300px}.u{text-transform:uppercase}
    .e{white-space:nowrap;overflow:hidden;text-overflow:ellipsis;width:90px}</style><p>One long line that must be broken
    by the narrow page, <b>bold</b> words in it.<p class=u>capitals<p class=e>this line is cut off with dots<p hidden>no
    <p style="opacity:0">nor this<p style="color:#fdfdfd">too pale<p>hy&shy;phen"""
    page = code(html)
    texts = [a.text for a in DOMAIN.annotate(page, DOMAIN.render(page)) if a.role == "text line"]
    joined = " ".join(texts)
    assert joined.startswith("One long line that")
    assert "bold words in it." in joined
    assert "CAPITALS" in texts
    assert "hyphen" in texts
    for gone in ("cut off", "no", "nor this", "too pale"):
        assert gone not in texts
        assert not any(gone in text for text in texts if gone != "no")


BOTH_WAYS = (
    "السعر 10 ريال",
    "قبل 3 أيام و 25 دقيقة من الآن وهذا نص طويل جدا يمتد على سطرين 2024 أو أكثر",
    "خصم 25% على كل شيء (حتى 14:30)",
    "+972 50-123-4567 הטלפון שלי",
    "Version 2.1 من البرنامج",
    "كتب <a href='#'>Anna 3</a> في 5 <b>مايو 2024</b> 7",
    "ab שלום <bdi>12</bdi> עולם 34 cd",
)


@pytest.mark.parametrize("way", ["rtl", "ltr"])
def test_lines_that_run_both_ways_are_read_in_order(way: str) -> None:
    """Their pieces are told as they lie, which is not how they are read: numbers in the middle change places."""
    texts = [re.sub("<[^>]*>", "", text) for text in BOTH_WAYS]
    rows = "".join(f"<p id=p{i}>{text}</p><button id=b{i}>{text}</button>" for i, text in enumerate(BOTH_WAYS))
    html = f"<!doctype html><html dir={way}><body style=\"font:17px 'DejaVu Sans';width:320px\">{rows}</body>"
    parts = tuple(Part(f"{tag}{i}", "thing", text) for tag in "pb" for i, text in enumerate(texts))
    _, annotations, report = look(replace(code(html), parts=parts))
    assert failed(report) == [], report.notes
    assert report.measures["unsaid"] == 0
    assert {f"#{part.key}" for part in parts} <= {a.id for a in annotations}
    lines = [a.text for a in annotations if a.role == "text line"]
    assert {texts[0], texts[3], texts[4], texts[6]} <= set(lines)


def test_covered_and_cut_elements() -> None:
    html = """<!doctype html><style>body{margin:0;font:16px "DejaVu Sans"}button{position:absolute;width:100px;
    height:40px}
    #veil{position:absolute;left:150px;top:0;width:300px;height:200px;background:#333}</style>
    <button id=a style="left:20px;top:20px">Alone</button><button id=b style="left:100px;top:80px">Half</button>
    <button id=c style="left:200px;top:80px">Gone</button><button id=d style="left:-40px;top:140px">Edge</button>
    <div style="position:absolute;left:500px;top:0;width:60px;height:30px;overflow:hidden"><button id=e>Clip</button>
    </div><div id=veil></div>"""
    page = Code(html, "html", "by hand", View(600, 300), tuple(Part(k, "button") for k in "abcde"))
    _, annotations, report = look(page)
    found = {a.id: a for a in annotations}
    assert failed(report) == [], report.notes
    assert found["#a"].visible_frac > 0.9
    assert found["#b"].bbox_full == (100, 80, 200, 120)
    assert found["#b"].bbox_visible == (100, 80, 150, 120)
    assert 0.4 < found["#b"].visible_frac < 0.6
    assert found["#b"].point[0] < 150
    assert "#c" not in found
    assert found["#d"].truncated
    assert found["#d"].bbox_full == (0, 140, 60, 180)
    assert found["#e"].bbox_visible == (500, 0, 560, 30)
    assert not found["#e"].truncated


def test_parts_name_elements_and_their_text_must_be_there() -> None:
    parts = (Part("buy1", "buy button", "Buy for 11"), Part("top", "shop title", "Garden tools"))
    page = code(pages()["grid"])
    right = Code(page.text, page.language, page.family, page.view, parts)
    _, annotations, report = look(right)
    assert failed(report) == [], report.notes
    assert {("#buy1", "buy button", "Buy for 11"), ("#top", "shop title", "Garden tools")} <= {
        (a.id, a.role, a.text) for a in annotations
    }
    wrong = Code(page.text, page.language, page.family, page.view, (Part("buy1", "buy button", "Buy for 12"),))
    _, _, report = look(wrong)
    assert failed(report) == ["text_differs"]


def test_script_runs_with_a_frozen_clock_and_seeded_random_in_a_fresh_page() -> None:
    html = """<!doctype html><body style="font:20px 'DejaVu Sans'"><h1>Time</h1><p id=t></p><p id=r></p><p id=l></p>
    <script>let mine = (globalThis.before ?? 0) + 1; globalThis.before = mine;
    t.textContent = new Date().toISOString(); r.textContent = Math.random(); l.textContent = 'loads ' + mine;
    setTimeout(() => { t.textContent = 'moved' }, 1)</script>"""
    page = code(html)
    first, annotations, report = look(page)
    texts = [a.text for a in annotations if a.role == "text line"]
    assert failed(report) == [], report.notes
    assert "loads 1" in texts
    assert any(text.startswith("2024-05-14T09:41:00") for text in texts)
    assert DOMAIN.render(page).png == first.png


def test_blank_and_poor_pages_fail() -> None:
    _, _, report = look(code("<!doctype html><title>nothing</title>"))
    assert {"blank", "too_few_annotations"} <= set(failed(report))


def test_every_rule_has_its_measure_and_a_reason_of_its_own_kind() -> None:
    _, _, report = look(code(pages()["grid"]))
    assert {rule.measure for rule in DOMAIN.rules()} <= set(report.measures)
    named = {reason.reason for reason in DOMAIN.reasons()}
    assert len(named) == len(DOMAIN.reasons())
    assert all(not math.isnan(report.measures[m]) for m in ("box_off_px", "missed_points", "min_contrast"))


def test_the_engine_tells_its_version_and_fonts() -> None:
    (state,) = DOMAIN.engines()
    assert state.works
    assert state.version.split(".")[0].isdigit()
    fingerprint = DOMAIN.fingerprint()
    assert fingerprint["chromium"] == state.version
    assert len(fingerprint["fonts"]) == 32


def test_a_script_without_a_font_is_noticed() -> None:
    """No font has letters of a plane that has none: what a page in Chinese would look like without a font for it."""
    lost = {"Nothing": ("\U00050001", "fonts-of-nothing"), "Latin": ("a", "fonts-latin")}
    state = run_probe(client(), lost)
    assert not state.works
    assert state.detail.endswith("no font for Nothing")
    assert state.remedy == "install fonts (Debian: fonts-of-nothing)"


def test_a_view_of_another_size_is_not_taken_for_right() -> None:
    with pytest.raises(Rejected) as caught:
        DOMAIN.render(code(pages()["grid"], 1.0, 1, 0))
    assert caught.value.reason in {"page_lost", "wrong_size"}

"""Pages of a corpus: made safe, rendered, verified; real ones where the sample corpus lies beside the checkout."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gristmill.render.make import first_failing
from gristmill.render.protocol import Rejected
from gristmill.render.web.domain import WebDomain
from gristmill.render.web.existing import MAX_CODE_BYTES, made_safe, view_of
from tests.extras.web_pages import skip_without_browser

skip_without_browser()
pytestmark = pytest.mark.timeout(150)
DOMAIN = WebDomain()
CORPUS = Path(__file__).resolve().parents[3] / "shared" / "data" / "web" / "python_doc"

GONE = ("192.0.2.1", "<script", "onclick", "onmouseover", "javascript:", "<iframe", "<object", "<embed", "<base")

ALPHABET = "<>/='\" abonclickscr:#&;!-\x00é"

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "handler": "<b onclick='x()' onMouseOver=y()>b</b>",
    "address": "<a href='javascript:x()'>a</a><form action='http://192.0.2.1/'></form>",
    "picture": "<img src=http://192.0.2.1/a.png srcset='b.png 2x' alt=kept width=30>",
    "style": "<style>@import 'http://192.0.2.1/x.css';h1{background:url(http://192.0.2.1/a.png)}</style>",
    "attribute": "<p style='background:URL( \"//192.0.2.1/a\" )'>p</p>",
    "frame": "<iframe src=http://192.0.2.1/></iframe><object data=a.swf></object><embed src=b>",
    "head": "<base href=http://192.0.2.1/><meta http-equiv=refresh content='0;url=//192.0.2.1'>"
    "<link rel=stylesheet href=a>",
    "svg": "<svg><script>x()</script><use href='http://192.0.2.1/#a'/><image xlink:href='//192.0.2.1/a'/></svg>",
    "noscript": "<noscript><img src=//192.0.2.1/pixel></noscript>",
    "comment": "<!-- 192.0.2.1 <script>x()</script> -->",
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_nothing_that_acts_or_asks_is_left(name: str) -> None:
    text = made_safe(f"<!doctype html><title>t</title>{HOSTILE[name]}<h1>Kept words</h1>".encode())["text"]
    lower = text.lower()
    assert "Kept words" in text
    for gone in GONE:
        assert gone not in lower
    code = DOMAIN.existing(text.encode())
    shot = DOMAIN.render(code)
    assert shot.evidence["page"]["events"].get("requests", 0) == 0


def test_pictures_in_the_page_and_places_on_it_stay() -> None:
    data = "data:image/png;base64,iVBORw0KGgo="
    text = made_safe(f"<p><a href='#x'>a</a><img src='{data}' alt=b><i style='background:url({data})'>c".encode())[
        "text"
    ]
    assert text.count(data) == 2
    assert 'href="#x"' in text


def test_the_emitted_text_is_a_fixed_point() -> None:
    text = made_safe(b"<!DOCTYPE html><meta charset=latin1><p class=a>caf\xe9 <b>x<p>y")["text"]
    assert "café" in text
    assert 'charset="utf-8"' in text
    assert made_safe(text.encode())["text"] == text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"plain words", "not_html"),
        (b"", "not_html"),
        (b"<p>a\0b", "not_html"),
        (b"<script>x()</script><p> ", "empty"),
        (b"<p>" + b"w " * MAX_CODE_BYTES, "too_large"),
        (b"<div>" * 5000 + b"x", "too_deep"),
    ],
)
def test_what_is_no_page_is_refused_in_words(body: bytes, reason: str) -> None:
    with pytest.raises(Rejected) as caught:
        DOMAIN.existing(body)
    assert caught.value.reason == reason


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(st.binary(max_size=400), st.text(alphabet=ALPHABET, max_size=300).map(str.encode)))
def test_any_bytes_give_a_page_or_a_reason(body: bytes) -> None:
    try:
        text = made_safe(body)["text"]
    except Rejected as rejected:
        assert rejected.reason in {reason.reason for reason in DOMAIN.reasons()}
        return
    assert "<script" not in text.lower()


def test_the_view_is_decided_by_the_content() -> None:
    views = {view_of(f"page {i}", mobile=True) for i in range(200)}
    assert len(views) == 11
    assert view_of("page", mobile=False) == view_of("page", mobile=False)
    assert all(view_of(f"page {i}", mobile=False).width_px >= 1024 for i in range(50))


def test_real_pages_pass() -> None:
    files = sorted(CORPUS.glob("*.html"))[::5]
    if not files:
        pytest.skip("no sample corpus beside the checkout")
    counts: Counter[str] = Counter()
    for path in files:
        try:
            code = DOMAIN.existing(path.read_bytes())
            shot = DOMAIN.render(code)
            report = DOMAIN.verify(code, shot, DOMAIN.annotate(code, shot))
        except Rejected as rejected:
            counts[rejected.reason] += 1
            continue
        rule = first_failing(DOMAIN.rules(), report)
        counts[rule.reason if rule is not None else "ok"] += 1
    assert counts["ok"] >= 0.75 * len(files), counts

"""HTML extraction: what a hostile page or a hostile child can and cannot do."""

import json
import struct
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.manifests.child import ChildFailure
from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.text import html_child, html_tokens
from gristmill.stages.text.extract_html import _checked  # pyright: ignore[reportPrivateUsage]
from gristmill.stages.text.html_answer import Answer, BadAnswerError, checked_answer, packed_answer, packed_request
from tests.stages.text.html_pages import mapped, media_of

DEEP = 20_000
BOMBS = {
    "deep": "<div>" * DEEP + "x",
    "deep formatting": "<p><b>" * 2_000 + "x",
    "deep lists": "<ul><li>" * DEEP + "x",
    "deep tables": "<table><tr><td>" * DEEP + "x",
    "deep mathml": "<math>" + "<mrow>" * DEEP + "<mi>x</mi>",
    "deep svg": "<svg>" * DEEP + "</p>x",
    "deep pre": "<pre>" * DEEP + "x",
    "rows": "<table>" + "<tr><td>x<td>y" * 20_000,
    "images": "<img src=a.png>" * 12_000 + "x",
    "attribute": f"<p {'a' * 1_000_000}='{'b' * 1_000_000}'>x",
    "quotes in names": '<a b"c href="x">x' * 5_000,
    "open pre": "<p>x<pre>" + "<b>" * 1_000,
    "open comment": "<p>x<!--" + "<" * 100_000,
    "powers": "x<sup>" * DEEP + "2",
    "links": "<a href=x>" * DEEP + "x",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_cost_seconds_at_most(name: str) -> None:
    began = time.process_time()
    done = html_child.extract(BOMBS[name].encode()).decode()
    assert time.process_time() - began < 10
    assert "x" in done or name == "deep svg"


def test_chunks_of_tokens_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "<p>a <b>b</b></p><pre><i>c</i>\n d</pre><math><mi>x</mi><mo>=</mo></math><svg><p>no</svg><ul><li>e</ul>"
    page = f"<html><body><main>{body * 20}<table><tr><td>1<td>2<tr><td>3<td>4</table></main>".encode()
    whole = html_child.extract(page)
    for size in (1, 2, 3, 7, 50):
        monkeypatch.setattr(html_tokens, "CHUNK_TAGS", size)
        assert html_child.extract(page) == whole


TAGS = (
    "<p> </p> <div> </div> <table> <tr> <td> </table> <ul> <li> <ol> </ul> <pre> </pre> <a_href=x> </a> <math> </math> "
    "<mfrac> <mi> <sup> </sup> <br> <img_src=a> <img_alt=x_class=tex> <script_type=math/tex> </script> <!-- --> <nav> "
    "</nav> <main> <h1> </h1> <svg> <xmp> <plaintext> <frameset> <select> <b> </i> &lt; &#xfffc; \ufffc ``` | $ text "
    "<span_class=katex-html> <span_class=MathJax_data-mathml='<math'> \U0001f600 <base_href=http://[> \x01 \x00"
)
PIECES = st.sampled_from(TAGS.split(" ")).map(lambda piece: piece.replace("_", " "))


@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=40).map("".join))
@settings(max_examples=300, deadline=None)
@example("<pre><!--")
def test_any_page_keeps_the_invariants(html: str) -> None:
    page = "<html>" + html
    answer = checked_answer(html_child.answer(packed_request(page.encode("utf-8", "replace"), "http://h/", True)))
    assert answer.text.count(MEDIUM_CHAR) == len(answer.media)
    assert 0 <= answer.written <= len(answer.text)


@given(st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_bytes_keep_the_invariants(page: bytes) -> None:
    answer = checked_answer(html_child.answer(packed_request(page, "", True)))
    assert answer.text.count(MEDIUM_CHAR) == len(answer.media)


def _framed(head: object, text: str = "", blobs: bytes = b"") -> bytes:
    body = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack("<IQ", len(body), len(text.encode())) + body + text.encode() + blobs


URI = {"uri": "a.png"}
GIF = {"mime": "image/gif", "size": 6}


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00" * 11,
        struct.pack("<IQ", 1 << 31, 1 << 63),
        _framed(b"["),
        _framed(b"[" * 100_000),
        _framed([]),
        _framed({"media": []}),
        _framed({"media": {}, "written": 0}),
        _framed({"media": [], "written": -1}),
        _framed({"media": [], "written": True}, "x"),
        _framed({"media": [], "written": 2}, "x"),
        _framed({"media": [], "written": 0}, MEDIUM_CHAR),
        _framed({"media": [URI], "written": 0}, "x"),
        _framed({"media": [{}], "written": 0}, MEDIUM_CHAR),
        _framed({"media": [URI | GIF], "written": 0}, MEDIUM_CHAR, b"GIF89a"),
        _framed({"media": [{"uri": "a" * 5000}], "written": 0}, MEDIUM_CHAR),
        _framed({"media": [URI | {"width": -1}], "written": 0}, MEDIUM_CHAR),
        _framed({"media": [URI | {"width": 1.5}], "written": 0}, MEDIUM_CHAR),
        _framed({"media": [URI | {"alt": 3}], "written": 0}, MEDIUM_CHAR),
        _framed({"media": [GIF], "written": 0}, MEDIUM_CHAR, b"GIF89"),
        _framed({"media": [GIF], "written": 0}, MEDIUM_CHAR, b"GIF89a and more"),
        _framed({"media": [GIF], "written": 0}, MEDIUM_CHAR, b"notgif"),
        _framed({"media": [GIF | {"mime": "text/html"}], "written": 0}, MEDIUM_CHAR, b"GIF89a"),
        struct.pack("<IQ", 26, 1) + b'{"media":[],"written":0  }' + b"\xff",
    ],
)
def test_a_hostile_childs_answer_is_refused(answer: bytes) -> None:
    with pytest.raises(BadAnswerError):
        checked_answer(answer)
    refused = _checked(answer)
    assert isinstance(refused, ChildFailure)
    assert refused.kind == "error"


LINKED = {"uri": st.text(max_size=9), "alt": st.text(max_size=5), "width": st.none() | st.integers(0, 9)}
HELD = {"mime": st.just("image/gif"), "data": st.binary(max_size=9).map(lambda b: b"GIF89a" + b)}
MEDIA = st.lists(st.fixed_dictionaries(LINKED) | st.fixed_dictionaries(HELD), max_size=4)


def _said(medium: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in medium.items() if value not in (None, "")}


@given(MEDIA, st.text(max_size=20))
def test_answers_come_through_unchanged(media: list[dict[str, Any]], text: str) -> None:
    whole = text.replace(MEDIUM_CHAR, "") + MEDIUM_CHAR * len(media)
    read = checked_answer(packed_answer(Answer(whole, media, 0)))
    assert read.text == whole
    assert list(map(_said, read.media)) == list(map(_said, media))


def test_a_source_medium_char_makes_no_medium() -> None:
    done = mapped(f"<p>a{MEDIUM_CHAR}b&#xFFFC;c</p><img src=x.png alt='{MEDIUM_CHAR}'>")
    assert done.batch.column("text")[0].as_py() == f"a\ufffdb\ufffdc\n\n{MEDIUM_CHAR}"
    assert len(media_of(done)) == 1

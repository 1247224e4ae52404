"""HTML extraction: what is taken for HTML, what is kept and cut, and what a hostile page costs."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.child import ChildFailure, ChildLimits, FailureKind, KillableChild
from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import MEDIUM_CHAR, REPLACEMENT_CHAR, document_batch
from gristmill.stages.chain import run_chain
from gristmill.stages.protocol import Mapped, Mapper
from gristmill.stages.text import extract_html, html_blocks, html_child
from gristmill.stages.text.extract_html import CHILD_TARGET, ExtractHtml, looks_like_html
from gristmill.stages.text.html_answer import checked_answer, packed_request

PAGE = """<!DOCTYPE html><html><head><title>Title</title><script>var hidden = 1;</script></head><body>
<nav><a href="/">menu entry</a></nav><main><h1>The mill</h1><p>The miller grinds &lt;corn&gt; &amp; wheat.</p>
<pre>def grind(corn):
    return flour</pre></main><footer>imprint</footer></body></html>"""


def _batch(texts: Sequence[str | None]) -> pa.RecordBatch:
    return document_batch({"text": pa.array(texts, pa.large_string())})


def _text(mapped: Mapped) -> list[str]:
    return mapped.batch.column("text").to_pylist()


def _verdicts(mapped: Mapped) -> list[tuple[int, str, str]]:
    return sorted((v.row, v.verdict, v.reason) for v in mapped.verdicts)


def test_main_content_with_code_stays() -> None:
    mapped = ExtractHtml().transform(_batch([PAGE]))
    (text,) = _text(mapped)
    assert "The miller grinds <corn> & wheat." in text
    assert "def grind(corn):\n    return flour" in text
    assert not any(word in text for word in ("menu entry", "hidden", "imprint", "<p>"))
    marks = len("# ") + len("```\n") + len("\n```")
    assert mapped.cut_chars["marks"].tolist() == [-marks]
    assert mapped.cut_chars["markup"].tolist() == [len(PAGE) - len(text) + marks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PAGE, True),
        ("\n \ufeff<!-- a comment --><p>x", True),
        ("<?xml version='1.0'?><html>", True),
        ("<DIV>x</DIV>", True),
        ("<my-element>x", True),
        ("<br/>", True),
        ("Warning: in line 3\n<HTML><body>", True),
        ("", False),
        ("plain text", False),
        ("<joe@example.org> wrote", False),
        ("< 3 apples", False),
        ("<<EOF", False),
        ("a < b and c > d", False),
        ("x" * 1024 + "<html>", False),
    ],
)
def test_what_is_taken_for_html(text: str, expected: bool) -> None:
    assert looks_like_html(text) is expected


def test_other_rows_pass_unchanged() -> None:
    texts = ["plain & text", PAGE, None, "", "a <b> c"]
    mapped = ExtractHtml().transform(_batch(texts))
    assert [_text(mapped)[i] or None for i in (0, 2, 3, 4)] == ["plain & text", None, None, "a <b> c"]
    assert mapped.cut_chars["markup"].tolist()[2:] == [0, 0, 0]
    untouched = _batch(["plain"])
    assert ExtractHtml().transform(untouched).batch is untouched


def test_a_row_with_media_passes_unchanged() -> None:
    media = pa.array([[{"kind": "image"}], []], document_batch({"text": pa.array([""])}).schema.field("media").type)
    batch = document_batch({"text": pa.array([f"<p>{MEDIUM_CHAR}</p>", "<p>x</p>"]), "media": media})
    assert _text(ExtractHtml().transform(batch)) == [f"<p>{MEDIUM_CHAR}</p>", "x"]


def test_an_entity_makes_no_medium() -> None:
    (text,) = _text(ExtractHtml().transform(_batch(["<p>a&#xFFFC;b &#65532; c&#xD800;d</p>"])))
    assert MEDIUM_CHAR not in text
    assert text == "a\ufffdb \ufffd c\ufffdd"


def test_a_page_without_content_is_dropped() -> None:
    mapped = ExtractHtml().transform(_batch(["<html><nav>menu</nav></html>", "<p>x</p>"]))
    assert _verdicts(mapped) == [(0, "drop", "no_main_content")]


def test_a_large_page_is_not_parsed() -> None:
    at_limit, above = "<p>" + "x" * 97, "<p>" + "x" * 96 + "é"
    mapped = ExtractHtml(max_html_bytes=100).transform(_batch([at_limit, above, "y" * 200]))
    assert _verdicts(mapped) == [(1, "quarantine", "html_too_large")]
    assert [(v.measure, v.value, v.limit) for v in mapped.verdicts] == [("html_bytes", 101, 100)]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("timeout", "html_timeout"),
        ("memory", "html_memory"),
        ("died", "html_died"),
        ("error", "html_error"),
        ("output_too_large", "html_error"),
    ],
)
def test_each_failure_has_its_reason(kind: FailureKind, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real deaths are tested with the child; here only what they are called."""

    def fails(target: str, limits: ChildLimits, payloads: Sequence[bytes]) -> list[ChildFailure]:
        return [ChildFailure(kind, "why")] * len(payloads)

    monkeypatch.setattr(extract_html, "ask_child", fails)
    mapped = ExtractHtml().transform(_batch(["plain", PAGE]))
    assert [(v.row, v.verdict, v.reason, v.detail) for v in mapped.verdicts] == [(1, "quarantine", reason, "why")]
    assert reason in {r.reason for r in ExtractHtml().reasons()}


def test_a_slow_page_is_quarantined_alone() -> None:
    bomb = "<div>" * 300_000 + "x"
    mapped = ExtractHtml(max_seconds=0.05).transform(_batch([PAGE, bomb * 8, PAGE]))
    assert {(v.row, v.verdict) for v in mapped.verdicts} == {(1, "quarantine")}
    assert _text(mapped)[0] == _text(mapped)[2]


def test_memory_of_the_child_is_bounded() -> None:
    with KillableChild(CHILD_TARGET, limits=ChildLimits(20, 64 << 20)) as child:
        pages = [b"<p>a</p>", b"<p>x" * 8_000_000, b"<p>b</p>"]
        answers = child.call_many([packed_request(page, "", True) for page in pages])
    assert [checked_answer(a).text for a in answers if isinstance(a, bytes)] == ["a", "b"]
    assert isinstance(answers[1], ChildFailure)
    assert answers[1].kind in ("memory", "died")


TAGS = st.sampled_from(
    ["<p>", "</p>", "<table>", "<td>", "<script>", "<!--", "<svg>", "&#0;", "&amp", "<ul><li>", "\0"]
)


@given(st.lists(st.one_of(st.text(max_size=10), TAGS, st.none()), max_size=6).map(lambda x: [*x, PAGE]), st.data())
@settings(max_examples=60)
def test_books_balance_on_any_slice(texts: list[str | None], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(texts)))
    batch = _batch(texts)
    whole = run_chain([ExtractHtml()], batch)
    parts = [run_chain([ExtractHtml()], part) for part in (batch.slice(0, cut), batch.slice(cut))]
    assert whole.kept.column("text").to_pylist() == [t for p in parts for t in p.kept.column("text").to_pylist()]
    (step,) = whole.steps
    assert (step.chars_in == step.chars_out + sum(step.cut_chars.values())).all()
    assert all(chars <= 0 for chars in step.cut_chars.get("marks", np.zeros(1)))
    pages = [text for text in whole.kept.column("text").to_pylist() if MEDIUM_CHAR in (text or "")]
    assert all(text in texts for text in pages)


def test_real_pages(shared_data: Path) -> None:
    pages = [path.read_text() for path in sorted((shared_data / "web" / "python_doc").glob("*.html"))[:10]]
    mapped = ExtractHtml().transform(_batch(pages))
    assert len(pages) == 10
    assert not mapped.verdicts
    assert all(200 < len(text) < len(page) for text, page in zip(_text(mapped), pages, strict=True))


def test_child_and_stage_agree_on_one_process() -> None:
    assert html_child.extract(PAGE.encode()).decode() == _text(ExtractHtml().transform(_batch([PAGE])))[0]


def test_child_knows_the_reserved_characters() -> None:
    assert (html_blocks.MEDIUM_CHAR, html_blocks.REPLACEMENT_CHAR) == (MEDIUM_CHAR, REPLACEMENT_CHAR)


def test_child_imports_little() -> None:
    code = "import sys, gristmill.stages.text.html_child; sys.exit(any(m in sys.modules for m in ('pyarrow', 'numpy')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_is_a_mapper() -> None:
    assert isinstance(ExtractHtml(), Mapper)


@pytest.mark.parametrize("params", [{"max_html_bytes": 0}, {"max_seconds": 0.0}, {"images": "some"}])
def test_wrong_parameters_are_refused(params: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        ExtractHtml(**params)  # pyright: ignore[reportArgumentType]

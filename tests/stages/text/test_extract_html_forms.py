"""HTML extraction: the text form of each construct, one small page each."""

import base64
import struct
from hashlib import sha256

import pytest

from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.text.extract_html import ExtractHtml
from gristmill.stages.text.html_images import MAX_DATA_BYTES
from tests.stages.text.html_pages import mapped, media_of, page, text_of


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h2>Two</h2><h6>Six</h6>", "## Two\n\n###### Six"),
        ("<h2>A<br>b</h2>", "## A b"),
        ("<h2>Name<a class='headerlink' href='#n'>¶</a></h2>", "## Name"),
        ("<h2>Name <a href='#n'>#</a></h2>", "## Name"),
        ("<p>a\n   b&nbsp;c</p><p></p><p>d</p>", "a b c\n\nd"),
        ("<p>a<br>b<br><br><br>c</p>", "a\nb\n\nc"),
        ("<dl><dt>term</dt><dd>what it is</dd></dl>", "term\n\nwhat it is"),
        ("<p>a <em>b</em> <code>c_d</code> &lt;e&gt; &amp;amp;</p>", "a b c_d <e> &amp;"),
        ("10<sup>-6</sup> x<sup>2</sup> km<sup>2</sup> 1<sup>st</sup>", "10^-6 x^2 km^2 1st"),
        ("word<sup>1</sup> 5<sup><a href='#f'>[2]</a></sup>", "word1 5[2]"),
        ("a<script>b</script><style>c</style><svg><text>d</text></svg><button>e</button>f", "af"),
        ("<p hidden>a</p><div style='display: none'>b</div><span aria-hidden='true'>c</span>d", "d"),
        ("<noscript><b>a</b></noscript><template><p>b</p></template>c", "c"),
        ("<blockquote>said</blockquote><details><summary>s</summary>t</details>", "said\n\ns\n\nt"),
    ],
)
def test_headings_paragraphs_and_inline(body: str, expected: str) -> None:
    assert text_of(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
        ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
        ("<ol start=9><li>a<li>b</ol>", "9. a\n10. b"),
        ("<ul><li>a<ol><li>b</ol><li>c</ul>", "- a\n  1. b\n- c"),
        ("<ul><li><p>a</p><p>b</p></li></ul>", "- a\n\n  b"),
        ("<ul><li></li><li> </li></ul>x", "x"),
    ],
)
def test_lists(body: str, expected: str) -> None:
    assert text_of(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<pre>a\n\n  b\t c  \n</pre>", "```\na\n\n  b\t c\n```"),
        ("<pre><code class='language-rust'>fn a() {}</code></pre>", "```rust\nfn a() {}\n```"),
        ("<pre class='brush: js'>a</pre>", "```javascript\na\n```"),
        (
            "<div class='highlight-python3 notranslate'><div class='highlight'><pre>x</pre></div></div>",
            "```python\nx\n```",
        ),
        ("<div class='highlight-default'><pre>x</pre></div>", "```\nx\n```"),
        ("<pre data-lang='go'>x</pre>", "```go\nx\n```"),
        ("<pre>if a &lt; b &amp;&amp; c:<br>  <b>d</b></pre>", "```\nif a < b && c:\n  d\n```"),
        ("<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"),
        ("<pre><span class='lineno'>1 </span>a\n<span class='lineno'>2 </span>b</pre>", "```\na\nb\n```"),
        ("<xmp><b>not bold</b></xmp>", "```\n<b>not bold</b>\n```"),
        ("<pre> \n </pre>x", "x"),
    ],
)
def test_code(body: str, expected: str) -> None:
    assert text_of(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "<table><tr><th>a<th>b<tr><td>1<td>2</table>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("<table><tr><td>1<td>2<tr><td>3<td>4</table>", "| 1 | 2 |\n| 3 | 4 |"),
        ("<table><tr><td>a|b<td>c<br>d<tr><td colspan=2>e</table>", "| a\\|b | c d |\n| e |  |"),
        ("<table><caption>Cap</caption><tr><td>1<td>2<tr><td>3</table>", "Cap\n\n| 1 | 2 |\n| 3 |  |"),
        ("<table><tr><td><ul><li>a<li>b</ul><td>c<tr><td>d<td>e</table>", "| a b | c |\n| d | e |"),
        ("<table><tr><td>one column<tr><td>and two rows</table>", "one column\n\nand two rows"),
        ("<table><tr><td>one row<td>and two columns</table>", "one row\n\nand two columns"),
        ("<table><tr><td><h2>H</h2><td>c<tr><td>d<td>e</table>", "## H\n\nc\n\nd\n\ne"),
        (
            "<table><tr><td><table><tr><td>1<td>2<tr><td>3<td>4</table><td>x<tr><td>y<td>z</table>",
            "| 1 | 2 |\n| 3 | 4 |\n\nx\n\ny\n\nz",
        ),
        (f"<table><tr><td>{'w ' * 501}<td>b<tr><td>c<td>d</table>", f"{('w ' * 501).strip()}\n\nb\n\nc\n\nd"),
    ],
)
def test_tables(body: str, expected: str) -> None:
    assert text_of(body) == expected


KATEX = (
    '<span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>c</mi></mrow>'
    '<annotation encoding="application/x-tex">c = \\pm\\sqrt{a^2 + b^2}</annotation></semantics></math></span>'
    '<span class="katex-html" aria-hidden="true"><span>c=±drawn</span></span></span>'
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a \\(x &lt; y\\) b \\[z\\] $$w$$", "a \\(x < y\\) b \\[z\\] $$w$$"),
        ("a <script type='math/tex'>x < y & z</script> b", "a $x < y & z$ b"),
        ("a <script type='math/tex; mode=display'>x</script> b", "a\n$$x$$\nb"),
        (
            "<b class='MathJax_Preview'>p</b><span class='MathJax'>drawn</span><script type='math/tex'>x</script>",
            "$x$",
        ),
        ("<span class='MathJax' data-mathml='<math><mi>x</mi><mo>=</mo><mn>1</mn></math>'>drawn</span> b", "$x = 1$ b"),
        (
            "<mjx-container class='MathJax'><mjx-math>drawn</mjx-math><mjx-assistive-mml><math><mi>x</mi></math>"
            "</mjx-assistive-mml></mjx-container> b",
            "$x$ b",
        ),
        (f"a {KATEX} b", "a $c = \\pm\\sqrt{a^2 + b^2}$ b"),
        (f"a <span class='katex-display'>{KATEX}</span> b", "a\n$$c = \\pm\\sqrt{a^2 + b^2}$$\nb"),
        ("<math alttext='{\\displaystyle E=mc^{2}}'><mi>wrong</mi></math>", "$E=mc^{2}$"),
        (
            "<math alttext='\\alpha'></math><img class='mwe-math-fallback-image-inline' alt='\\alpha' src='x.svg'> b",
            "$\\alpha$ b",
        ),
        ("a <img class='latex' src='l.png' alt='\\frac{a}{b}'> b", "a $\\frac{a}{b}$ b"),
        ("a <img class='formulaDsp' src='f.png' alt='\\[ x \\]'> b", "a\n$$x$$\nb"),
        ("a `sum_(i=1)^n i^3` b", "a `sum_(i=1)^n i^3` b"),
        ("a <script type='math/asciimath'>sum_(i=1)^n</script>", "a `sum_(i=1)^n`"),
    ],
)
def test_formulas(body: str, expected: str) -> None:
    assert text_of(body) == expected


@pytest.mark.parametrize(
    ("mathml", "latex"),
    [
        ("<mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac>", "\\frac{a}{b + 1}"),
        ("<msqrt><msup><mi>x</mi><mn>2</mn></msup></msqrt>", "\\sqrt{x^2}"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "\\sqrt[3]{x}"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>10</mn></msubsup>", "x_i^{10}"),
        (
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><msub><mi>α</mi><mi>i</mi></msub>",
            "\\sum_{i = 1}^n\\alpha_i",
        ),
        ("<mi>sin</mi><mi>x</mi><mo>≤</mo><mn>1</mn><mo>&lt;</mo><mi>∞</mi>", "\\sin x \\leq 1 < \\infty"),
        ("<mover><mi>x</mi><mo>¯</mo></mover><mover><mi>v</mi><mo>→</mo></mover>", "\\bar{x}\\vec{v}"),
        (
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr></mtable>",
            "\\begin{matrix}1 & 0 \\\\ 0 & 1\\end{matrix}",
        ),
        ("<mfenced open='[' close=')'><mi>a</mi><mi>b</mi></mfenced>", "\\left[a,b\\right)"),
        ("<mi mathvariant='bold'>v</mi><mi>ℝ</mi><mtext>if so</mtext>", "\\mathbf{v}\\mathbb{R}\\text{if so}"),
        ("<mi>f</mi><mo>\u2061</mo><mo>(</mo><mi>x</mi><mo>)</mo>", "f(x)"),
        ("<munknown><mi>x</mi></munknown><msup><mi>y</mi></msup>", "xy"),
    ],
)
def test_mathml_becomes_latex(mathml: str, latex: str) -> None:
    assert text_of(f"<math>{mathml}</math>") == f"${latex}$"


def test_images_become_media_with_resolved_addresses() -> None:
    done = mapped(page('<p>see <img src="../img/a.png" width="30" height="40px" alt=" A &amp; B "> here</p>'))
    assert done.batch.column("text")[0].as_py() == f"# Top\n\nsee {MEDIUM_CHAR} here"
    (medium,) = media_of(done)
    assert (medium["kind"], medium["uri"]) == ("image", "https://site.example/docs/img/a.png")
    assert (medium["width"], medium["height"]) == (30, 40)
    assert [(a["role"], a["text"]) for a in medium["annotations"]] == [("alt", "A & B")]
    assert done.cut_chars["marks"].tolist() == [-len("# ") - 1]


def test_images_may_be_dropped() -> None:
    done = mapped(page("<p>see <img src=a.png alt=A> here</p>"), ExtractHtml(images="drop"))
    assert done.batch.column("text")[0].as_py() == "# Top\n\nsee here"
    assert media_of(done) == []


@pytest.mark.parametrize(
    ("image", "uri"),
    [
        ("src=a.png", "https://site.example/docs/guide/a.png"),
        ("src=//cdn.example/a.png", "https://cdn.example/a.png"),
        ("src='data:image/gif;base64,R0lGODlh' data-src=b.png", "https://site.example/docs/guide/b.png"),
        ("srcset='c.png 1x, d.png 2x'", "https://site.example/docs/guide/c.png"),
        ("src=a.png width=1 height=1", None),
        ("src=a.png height=2", None),
        ("src=javascript:alert(1)", None),
        ("src=file:///etc/passwd", None),
        ("src='http://[bad'", None),
        (f"src={'a' * 3000}", None),
        ("alt='no source'", None),
    ],
)
def test_which_addresses_become_media(image: str, uri: str | None) -> None:
    done = mapped(page(f"<p>x<img {image}></p>"))
    assert [m["uri"] for m in media_of(done)] == ([uri] if uri else [])
    assert done.batch.column("text")[0].as_py().count(MEDIUM_CHAR) == (uri is not None)


def test_base_and_missing_page_address() -> None:
    based = mapped(page("<img src=a.png>", "<base href='/static/'>"))
    assert media_of(based)[0]["uri"] == "https://site.example/static/a.png"
    unknown = mapped(page("<img src=../a.png>"), url=None)
    assert media_of(unknown)[0]["uri"] == "../a.png"


def _png(width: int, height: int, size: int = 60) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + bytes(size)


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        ("image/png;base64," + base64.b64encode(_png(5, 7)).decode(), True),
        ("image/png;base64," + base64.b64encode(_png(1, 1)).decode(), False),
        ("image/png;base64," + base64.b64encode(b"GIF89a" + bytes(9)).decode(), False),
        ("image/png;base64,!!!!", False),
        ("image/svg+xml;base64," + base64.b64encode(b"<svg/>").decode(), False),
        ("image/png," + "abc", False),
        ("image/png;base64," + base64.b64encode(_png(5, 7, MAX_DATA_BYTES)).decode(), False),
    ],
)
def test_small_sound_data_images_become_bytes(data: str, kept: bool) -> None:
    done = mapped(page(f"<p>x<img src='data:{data}'></p>"))
    assert done.batch.column("text")[0].as_py().count(MEDIUM_CHAR) == kept
    found = media_of(done)
    assert len(found) == kept
    for medium in found:
        raw = _png(5, 7)
        assert (medium["bytes"], medium["sha256"], medium["mime"]) == (raw, sha256(raw).digest(), "image/png")
        assert (medium["width"], medium["height"]) == (5, 7)


@pytest.mark.parametrize(
    "chrome",
    [
        "<div class='breadcrumb'><a href='/'>gone</a> here</div>",
        "<div role='navigation'><a href='/'>gone</a></div>",
        "<div id='sidebar'><a href='/'>gone</a> text</div>",
        "<ul class='menu'><li><a href='/'>gone</a></ul>",
        "<p><a href='a' rel='next'>gone</a> | <a href='b' rel='prev'>gone</a></p>",
        "<div class='toc'><ul><li><a href='#a'>gone</a><li><a href='#b'>gone</a><li><a href='#c'>gone</a></ul></div>",
        "<ul><li><a href='#a'>gone one</a><li><a href='#b'>gone two</a><li><a href='#c'>gone three</a></ul>",
        "<table class='header'><tr><td><a href='a'>gone</a><td><a href='b'>gone</a><td><a href='c'>gone</a></table>",
        "<p class='sr-only'>gone</p>",
        "<aside class='related'><a href='/'>gone</a></aside>",
    ],
)
def test_boilerplate_goes_within_the_main_content(chrome: str) -> None:
    text = text_of(f"{chrome}<p>{'The miller grinds the corn. ' * 20}</p>")
    assert "gone" not in text
    assert text.startswith("The miller")


@pytest.mark.parametrize(
    "content",
    [
        "<section id='cookies'><h2>Cookies</h2><p>kept: what cookies are</p></section>",
        "<div class='footnotes'><p>kept</p></div>",
        "<div class='admonition tip'><p>kept</p></div>",
        "<header><h2>kept</h2></header>",
        "<div id='question-header'><h1><a href='/q/1'>kept</a></h1></div>",
        "<ul><li><a href='x'>kept</a> with words about it<li><a href='y'>kept</a> as well</ul>",
    ],
)
def test_content_with_suspicious_names_stays(content: str) -> None:
    assert "kept" in text_of(f"{content}<p>{'The miller grinds the corn. ' * 20}</p>").lower()


def test_pages_without_semantic_tags_lose_their_chrome() -> None:
    prose = "The miller grinds the corn in the morning and rests in the evening. " * 8
    body = (
        "<div id='header'><h1>Mills</h1></div><div id='menu'><a href='/'>one</a> <a href='/b'>two</a></div>"
        f"<div id='content'><p>{prose}</p></div><div id='footer'>All rights reserved</div>"
    )
    text = mapped(f"<html><body>{body}</body></html>").batch.column("text")[0].as_py()
    assert text == f"# Mills\n\n{prose.strip()}"


def test_notes_of_the_generator_at_the_end_go() -> None:
    prose = "<p>The miller grinds the corn.</p>" * 5
    html = f"<html><body>{prose}<hr><p>Generated by mill 3 on Monday</p><p>v. 3</p></body></html>"
    text = mapped(html).batch.column("text")[0].as_py()
    assert text.endswith("corn.")


def test_logos_above_a_page_that_marks_no_content_go() -> None:
    html = "<html><body><p><a href='/'><img src=logo.png></a></p><h1>Mill</h1><p>a <img src=mill.png></p></body></html>"
    assert mapped(html).batch.column("text")[0].as_py() == f"# Mill\n\na {MEDIUM_CHAR}"
    assert [m["uri"] for m in media_of(mapped(html))] == ["https://site.example/docs/guide/mill.png"]
    alone = mapped("<html><body><img src=a.png></body></html>")
    assert alone.batch.column("text")[0].as_py() == MEDIUM_CHAR


def test_an_encyclopaedia_page() -> None:
    prose = "The river rises in the hills and falls into the sea. " * 5
    html = (
        "<html><body><div id=content role=main><h1>River</h1><div id=bodyContent><div id=siteSub>From the site</div>"
        "<table class=infobox><tr><th colspan=2>River<tr><th>Length<td>10 km<tr><th>Source<td>Hill</table>"
        f"<p>{prose}<sup class=reference><a href='#n'>[1]</a></sup></p><div class=toc role=navigation><b>In</b>"
        "<ul><li><a href='#h'>History</a></ul></div><h2>History<i class=mw-editsection>[<a href=e>edit</a>]</i></h2>"
        f"<p>{prose}</p><ol class=references><li id=n><span class=mw-cite-backlink><a href='#r'>^</a></span> Doe, 2001."
        "</ol><div class=navbox><a href=x>Rivers</a></div></div><div id=catlinks class=catlinks><a href=c>In</a>"
        "</div></div><div id=mw-panel><ul><li><a href=/>Main page</a></ul></div></body></html>"
    )
    table = "| River |  |\n| --- | --- |\n| Length | 10 km |\n| Source | Hill |"
    expected = f"# River\n\n{table}\n\n{prose}[1]\n\n## History\n\n{prose.strip()}\n\n1. Doe, 2001."
    assert mapped(html).batch.column("text")[0].as_py() == expected

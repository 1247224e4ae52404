"""What the HTML child runs: one page in, its text and media out (`html_answer` has both forms).

Loaded in the killable child only, so that it imports little. resiliparse (Apache-2.0, on lexbor) parses as browsers do
and writes the tree as sound HTML; the rest is one pass over its tags, which costs a third of what visiting the nodes
from Python does.
"""

import gc
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from resiliparse.parse.html import HTMLTree

from gristmill.stages.text.html_answer import Answer, packed_answer, unpacked_request
from gristmill.stages.text.html_blocks import MEDIUM_CHAR, REPLACEMENT_CHAR, Rendered, render
from gristmill.stages.text.html_select import selected
from gristmill.stages.text.html_tokens import Tokens
from gristmill.stages.text.html_walk import Walk

if TYPE_CHECKING:
    from resiliparse.parse.html.node import (  # pyright: ignore[reportMissingModuleSource]
        DocumentNode,
        ElementNode,
    )

_RAW = "script, style, iframe, noembed, noframes"
"""Elements whose content is no markup and for no eyes: serialised it would be read as markup. None of them nests."""

_VERBATIM = "xmp, plaintext"


def make(init: bytes) -> Callable[[bytes], bytes]:
    """The function of the child; `init` is not used."""
    return answer


def answer(request: bytes) -> bytes:
    """A packed request to a packed answer."""
    page, url, keep_images = unpacked_request(request)
    sound = sound_page(page)
    del page
    done = extracted(sound, url, keep_images)
    return packed_answer(Answer(done.text, done.media, done.written))


def extract(page: bytes) -> bytes:
    """The text alone of a page (UTF-8), with U+FFFC for its images."""
    done = extracted(sound_page(page.decode("utf-8", "replace")), "", True)
    return done.text.encode("utf-8", "replace")


def extracted(sound: "SoundPage", url: str, keep_images: bool) -> Rendered:
    """Text, media and count of written characters of a page."""
    walk = Walk(Tokens(sound.html), _joined(url, sound.base), keep_images, sound.has_tex_scripts)
    # No cycles are made, and a large page makes millions of tuples that the collector would visit again and again.
    gc.disable()
    try:
        walk.run()
        return render(selected(walk.blocks, walk.spans))
    finally:
        gc.enable()


class SoundPage(NamedTuple):
    """The body as sound HTML without U+FFFC, the page's <base href>, and whether scripts hold its formulas."""

    html: str
    base: str
    has_tex_scripts: bool


def sound_page(page: str) -> SoundPage:
    """Parse and serialise; the tree, ten times the page, is gone on return."""
    tree = HTMLTree.parse(page)
    document = tree.document
    if document is None:
        return SoundPage("", "", False)
    has_tex = _formula_scripts(document) if "math/" in page else False
    for node in document.query_selector_all(_RAW):
        node.decompose()
    for node in document.query_selector_all(_VERBATIM):
        _renamed(document, node, "pre", {})
    base = document.query_selector("base[href]") if "<base" in page or "<BASE" in page else None
    href = (base.get_attribute("href") or "") if base is not None else ""
    body = tree.body
    html = body.outer_html if body is not None else document.html
    return SoundPage(html.replace(MEDIUM_CHAR, REPLACEMENT_CHAR), href, has_tex)


def _formula_scripts(document: "DocumentNode") -> bool:
    """Scripts of MathJax 2 (type math/tex, math/asciimath) become elements that the walk sees."""
    found = False
    for node in document.query_selector_all('script[type^="math/"]'):
        kind = node.get_attribute("type") or ""
        if kind.startswith(("math/tex", "math/asciimath")):
            _renamed(document, node, "x-tex", {"type": kind})
            found = True
    return found


def _renamed(document: "DocumentNode", node: "ElementNode", name: str, attributes: Mapping[str, str]) -> None:
    """Another element with the text of this one in its place: text that is no markup would else be read as such."""
    made = document.create_element(name)
    for key, value in attributes.items():
        made.set_attribute(key, value)
    made.text_content = node.text_content or ""
    node.replace_with(made)


def _joined(url: str, base: str) -> str:
    """The address that references of the page are resolved against."""
    try:
        return urljoin(url, base) if url and base else url
    except ValueError:
        return url

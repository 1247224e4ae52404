"""Small pages for the tests of extraction, and the one call that they need."""

from typing import Any

import pyarrow as pa

from gristmill.manifests.schema import document_batch
from gristmill.stages.protocol import Mapped
from gristmill.stages.text.extract_html import ExtractHtml

URL = "https://site.example/docs/guide/page.html"


def page(body: str, head: str = "") -> str:
    """A page whose main content is `body`, after a heading, between a menu and a footer."""
    return (
        f"<!doctype html><html><head><title>t</title>{head}</head><body><nav><a href='/'>menu</a></nav>"
        f"<main><h1>Top</h1>{body}</main><footer>imprint</footer></body></html>"
    )


def mapped(html: str, stage: ExtractHtml | None = None, url: str | None = URL) -> Mapped:
    """What the stage makes of one page."""
    columns = {"text": pa.array([html], pa.large_string()), "url": pa.array([url], pa.string())}
    return (stage or ExtractHtml()).transform(document_batch(columns))


def text_of(body: str) -> str:
    """The text of `page(body)` below its heading."""
    text = mapped(page(body)).batch.column("text")[0].as_py()
    assert text == "# Top" or text.startswith("# Top\n\n"), text
    return text.removeprefix("# Top").removeprefix("\n\n")


def media_of(done: Mapped) -> list[dict[str, Any]]:
    """The media of the one row, without the fields that are null."""
    found = done.batch.column("media")[0].as_py() or []
    return [{k: v for k, v in medium.items() if v is not None} for medium in found]

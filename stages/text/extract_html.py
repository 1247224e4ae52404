"""HTML to the text and images of its main content, in the killable child (parser: resiliparse, on lexbor).

Columns in: `text` (a page as it came, decoded), `media`, `url`. Columns out: `text`, `media`. A row is taken for HTML
when its text begins, after white space, with a tag, a comment or `<!doctype`, or has `<!doctype html` or `<html` within
its first 1,024 characters (about what browsers sniff); any other row, and a row that carries media, passes unchanged,
so that plain text may share a dataset with pages.

What is kept: the main content, without menus, breadcrumbs, side bars, footers, tables of contents, forms
(`html_select`). Its text is made of blocks with an empty line between; white space within a block is one space:

    heading             `# ` to `###### `, by its level
    paragraph           as it reads; <br> is a line break; dt, dd, quotations and captions are paragraphs
    list item           `- `, or `1. ` with its number in the list, two spaces a level of nesting; a line each
    <pre>               between fences ``` (longer where the code has some), white space exact, line numbers left out,
                        blank lines around left out; the language behind the fence where a class names it
    table of data       a row a line, `| a | b |`, bars within cells as `\\|`, a rule `| --- |` below a header row;
                        a table that lays out a page (`html_tables` says when) is its blocks
    formula             `$...$`, on a line of its own `$$...$$`: LaTeX of MathJax scripts, KaTeX, MathML (alttext,
                        annotation, else `html_math`) and of images of formulas; `\\( \\)`, `\\[ \\]`, `$$` in the text
                        stay as they stand; AsciiMath stays in backquotes
    image               U+FFFC, its reference as a medium (`html_images`), its alternative text as an annotation of
                        role `alt`
    <sup>               `^` before a power (10^6, x^2); all other inline elements are their text

Cut: `markup`, the characters of the page less those of it that the text has; `marks`, negative: the characters of the
text that the stage wrote itself (fences, bars, list marks, delimiters of formulas, U+FFFC).
Drops: `no_main_content` (nothing is left). Quarantines: `html_too_large` (never given to the child), `html_timeout`,
`html_memory`, `html_died`, `html_error` (the child refused this page, or answered what it must not). The child's
verdicts of time, memory and death are external effects (`manifests.effects`): recorded, and replayed where asked.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.child import ChildFailure, ChildLimits
from gristmill.manifests.effects import ask_child
from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import DOCUMENT
from gristmill.stages.columns import char_counts, with_column, with_rows
from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.params import param
from gristmill.stages.protocol import Mapped, Reason, RowVerdict
from gristmill.stages.text.html_answer import Answer, BadAnswerError, checked_answer, packed_request

CHILD_TARGET = "gristmill.stages.text.html_child:make"
CHILD_MEMORY_BYTES = 2 << 30
MAX_TEXT_BYTES = 256 << 20
MAX_SECONDS = 86_400

_SNIFFED_CHARS = 1024
_OPENS_WITH_TAG = re.compile(r"[\s\ufeff]*<(?:!--|!doctype\b|\?xml\b|[a-z][a-z0-9]*(?:-[a-z0-9]+)*[\s/>])", re.I)
_HAS_ROOT = re.compile(r"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_FAILURE_REASONS = {
    "timeout": "html_timeout",
    "memory": "html_memory",
    "died": "html_died",
    "error": "html_error",
    "output_too_large": "html_error",
}


@dataclass(frozen=True)
class ExtractHtml:
    """Turn HTML pages into the text and images of their main content; what is not HTML passes unchanged."""

    name: ClassVar[str] = "extract_html"
    version: ClassVar[int] = 4

    max_html_bytes: int = param(64 << 20, "quarantine a larger page, in UTF-8 bytes, without parsing it")
    max_seconds: float = param(30.0, "quarantine a page that takes longer, wall clock seconds")

    images: Literal["keep", "drop"] = param(
        "keep", "images become media (references, or small data images), or nothing"
    )

    def __post_init__(self) -> None:
        if self.max_html_bytes < 1:
            raise UsageError("must be positive", "stage extract_html.max_html_bytes", self.max_html_bytes)
        if not 0 < self.max_seconds <= MAX_SECONDS:
            remedy = f"give seconds above 0, at most {MAX_SECONDS}"
            raise UsageError("no time limit", "stage extract_html.max_seconds", self.max_seconds, remedy)
        if self.images not in ("keep", "drop"):
            raise UsageError("must be keep or drop", "stage extract_html.images", self.images)

    def reasons(self) -> tuple[Reason, ...]:
        """The cut, the drop, the quarantines."""
        return (
            Reason("markup", "drop", "characters of the page that are not in its text"),
            Reason("marks", "drop", "negative: characters of the text that the stage wrote itself"),
            Reason("no_main_content", "drop", "the page has no main content"),
            Reason("html_too_large", "quarantine", "bytes above max_html_bytes"),
            Reason("html_timeout", "quarantine", "parsing took over max_seconds"),
            Reason("html_memory", "quarantine", f"parsing took over {CHILD_MEMORY_BYTES >> 30} GiB"),
            Reason("html_died", "quarantine", "the parser's process died"),
            Reason("html_error", "quarantine", "the parser refused the page; detail says why"),
        )

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The batch with text and media of each page; verdicts for those without."""
        text = batch.column("text")
        pages = _page_rows(text, batch.column("media"))
        data, offsets = text_buffers(text)
        bounds = offsets.tolist()
        too_large = [row for row in pages if bounds[row + 1] - bounds[row] > self.max_html_bytes]
        verdicts = [self._too_large(row, bounds[row + 1] - bounds[row]) for row in too_large]
        asked = sorted(set(pages) - set(too_large))
        answers = self._ask(asked, data.data, bounds, batch.column("url"))
        verdicts += [v for row, a in zip(asked, answers, strict=True) if (v := self._verdict(row, a))]
        found = {row: a for row, a in zip(asked, answers, strict=True) if isinstance(a, Answer)}
        if not found:
            return Mapped(batch, tuple(verdicts))
        return _mapped(
            batch, verdicts, with_rows(text, {row: answer.text.encode() for row, answer in found.items()}), found
        )

    def _ask(
        self, rows: Sequence[int], data: memoryview, bounds: Sequence[int], url: pa.Array
    ) -> list[Answer | ChildFailure]:
        limits = ChildLimits(self.max_seconds, CHILD_MEMORY_BYTES, MAX_TEXT_BYTES)
        keep_images = self.images == "keep"
        requests = [packed_request(data[bounds[r] : bounds[r + 1]], url[r].as_py() or "", keep_images) for r in rows]
        return [_checked(answer) for answer in ask_child(CHILD_TARGET, limits, requests)]

    def _too_large(self, row: int, size: int) -> RowVerdict:
        return RowVerdict(row, "quarantine", "html_too_large", "html_bytes", size, self.max_html_bytes)

    def _verdict(self, row: int, answer: Answer | ChildFailure) -> RowVerdict | None:
        if isinstance(answer, Answer):
            empty = not answer.text.strip()
            return RowVerdict(row, "drop", "no_main_content", "text_bytes", 0, 1) if empty else None
        reason = _FAILURE_REASONS[answer.kind]
        limit = self.max_seconds if answer.kind == "timeout" else float("nan")
        return RowVerdict(row, "quarantine", reason, limit=limit, detail=answer.detail)


def _checked(answer: bytes | ChildFailure) -> Answer | ChildFailure:
    if isinstance(answer, ChildFailure):
        return answer
    try:
        return checked_answer(answer)
    except BadAnswerError as error:
        return ChildFailure("error", f"the child's answer: {error}")


def _mapped(batch: pa.RecordBatch, verdicts: list[RowVerdict], text: pa.Array, found: Mapping[int, Answer]) -> Mapped:
    after = with_column(with_column(batch, "text", text), "media", _media(batch.column("media"), found))
    marks = np.zeros(batch.num_rows, dtype=np.int64)
    for row, answer in found.items():
        marks[row] = -answer.written
    markup = char_counts(batch.column("text")) - char_counts(text) - marks
    return Mapped(after, tuple(verdicts), {"markup": markup, "marks": marks})


def _media(media: pa.Array, found: Mapping[int, Answer]) -> pa.Array:
    """The column with the media of the pages that have some; the other rows as they are."""
    pictured = {row: answer.media for row, answer in found.items() if answer.media}
    if not pictured:
        return media
    made = pa.array([[_medium(m) for m in ms] for ms in pictured.values()], DOCUMENT.field("media").type)
    place = np.arange(len(media), dtype=np.int64)
    place[list(pictured)] = len(media) + np.arange(len(pictured))
    return pa.concat_arrays([media, made]).take(pa.array(place))


def _medium(found: Mapping[str, Any]) -> dict[str, Any]:
    medium: dict[str, Any] = {"kind": "image", "width": found["width"], "height": found["height"]}
    if found["alt"]:
        medium["annotations"] = [{"id": "alt", "role": "alt", "text": found["alt"]}]
    if "data" not in found:
        return medium | {"uri": found["uri"]}
    return medium | {"mime": found["mime"], "bytes": found["data"], "sha256": sha256(found["data"]).digest()}


def looks_like_html(prefix: str) -> bool:
    """Whether a text that begins with these (at least 1,024, if it has them) characters is taken for HTML."""
    start = prefix[:_SNIFFED_CHARS]
    return bool(_OPENS_WITH_TAG.match(start) or _HAS_ROOT.search(start))


def _page_rows(text: pa.Array, media: pa.Array) -> list[int]:
    prefixes = pc.utf8_slice_codeunits(text, 0, _SNIFFED_CHARS).to_pylist()
    has_media = pc.fill_null(pc.greater(pc.list_value_length(media), 0), False).to_pylist()
    return [
        row
        for row, (prefix, pictured) in enumerate(zip(prefixes, has_media, strict=True))
        if not pictured and looks_like_html(prefix or "")
    ]

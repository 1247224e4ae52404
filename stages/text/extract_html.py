"""HTML to the text of its main content, by resiliparse in the killable child.

Columns in: `text` (a page as it came, decoded), `media`. Columns out: `text`. A row is taken for HTML when
its text begins, after white space, with a tag, a comment or `<!doctype`, or has `<!doctype html` or `<html`
within its first 1,024 characters (about what browsers sniff); any other row, and a row that carries media,
passes unchanged, so that plain text may share a dataset with pages.

Cut: `markup`, the characters of the page less those of the text. Drops: `no_main_content` (nothing is left).
Quarantines: `html_too_large` (never given to the child), `html_timeout`, `html_memory`, `html_died`,
`html_error`. The child's verdicts are external effects: they may differ on a slower machine.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.child import ChildFailure, ChildLimits, shared_child
from gristmill.manifests.errors import UsageError
from gristmill.stages.kernels.buffers import Bytes, Offsets, text_buffers
from gristmill.stages.params import param
from gristmill.stages.protocol import Mapped, Reason, RowVerdict

CHILD_TARGET = "gristmill.stages.text.html_child:make"
CHILD_MEMORY_BYTES = 2 << 30
MAX_TEXT_BYTES = 256 << 20

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
    """Turn HTML pages into the text of their main content; what is not HTML passes unchanged."""

    name: ClassVar[str] = "extract_html"
    version: ClassVar[int] = 1

    max_html_bytes: int = param(64 << 20, "quarantine a larger page, in UTF-8 bytes, without parsing it")
    max_seconds: float = param(30.0, "quarantine a page that takes longer, wall clock seconds")

    def __post_init__(self) -> None:
        if self.max_html_bytes < 1:
            raise UsageError("must be positive", "stage extract_html.max_html_bytes", self.max_html_bytes)
        if self.max_seconds <= 0:
            raise UsageError("must be positive", "stage extract_html.max_seconds", self.max_seconds)

    def reasons(self) -> tuple[Reason, ...]:
        """The cut, the drop, the quarantines."""
        return (
            Reason("markup", "drop", "characters of the page that are not in its text"),
            Reason("no_main_content", "drop", "the page has no main content"),
            Reason("html_too_large", "quarantine", "bytes above max_html_bytes"),
            Reason("html_timeout", "quarantine", "parsing took over max_seconds"),
            Reason("html_memory", "quarantine", f"parsing took over {CHILD_MEMORY_BYTES >> 30} GiB"),
            Reason("html_died", "quarantine", "the parser's process died"),
            Reason("html_error", "quarantine", "the parser refused the page; detail says why"),
        )

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The batch with the text of each page; verdicts for those without one."""
        text = batch.column("text")
        pages = _page_rows(text, batch.column("media"))
        data, offsets = text_buffers(text)
        view, bounds = data.data, offsets.tolist()
        too_large = [row for row in pages if bounds[row + 1] - bounds[row] > self.max_html_bytes]
        verdicts = [self._too_large(row, bounds[row + 1] - bounds[row]) for row in too_large]
        asked = sorted(set(pages) - set(too_large))
        answers = self._ask([view[bounds[row] : bounds[row + 1]] for row in asked])
        verdicts += [v for row, a in zip(asked, answers, strict=True) if (v := self._verdict(row, a))]
        texts = {row: a for row, a in zip(asked, answers, strict=True) if isinstance(a, bytes)}
        if not texts:
            return Mapped(batch, tuple(verdicts))
        changed = _replaced(text, data, offsets, texts)
        index = batch.schema.get_field_index("text")
        after = batch.set_column(index, batch.schema.field(index), changed)
        return Mapped(after, tuple(verdicts), {"markup": _chars(text) - _chars(changed)})

    def _ask(self, pages: list[memoryview]) -> list[bytes | ChildFailure]:
        limits = ChildLimits(self.max_seconds, CHILD_MEMORY_BYTES, MAX_TEXT_BYTES)
        return shared_child(CHILD_TARGET, limits=limits).call_many(pages)

    def _too_large(self, row: int, size: int) -> RowVerdict:
        return RowVerdict(row, "quarantine", "html_too_large", "html_bytes", size, self.max_html_bytes)

    def _verdict(self, row: int, answer: bytes | ChildFailure) -> RowVerdict | None:
        if isinstance(answer, bytes):
            empty = not answer.strip()
            return RowVerdict(row, "drop", "no_main_content", "text_bytes", 0, 1) if empty else None
        reason = _FAILURE_REASONS[answer.kind]
        limit = self.max_seconds if answer.kind == "timeout" else float("nan")
        return RowVerdict(row, "quarantine", reason, limit=limit, detail=answer.detail)


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


def _replaced(text: pa.Array, data: Bytes, offsets: Offsets, texts: Mapping[int, bytes]) -> pa.Array:
    view, bounds = data.data, offsets.tolist()
    parts = [texts[i] if i in texts else view[bounds[i] : bounds[i + 1]] for i in range(len(text))]
    ends = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=ends[1:])
    valid = text.is_valid().buffers()[1] if text.null_count else None
    array = pa.LargeStringArray.from_buffers(len(parts), pa.py_buffer(ends), pa.py_buffer(b"".join(parts)), valid)
    # The answers come from a process that hostile input may have taken over.
    array.validate(full=True)
    return array


def _chars(text: pa.Array) -> npt.NDArray[np.int64]:
    return pc.fill_null(pc.utf8_length(text), 0).to_numpy(zero_copy_only=False).astype(np.int64)

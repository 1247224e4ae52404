"""Encyclopaedic pages and books: what is not their text is cut; what has little text, or is badly read, is dropped.

Columns in: `text`. Columns out: `text`, without the parts below, each counted under its reason.

| cut reason | what | where |
|---|---|---|
| front_matter, licence_block | Project Gutenberg's header and licence, copyright pages | `knowledge_front` |
| toc, index_lines | tables of contents, indexes | `knowledge_blocks` |
| references | lists of references; only when `cut` names them | `knowledge_blocks` |
| page_number, page_header | numbers, headers, footers of printed pages, digitizers' stamps | `pages` |
| ocr_debris | lines of which half of the tokens are junk, where MIN_OCR_JUNK_FRAC of all are | `kernels.page_lines` |

Measures of the text as it came, each 0 where it would divide by nothing:

| measure | what |
|---|---|
| toc_frac, index_frac, reference_frac, furniture_frac, front_frac | characters found of each kind, of all |
| junk_frac | junk tokens of all tokens (the kernel says what is junk; only ASCII tokens can be) |
| single_letter_frac | tokens that are one ASCII letter, of all tokens ("s p l i t") |
| hyphen_line_frac | lines that end within a word, of all lines that are not blank |
| chars_left | characters after cutting; NaN where nothing was cut |

A picture's place (U+FFFC) is never cut. Limits without a paper are ours, measured on the
books and manuals of the demo and on degraded copies of them (`tests/bench/bench_domain_rules.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.columns import char_counts, ratio
from gristmill.stages.kernels.buffers import Bytes, Offsets, text_buffers
from gristmill.stages.params import param
from gristmill.stages.protocol import Direction, Floats, Mapped, Reason, Rule
from gristmill.stages.text.knowledge_front import front_spans
from gristmill.stages.text.knowledge_words import known_lines
from gristmill.stages.text.pages_cut import (
    Span,
    around_media,
    count_chars,
    cut_and_judged,
    cut_spans,
    windows_of,
    without_overlaps,
)

_OURS = "ours, measured on the books and manuals of the demo"
_FRONT = ("front_matter", "licence_block")
_BLOCKS = ("toc", "index_lines", "references")
_FURNITURE = ("page_number", "page_header")
_DEBRIS = "ocr_debris"
_CUT_REASONS = (*_FRONT, *_BLOCKS, *_FURNITURE, _DEBRIS)
_MEASURED = {
    "toc_frac": ("toc",),
    "index_frac": ("index_lines",),
    "reference_frac": ("references",),
    "furniture_frac": _FURNITURE,
    "front_frac": _FRONT,
}
MIN_OCR_JUNK_FRAC = 0.05
"""Lines of junk are cut only where a twentieth of all tokens is junk. The demo's manuals, whose lines of code look like
junk, stay below 0.033."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class KnowledgeRules:
    """Cut contents, indexes, page furniture and front matter of books; drop what is mostly such, or badly read."""

    name: ClassVar[str] = "knowledge_rules"
    version: ClassVar[int] = 1

    max_toc_frac: float | None = param(0.5, "drop a text of which more is tables of contents; null turns a rule off")
    max_index_frac: float | None = param(0.5, "drop a text of which more is indexes")
    max_reference_frac: float | None = param(0.8, "drop a text of which more is lists of references")
    max_junk_frac: float | None = param(0.15, "junk tokens of all tokens")
    max_single_letter_frac: float | None = param(0.3, "tokens that are one letter, of all tokens")
    min_chars_left: int | None = param(200, "drop a text of which cutting left fewer characters")
    min_repeats: int = param(5, "page numbers in a chain, places of a page header, at least")
    cut: tuple[str, ...] = param(
        tuple(reason for reason in _CUT_REASONS if reason != "references"), "what is cut, by reason; add references"
    )

    def __post_init__(self) -> None:
        for rule in self.rules():
            if rule.limit < 0 or (rule.measure.endswith("_frac") and rule.limit > 1):
                side = "max" if rule.direction == "above" else "min"
                where = f"stage knowledge_rules.{side}_{rule.measure}"
                raise UsageError("a ratio between 0 and 1, or a count, is wanted", where, rule.limit)
        for reason in self.cut:
            if reason not in _CUT_REASONS:
                remedy = f"it cuts {', '.join(_CUT_REASONS)}"
                raise UsageError("nothing is cut for this reason", "stage knowledge_rules.cut", reason, remedy)
        if self.min_repeats < 3:
            raise UsageError("must be 3 or more", "stage knowledge_rules.min_repeats", self.min_repeats)

    def rules(self) -> tuple[Rule, ...]:
        """The rules that are on, in the order in which they are tried."""
        limits: tuple[tuple[str, Direction, float | None, str], ...] = (
            ("toc_frac", "above", self.max_toc_frac, "knowledge_toc_page"),
            ("index_frac", "above", self.max_index_frac, "knowledge_index_page"),
            ("reference_frac", "above", self.max_reference_frac, "knowledge_reference_page"),
            ("junk_frac", "above", self.max_junk_frac, "knowledge_ocr_junk"),
            ("single_letter_frac", "above", self.max_single_letter_frac, "knowledge_split_words"),
            ("chars_left", "below", self.min_chars_left, "knowledge_nothing_left"),
        )
        return tuple(
            Rule(measure, direction, float(limit), reason, _OURS)
            for measure, direction, limit, reason in limits
            if limit is not None
        )

    def reasons(self) -> tuple[Reason, ...]:
        """The cuts and the drops."""
        cuts = tuple(Reason(reason, "drop", "cut from the text; the module says what it is") for reason in _CUT_REASONS)
        drops = tuple(Reason(r.reason, "drop", f"{r.measure} is {r.direction} the limit") for r in self.rules())
        return cuts + drops

    def prepare(self) -> None:
        """Compile the kernels into this machine's cache, once on the driver."""
        self.measure(pa.RecordBatch.from_pydict({"text": ["CONTENTS"]}))

    def measure(self, batch: pa.RecordBatch) -> Mapping[str, Floats]:
        """All measures of the table above, as long as the batch."""
        return self._apply(batch.column("text"))[2]

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The batch without what is cut; verdicts by the rules."""
        return cut_and_judged(batch, self._apply, self.rules())

    def _apply(self, text: pa.Array) -> tuple[pa.Array, Mapping[str, Ints], dict[str, Floats]]:
        from gristmill.stages.kernels.page_lines import COUNTS

        data, offsets = text_buffers(text)
        spans, counts = self._find(data, offsets)
        chars = char_counts(text)
        found = {reason: np.zeros(len(text), np.int64) for reason in _CUT_REASONS}
        for span in spans:
            found[span.reason][span.row] += count_chars(data, span.start, span.end)
        count = {name: counts[:, column].astype(np.float64) for column, name in enumerate(COUNTS)}
        measures = {
            name: ratio(sum((found[r] for r in reasons), np.zeros(len(text), np.int64)), chars)
            for name, reasons in _MEASURED.items()
        }
        measures["junk_frac"] = ratio(count["junk_tokens"], count["tokens"])
        measures["single_letter_frac"] = ratio(count["single_letters"], count["tokens"])
        measures["hyphen_line_frac"] = ratio(count["hyphen_lines"], count["lines"])
        spans = _cuttable(data, spans, self.cut, measures["junk_frac"])
        after, cut = cut_spans(text, data, offsets, spans, _CUT_REASONS)
        gone = sum(cut.values(), np.zeros(len(text), np.int64))
        measures["chars_left"] = np.where(gone > 0, chars - gone, np.nan)
        return after, cut, measures

    def _find(self, data: Bytes, offsets: Offsets) -> tuple[list[Span], Ints]:
        """Spans of every kind, none overlapping, and the kernel's counts (rows, len(COUNTS))."""
        from gristmill.stages.kernels.page_lines import COUNTS, JUNK, scan_windows
        from gristmill.stages.text.knowledge_blocks import block_spans
        from gristmill.stages.text.pages import furniture_spans, marks_of

        counts = np.zeros((len(offsets) - 1, len(COUNTS)), np.int64)
        spans: list[Span] = []
        for row in np.flatnonzero(np.diff(offsets)).tolist():
            spans += front_spans(data, int(offsets[row]), int(offsets[row + 1]), row)
        debris: list[Span] = []
        for windows in windows_of(data, offsets):
            scan = scan_windows(data, windows.starts, windows.ends, known_lines(), self.min_repeats)
            np.add.at(counts, windows.rows, scan.counts)
            spans += block_spans(data, windows, scan) + furniture_spans(data, windows, scan, self.min_repeats)
            debris += [Span(int(windows.rows[m[0]]), m[1], m[2], _DEBRIS) for m in marks_of(scan, JUNK).tolist()]
        return without_overlaps(spans + debris), counts


def _cuttable(data: Bytes, spans: Sequence[Span], reasons: Sequence[str], junk_frac: Floats) -> list[Span]:
    """The spans that are to be cut, without the places of pictures."""
    is_ocr = junk_frac >= MIN_OCR_JUNK_FRAC
    chosen = [s for s in spans if s.reason in reasons and (s.reason != _DEBRIS or is_ocr[s.row])]
    return [piece for span in chosen for piece in around_media(data, span)]

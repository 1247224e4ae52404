"""Long documents that repeat sections of their own: a licence at each chapter, a table or page that stands twice.

Columns in: `text`. Column out: `text` without every run of at least `min_words` words that stands earlier in the same
text, without overlap; the first place is kept. Words are those of `kernels.words`, with the marks that stand at them
(`kernels.windows_units`); a run must be equal in all but white space. What goes are whole words and the white space
behind them, so nothing is cut inside a word or character; a run never goes over a medium (U+FFFC), which stays. A text
that repeats a phrase without end keeps its first `min_words` words, up to the end of the phrase.

Measure: `repeated_section_frac`, characters cut of all of them, in [0, 1]. Texts of fewer than `min_doc_chars`
characters are let alone. Deduplication over the corpus is `substring_dedup`, which counts in tokens.

The 50 comes from the usual length of 50 tokens (Lee et al. 2022, arXiv 2107.06499, section 4.2); 50 words are more.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.columns import char_counts, ratio, with_column, with_rows
from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.params import param
from gristmill.stages.protocol import Mapped, Reason

REPEATED = "repeated_section"


@dataclass(frozen=True)
class RepeatedSections:
    """Cut sections of a long document that stand in it a second time."""

    name: ClassVar[str] = "repeated_sections"
    version: ClassVar[int] = 1

    min_words: int = param(50, "shortest run that is cut, in words (Lee et al. 2022 take 50 tokens)")
    min_doc_chars: int = param(20_000, "look only at texts of at least so many characters (our choice)")

    def __post_init__(self) -> None:
        for name, least in (("min_words", 2), ("min_doc_chars", 0)):
            if not least <= getattr(self, name) <= 1 << 20:
                where = f"stage repeated_sections.{name}"
                raise UsageError(f"a number from {least} to {1 << 20} is wanted", where, getattr(self, name))

    def reasons(self) -> tuple[Reason, ...]:
        """The one reason, of cuts."""
        return (Reason(REPEATED, "drop", "stands earlier in the same text, equal but for white space"),)

    def prepare(self) -> None:
        """Compile the kernels into this machine's cache, once on the driver."""
        from gristmill.stages.kernels import windows_sections

        _ = windows_sections

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The batch with each section once."""
        text = batch.column("text")
        chars = char_counts(text)
        cut = np.zeros(len(text), np.int64)
        anew: dict[int, bytearray] = {}
        for row in np.flatnonzero(chars >= max(self.min_doc_chars, 2 * self.min_words)).tolist():
            made = self._shortened(text, row)
            if made is not None:
                anew[row], cut[row] = made
        measures = {"repeated_section_frac": ratio(cut, chars)}
        after = with_column(batch, "text", with_rows(text, anew)) if anew else batch
        return Mapped(after, cut_chars={REPEATED: cut}, measures=measures)

    def _shortened(self, text: pa.Array, row: int) -> tuple[bytearray, int] | None:
        """The text of a row anew and the characters cut, None where nothing is repeated."""
        from gristmill.stages.kernels.windows_sections import repeated_spans, without_spans

        data, offsets = text_buffers(text)
        own = data[offsets[row] : offsets[row + 1]]
        spans = repeated_spans(own, self.min_words)
        if not len(spans):
            return None
        return without_spans(own, spans)

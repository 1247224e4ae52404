"""RefinedWeb's line-wise corrections (Penedo et al. 2023, arXiv 2306.01116, section 3.2 and appendix G.2).

Columns in: `text`. Column out: `text` without the lines that go, the rest byte by byte. A line goes for the first of

| reason | the line |
|---|---|
| uppercase | is mainly of upper-case characters: above `max_upper_frac` of those that are not white space |
| numeric | is of digits alone, and `. , : / -` between them |
| counter | is a number and what it counts ("3 likes"), in the words of `boilerplate_words.COUNTED` |
| one_word | has one word |

and of a line of at most `max_navigation_words` words the navigational phrase is cut (`navigation`): one that it begins
with ("sign-in"), ends with ("Read more...") or holds ("items in cart"); the line goes when no letter is left. A text is
dropped when more than `max_cut_word_frac` of its words are cut (`too_many_cut_words`). Measures: `cut_word_frac`.

The paper gives the rules, the ten words and the 5 %; it gives one example of each phrase and no share of upper case:
0.5 is that of DCLM's reproduction (Li et al. 2024), the lists are ours. Deliberate choices: words are those of
`kernels.words`, so that a short line of Chinese is not one word; a line without a word ("* * *") stays, and so do blank
lines, which hold paragraphs apart, a line with the mark of a medium (U+FFFC), and code between fences of three
backticks or more, as `extract_html` writes it (`else:`, `True` and `42` are lines there). Code without fences is cut
like any other text: these are rules for prose from the web.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.columns import with_column
from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.params import param
from gristmill.stages.protocol import Mapped, Reason, RowVerdict

CUTS = {
    "uppercase": "lines mainly of upper-case characters",
    "numeric": "lines of digits alone",
    "counter": "lines that count likes, comments and the like",
    "one_word": "lines of one word",
    "navigation": "navigational phrases of short lines",
}


@dataclass(frozen=True)
class RefinedWebLines:
    """Cut lines that are capitals, numbers, counters, single words, navigation; drop texts mostly of them."""

    name: ClassVar[str] = "refinedweb_lines"
    version: ClassVar[int] = 1

    max_upper_frac: float = param(0.5, "cut a line with more upper case, of characters that are not white space")
    max_navigation_words: int = param(10, "look for navigational phrases in lines of at most so many words")
    max_cut_word_frac: float = param(0.05, "drop a text of whose words more than this share is cut; 1 keeps all")

    def __post_init__(self) -> None:
        for name in ("max_upper_frac", "max_cut_word_frac"):
            if not 0 <= getattr(self, name) <= 1:
                where = f"stage refinedweb_lines.{name}"
                raise UsageError("a ratio between 0 and 1 is wanted", where, getattr(self, name))
        if self.max_navigation_words < 0:
            where = "stage refinedweb_lines.max_navigation_words"
            raise UsageError("must not be negative", where, self.max_navigation_words)

    def reasons(self) -> tuple[Reason, ...]:
        """Cuts in the order in which they are tried, then the drop."""
        cuts = tuple(Reason(reason, "drop", doc) for reason, doc in CUTS.items())
        return (*cuts, Reason("too_many_cut_words", "drop", "cut words, of all, are above max_cut_word_frac"))

    def prepare(self) -> None:
        """Compile the kernel into this machine's cache, once on the driver."""
        from gristmill.stages.kernels import lines_refinedweb

        _ = lines_refinedweb

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The batch with corrected texts; verdicts for the rows that go."""
        from gristmill.stages.kernels.lines_refinedweb import COUNTS, correct
        from gristmill.stages.text.boilerplate_words import navigation_phrases

        text = batch.column("text")
        bounds = (self.max_upper_frac, self.max_navigation_words)
        data, offsets, counts = correct(*text_buffers(text), navigation_phrases(), *bounds)
        count = dict(zip(COUNTS, counts.T, strict=True))
        cut_frac = count["cut_words"] / np.maximum(count["words"], 1)
        verdicts = tuple(
            RowVerdict(row, "drop", "too_many_cut_words", "cut_word_frac", float(cut_frac[row]), self.max_cut_word_frac)
            for row in np.flatnonzero(cut_frac > self.max_cut_word_frac).tolist()
        )
        measures = {"cut_word_frac": cut_frac}
        if not any(count[reason].any() for reason in CUTS):
            return Mapped(batch, verdicts, measures=measures)
        after = pa.LargeStringArray.from_buffers(len(text), pa.py_buffer(offsets), pa.py_buffer(data))
        return Mapped(with_column(batch, "text", after), verdicts, {reason: count[reason] for reason in CUTS}, measures)

"""How much of a text is the frame of a web page rather than its content: navigation, rows of links, notices.

Columns in: `text`. Measures, in [0, 1], of the characters that are not white space (0 where there are none):
`notice_frac` in short lines with a phrase about rights, privacy, cookies, logging in (`boilerplate_words`, in 17
languages), `link_frac` in lines of links between separators (breadcrumbs, menus), `navigation_frac` in short labels
that follow one another, and `boilerplate_frac`, their sum; `kernels.lines_boilerplate` says what a line must be.
Drops: `boilerplate`, where `boilerplate_frac` is above `max_boilerplate_frac`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.params import param
from gristmill.stages.protocol import Floats, Rule


@dataclass(frozen=True)
class Boilerplate:
    """Drop texts that are mostly navigation, rows of links, and notices on cookies, rights and privacy."""

    name: ClassVar[str] = "boilerplate"
    version: ClassVar[int] = 1

    max_boilerplate_frac: float = param(0.5, "drop a text with more of its characters in such lines (our choice)")

    def __post_init__(self) -> None:
        if not 0 <= self.max_boilerplate_frac <= 1:
            where = "stage boilerplate.max_boilerplate_frac"
            raise UsageError("a ratio between 0 and 1 is wanted", where, self.max_boilerplate_frac)

    def rules(self) -> tuple[Rule, ...]:
        """The one rule."""
        return (Rule("boilerplate_frac", "above", self.max_boilerplate_frac, "boilerplate", "ours"),)

    def prepare(self) -> None:
        """Compile the kernel into this machine's cache, once on the driver."""
        self.measure(pa.RecordBatch.from_pydict({"text": [""]}))

    def measure(self, batch: pa.RecordBatch) -> Mapping[str, Floats]:
        """The four shares, as long as the batch."""
        from gristmill.stages.kernels.lines_boilerplate import count_boilerplate
        from gristmill.stages.text.boilerplate_words import notice_phrases

        counts = count_boilerplate(*text_buffers(batch.column("text")), notice_phrases())
        chars, notices, links, navigation = counts.T.astype(np.float64)
        whole = np.maximum(chars, 1.0)
        return {
            "notice_frac": notices / whole,
            "link_frac": links / whole,
            "navigation_frac": navigation / whole,
            "boilerplate_frac": (notices + links + navigation) / whole,
        }

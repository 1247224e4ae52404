"""Where tokenised documents may be cut: the column `breaks` of TOKENISED, from text and ids.

In: texts as they were encoded (without the characters that stand for media), their ids, the bytes of each id
(`manifests.token_bytes`), and where media stand among the ids; out: for each document of more than
BREAK_STRETCH_TOKENS tokens, in each stretch of so many, the best place to cut, the latest among equals.

Levels (`manifests.trainer_schema`), of a place in front of a token:

* BREAK_TOP: a line that is a heading begins: `# ` to `###### ` (`extract_html` writes these), \\part, \\chapter,
  \\section, \\subsection; in code instead a line that is not indented, behind a blank line;
* BREAK_PARAGRAPH: a line begins behind a blank line; BREAK_LINE: a line begins;
* BREAK_SENTENCE: behind `.`, `!`, `?` with space behind it, closing quotes or brackets between, and behind their wide
  forms and the danda;
* BREAK_TOKEN: any other place that is not inside a character.

A medium is held together with the paragraphs that touch it: from the begin of the paragraph directly in front of it,
blank lines between or not, to the blank line behind the paragraph directly behind it. A paragraph between two media is
that of the former. Within a hold there is no candidate; two marks say where it begins and ends.
A document whose ids do not add up to its bytes has neither.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.token_bytes import ByteLengths
from gristmill.manifests.token_engines import Ids
from gristmill.manifests.trainer_schema import BREAK_STRETCH_TOKENS

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Spans(NamedTuple):
    """Media of n documents: bounds int64[n + 1]; start, length: int64, tokens, ascending and apart in a document."""

    bounds: Ints
    start: Ints
    length: Ints

    @staticmethod
    def none(documents: int) -> "Spans":
        """Of documents without media."""
        return Spans(np.zeros(documents + 1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))


class Coded(NamedTuple):
    """Ids of n documents: offsets int64[n + 1] into ids, and the bytes of each id of the vocabulary."""

    ids: Ids
    offsets: Ints
    byte_lengths: ByteLengths


def any_long(offsets: Ints) -> bool:
    """Whether any of these documents has breaks at all."""
    return bool((np.diff(offsets) > BREAK_STRETCH_TOKENS).any())


def find_breaks(texts: pa.Array, coded: Coded, is_code: Bools, media: Spans) -> tuple[Ints, Ints]:
    """(int64[n] number of breaks of each document, int64 all breaks). Buffers are read in place."""
    from gristmill.pipeline.breaks_kernel import candidates, find_holds
    from gristmill.stages.kernels.buffers import text_buffers

    held = text_buffers(texts)
    holds = find_holds(held, tuple(coded), tuple(media)) if len(media.start) else tuple(Spans.none(len(is_code)))
    return candidates(held, tuple(coded), is_code, tuple(media), holds)

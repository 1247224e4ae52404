"""What a scorer sees of a document: windows of its text; and what fastText sees of a window: one normalised line.

Windows: a text of at most `window_bytes * max_windows` UTF-8 bytes is cut into equal parts that cover all of it; of a
longer one `max_windows` windows are seen, evenly spaced from its first byte to its last. Cuts fall between characters.
An empty or null text has no window. Memory is that of the windows, whatever the length of the text.

Normalisation (the same in training and in scoring): lower case; white space and control characters are spaces; a run
of digits is `0`; a run of punctuation and symbols is one token; each letter of a script without spaces is one token;
line breaks are one token. Since `_`, `<` and `>` are symbols, no text can hold fastText's own words `__label__...`
and `</s>`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.stages.kernels.buffers import Bytes, text_buffers

FEATURES_VERSION = 1
"""Raised when `normalised` changes: a model that was trained on other features is refused."""

LINE_TOKEN = "\u21b5"

_SOLO_SCRIPTS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Yi}"
# In RE2's syntax, which Arrow runs in linear time.
_PASSES = (
    (r"[\pZ\x00-\x09\x0b-\x1f\x7f-\x{9f}\x{feff}\x{fffc}]+", " "),
    (r"\pN+", " 0 "),
    (r"([^\pL\pM\pN \n]+)", r" \1 "),
    (rf"([{_SOLO_SCRIPTS}])", r" \1 "),
    (r" *\n[ \n]*", f" {LINE_TOKEN} "),
)


@dataclass(frozen=True)
class Windows:
    """How much of a text is looked at: `max_windows` windows of `window_bytes` UTF-8 bytes."""

    window_bytes: int = 4096
    max_windows: int = 8

    def bounds(self, size: int) -> list[tuple[int, int]]:
        """Half-open byte ranges of the windows of a text of `size` bytes, before they are moved to characters."""
        count = min(-(-size // self.window_bytes), self.max_windows)
        if size <= self.window_bytes * self.max_windows:
            cuts = [index * size // count for index in range(count + 1)]
            return list(pairwise(cuts))
        last = size - self.window_bytes
        starts = [index * last // max(count - 1, 1) for index in range(count)]
        return [(start, start + self.window_bytes) for start in starts]

    def of(self, text: pa.Array) -> tuple[list[str], npt.NDArray[np.int64]]:
        """The windows of all rows, in order, and the row of each."""
        data, offsets = text_buffers(text)
        pieces: list[str] = []
        rows: list[int] = []
        bounds = offsets.tolist()
        for row in range(len(text)):
            begin, size = bounds[row], bounds[row + 1] - bounds[row]
            for start, end in self.bounds(size) if size else ():
                pieces.append(_decoded(data[begin : begin + size], start, end))
                rows.append(row)
        return pieces, np.array(rows, dtype=np.int64)


def normalised(texts: Sequence[str]) -> list[str]:
    """One line of tokens, parted by single spaces, for each text; "" for one without tokens."""
    lines = pc.utf8_lower(pa.array(texts, pa.large_string()))
    for pattern, replacement in _PASSES:
        lines = pc.replace_substring_regex(lines, pattern, replacement)
    joined = pc.replace_substring_regex(lines, " +", " ")
    return pc.utf8_trim(joined, characters=f" {LINE_TOKEN}").to_pylist()


def _decoded(text: Bytes, start: int, end: int) -> str:
    """`text[start:end]`, both moved on to the next character that begins there or behind."""
    return text[_character_at(text, start) : _character_at(text, end)].tobytes().decode("utf-8", "replace")


def _character_at(text: Bytes, at: int) -> int:
    while at < len(text) and text[at] & 0xC0 == 0x80:
        at += 1
    return at

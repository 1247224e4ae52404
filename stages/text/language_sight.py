"""What of a text the language model is shown: windows of it as single lines, and prose alone on a second look."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.stages.kernels.buffers import Bytes, Offsets, text_buffers

# fastText stops reading at this word, so that a document could choose what is read of it.
_END_OF_LINE_WORD = "</s>"
_MAX_CHAR_BYTES = 4

_ASCII_LETTERS = dict.fromkeys(range(0x41, 0x5B), " ") | dict.fromkeys(range(0x61, 0x7B), " ")
# Sequences of ASCII with a digit, an underscore, a sign between letters, a lower-case letter before a full stop and
# another or before a capital: names in code, numbers, paths, formulas. Chinese without spaces is not ASCII and stays.
_CODE = r"[!-~]*(?:[0-9_\\]|[A-Za-z][!-&(-,/:-@\[-`{-~]+[A-Za-z]|[a-z][.][a-z]|[a-z][A-Z])[!-~]*"
_SIGNS = r"[\"#$%&*+/<=>@\[\]^_`{|}~\\()]+"


def sights(text: pa.Array, chars: int, windows: int) -> list[str]:
    """For each text a line of at most `chars` characters, in equal parts from `windows` places.

    One window is at the start; two are at start and end; more are spread evenly. A text that is short enough is seen
    whole; one that is null is "".
    """
    if windows == 1:
        heads: list[str | None] = pc.utf8_slice_codeunits(text, 0, chars).to_pylist()
        return [one_line(head or "") for head in heads]
    data, offsets = text_buffers(text)
    return [_sight(data, offsets, row, chars, windows) for row in range(len(offsets) - 1)]


def _sight(data: Bytes, offsets: Offsets, row: int, chars: int, windows: int) -> str:
    start, end = int(offsets[row]), int(offsets[row + 1])
    size = end - start
    if size <= chars:
        return one_line(_part(data, start, end, chars))
    each = max(chars // windows, 1)
    firsts = np.linspace(0, max(size - each, 0), windows).astype(np.int64).tolist()
    return " ".join(one_line(_part(data, start + first, end, each)) for first in firsts)


def _part(data: Bytes, start: int, end: int, chars: int) -> str:
    """Up to `chars` whole characters from the first that begins at or after `start`."""
    window = data[start : min(start + chars * _MAX_CHAR_BYTES, end)].tobytes()
    return window.decode("utf-8", "ignore")[:chars]


def one_line(text: str) -> str:
    """A text as the model takes it: without line feeds, and without the word that ends a line for it."""
    return text.replace("\n", " ").replace(_END_OF_LINE_WORD, " ")


def without_ascii(line: str) -> str:
    """A line without ASCII letters: what is left where another script is the text's own."""
    return line.translate(_ASCII_LETTERS)


def prose(lines: list[str]) -> list[str]:
    """The lines without what looks like code, numbers and formulas."""
    column = pa.array(lines, pa.large_string())
    for pattern in (_CODE, _SIGNS):
        # Arrow's own re2: its Python binding takes ten times as long for as many replacements.
        column = pc.replace_substring_regex(column, pattern, " ")
    return column.to_pylist()


def letters_of(lines: Sequence[str]) -> npt.NDArray[np.int64]:
    """Letters by script (n, len(SCRIPTS)) of each line."""
    from gristmill.stages.kernels.scripts import scan_scripts
    from gristmill.stages.kernels.stop_table import stop_table

    longest = max(map(len, lines), default=0)
    return scan_scripts(*text_buffers(pa.array(list(lines), pa.large_string())), longest, stop_table([]))[0]

"""What parts two runs between which no white space stands; without that they are one word ("foo(bar", "x|y", "a@b.c").

One symbol alone between two runs parts them

* before a letter, if it is a full stop, a hyphen, a dash, or one of `, : < > = /` or U+2026 ("end.Next", "well-known",
  "16-bit", "path/to"); a comma only behind a letter, too;
* between two digits, if it is a hyphen or a dash ("2023-06"); several hyphens part as one does;
* anywhere, if it is a sequence of full stops ("wait...what", "0..10");

and nothing does in an address. That is a chunk (what stands between white space) with `//` as the second symbol behind
its first run: "https://a.b/c-d" is one word, and of "[text](https://a/b)" none is. A letter is here also any character
beyond ASCII. The plain twin is in `words_plain`.
"""

import numpy as np

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.char_table import ALPHA
from gristmill.stages.kernels.jit import helper, inner
from gristmill.stages.kernels.segments import HYPHENS, MAX_SINGLE_SYMBOLS, SEPARATORS

_SEPARATORS = tuple(map(ord, SEPARATORS))
_HYPHENS = tuple(map(ord, HYPHENS))
_COMMA, _HYPHEN, _STOP, _SLASH = map(ord, ",-./")


@inner
def _is_letter(byte: int, flags: Bytes) -> bool:
    return byte >= 0x80 or np.int64(flags[byte]) & ALPHA != 0


@helper
def separates(point: int, repeats: int, before: int, after: int, flags: Bytes) -> bool:
    """Whether a symbol parts two runs, given the last byte of the one and the first of the other."""
    if point == _STOP and repeats > 1:
        return True
    if point not in _SEPARATORS or not (repeats == 1 or (point == _HYPHEN and repeats <= MAX_SINGLE_SYMBOLS)):
        return False
    if _is_letter(after, flags):
        return point != _COMMA or _is_letter(before, flags)
    return point in _HYPHENS and not _is_letter(before, flags)


@inner
def begins_address(runs: int, symbols: int, symbol: int, repeats: int) -> bool:
    """Whether a run begins the address, given the runs and symbols of its chunk before it, and the last symbol."""
    return runs == 1 and symbols == 2 and symbol == _SLASH and repeats == 2

"""What is to be known of each token, as bits of one byte. Helpers for the kernels over tokens."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.chunks_affix import decode
from gristmill.stages.kernels.chunks_tables import ALPHA, PUNCT, SENTENCE_END, WORDLIKE
from gristmill.stages.kernels.jit import helper

SPACED = 1
"""One U+0020 stands before it, and no token of white space."""
WHITE = 2
"""A token of white space stands before it."""
HAS_ALPHA = 4
"""It has an alphabetic character."""
HAS_WORDLIKE = 8
"""It has a character that datatrove does not call punctuation."""
ALL_PUNCT = 16
"""All its characters are of a category P: spaCy's `is_punct`."""
ENDS_SENTENCE = 32
"""It is one of the sentencizer's characters."""


class Tokens(NamedTuple):
    """Tokens in order: `starts` (int64, first byte), `sizes` (int32, bytes), `marks` (uint8, the bits above)."""

    starts: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int32]
    marks: npt.NDArray[np.uint8]


_ARRAYS = [types.Array(kind, 1, "C") for kind in (types.int64, types.int32, types.uint8)]
TOKENS = types.NamedTuple(_ARRAYS, Tokens)


@helper
def mark_tokens(data: Any, flags: Any, out: Tokens, n: int) -> None:
    """Add the bits of the first `n` tokens to those that say what stands before."""
    for i in range(n):
        at, end = out.starts[i], out.starts[i] + out.sizes[i]
        some, every, chars = 0, PUNCT, 0
        while at < end:
            point, at = decode(data, at, end)
            some |= flags[point]
            every &= flags[point]
            chars += 1
        out.marks[i] |= (
            (HAS_ALPHA if some & ALPHA else 0)
            | (HAS_WORDLIKE if some & WORDLIKE else 0)
            | (ALL_PUNCT if every & PUNCT else 0)
            | (ENDS_SENTENCE if chars == 1 and some & SENTENCE_END else 0)
        )

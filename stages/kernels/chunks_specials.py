"""spaCy's second look for special cases: those of several tokens, among the tokens of a whole text.

Every match of a pattern is found, also one over the space between two chunks. Longer ones go first, then the ones that
start first; a match counts only if no earlier one covers its first or its last token, whether that one counted or not.
One that counts and lies within a chunk is replaced by the special case's own tokens; one over a space changes nothing,
but it may have stood in the way of another.
"""

from typing import Any

from gristmill.stages.kernels.chunks_affix import find
from gristmill.stages.kernels.chunks_marks import SPACED, WHITE, Tokens
from gristmill.stages.kernels.chunks_tables import (
    ACCEPTS_AT,
    LAYOUT_AT,
    LAYOUT_STARTS_AT,
    PIECES,
    TRIE_AT,
    TRIE_WIDTH,
)
from gristmill.stages.kernels.jit import helper

MAX_PATTERN_TOKENS = 16
"""spaCy's longest has 11."""


@helper
def _match_from(data: Any, t: Any, out: Tokens, at: int, end: int, length: int) -> tuple[int, int]:
    """The special case that begins at token `at` and has most tokens, but fewer than `length`; its length, 0: none.

    A match needs no token of white space inside.
    """
    state, best, special = 0, 0, -1
    for i in range(at, min(end, at + length - 1)):
        if i > at and out.marks[i] & WHITE:
            break
        piece = find(data, out.starts[i], out.starts[i] + out.sizes[i], t, PIECES)
        if piece < 0:
            break
        state = t.numbers[t.numbers[TRIE_AT] + state * t.numbers[TRIE_WIDTH] + piece]
        if state < 0:
            break
        accepted = t.numbers[t.numbers[ACCEPTS_AT] + state]
        if accepted >= 0:
            best, special = i - at + 1, accepted
    return best, special


@helper
def _counts(data: Any, t: Any, out: Tokens, span: Any, length: int) -> bool:
    """Whether no match that goes before covers the first or the last token of the match of `length`
    tokens at `span[2]`."""
    first, end, at = span
    last = at + length - 1
    for other in range(max(first, at - MAX_PATTERN_TOKENS), last + 1):
        size, _ = _match_from(data, t, out, other, end, MAX_PATTERN_TOKENS + 1)
        while size > length or (size == length and other < at):
            if other <= at < other + size or other <= last < other + size:
                return False
            size, _ = _match_from(data, t, out, other, end, size)
    return True


@helper
def _is_whole(out: Tokens, at: int, length: int) -> bool:
    """Whether no space lies inside."""
    spaces = 0
    for i in range(at + 1, at + length):
        spaces += out.marks[i] & SPACED
    return spaces == 0


@helper
def _chosen(data: Any, t: Any, out: Tokens, span: Any) -> tuple[int, int]:
    """The match at token `span[2]` that counts and lies within a chunk: its tokens and special case; 0: none."""
    _, end, at = span
    length, special = _match_from(data, t, out, at, end, MAX_PATTERN_TOKENS + 1)
    while length > 0:
        if _is_whole(out, at, length) and _counts(data, t, out, span, length):
            return length, special
        length, special = _match_from(data, t, out, at, end, length)
    return 0, -1


@helper
def merge_specials(data: Any, t: Any, out: Tokens, first: int, end: int) -> int:
    """Replace, among the tokens `[first, end)` of a whole text, what counts; the new end. Tokens never outnumber
    bytes, so that there is room."""
    for at in range(first, end):
        if _chosen(data, t, out, (first, end, at))[0] > 0:
            return _rewrite(data, t, out, first, end, at)
    return end


@helper
def _rewrite(data: Any, t: Any, out: Tokens, first: int, end: int, at: int) -> int:
    """Like `merge_specials`, where the first match that counts is the one at token `at`."""
    old = Tokens(out.starts[first:end].copy(), out.sizes[first:end].copy(), out.marks[first:end].copy())
    n = at
    i, count = at - first, end - first
    while i < count:
        length, special = _chosen(data, t, old, (0, count, i))
        if length == 0:
            out.starts[n], out.sizes[n], out.marks[n] = old.starts[i], old.sizes[i], old.marks[i]
            n += 1
            i += 1
            continue
        start = old.starts[i]
        parts = t.numbers[LAYOUT_STARTS_AT] + special
        for part in range(t.numbers[parts], t.numbers[parts + 1]):
            size = t.numbers[t.numbers[LAYOUT_AT] + part]
            out.starts[n], out.sizes[n], out.marks[n] = start, size, 0
            if start == old.starts[i]:
                out.marks[n] = old.marks[i]
            start += size
            n += 1
        i += length
    return n

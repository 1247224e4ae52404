"""Text into the tokens of spaCy's English tokenizer, on Arrow's bytes and without spaCy.

White space cuts the text into chunks. A chunk is split by spaCy's loop (prefixes and suffixes come off until nothing
does or a special case is left; then special case, address, or infixes), and then, as in spaCy, the special cases that
consist of several tokens are looked for among the tokens of the whole span (`chunks_specials`). spaCy is the oracle in
the tests. Where it differs, on purpose:
* a chunk of more than MAX_CHUNK_BYTES is one token (spaCy's time grows with the square of such a chunk's length);
* "IS_ALPHA" is a token like any other: spaCy raises on the second text that holds it, and not on the first;
* octets of an address are ASCII digits.

Out: `chunks_marks.Tokens`. The concatenation of a text's tokens is the text without its white space.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Bytes, Offsets
from gristmill.stages.kernels.chunks_affix import decode, find, infix_end, prefix_end, suffix_start
from gristmill.stages.kernels.chunks_marks import SPACED, TOKENS, WHITE, Tokens, mark_tokens
from gristmill.stages.kernels.chunks_specials import merge_specials
from gristmill.stages.kernels.chunks_tables import (
    LAYOUT_AT,
    LAYOUT_STARTS_AT,
    SCAN,
    SPACE,
    SPECIALS,
    SPLIT_TABLES,
)
from gristmill.stages.kernels.chunks_url import is_url
from gristmill.stages.kernels.jit import BYTES, OFFSETS, helper, kernel

MAX_CHUNK_BYTES = 1 << 20

Data = Any
Starts = npt.NDArray[np.int64]

_STARTS = types.Array(types.int64, 1, "C")
_STOP = 0x2E
_BLANK = 0x20


@helper
def _put(out: Tokens, n: int, lo: int, hi: int) -> int:
    out.starts[n] = lo
    out.sizes[n] = hi - lo
    return n + 1


@helper
def _put_special(lo: int, special: int, t: Any, out: Tokens, n: int) -> int:
    starts = t.numbers[LAYOUT_STARTS_AT] + special
    for i in range(t.numbers[starts], t.numbers[starts + 1]):
        size = t.numbers[t.numbers[LAYOUT_AT] + i]
        n = _put(out, n, lo, lo + size)
        lo += size
    return n


@helper
def _split_middle(data: Data, lo: int, hi: int, t: Any, out: Tokens, n: int) -> int:
    """Put the tokens of what is left between prefixes and suffixes."""
    special = find(data, lo, hi, t, SPECIALS)
    if special >= 0:
        return _put_special(lo, special, t, out, n)
    has_stop = False
    first = hi
    for i in range(lo, hi):
        if data[i] >= 0x80 or t.flags[data[i]] & SCAN:
            first = min(first, i)
            has_stop = has_stop or data[i] == _STOP
    if has_stop and is_url(data, lo, hi, t.flags):
        return _put(out, n, lo, hi)
    at, start = first, lo
    while at < hi:
        point, behind = decode(data, at, hi)
        if t.flags[point] & SCAN:
            end = infix_end(data, lo, at, hi, t.flags)
            if end > at:
                # spaCy passes over an infix that stands at the very start.
                if at > lo:
                    n = _put(out, n, start, at) if at > start else n
                    n = _put(out, n, at, end)
                    start = end
                behind = end
        at = behind
    return _put(out, n, start, hi) if start < hi else n


@helper
def _split_chunk(data: Data, lo: int, hi: int, t: Any, out: Tokens, suffixes: Starts, n: int) -> int:
    """Put the tokens of the chunk `[lo, hi)`; `suffixes` is scratch, as long as the chunk."""
    end, kept = hi, 0
    while lo < hi and find(data, lo, hi, t, SPECIALS) < 0:
        prefix = prefix_end(data, lo, hi, t.flags)
        if lo < prefix < hi and find(data, prefix, hi, t, SPECIALS) >= 0:
            n = _put(out, n, lo, prefix)
            lo = prefix
            break
        suffix = suffix_start(data, prefix, hi, t)
        if lo < suffix < hi and find(data, lo, suffix, t, SPECIALS) >= 0:
            suffixes[kept] = suffix
            kept += 1
            hi = suffix
            break
        if prefix == lo and suffix == hi:
            break
        if prefix > lo:
            n = _put(out, n, lo, prefix)
            lo = prefix
        if suffix < hi:
            suffixes[kept] = suffix
            kept += 1
            hi = suffix
    if lo < hi:
        n = _split_middle(data, lo, hi, t, out, n)
    for i in range(kept - 1, -1, -1):
        n = _put(out, n, suffixes[i], suffixes[i - 1] if i > 0 else end)
    return n


@helper
def _chunk_end(data: Data, at: int, end: int, flags: Any) -> int:
    while at < end:
        point, behind = decode(data, at, end)
        if flags[point] & SPACE:
            break
        at = behind
    return at


@helper
def _space_end(data: Data, at: int, end: int, flags: Any) -> int:
    while at < end:
        point, behind = decode(data, at, end)
        if not flags[point] & SPACE:
            break
        at = behind
    return at


@helper
def _split_span(data: Data, at: int, end: int, t: Any, out: Tokens, suffixes: Starts, n: int) -> int:
    """Put the tokens of one span; the mark of each says what stands before it."""
    while at < end:
        lo = _space_end(data, at, end, t.flags)
        if lo == end:
            break
        hi = _chunk_end(data, lo, end, t.flags)
        first = n
        is_long = hi - lo > MAX_CHUNK_BYTES
        n = _put(out, n, lo, hi) if is_long else _split_chunk(data, lo, hi, t, out, suffixes, n)
        for i in range(first, n):
            out.marks[i] = 0
        if lo - at == 1 and data[at] == _BLANK:
            out.marks[first] = SPACED
        elif lo > at:
            out.marks[first] = WHITE
        at = hi
    return n


@kernel((BYTES, OFFSETS, OFFSETS, SPLIT_TABLES, TOKENS, _STARTS))
def _split_spans(data: Bytes, span_starts: Offsets, span_ends: Offsets, t: Any, out: Tokens, firsts: Starts) -> None:
    suffixes = np.empty(MAX_CHUNK_BYTES, dtype=np.int64)
    n = 0
    for span in range(len(span_starts)):
        firsts[span] = n
        end = _split_span(data, span_starts[span], span_ends[span], t, out, suffixes, n)
        n = merge_specials(data, t, out, n, end)
    firsts[len(span_starts)] = n
    mark_tokens(data, t.flags, out, n)


def split_spans(data: Bytes, span_starts: Offsets, span_ends: Offsets, t: Any) -> tuple[Tokens, Starts]:
    """The tokens of texts `data[span_starts[i]:span_ends[i]]`, and which are whose: `firsts` (int64, spans + 1).

    Takes 13 bytes for each byte of the spans while it runs, and gives back 13 for each token.
    """
    room = int(np.maximum(span_ends - span_starts, 0).sum())
    out = Tokens(np.empty(room, np.int64), np.empty(room, np.int32), np.empty(room, np.uint8))
    firsts = np.zeros(len(span_starts) + 1, dtype=np.int64)
    _split_spans(data, span_starts, span_ends, t, out, firsts)
    n = int(firsts[-1])
    return Tokens(out.starts[:n], out.sizes[:n], out.marks[:n]), firsts

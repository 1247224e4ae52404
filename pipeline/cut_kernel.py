"""Cutting as numba kernels: `pipeline.cut` has the rules, `pipeline.pack_plain` the twin.

Import this module only where it is used: it compiles (once, cached) on first call.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

from gristmill.manifests.trainer_schema import BREAK_LEVELS, HOLD_END, HOLD_START
from gristmill.pipeline.cut import WINDOW_DIVISOR

Ints = npt.NDArray[np.int64]

_LEVELS = BREAK_LEVELS
_HOLD_END, _HOLD_START = HOLD_END, HOLD_START
_DIVISOR = WINDOW_DIVISOR


@njit(cache=True)
def _above(values: Ints, low: int, high: int, limit: int) -> int:
    """The first index in [low, high) whose value is above the limit, else high."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] > limit:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True)
def _wanted(start: int, context: int, breaks: Ints, low: int, high: int) -> int:
    """The best candidate in the last quarter of a row that begins at `start`, else the row's end."""
    earliest = start + context - context // _DIVISOR
    best, best_level = start + context, 0
    at = _above(breaks, low, high, (start + context) * _LEVELS + _LEVELS - 1) - 1
    while at >= low and breaks[at] // _LEVELS >= earliest and best_level < _HOLD_END - 1:
        level = breaks[at] % _LEVELS
        if best_level < level < _HOLD_END:
            best, best_level = breaks[at] // _LEVELS, level
        at -= 1
    return best


@njit(cache=True)
def _holds(breaks: Ints, low: int, high: int) -> Ints:
    """int64[2, k]: begins and ends of a document's holds, ascending."""
    found = np.empty((2, (high - low) // 2 + 1), dtype=np.int64)
    count, begun = 0, False
    for at in range(low, high):
        level = breaks[at] % _LEVELS
        if level == _HOLD_START:
            found[0, count], begun = breaks[at] // _LEVELS, True
        elif level == _HOLD_END and begun:
            found[1, count], begun = breaks[at] // _LEVELS, False
            count += 1
    return found[:, :count]


@njit(cache=True)
def _not_within(place: int, start: int, low: int, high: int) -> int:
    """`place`, or where [low, high), which fits into a row, is left whole."""
    if not low < place < high or start > low:
        return place
    return low if start < low else high


@njit(cache=True)
def _before_hold(place: int, start: int, context: int, holds: Ints, media: tuple[Ints, Ints, int, int]) -> int:
    """The begin of the hold that `place` stands in, or of a medium with what is before it, or behind; else `place`."""
    at = _above(holds[0], 0, holds.shape[1], place - 1) - 1
    if at < 0 or holds[1, at] <= place:
        return place
    low, high = holds[0, at], holds[1, at]
    if high - low <= context:
        return _not_within(place, start, low, high)
    media_start, media_len, first, stop = media
    behind = _above(media_start, first, stop, place - 1)
    before = behind - 1
    ended = before < first or media_start[before] + media_len[before] <= place
    own = behind if ended else before
    if own < stop and media_start[own] < high:
        begin = low if own == first else max(low, media_start[own - 1] + media_len[own - 1])
        end = media_start[own] + media_len[own]
        if end - begin <= context:
            return _not_within(place, start, begin, end)
    if not ended or before < first or media_start[before] <= max(start, low - 1):
        return place
    begin = low if before == first else max(low, media_start[before - 1] + media_len[before - 1])
    alone = media_start[before] + media_len[before] - begin > context
    end = high if behind == stop else min(high, media_start[behind])
    return media_start[before] if alone and end - media_start[before] <= context else place


@njit(cache=True)
def _next_cut(
    start: int, context: int, breaks: Ints, marks: tuple[int, int, Ints], media: tuple[Ints, Ints, int, int]
) -> int:
    """Where a piece ends that begins at `start` and cannot hold the rest of its document."""
    low, high, holds = marks
    media_start, media_len, first, stop = media
    place = _wanted(start, context, breaks, low, high)
    if first == stop:
        return place
    place = _before_hold(place, start, context, holds, media)
    at = _above(media_start, first, stop, place - 1) - 1
    if at >= first and start < media_start[at] and media_start[at] + media_len[at] > place:
        place = media_start[at]
    return place


@njit(cache=True)
def piece_offsets(
    lengths: Ints, context: int, breaks_of: Ints, breaks: Ints, media_of: Ints, media_start: Ints, media_len: Ints
) -> tuple[Ints, Ints]:
    """(int64[n] pieces of each document, int64 offset in its document of each piece)."""
    counts = np.zeros(len(lengths), dtype=np.int64)
    likely = len(lengths) + 16  # enough but where media make many short pieces
    for doc in range(len(lengths)):
        likely += lengths[doc] * _DIVISOR // ((_DIVISOR - 1) * context)
    offsets = np.empty(likely, dtype=np.int64)
    pieces, none = 0, np.empty((2, 0), dtype=np.int64)
    for doc in range(len(lengths)):
        length, start, before = lengths[doc], 0, pieces
        media = (media_start, media_len, media_of[doc], media_of[doc + 1])
        low, high = breaks_of[doc], breaks_of[doc + 1]
        held = length > context and media_of[doc] < media_of[doc + 1]
        marks = (low, high, _holds(breaks, low, high) if held else none)
        while length > start:
            if pieces == len(offsets):
                offsets = np.concatenate((offsets, np.empty(len(offsets), dtype=np.int64)))
            offsets[pieces] = start
            pieces += 1
            fits = length - start <= context
            start = length if fits else _next_cut(start, context, breaks, marks, media)
        counts[doc] = pieces - before
    return counts, offsets[:pieces]

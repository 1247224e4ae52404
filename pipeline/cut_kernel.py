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
def _before_hold(place: int, start: int, context: int, breaks: Ints, low: int, high: int) -> int:
    """The begin of the hold that `place` stands in, if that fits into a row; else `place`."""
    at = _above(breaks, low, high, place * _LEVELS + _HOLD_END) - 1
    while at >= low and breaks[at] // _LEVELS > start:
        level = breaks[at] % _LEVELS
        if level == _HOLD_END:
            return place
        if level == _HOLD_START:
            begin, behind = breaks[at] // _LEVELS, at + 1
            while behind < high and breaks[behind] % _LEVELS != _HOLD_END:
                behind += 1
            fits = behind < high and breaks[behind] // _LEVELS - begin <= context
            return begin if fits and begin < place else place
        at -= 1
    return place


@njit(cache=True)
def _next_cut(
    start: int, context: int, breaks: Ints, marks: tuple[int, int], media: tuple[Ints, Ints, int, int]
) -> int:
    """Where a piece ends that begins at `start` and cannot hold the rest of its document."""
    low, high = marks
    media_start, media_len, first, stop = media
    place = _wanted(start, context, breaks, low, high)
    if first == stop:
        return place
    place = _before_hold(place, start, context, breaks, low, high)
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
    offsets = np.zeros(len(lengths) + 16, dtype=np.int64)
    pieces = 0
    for doc in range(len(lengths)):
        length, start, before = lengths[doc], 0, pieces
        marks = (breaks_of[doc], breaks_of[doc + 1])
        media = (media_start, media_len, media_of[doc], media_of[doc + 1])
        while length > start:
            if pieces == len(offsets):
                offsets = np.concatenate((offsets, np.zeros(len(offsets), dtype=np.int64)))
            offsets[pieces] = start
            pieces += 1
            fits = length - start <= context
            start = length if fits else _next_cut(start, context, breaks, marks, media)
        counts[doc] = pieces - before
    return counts, offsets[:pieces]

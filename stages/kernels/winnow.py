"""Anchors of token sequences by winnowing: places that any two equal runs of L = k + w - 1 tokens have in common.

Each k-gram of tokens has a 64-bit hash; of every w hashes in a row the smallest, the last one of equals, is an anchor
(Schleimer, Wilkerson, Aiken 2003, "Winnowing", section 3). So each window of L tokens has one anchor, which
depends on nothing outside of the window: equal windows have equal anchors at equal places. Of random tokens one in
(w + 1) / 2 is an anchor. The hash is a fixed function of the ids, for all processes and runs; it pre-groups and decides
nothing: who makes hashes collide, or makes every token an anchor, makes more candidates.

`ids` (uint32) are the tokens of rows one after the other, row i from `offsets[i]` to `offsets[i + 1]` (int64).
Positions count from the begin of the row. Rows of fewer than L tokens have no window and no anchor. `winnow_plain` is
the twin.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Offsets
from gristmill.stages.kernels.jit import KEYS, OFFSETS, helper, inner, kernel

Ids = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

IDS = types.Array(types.uint32, 1, "C", readonly=True)

# Multipliers of SplitMix64 (Steele, Lea, Flood 2014); BASE, the base of the rolling polynomial, is 2^64 over the golden
# ratio, made odd.
MIX_ONE, MIX_TWO, BASE = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15
_FIRST_ROOM = 1024


class Anchors(NamedTuple):
    """Anchors in the order of rows and positions: row and position of the k-gram, and its hash."""

    rows: Ints
    positions: Ints
    hashes: Hashes


class WindowRuns(NamedTuple):
    """Runs of windows: those that begin at `starts[i]` to `stops[i] - 1` of row `rows[i]`, in order, none twice."""

    rows: Ints
    starts: Ints
    stops: Ints


@inner
def mixed(value: Any) -> Any:
    """The finalizer of SplitMix64: a permutation of 64-bit numbers."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(MIX_ONE)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(MIX_TWO)
    return value ^ (value >> np.uint64(31))


@inner
def token_value(token: Any) -> Any:
    """What a token counts for in the polynomial."""
    return mixed(np.uint64(token) + np.uint64(BASE))


@helper
def base_power(k: int) -> Any:
    """BASE to the power of k, modulo 2^64."""
    power = np.uint64(1)
    for _ in range(k):
        power *= np.uint64(BASE)
    return power


@inner
def rolled(value: Any, ids: Any, at: int, gram: int, k: int, power: Any) -> Any:
    """The polynomial of the last k tokens up to the one at `at`, which ends k-gram number `gram` of its row (below 0:
    of fewer tokens), from that of the token before; `power` is `base_power(k)`."""
    value = value * np.uint64(BASE) + token_value(ids[at])
    if gram > 0:
        value -= power * token_value(ids[at - k])
    return value


@inner
def push(queue: Any, places: Any, head: int, size: int, gram: int, value: Any, w: int) -> tuple[int, int]:
    """Add the hash of k-gram number `gram` to the ring of candidates for the smallest of the last w: its new head and
    size. The smallest stands at the head."""
    while size > 0:
        last = head + size - 1
        last = last - w if last >= w else last
        if queue[last] < value:
            break
        size -= 1
    if size > 0 and places[head] <= gram - w:
        head = head + 1 if head + 1 < w else 0
        size -= 1
    last = head + size
    last = last - w if last >= w else last
    queue[last], places[last] = value, gram
    return head, size + 1


@helper
def longer(array: Any) -> Any:
    """The same with twice the room."""
    made = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    made[: len(array)] = array
    return made


@kernel((IDS, OFFSETS, types.int64, types.int64, types.boolean))
def _anchors(ids: Ids, offsets: Offsets, k: int, w: int, few: bool) -> Any:
    rows, positions = np.empty(_FIRST_ROOM, np.int64), np.empty(_FIRST_ROOM, np.int64)
    hashes = np.empty(_FIRST_ROOM, np.uint64)
    queue, places = np.empty(w, np.uint64), np.empty(w, np.int64)
    power = base_power(k)
    count = 0
    for row in range(len(offsets) - 1):
        first, end = offsets[row], offsets[row + 1]
        if end - first < k + w - 1:
            continue
        value, head, size, anchor, noted = np.uint64(0), 0, 0, -1, 0
        for at in range(first, end):
            gram = at - first - k + 1
            value = rolled(value, ids, at, gram, k, power)
            if gram < 0:
                continue
            head, size = push(queue, places, head, size, gram, mixed(value), w)
            if gram < w - 1 or places[head] == anchor:
                continue
            anchor = places[head]
            if few and noted >= 2 and hashes[count - 1] == queue[head] and hashes[count - 2] == queue[head]:
                continue
            if count == len(rows):
                rows, positions, hashes = longer(rows), longer(positions), longer(hashes)
            noted += 1
            rows[count], positions[count], hashes[count] = row, anchor, queue[head]
            count += 1
    return rows[:count].copy(), positions[:count].copy(), hashes[:count].copy()


@inner
def _is_among(values: Any, first: int, stop: int, wanted: Any) -> bool:
    """Whether ascending `values[first:stop]` hold a value."""
    low, high = first, stop
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low < stop and values[low] == wanted


@kernel((IDS, OFFSETS, KEYS, OFFSETS, types.int64, types.int64))
def _flagged_windows(ids: Ids, offsets: Offsets, flagged: Hashes, bounds: Offsets, k: int, w: int) -> Any:
    rows, starts = np.empty(_FIRST_ROOM, np.int64), np.empty(_FIRST_ROOM, np.int64)
    stops = np.empty(_FIRST_ROOM, np.int64)
    queue, places = np.empty(w, np.uint64), np.empty(w, np.int64)
    power = base_power(k)
    count = 0
    for row in range(len(offsets) - 1):
        first, end = offsets[row], offsets[row + 1]
        if end - first < k + w - 1 or bounds[row] == bounds[row + 1]:
            continue
        value, head, size, anchor = np.uint64(0), 0, 0, -1
        wanted, open_run = False, False
        for at in range(first, end):
            gram = at - first - k + 1
            value = rolled(value, ids, at, gram, k, power)
            if gram < 0:
                continue
            head, size = push(queue, places, head, size, gram, mixed(value), w)
            if gram < w - 1:
                continue
            if places[head] != anchor:
                anchor = places[head]
                wanted = _is_among(flagged, bounds[row], bounds[row + 1], queue[head])
            if wanted and not open_run:
                if count == len(rows):
                    rows, starts, stops = longer(rows), longer(starts), longer(stops)
                rows[count], starts[count] = row, gram - w + 1
            if wanted:
                stops[count] = gram - w + 2
            count += open_run and not wanted
            open_run = wanted
        count += open_run
    return rows[:count].copy(), starts[:count].copy(), stops[:count].copy()


def split_window(window: int) -> tuple[int, int]:
    """(k, w) for windows of so many tokens: k + w - 1 == window, k the larger by one or two."""
    w = max(window // 2, 1)
    return window - w + 1, w


def anchors(ids: Ids, offsets: Ints, k: int, w: int, few: bool = False) -> Anchors:
    """The anchors of each row; of equal ones that follow one another the first two if `few`. ValueError unless k and w
    are positive."""
    if k < 1 or w < 1:
        raise ValueError("k and w must be positive")
    return Anchors(*_anchors(np.ascontiguousarray(ids), np.ascontiguousarray(offsets), k, w, few))


def flagged_windows(ids: Ids, offsets: Ints, flagged: Hashes, bounds: Ints, k: int, w: int) -> WindowRuns:
    """Runs of those windows of k + w - 1 tokens whose anchor is flagged.

    flagged: hashes of anchors, ascending within each row; row i has those from bounds[i] to bounds[i + 1].
    """
    if k < 1 or w < 1:
        raise ValueError("k and w must be positive")
    given = [np.ascontiguousarray(a) for a in (ids, offsets, flagged, bounds)]
    return WindowRuns(*_flagged_windows(*given, k, w))

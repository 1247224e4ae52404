"""Best-fit-decreasing as numba kernels: O(1) a piece whatever the context.

Open rows hang in intrusive last-in-first-out lists by the room they have left; a bitset over rooms
`0..context`, with as many levels of 64-bit words as it takes, finds the smallest room that is large enough.
Import this module only where it is used: it compiles (once, cached) on first call.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

_WORD = 64


@njit(cache=True)
def _lowest_bit(word: np.uint64) -> int:
    """Index of the lowest set bit of a word that is not 0."""
    low = word & (~word + np.uint64(1))
    index = 0
    for step in (32, 16, 8, 4, 2, 1):
        if low >> np.uint64(step):
            low >>= np.uint64(step)
            index += step
    return index


@njit(cache=True)
def _mark(words: npt.NDArray[np.uint64], levels: npt.NDArray[np.int64], room: int) -> None:
    at = room
    for level in range(len(levels) - 1):
        words[levels[level] + (at >> 6)] |= np.uint64(1) << np.uint64(at & 63)
        at >>= 6


@njit(cache=True)
def _unmark(words: npt.NDArray[np.uint64], levels: npt.NDArray[np.int64], room: int) -> None:
    at = room
    for level in range(len(levels) - 1):
        word = levels[level] + (at >> 6)
        words[word] &= ~(np.uint64(1) << np.uint64(at & 63))
        if words[word]:
            return
        at >>= 6


@njit(cache=True)
def _smallest_room(words: npt.NDArray[np.uint64], levels: npt.NDArray[np.int64], size: int) -> int:
    """The smallest marked room >= size, -1 when there is none."""
    at = size
    for level in range(len(levels) - 1):
        word = levels[level] + (at >> 6)
        if word >= levels[level + 1]:
            return -1
        rest = words[word] >> np.uint64(at & 63)
        if rest:
            at += _lowest_bit(rest)
            for below in range(level - 1, -1, -1):
                at = (at << 6) + _lowest_bit(words[levels[below] + at])
            return at
        at = (at >> 6) + 1
    return -1


@njit(cache=True)
def best_fit(
    sizes: npt.NDArray[np.int64], context: int, levels: npt.NDArray[np.int64], max_pieces: int
) -> npt.NDArray[np.int64]:
    """Row of each piece, pieces in the order given (the caller sorts them by decreasing size).

    sizes: int64[n], each in [1, context]. A piece goes to the open row with the least room that takes it,
    among equals to the one touched last; else it opens a row. Rows are numbered as they open; one of `max_pieces`
    (at least 1) pieces is closed.
    """
    rows = np.empty(len(sizes), dtype=np.int64)
    head = np.full(context + 1, -1, dtype=np.int64)
    behind = np.empty(len(sizes), dtype=np.int64)
    held = np.zeros(len(sizes), dtype=np.int64)
    words = np.zeros(levels[-1], dtype=np.uint64)
    opened = 0
    for i in range(len(sizes)):
        room = _smallest_room(words, levels, sizes[i])
        if room < 0:
            row, room = opened, context
            opened += 1
        else:
            row = head[room]
            head[room] = behind[row]
            if head[room] < 0:
                _unmark(words, levels, room)
        rows[i] = row
        room -= sizes[i]
        held[row] += 1
        if room > 0 and held[row] < max_pieces:
            if head[room] < 0:
                _mark(words, levels, room)
            behind[row] = head[room]
            head[room] = row
    return rows


def bitset_levels(context: int) -> npt.NDArray[np.int64]:
    """Offsets of the levels of a bitset over 0..context in one array of words, and its length at the end."""
    offsets = [0]
    count = context + 1
    while True:
        count = -(-count // _WORD)
        offsets.append(offsets[-1] + count)
        if count == 1:
            return np.array(offsets, dtype=np.int64)


@njit(cache=True)
def stable_by_decreasing_size(
    sizes: npt.NDArray[np.int64], order: npt.NDArray[np.int64], context: int
) -> npt.NDArray[np.int64]:
    """`order` (indices into sizes) re-arranged by decreasing size, equal sizes in the order given (counting sort)."""
    at = np.zeros(context + 2, dtype=np.int64)
    for size in sizes:
        at[context - size + 1] += 1
    for i in range(1, context + 2):
        at[i] += at[i - 1]
    out = np.empty(len(order), dtype=np.int64)
    for index in order:
        slot = context - sizes[index]
        out[at[slot]] = index
        at[slot] += 1
    return out


@njit(cache=True)
def lay_out(
    order: npt.NDArray[np.int64],
    opener: npt.NDArray[np.int64],
    row_of: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Pieces in their final places: (piece, row, start), sorted by row and start.

    Rows are numbered anew in the order in which their openers stand in `order`; the pieces of a row stand in that
    order too. (A row's first piece in `order` will not do: rows of many pieces would come early.)
    """
    row_at = np.empty(len(order), dtype=np.int64)
    count = np.zeros(len(opener), dtype=np.int64)
    by_place = np.empty(len(opener), dtype=np.int64)
    met = 0
    for i in range(len(order)):
        row = row_of[order[i]]
        row_at[i] = row
        count[row] += 1
        if opener[row] == order[i]:
            by_place[met] = row
            met += 1
    pieces = np.empty(len(order), dtype=np.int64)
    rows = np.empty(len(order), dtype=np.int64)
    at, filled = np.empty(len(opener), dtype=np.int64), np.zeros(len(opener), dtype=np.int64)
    end = 0
    for place in range(met):
        row = by_place[place]
        at[row] = end
        rows[end : end + count[row]] = place
        end += count[row]
    starts = np.empty(len(order), dtype=np.int64)
    for i in range(len(order)):
        row, piece = row_at[i], order[i]
        pieces[at[row]], starts[at[row]] = piece, filled[row]
        filled[row] += sizes[piece]
        at[row] += 1
    return pieces, rows, starts

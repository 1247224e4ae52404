"""MinHash signatures of rows: k-mins, the least value of each lane over the shingles of a row.

A lane's value of a shingle h is `(factor * h + addend) mod 2^64`, of which the upper 32 bits are kept (Dietzfelbinger
et al. 1997, multiply-shift); the factors are odd. Keeping them at the end is the same: the least value has the least
upper half. Shingles are taken GROUP at once, lane by lane, so that one instruction works on many lanes. Band keys are
`mix64` over the lanes of a band, from a value that depends on the seed and the band's number. The twin is
`minhash_plain`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.buffers import Offsets
from gristmill.stages.kernels.jit import KEYS, OFFSETS, helper, kernel
from gristmill.stages.kernels.shingle_hash import BAND_KEY, GOLDEN, mix64, splitmix64
from gristmill.stages.kernels.shingle_hash import KEYS as KEY_COUNT
from gristmill.stages.kernels.shingle_rows import ROWS, WINDOW, Rows, begin_window, new_window, next_shingles, signed
from gristmill.stages.kernels.shingle_words import BLOCK, CURSOR, TABLES, ShingleTables, begin_row, new_cursor, place_of

Lanes = npt.NDArray[np.uint32]
Hashes = npt.NDArray[np.uint64]

GROUP = 8
EMPTY_LANE = 0xFFFFFFFF
"""What the lanes of a row without shingles hold."""


class LaneConstants(NamedTuple):
    """The `factors` (odd) and `addends` of the lanes, uint64 (lanes)."""

    factors: Hashes
    addends: Hashes


_CONSTANTS = types.NamedUniTuple(KEYS, 2, LaneConstants)
_NO_VALUE = 0xFFFFFFFFFFFFFFFF
_LANES_OUT = types.Array(types.uint32, 2, "C")
_LANES = types.Array(types.uint32, 2, "C", readonly=True)
_BANDS_OUT = types.Array(types.uint64, 2, "C")
_COUNTS_OUT = types.Array(types.int64, 1, "C")


def lane_constants(lanes: int, seed: int) -> LaneConstants:
    """The constants of the lanes under a seed; those of fewer lanes are the first of them."""
    values = splitmix64(seed, KEY_COUNT + 2 * lanes)[KEY_COUNT:]
    made = LaneConstants(values[::2] | np.uint64(1), values[1::2].copy())
    for array in made:
        array.flags.writeable = False
    return made


@helper
def lower_lanes(shingles: Any, count: int, factors: Any, addends: Any, least: Any) -> None:
    """Lowers the lanes to the least values of some shingles; the GROUP - 1 places behind them are written over."""
    if count == 0:
        return
    for i in range(count, count + GROUP - 1):
        shingles[i] = shingles[count - 1]
    for i in range(0, count, GROUP):
        h0, h1, h2, h3 = shingles[i], shingles[i + 1], shingles[i + 2], shingles[i + 3]
        h4, h5, h6, h7 = shingles[i + 4], shingles[i + 5], shingles[i + 6], shingles[i + 7]
        for lane in range(len(least)):
            factor, addend = factors[lane], addends[lane]
            value = least[lane]
            for shingle in (h0, h1, h2, h3, h4, h5, h6, h7):
                value = min(value, factor * shingle + addend)
            least[lane] = value


@kernel(types.void(ROWS, types.int64, TABLES, CURSOR, WINDOW, _CONSTANTS, _LANES_OUT, _COUNTS_OUT))
def _sketch_rows(
    rows: Any, size: int, tables: Any, cursor: Any, window: Any, constants: Any, lanes: Any, counts: Any
) -> None:
    data, offsets, kinds = rows.data, rows.offsets, rows.kinds
    factors, addends = constants.factors, constants.addends
    shingles = np.empty(BLOCK + GROUP, np.uint64)
    least = np.empty(len(factors), np.uint64)
    for row in range(len(kinds)):
        end = offsets[row + 1]
        begin_row(cursor, offsets[row])
        begin_window(window, size)
        least[:] = np.uint64(_NO_VALUE)
        while place_of(cursor) < end:
            made = next_shingles(signed(kinds[row]), data, end, size, tables, cursor, window, shingles)
            lower_lanes(shingles, made, factors, addends, least)
            counts[row] += made
        for lane in range(len(least)):
            lanes[row, lane] = np.uint32(least[lane] >> np.uint64(32))


@kernel(types.void(KEYS, OFFSETS, _CONSTANTS, _LANES_OUT))
def _sketch_shingles(hashes: Any, offsets: Offsets, constants: Any, lanes: Any) -> None:
    factors, addends = constants.factors, constants.addends
    block = np.empty(BLOCK + GROUP, np.uint64)
    least = np.empty(len(factors), np.uint64)
    for row in range(len(offsets) - 1):
        least[:] = np.uint64(_NO_VALUE)
        for start in range(offsets[row], offsets[row + 1], BLOCK):
            count = min(BLOCK, offsets[row + 1] - start)
            block[:count] = hashes[start : start + count]
            lower_lanes(block, count, factors, addends, least)
        for lane in range(len(least)):
            lanes[row, lane] = np.uint32(least[lane] >> np.uint64(32))


@kernel(types.void(_LANES, types.int64, types.uint64, _BANDS_OUT))
def _key_bands(lanes: Any, rows: int, key: Any, out: Any) -> None:
    for doc in range(out.shape[0]):
        for band in range(out.shape[1]):
            value = mix64(key + np.uint64(GOLDEN) * np.uint64(band + 1))
            for lane in range(band * rows, (band + 1) * rows):
                value = mix64(value ^ np.uint64(lanes[doc, lane]))
            out[doc, band] = value


def sketch_rows(
    rows: Rows, size: int, tables: ShingleTables, constants: LaneConstants
) -> tuple[Lanes, npt.NDArray[np.int64]]:
    """Lanes (n, lanes) of each row and its shingles (n), repeated ones counted each time; EMPTY_LANE without any."""
    lanes = np.empty((len(rows.kinds), len(constants.factors)), np.uint32)
    counts = np.zeros(len(rows.kinds), np.int64)
    _sketch_rows(rows, size, tables, new_cursor(), new_window(size), constants, lanes, counts)
    return lanes, counts


def sketch_shingles(hashes: Hashes, offsets: Offsets, constants: LaneConstants) -> Lanes:
    """The same lanes from lists of shingles: row i is `hashes[offsets[i]:offsets[i + 1]]`."""
    lanes = np.empty((len(offsets) - 1, len(constants.factors)), np.uint32)
    _sketch_shingles(hashes, offsets, constants, lanes)
    return lanes


def key_bands(lanes: Lanes, bands: int, rows: int, seed: int) -> Hashes:
    """Keys (n, bands) of the bands of `rows` lanes each, the first ones of `lanes` (n, at least bands * rows)."""
    out = np.empty((len(lanes), bands), np.uint64)
    _key_bands(np.ascontiguousarray(lanes), rows, splitmix64(seed, KEY_COUNT)[BAND_KEY], out)
    return out

"""Sides of rows (`manifests.row_index`) as arrays: segments, loss spans and media of a batch of rows.

`sides_of` checks nothing but bounds: what is handed to it has been held against its hash. `sides_plain` is the twin of
the kernel, a row at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.manifests.row_index import MEDIUM, OFFSET, SAME_GROUP
from gristmill.manifests.trainer_schema import SEGMENT_KINDS
from gristmill.stages.kernels.jit import BYTES, OFFSETS, helper, kernel

_SEPARATOR = SEGMENT_KINDS.index("separator")
_KIND_MASK = 15

Ints = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Sides:
    """Of n rows. Bounds are int64[n + 1]: items of row r are [bounds[r], bounds[r + 1]).

    segments: int64[k, 6]: start, end, kind (index in SEGMENT_KINDS), attn_group, doc_offset, media_idx (-1: none);
    loss: int64[k, 2] start and end, with `weight` float32[k]; media: int64[k, 2] token_start and token_len.
    """

    segment_bounds: Ints
    segments: Ints
    loss_bounds: Ints
    loss: Ints
    weight: npt.NDArray[np.float32]
    media_bounds: Ints
    media: Ints


@helper
def _number(data: Any, at: int, stop: int) -> tuple[Any, int]:
    """A LEB128 number and the place behind it; place -1 where it does not end, or where none begins."""
    value, shift = np.uint64(0), np.uint64(0)
    while 0 <= at < stop:
        byte = np.uint64(data[at])
        at += 1
        value |= (byte & np.uint64(127)) << shift
        if byte < np.uint64(128):
            return np.int64(value), at
        shift += np.uint64(7)
    return np.int64(0), -1


@helper
def _items(data: Any, at: Any, stop: int, out: Any, filled: int) -> tuple[int, Any]:
    """A count, and so many items of a number a column of `out`, into its rows from `filled` on; the rows that are
    filled then and the place behind, which is -1 where they do not end, or have no room."""
    count, at = _number(data, at, stop)
    for _ in range(count):
        if at < 0 or filled >= len(out):
            return filled, -1
        for column in range(out.shape[1]):
            out[filled, column], at = _number(data, at, stop)
        filled += 1
    return filled, at


@kernel(
    types.Tuple((types.int64[:, ::1], types.int64[:, ::1], types.int64[:, ::1], types.int64[:, ::1], types.int64))(
        BYTES, OFFSETS
    )
)
def _decoded(data: Any, bounds: Any) -> Any:
    rows = len(bounds) - 1
    most = len(data) // 2 + 1
    counts = np.zeros((rows + 1, 3), np.int64)
    segments = np.empty((most, 6), np.int64)
    loss = np.empty((most, 3), np.int64)
    media = np.empty((most, 2), np.int64)
    n_segments, n_loss, n_media = 0, 0, 0
    for row in range(rows):
        at, stop = bounds[row], bounds[row + 1]
        count, at = _number(data, at, stop)
        end, group, offset, length = 0, -1, 0, 0
        for index in range(count):
            if at < 0 or n_segments >= most:
                return counts, segments, loss, media, row + 1
            flags, at = _number(data, at, stop)
            expected = offset + length if index and (flags & 15) == 7 else 0
            length, at = _number(data, at, stop)
            if not flags & 16:
                group, at = _number(data, at, stop)
                group -= 1
            offset, at = _number(data, at, stop) if flags & 32 else (expected, at)
            medium, at = _number(data, at, stop) if flags & 64 else (-1, at)
            segments[n_segments, 0], segments[n_segments, 1] = end, end + length
            segments[n_segments, 2], segments[n_segments, 3] = flags & 15, group
            segments[n_segments, 4], segments[n_segments, 5] = offset, medium
            end += length
            n_segments += 1
        n_loss, at = _items(data, at, stop, loss, n_loss)
        n_media, at = _items(data, at, stop, media, n_media)
        if at != stop:
            return counts, segments, loss, media, row + 1
        counts[row + 1, 0], counts[row + 1, 1], counts[row + 1, 2] = n_segments, n_loss, n_media
    return counts, segments, loss, media, 0


@dataclass(frozen=True)
class RawSides:
    """Sides as they were read and held against their hashes: row r's is `data[bounds[r]:bounds[r + 1]]`."""

    data: npt.NDArray[np.uint8]
    bounds: Ints

    def decoded(self) -> Sides:
        """See `sides_of`."""
        return sides_of(self.data, self.bounds)


def sides_of(data: npt.NDArray[np.uint8], bounds: Ints) -> Sides:
    """Of rows whose sides lie behind one another; row r's is `data[bounds[r]:bounds[r + 1]]`. Raises ValueError, naming
    the row, where one is no side."""
    counts, segments, loss, media, wrong = _decoded(data, bounds)
    if wrong:
        raise ValueError(f"row {wrong - 1} has no side")
    of_segments, of_loss, of_media = (np.ascontiguousarray(counts[:, i]) for i in range(3))
    spans = loss[: of_loss[-1]]
    spans[:, 1] += spans[:, 0]
    weight = spans[:, 2].astype(np.uint32).view(np.float32)
    return Sides(
        of_segments, segments[: of_segments[-1]], of_loss, spans[:, :2], weight, of_media, media[: of_media[-1]]
    )


def sides_plain(side: bytes) -> dict[str, list[tuple[Any, ...]]]:
    """Of one row, in plain Python: `segments`, `loss` (start, end, bits of the weight) and `media`."""
    numbers = _numbers_plain(side)
    segments: list[tuple[int, ...]] = []
    end, group, offset, length = 0, -1, 0, 0
    for index in range(next(numbers)):
        flags = next(numbers)
        kind = flags & _KIND_MASK
        expected = offset + length if index and kind == _SEPARATOR else 0
        length = next(numbers)
        group = group if flags & SAME_GROUP else next(numbers) - 1
        offset = next(numbers) if flags & OFFSET else expected
        medium = next(numbers) if flags & MEDIUM else -1
        segments.append((end, end + length, kind, group, offset, medium))
        end += length
    loss = [(first := next(numbers), first + next(numbers), next(numbers)) for _ in range(next(numbers))]
    media = [(next(numbers), next(numbers)) for _ in range(next(numbers))]
    return {"segments": segments, "loss": loss, "media": media}


def _numbers_plain(side: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in side:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0

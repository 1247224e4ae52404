"""Pixels and boxes of all numbers of an id map, by one pass over its runs of equal pixels."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]
Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Table:
    """For each key: how many pixels, and their half-open box; where there are none, a box that is empty."""

    pixels: Ints
    x0: Ints
    y0: Ints
    x1: Ints
    y1: Ints

    def of(self, key: int, end: int) -> tuple[int, Box | None]:
        """Pixels and box of the keys in [key, end)."""
        mine = slice(key, end)
        pixels = int(self.pixels[mine].sum())
        if not pixels:
            return 0, None
        box = self.x0[mine].min(), self.y0[mine].min(), self.x1[mine].max(), self.y1[mine].max()
        return pixels, (int(box[0]), int(box[1]), int(box[2]), int(box[3]))


def table(labels: Labels, keys: int) -> Table:
    """The table of a map that holds key + 1, 0 for none. Numbers beyond `keys` count as none."""
    height, width = labels.shape
    starts = np.empty(labels.shape, np.bool_)
    starts[:, 0] = True
    np.not_equal(labels[:, 1:], labels[:, :-1], out=starts[:, 1:])
    at = np.flatnonzero(starts)
    numbers = labels.ravel()[at].astype(np.int64)
    lengths = np.diff(at, append=height * width)
    rows, columns = np.divmod(at, width)
    keep = (numbers > 0) & (numbers <= keys)
    numbers, lengths, rows, columns = numbers[keep] - 1, lengths[keep], rows[keep], columns[keep]
    big = max(height, width) + 1
    found = Table(
        np.zeros(keys, np.int64), *(np.full(keys, big) if low else np.zeros(keys, np.int64) for low in (1, 1, 0, 0))
    )
    np.add.at(found.pixels, numbers, lengths)
    np.minimum.at(found.x0, numbers, columns)
    np.minimum.at(found.y0, numbers, rows)
    np.maximum.at(found.x1, numbers, columns + lengths)
    np.maximum.at(found.y1, numbers, rows + 1)
    return found


def union(a: Table, b: Table) -> Table:
    """Of each key the pixels of the richer map and both maps' box."""
    return Table(
        np.maximum(a.pixels, b.pixels),
        np.minimum(a.x0, b.x0),
        np.minimum(a.y0, b.y0),
        np.maximum(a.x1, b.x1),
        np.maximum(a.y1, b.y1),
    )

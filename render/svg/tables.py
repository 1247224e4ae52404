"""Pixels and boxes of all numbers of an id map, by one pass."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Table:
    """For each key: how many pixels, and their half-open box; where there are none, a box that is empty."""

    pixels: Ints
    x0: Ints
    y0: Ints
    x1: Ints
    y1: Ints

    def of(self, key: int, end: int) -> tuple[int, tuple[int, int, int, int] | None]:
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
    labels = np.where(labels > keys, 0, labels)
    flat = labels.ravel()
    pixels = np.bincount(flat, minlength=keys + 1)[1:]
    big = max(height, width) + 1
    y0, y1 = np.full(keys + 1, big), np.zeros(keys + 1, np.int64)
    x0, x1 = np.full(keys + 1, big), np.zeros(keys + 1, np.int64)
    # Of repeated places in an assignment the last one stays, so each key keeps its last row or column.
    rows = np.repeat(np.arange(height), width)
    y1[flat] = rows + 1
    y0[flat[::-1]] = rows[::-1]
    turned = np.ascontiguousarray(labels.T).ravel()
    columns = np.repeat(np.arange(width), height)
    x1[turned] = columns + 1
    x0[turned[::-1]] = columns[::-1]
    return Table(pixels, x0[1:], y0[1:], x1[1:], y1[1:])


def union(a: Table, b: Table) -> Table:
    """Of each key the pixels of the richer map and both maps' box."""
    return Table(
        np.maximum(a.pixels, b.pixels),
        np.minimum(a.x0, b.x0),
        np.minimum(a.y0, b.y0),
        np.maximum(a.x1, b.x1),
        np.maximum(a.y1, b.y1),
    )

"""Pictures of records as pixels: decoded in a killable child, taken apart into what stands on their ground.

The ground is the most frequent colour. A `Blob` is a run of touching pixels that are not the ground: its box, and how
far each of its pixels is covered by its own most frequent colour. Raises Contradiction where a picture is none.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gristmill.manifests.child import ChildFailure
from gristmill.render.pixels import Decoded, decode_stored
from gristmill.synth.solvers.words import Contradiction

Rgb = npt.NDArray[np.uint8]
Cover = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

TOUCHED_LEVELS = 2
"""Of 255: what differs more from the ground is not the ground. Flat grounds have no noise."""
MAX_SIDE_PX = 1024


class Blob(NamedTuple):
    """Box in pixels, half open; colour; cover float64[rows, columns] in [0, 1]."""

    x0: int
    y0: int
    x1: int
    y1: int
    colour: tuple[int, int, int]
    cover: Cover


def decode(png: bytes) -> Rgb:
    """The pixels of a picture; uint8[height, width, 3]."""
    return np.ascontiguousarray(decoded(png).rgba[..., :3])


def decoded(png: bytes) -> Decoded:
    """A picture of at most MAX_SIDE_PX that nobody can see through."""
    try:
        found = decode_stored(png)
    except OSError as error:
        raise Contradiction(f"a record's picture is none: {error}") from None
    if isinstance(found, ChildFailure):
        raise Contradiction(f"a record's picture cannot be decoded: {found.kind}")
    if max(found.rgba.shape) > MAX_SIDE_PX or int(found.rgba[..., 3].min()) < 255:
        raise Contradiction("a record's picture is too large, or can be seen through")
    return found


def ground_of(picture: Rgb) -> npt.NDArray[np.int64]:
    """The most frequent colour."""
    return np.array(_most_frequent(picture.reshape(-1, 3)), np.int64)


def blobs(picture: Rgb) -> list[Blob]:
    """All blobs, by their left edge and then by their top."""
    ground = ground_of(picture)
    differs = np.abs(picture.astype(np.int64) - ground).max(axis=2) > TOUCHED_LEVELS
    return sorted((_blob(picture, ground, rows, cols) for rows, cols in _touching(differs)), key=lambda b: b[:2])


def _blob(picture: Rgb, ground: npt.NDArray[np.int64], rows: list[int], cols: list[int]) -> Blob:
    own = picture[rows, cols]
    colour = _most_frequent(own)
    y0, y1, x0, x1 = min(rows), max(rows) + 1, min(cols), max(cols) + 1
    cover = np.zeros((y1 - y0, x1 - x0))
    step = np.array(colour, np.float64) - ground
    covered = (own - ground) @ step / max(float(step @ step), 1.0)
    cover[np.array(rows) - y0, np.array(cols) - x0] = np.clip(covered, 0, 1)
    return Blob(x0, y0, x1, y1, colour, cover)


def _most_frequent(pixels: Rgb) -> tuple[int, int, int]:
    packed = (pixels.astype(np.int64) * (1 << 16, 1 << 8, 1)).sum(axis=1)
    values, counts = np.unique(packed, return_counts=True)
    most = int(values[counts.argmax()])
    return most >> 16, most >> 8 & 255, most & 255


def _touching(mask: Mask) -> list[tuple[list[int], list[int]]]:
    """Rows and columns of the pixels of each run of touching ones, corners too: runs of rows, joined."""
    above: list[tuple[int, int, int]] = []
    parent: list[int] = []
    runs: list[tuple[int, int, int, int]] = []
    for row in range(len(mask)):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], mask[row].astype(np.int8), [0])))).tolist()
        here: list[tuple[int, int, int]] = []
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            own = len(parent)
            parent.append(own)
            for a, b, other in above:
                if a <= last and b >= first:
                    parent[_root(parent, own)] = _root(parent, other)
            here.append((first, last, own))
            runs.append((row, first, last, own))
        above = here
    found: dict[int, tuple[list[int], list[int]]] = {}
    for row, first, last, own in runs:
        rows, cols = found.setdefault(_root(parent, own), ([], []))
        rows += [row] * (last - first)
        cols += range(first, last)
    return list(found.values())


def _root(parent: list[int], at: int) -> int:
    while parent[at] != at:
        parent[at] = parent[parent[at]]
        at = parent[at]
    return at

"""Which vectors go, being close to one that is kept: the lexicographically first independent set, block by block.

Vectors come in the order of rank, best first. A vector goes if its cosine with a kept one before it is at least the
threshold; the first such one is its keeper. So those kept are no neighbours of each other, and they alone are searched:
however many copies there are of a text, one of them is looked at.

A search proposes, exact arithmetic decides: each cosine on which a vector goes is computed in float64 from the float32
values and rounded to COSINE_STEP, so that neither the search nor the hardware takes part. Up to a number of vectors the
search compares with all that are kept, so that nothing is missed either; above it is an HNSW index (usearch, one
thread), which may overlook a neighbour and never invents one. Zero vectors have no direction: they stay.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gristmill.manifests.errors import UsageError

COSINE_STEP = 1e-6
BLOCK_ROWS = 512
KEPT_AT_A_TIME = 1 << 15
"""Kept vectors that a block is multiplied with at once: 64 MB of products."""
_MARGIN = 1e-4
"""By which float32 products may fall short: 65,536 terms of 2^-24 each in random order stay far below."""
_INDEX_MARGIN = 1e-3
_NEIGHBOURS = 32
"""Of kept vectors, which are no neighbours of each other, few are near one point."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]
Pairs = tuple[Ints, Ints]
"""Row of the block, number of the kept vector; ascending."""


@dataclass(frozen=True)
class Gone:
    """Rows that go, the kept row of each, and their cosine; rows are places in the order of rank."""

    row: Ints
    keeper: Ints
    cosine: Floats


class Search(Protocol):
    """The kept vectors, numbered in the order in which they were added."""

    def add(self, units: Vectors) -> None:
        """Further ones, of length 1."""
        ...

    def near(self, units: Vectors, least: float) -> Pairs:
        """For each row kept vectors whose cosine may be `least`."""
        ...


class AllPairs:
    """Compares with all kept vectors. Memory: 4 bytes for each value of a kept vector, twice while it grows."""

    def __init__(self, dimensions: int) -> None:
        self._units = np.empty((BLOCK_ROWS, dimensions), np.float32)
        self._count = 0

    def add(self, units: Vectors) -> None:
        """See Search."""
        stop = self._count + len(units)
        if stop > len(self._units):
            larger = np.empty((2 * stop, self._units.shape[1]), np.float32)
            larger[: self._count] = self._units[: self._count]
            self._units = larger
        self._units[self._count : stop] = units
        self._count = stop

    def near(self, units: Vectors, least: float) -> Pairs:
        """See Search."""
        rows, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for first in range(0, self._count, KEPT_AT_A_TIME):
            part = self._units[first : min(first + KEPT_AT_A_TIME, self._count)]
            row, number = np.nonzero(units @ part.T >= least - _MARGIN)
            rows.append(row)
            numbers.append(number + first)
        row, number = np.concatenate(rows), np.concatenate(numbers)
        order = np.argsort(row, kind="stable")
        return row[order], number[order]


class Hnsw:
    """An HNSW index of usearch: cosine, float32, its standard connectivity (16) and expansions (128 and 64)."""

    def __init__(self, dimensions: int) -> None:
        require_usearch()
        from usearch.index import Index

        self._index: Any = Index(ndim=dimensions, metric="cos", dtype="f32")
        self._count = 0

    def add(self, units: Vectors) -> None:
        """See Search."""
        keys = np.arange(self._count, self._count + len(units), dtype=np.uint64)
        if len(units):
            self._index.add(keys, units, threads=1)
        self._count += len(units)

    def near(self, units: Vectors, least: float) -> Pairs:
        """See Search."""
        none = np.zeros(0, np.int64)
        if self._count == 0 or len(units) == 0:
            return none, none
        wanted = min(_NEIGHBOURS, self._count)
        found: Any = self._index.search(units, wanted, threads=1)
        keys = np.asarray(found.keys).reshape(len(units), -1).astype(np.int64)
        cosines = 1.0 - np.asarray(found.distances).reshape(len(units), -1)
        counts = np.asarray(getattr(found, "counts", np.full(len(units), keys.shape[1]))).reshape(-1, 1)
        close = (cosines >= least - _INDEX_MARGIN) & (np.arange(keys.shape[1]) < counts)
        row, place = np.nonzero(close)
        number = keys[row, place]
        order = np.lexsort((number, row))
        return row[order], number[order]


def require_usearch() -> None:
    """Raises UsageError where usearch is not installed."""
    try:
        import usearch  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        remedy = "pip install 'gristmill[semantic]', or raise exact_rows, which compares all with all"
        raise UsageError("so many embeddings need usearch", "stage semantic_dedup", None, remedy) from error


def independent(vectors: Vectors, threshold: float, search: Search) -> Iterator[Gone]:
    """What goes of vectors (n, dimensions) in the order of rank, block by block."""
    kept = np.zeros(0, np.int64)
    for first in range(0, len(vectors), BLOCK_ROWS):
        block = np.array(vectors[first : first + BLOCK_ROWS])
        units = _units(block)
        row, number = search.near(units, threshold) if len(kept) else (np.zeros(0, np.int64),) * 2
        row, number, cosine = _first_close(block, vectors, (row, kept[number]), threshold)
        open_ = np.ones(len(block), np.bool_)
        open_[row] = False
        left = np.flatnonzero(open_)
        inner = _within(block[left], units[left], threshold)
        yield Gone(
            first + np.append(row, left[inner.row]),
            np.append(number, first + left[inner.keeper]),
            np.append(cosine, inner.cosine),
        )
        open_[left[inner.row]] = False
        open_ &= units.any(axis=1)
        kept = np.append(kept, first + np.flatnonzero(open_))
        search.add(units[open_])


def _within(block: Vectors, units: Vectors, threshold: float) -> Gone:
    """What goes within a block whose rows are near to nothing before it."""
    found: list[tuple[int, int, float]] = []
    stays = np.ones(len(block), np.bool_)
    close = np.tril(units @ units.T >= threshold - _MARGIN, -1)
    for row in np.flatnonzero(close.any(axis=1)).tolist():
        for other in np.flatnonzero(close[row] & stays).tolist():
            cosine = float(cosines(block[row : row + 1], block[other : other + 1])[0])
            if cosine >= threshold:
                found.append((row, other, cosine))
                stays[row] = False
                break
    rows, keepers, values = zip(*found, strict=True) if found else ((), (), ())
    return Gone(np.array(rows, np.int64), np.array(keepers, np.int64), np.array(values, np.float64))


def _first_close(block: Vectors, vectors: Vectors, pairs: Pairs, threshold: float) -> tuple[Ints, Ints, Floats]:
    """Of pairs (row of the block, row of all), ascending: for each row the first close enough one, with its cosine."""
    row, other = pairs
    rows, others, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.float64)]
    while len(row):
        fresh = np.ones(len(row), np.bool_)
        fresh[1:] = row[1:] != row[:-1]
        value = cosines(block[row[fresh]], vectors[other[fresh]])
        good = value >= threshold
        rows.append(row[fresh][good])
        others.append(other[fresh][good])
        values.append(value[good])
        later = ~fresh & ~np.isin(row, rows[-1])
        row, other = row[later], other[later]
    return np.concatenate(rows), np.concatenate(others), np.concatenate(values)


def cosines(a: Vectors, b: Vectors) -> Floats:
    """The cosine of each row of `a` with that of `b`, in steps of COSINE_STEP, within [-1, 1]; 0 where one is zero."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    norms = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    value = (x * y).sum(axis=1) / np.where(norms > 0, norms, 1.0)
    return np.clip(np.rint(value / COSINE_STEP) * COSINE_STEP, -1.0, 1.0)


def _units(vectors: Vectors) -> Vectors:
    wide = vectors.astype(np.float64)
    norms = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    return (wide / np.where(norms > 0, norms, 1.0)).astype(np.float32)

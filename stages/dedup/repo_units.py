"""Which files go because a whole repository or folder around them is a copy: units, their rank, their containment.

In: rows of `repo_files.COUNTS` of all shards. A unit is a repository or folder of at least `min_files` files at any
depth below it; two files are the same of two units where they have the same content (`repo_files`) and the same path
below the unit. So a fork agrees with its origin, and a library with its copy in another's `third_party`, whereas
an application does not agree with the library that it holds, nor with all that have its LICENSE.

Rank of units, better first: those that do not lie in a folder for what others wrote (`repo_files.VENDOR_FOLDERS`), more
files, nearer to the top of its repository, smaller digest of source, repository and path. In this order a unit goes if
a kept unit of better rank holds `threshold` of its files, for the best such one; a unit that lost files with one
around it (units around it rank before it) keeps nothing for others. With a unit go those of its files that the other
holds. Each file that goes has a keeper of the same content that stays, whatever else goes.

Memory and time: 435 bytes and 15 us a file, measured where 3.3 units stand around each (10^7 files: 4.4 GB, 150 s; one
core of a Zen-4 server).
Content that stands in more than MAX_LOOKED_AT units at one place (a LICENSE, an empty `__init__.py`) makes candidates
of the best of these alone; it counts in full where two units are compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.stages.columns import bytes_of
from gristmill.stages.dedup.repo_files import FILE

MAX_LOOKED_AT = 256
_NO_FOLDER = np.zeros((1, 16), np.uint8)
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Files:
    """All files, by (id, start): `addr`, `folder` and `content` (numbers), hash of `name`, `id` (n, 16), `start` and
    `stop` in the text (-1: the record)."""

    addr: Words
    folder: Ints
    content: Ints
    name: Words
    id: Bytes
    start: Ints
    stop: Ints


@dataclass(frozen=True)
class Folders:
    """Folders by number: `parent` (-1: none), hash of `name`, `depth`, `vendored`, and the words of the digest."""

    parent: Ints
    name: Words
    depth: Ints
    vendored: Bools
    digest: tuple[Words, Words]


@dataclass(frozen=True)
class Units:
    """Units by rank. `folder` of each, `files` in each; entries of unit u are [ptr[u], ptr[u + 1]) of `group` and
    `file`; group g stands in the units `post_unit[group_ptr[g]:group_ptr[g + 1]]`."""

    folder: Ints
    files: Ints
    ptr: Ints
    group: Ints
    file: Ints
    group_ptr: Ints
    post_unit: Ints


@dataclass(frozen=True)
class Settled:
    """For each unit `gone_for` (-1: kept) and `shared`; for each file `keeper` (-1: stays) and `by`, its unit."""

    gone_for: Ints
    shared: Ints
    keeper: Ints
    by: Ints


def gathered(counted: Iterator[pa.RecordBatch]) -> tuple[Files, Folders]:
    """Files and folders of all rows, numbered; the order of the rows does not matter."""
    parts: dict[str, list[Any]] = {}
    for batch in counted:
        for name in batch.schema.names:
            column = batch.column(name)
            fixed = pa.types.is_fixed_size_binary(column.type)
            parts.setdefault(name, []).append(bytes_of(column) if fixed else column.to_numpy())
    if not parts:
        none = np.zeros(0, np.int64)
        words = np.zeros(0, np.uint64)
        empty = Files(words, none, none, words, np.zeros((0, 16), np.uint8), none, none)
        return empty, Folders(none, words, none, np.zeros(0, np.bool_), (words, words))
    table: dict[str, Any] = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    parts.clear()
    is_file = table["kind"] == FILE
    rows = np.flatnonzero(~is_file)
    around = table["other"][rows]
    number, first, digest = _numbered(np.concatenate([_NO_FOLDER, table["folder"], around]))
    number -= 1  # what stands for no folder is the least
    at = np.zeros(len(first) - 1, np.int64)
    place = number[1 + rows]
    at[place] = rows
    parent = np.empty(len(at), np.int64)
    parent[place] = number[1 + len(is_file) :]
    columns = (table["name"][at], table["depth"][at].astype(np.int64), table["vendored"][at] > 0)
    folders = Folders(parent, *columns, (digest[0][1:], digest[1][1:]))
    return _files(table, number[1 : 1 + len(is_file)], is_file), folders


def _files(table: dict[str, Any], folder: Ints, is_file: Bools) -> Files:
    rows = np.flatnonzero(is_file)
    high, low = _words(table["id"][rows])
    rows = rows[np.lexsort((table["start"][rows], low, high))]
    content, _, _ = _numbered(table["other"][rows])
    columns = (table["id"][rows], table["start"][rows], table["stop"][rows])
    return Files(table["addr"][rows], folder[rows], content, table["name"][rows], *columns)


def ranked_units(files: Files, folders: Folders, min_files: int) -> Units:
    """The units of at least `min_files` files, by rank, with the groups of their files."""
    count = np.zeros(len(folders.parent), np.int64)
    for folder, _, _ in _levels(files, folders):
        count += np.bincount(folder, minlength=len(count))
    large = np.flatnonzero(count >= min_files)
    high, low = (word[large] for word in folders.digest)
    large = large[np.lexsort((low, high, folders.depth[large], -count[large], folders.vendored[large]))]
    unit_of = np.full(len(count), -1, np.int64)
    unit_of[large] = np.arange(len(large))
    unit, place, file = _entries(files, folders, unit_of)
    order = np.lexsort((file, unit, place, files.content[file]))
    unit, place, file = unit[order], place[order], file[order]
    content = files.content[file]
    starts = np.ones(len(unit), np.bool_)
    starts[1:] = (content[1:] != content[:-1]) | (place[1:] != place[:-1])
    group = np.cumsum(starts) - 1
    group_ptr = np.append(np.flatnonzero(starts), len(unit))
    by_unit = np.argsort(unit, kind="stable")
    ptr = np.append(0, np.cumsum(count[large]))
    return Units(large, count[large], ptr, group[by_unit], file[by_unit], group_ptr, unit)


def _levels(files: Files, folders: Folders) -> Iterator[tuple[Ints, Words, Ints]]:
    """For each number of folders up: the folder, a hash of the path below it, and the file, of all files that have so
    many folders around them."""
    file = np.arange(len(files.folder))
    folder, place = files.folder, files.name
    while len(file):
        yield folder, place, file
        place = _mixed(place, folders.name[folder])
        folder = folders.parent[folder]
        inside = folder >= 0
        file, folder, place = file[inside], folder[inside], place[inside]


def _entries(files: Files, folders: Folders, unit_of: Ints) -> tuple[Ints, Words, Ints]:
    units, places, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    for folder, place, file in _levels(files, folders):
        unit = unit_of[folder]
        wanted = unit >= 0
        units.append(unit[wanted])
        places.append(place[wanted])
        numbers.append(file[wanted])
    return np.concatenate(units), np.concatenate(places), np.concatenate(numbers)


def _mixed(below: Words, name: Words) -> Words:
    """A hash of a path from that of the part below and of a name. It aligns files; contents alone decide."""
    mixed = (below ^ (below >> np.uint64(29))) * _MIX[0] + name
    return (mixed ^ (mixed >> np.uint64(32))) * _MIX[1]


def needed(files: Ints, threshold: float) -> Ints:
    """How many files of each unit another must hold: the least number whose share is at least the threshold."""
    return np.ceil(files * threshold - 1e-9).astype(np.int64)


def settle(units: Units, file_count: int, threshold: float, drop_all: bool) -> Settled:
    """Which units and files go; `keeper` is the file that stays in the end."""
    from gristmill.stages.kernels.trees import settle_trees

    settled = Settled(*(np.full(n, -1, np.int64) for n in (*[len(units.files)] * 2, *[file_count] * 2)))
    trees = (units.ptr, units.group, units.file, units.group_ptr, units.post_unit, needed(units.files, threshold))
    kinds = tuple(np.ascontiguousarray(array, np.int64) for array in trees)
    settle_trees(kinds, MAX_LOOKED_AT, drop_all, (settled.gone_for, settled.shared, settled.keeper, settled.by))
    keeper = settled.keeper
    while True:
        goes = np.flatnonzero(keeper >= 0)
        later = keeper[keeper[goes]]
        if (later < 0).all():
            return settled
        keeper[goes] = np.where(later >= 0, later, keeper[goes])


def _words(digests: npt.NDArray[np.generic]) -> tuple[Words, Words]:
    pair = np.ascontiguousarray(digests).view(">u8").astype(np.uint64).reshape(-1, 2)
    return pair[:, 0].copy(), pair[:, 1].copy()


def _numbered(digests: npt.NDArray[np.generic]) -> tuple[Ints, Ints, tuple[Words, Words]]:
    """The number of each digest (n, 16) among the different ones, ascending; a row of each, and their words."""
    high, low = _words(digests)
    order = np.lexsort((low, high))
    high, low = high[order], low[order]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(fresh) - 1
    return number, order[fresh], (high[fresh], low[fresh])

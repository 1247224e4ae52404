"""Equal records of an exchange as stars: each record that goes points at a kept one of better rank that it equals.

In: rows of one key after another, best rank first (`exact` says what they hold). Two rows of one key are equal where
both are prose; where both are exact and their own hashes are equal; else where their content hashes are. A row is
kept where it equals no kept one before it: so none goes but for one that stays, and of equal bytes one stays at most.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.schema import ID_BYTES
from gristmill.stages.columns import bytes_of, words_of
from gristmill.stages.dedup.columns import Columns
from gristmill.stages.protocol import DROP, EMITTED_ADDR, MARK, verdicts

_CLUSTER, _COUNT, _OWN = slice(0, 16), slice(16, 24), slice(24, 40)

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rows(Columns):
    """n rows: `key`, `own` (0 for prose), `content`, `cluster`, `id` uint64 (n, 2), most significant first; `count` of
    records that each stands for, `size` of rows; `addr`."""

    key: Words
    own: Words
    content: Words
    id: Words
    addr: npt.NDArray[np.uint64]
    cluster: Words
    count: Ints
    size: Ints

    @staticmethod
    def of(batch: pa.RecordBatch) -> "Rows":
        """The rows of an emitted batch."""
        key, order, value = (bytes_of(batch.column(name)) for name in ("key", "order", "value"))
        own = value[:, _OWN] if value.shape[1] > _OWN.start else np.zeros((len(value), ID_BYTES), np.uint8)
        return Rows(
            words_of(key),
            words_of(own),
            words_of(order[:, -2 * ID_BYTES : -ID_BYTES]),
            words_of(order[:, -ID_BYTES:]),
            batch.column(EMITTED_ADDR).to_numpy(),
            words_of(value[:, _CLUSTER]),
            words_of(value[:, _COUNT])[:, 0].astype(np.int64),
            np.ones(len(key), np.int64),
        )

    def last_key(self) -> int:
        """Where the rows of the last key begin."""
        return int(np.flatnonzero(_changes(self.key))[-1])


@dataclass(frozen=True)
class Stars:
    """`star` (n): the row that each row belongs to, itself where it is kept; of the kept ones what they stand for."""

    star: Ints
    cluster: Words
    count: Ints
    size: Ints

    def kept(self, rows: Rows, part: slice) -> Rows:
        """The kept rows of a part, as they are now."""
        here = np.arange(len(self.star))[part]
        at = here[self.star[here] == here]
        own = (rows.key[at], rows.own[at], rows.content[at], rows.id[at], rows.addr[at])
        return Rows(*own, self.cluster[at], self.count[at], self.size[at])


def merged(rows: Rows) -> Stars:
    """The stars of sorted rows."""
    star = _stars(rows)
    members = np.flatnonzero(star != np.arange(len(star)))
    cluster, count, size = rows.cluster.copy(), rows.count.copy(), rows.size.copy()
    np.add.at(count, star[members], rows.count[members])
    np.add.at(size, star[members], rows.size[members])
    centres = np.unique(star[members])
    several = np.concatenate([centres, members])
    order = several[np.lexsort((rows.cluster[several, 1], rows.cluster[several, 0], star[several]))]
    cluster[centres] = rows.cluster[order[_changes(star[order][:, None])]]
    return Stars(star, cluster, count, size)


def star_verdicts(rows: Rows, stars: Stars, marked: slice) -> Iterator[pa.RecordBatch]:
    """A DROP for each row that is not kept, and a MARK for each kept one of the part `marked` that stands for more."""
    goes = np.flatnonzero(stars.star != np.arange(len(stars.star)))
    marks = np.arange(len(stars.star))[marked]
    marks = marks[(stars.star[marks] == marks) & (stars.size[marks] > 1)]
    if not len(goes) + len(marks):
        return
    to = stars.star[goes]
    keeper = np.concatenate([rows.id[to], stars.cluster[marks]])
    note = (rows.content[goes] != rows.content[to]).any(axis=1)
    columns = {
        "kind": np.concatenate([np.full(len(goes), DROP), np.full(len(marks), MARK)]),
        "keeper": np.ascontiguousarray(keeper.astype(">u8")).view(np.uint8).reshape(-1, ID_BYTES),
        "value": np.concatenate([np.ones(len(goes)), stars.count[marks]]),
        "note": np.concatenate([note, np.zeros(len(marks), np.bool_)]),
    }
    yield verdicts(np.concatenate([rows.addr[goes], rows.addr[marks]]), columns)


def reduced_stars(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The verdicts of sorted batches; of a key that goes on, no more than the kept ones are carried to the next one."""
    carried: Rows | None = None
    for batch in batches:
        if batch.num_rows == 0:
            continue
        rows = Rows.of(batch)
        rows = rows if carried is None else Rows.joined([carried, rows])
        found = merged(rows)
        last = rows.last_key()
        yield from star_verdicts(rows, found, marked=slice(0, last))
        carried = found.kept(rows, slice(last, len(rows.addr)))
    if carried is not None:
        yield from star_verdicts(carried, merged(carried), marked=slice(0, len(carried.addr)))


def _changes(key: npt.NDArray[np.generic]) -> Bools:
    """Where rows (n, k) differ from the one before."""
    starts = np.ones(len(key), np.bool_)
    starts[1:] = (key[1:] != key[:-1]).any(axis=1)
    return starts


def _stars(rows: Rows) -> Ints:
    starts = _changes(rows.key)
    at = np.arange(len(starts))
    star = np.maximum.accumulate(np.where(starts, at, 0))
    exact = rows.own.any(axis=1)
    if not exact.any():
        return star
    group = np.cumsum(starts) - 1
    order = np.lexsort((at, rows.own[:, 1], rows.own[:, 0], group))
    runs = _changes(np.column_stack([group[order].astype(np.uint64), rows.own[order]]))
    star[order] = order[np.maximum.accumulate(np.where(runs, at, 0))]
    bounds = np.append(np.flatnonzero(starts), len(starts))
    exacts = np.add.reduceat(exact.astype(np.int64), bounds[:-1])
    for mixed in np.flatnonzero((exacts > 0) & (exacts < np.diff(bounds))).tolist():
        first, stop = int(bounds[mixed]), int(bounds[mixed + 1])
        star[first:stop] = first + np.array(_mixed_stars(rows.own[first:stop], rows.content[first:stop]))
    return star


def _mixed_stars(own: Words, content: Words) -> list[int]:
    """The stars of rows of one key, prose (`own` 0) among exact ones."""
    prose = -1
    by_own, by_content, stars = dict[tuple[int, int], int](), dict[tuple[int, int], int](), list[int]()
    owns, contents = ([(a, b) for a, b in words.tolist()] for words in (own, content))
    for row, (mine, bytes_) in enumerate(zip(owns, contents, strict=True)):
        is_prose = mine == (0, 0)
        found = prose if is_prose else by_own.get(mine, -1)
        if found < 0 and is_prose:
            found = by_content.get(bytes_, -1)
        elif found < 0 and prose >= 0 and contents[prose] == bytes_:
            found = prose
        if found < 0:
            found = row
            if is_prose:
                prose = row
            else:
                by_own[mine] = by_content[bytes_] = row
        stars.append(found)
    return stars

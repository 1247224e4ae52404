"""Who stays: from verified pairs and copies to verdicts, in one process and one stream of edges sorted by rank.

Documents are numbered densely over all shards, those of the dataset first, then those of an index, which stay whatever
comes. Memory is some 40 bytes a document, whatever the number of edges, and what is told of those that go or are
marked; edges are read twice from mapped files.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.pipeline.exchange_job import SHARD_ADDR_BITS
from gristmill.pipeline.exchange_rows import fixed_bytes, merge_runs
from gristmill.pipeline.similar.tables import mapped_batches
from gristmill.stages.columns import words_of
from gristmill.stages.dedup.minhash import EXACT, INDEXED, NEAR
from gristmill.stages.dedup.minhash_rows import Copies
from gristmill.stages.dedup.stars import DROPPED, fresh_status, settle
from gristmill.stages.kernels.components import fresh_parents, labels, union_edges
from gristmill.stages.kernels.star_status import INDEX
from gristmill.stages.protocol import DROP, MARK, VERDICTS, verdicts

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

EDGES_A_ROUND = 1 << 18
"""Of a merge: 100 bytes each, held some five times over."""

_SHARD_BITS = np.uint64(SHARD_ADDR_BITS)
_ROW_MASK = np.uint64((1 << SHARD_ADDR_BITS) - 1)
_MOST = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True)
class Shards:
    """Rows of all shards, and their places in addresses; the first `ours` are the dataset's."""

    rows: Sequence[int]
    ours: int
    places: Sequence[int]

    @cached_property
    def starts(self) -> Ints:
        """Number of the first document of each shard, and of all."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array(self.rows, np.int64))])

    @cached_property
    def _by_place(self) -> tuple[Ints, Ints]:
        """Places in order, and the shards that they are of."""
        order = np.argsort(np.array(self.places, np.int64), kind="stable")
        return np.array(self.places, np.int64)[order], order

    @property
    def first_indexed(self) -> int:
        """Number of the first document that is an index's."""
        return int(self.starts[self.ours])

    def numbers(self, addr: Words) -> Ints:
        """Dense numbers of addresses."""
        places, shards = self._by_place
        shard = shards[np.searchsorted(places, (addr >> _SHARD_BITS).astype(np.int64))]
        return self.starts[shard] + (addr & _ROW_MASK).astype(np.int64)

    def addresses(self, number: Ints) -> Words:
        """Addresses of dense numbers."""
        shard = np.searchsorted(self.starts, number, side="right") - 1
        place = np.array(self.places, np.uint64)[shard]
        return (place << _SHARD_BITS) | (number - self.starts[shard]).astype(np.uint64)


@dataclass
class _State:
    """Arrays of one value a document."""

    shards: Shards
    status: npt.NDArray[np.uint8] = field(init=False)
    parent: Any = field(init=False)
    touched: npt.NDArray[np.bool_] = field(init=False)
    count: Ints = field(init=False)

    def __post_init__(self) -> None:
        documents = int(self.shards.starts[-1])
        self.status = fresh_status(documents)
        self.status[self.shards.first_indexed :] = INDEX
        self.parent = fresh_parents(documents)
        self.touched = np.zeros(documents, np.bool_)
        self.count = np.ones(documents, np.int64)


def decide(edges: Sequence[str], copies: Sequence[str], shards: Shards, threshold: float) -> pa.Table:
    """Rows of VERDICTS sorted by address: what goes, and the clusters of what stays. `edges` and `copies` are files."""
    state = _State(shards)
    drops = _settled(edges, state)
    equal = _copies(copies, drops, state)
    gone = [_near(drops, shards, threshold), _equal(equal, drops, shards, threshold)]
    kept = _marks(edges, equal, drops, state)
    table = pa.Table.from_batches([*gone, kept], schema=VERDICTS).combine_chunks()
    return table.sort_by([("addr", "ascending"), ("kind", "ascending")]).combine_chunks()


@dataclass(frozen=True)
class _Drops:
    """Documents that go for a similar one, sorted by `lower`; `keeper` (n, 16), `higher` dense numbers."""

    lower: Ints
    higher: Ints
    keeper: npt.NDArray[np.uint8]
    value: npt.NDArray[np.float64]
    bands: Words

    def at(self, lower: Ints) -> Ints:
        """Places of documents among the drops, -1 where they stay."""
        if not len(self.lower):
            return np.full(len(lower), -1, np.int64)
        found = np.minimum(np.searchsorted(self.lower, lower), len(self.lower) - 1)
        return np.where(self.lower[found] == lower, found, -1)


def _settled(edges: Sequence[str], state: _State) -> _Drops:
    parts: list[list[Any]] = [
        [np.zeros(0, np.int64)] * 2 + [np.zeros((0, 16), np.uint8), np.zeros(0), np.zeros(0, "u8")]
    ]
    for batch in merge_runs(_runs(edges), EDGES_A_ROUND):
        lower, higher = _ends(batch, state.shards)
        goes = settle(lower, higher, state.status)
        union_edges(state.parent, lower, higher)
        for ends, name in ((lower, "count"), (higher, "higher_count")):
            state.touched[ends] = True
            state.count[ends] = batch.column(name).to_numpy()
        value, bands = batch.column("value").to_numpy(), batch.column("bands").to_numpy()
        parts.append([lower[goes], higher[goes], fixed_bytes(batch.column("keeper"))[goes], value[goes], bands[goes]])
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return _Drops(*(column[order] for column in columns))


def _runs(paths: Sequence[str]) -> list[Iterator[pa.RecordBatch]]:
    """Sorted runs of edges, as few as their ranges of rank allow: parts are ranges of content hashes, so where these
    are the rank one run holds a file of each part, and a merge of a thousand would look at all for each step."""
    ranges = sorted((*_first_and_last(path), path) for path in paths)
    chains: list[tuple[bytes, list[str]]] = []
    for first, last, path in ranges:
        at = next((i for i, (end, _) in enumerate(chains) if end < first), len(chains))
        chains[at : at + 1] = [(last, [*(chains[at][1] if at < len(chains) else []), path])]
    rows = max(1, EDGES_A_ROUND // max(1, len(chains)))
    return [_sliced(files, rows) for _, files in chains]


def _sliced(paths: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
    """The edges of files one after the other, at most so many at a time: a merge copies what it has in hand of each
    run, and of a thousand runs whole batches would be 10 GB."""
    for batch in itertools.chain.from_iterable(mapped_batches(path) for path in paths):
        for first in range(0, batch.num_rows, rows):
            yield batch.slice(first, rows)


def _first_and_last(path: str) -> tuple[bytes, bytes]:
    """Rank of the lower one of the first and of the last edge; all ranks where they cannot be read, for reading the
    whole will tell."""
    try:
        reader = pa.ipc.open_file(pa.memory_map(path))
        batches = reader.get_batch(0), reader.get_batch(reader.num_record_batches - 1)
        return batches[0].column("key")[0].as_py(), batches[1].column("key")[-1].as_py()
    except (pa.ArrowException, OSError, IndexError):
        return b"", b"\xff"


def _ends(batch: pa.RecordBatch, shards: Shards) -> tuple[Ints, Ints]:
    return tuple(shards.numbers(batch.column(name).to_numpy()) for name in ("addr", "higher_addr"))  # type: ignore[return-value]


@dataclass(frozen=True)
class _Equal:
    """The verdicts of the copies, sorted, the number of the one that each equals (`best`), and where that one stands
    among those that go (`at`, -1 where it stays)."""

    table: pa.Table
    best: Ints
    at: Ints


def _copies(paths: Sequence[str], drops: _Drops, state: _State) -> _Equal:
    """The copies; their counts and those of the kept ones are entered."""
    table = pa.Table.from_batches([b for p in paths for b in mapped_batches(p)], schema=Copies.reduced)
    table = table.combine_chunks().sort_by("addr").combine_chunks()
    copy, best = (state.shards.numbers(table.column(name).to_numpy()) for name in ("addr", "note"))
    state.count[copy] = table.column("start").to_numpy()
    state.count[best] = table.column("stop").to_numpy()
    return _Equal(table, best, drops.at(best))


def _near(drops: _Drops, shards: Shards, threshold: float) -> pa.RecordBatch:
    indexed = drops.higher >= shards.first_indexed
    columns = {
        "kind": DROP,
        "reason": np.where(indexed, INDEXED, NEAR),
        "keeper": drops.keeper,
        "value": drops.value,
        "limit": threshold,
        "note": drops.bands,
    }
    return verdicts(shards.addresses(drops.lower), columns)


def _equal(copies: _Equal, drops: _Drops, shards: Shards, threshold: float) -> pa.RecordBatch:
    """A copy goes for the one it equals, or for what that one went for."""
    near = copies.at >= 0
    at = copies.at[near]
    keeper = fixed_bytes(copies.table.column("keeper")).copy()
    keeper[near] = drops.keeper[at]
    indexed = copies.best >= shards.first_indexed
    indexed[near] = drops.higher[at] >= shards.first_indexed
    value, note = np.ones(len(near)), np.zeros(len(near), np.uint64)
    value[near], note[near] = drops.value[at], drops.bands[at]
    columns = {
        "kind": DROP,
        "reason": np.where(indexed, INDEXED, np.where(near, NEAR, EXACT)),
        "keeper": keeper,
        "value": value,
        "limit": np.where(near, threshold, 1.0),
        "note": note,
    }
    return verdicts(copies.table.column("addr").to_numpy(), columns)


def _marks(edges: Sequence[str], copies: _Equal, drops: _Drops, state: _State) -> pa.RecordBatch:
    """Cluster and count of each document of the dataset that stays and has something like it. The counts of those that
    went are added to those of who stays, in place: this comes last."""
    shards = state.shards
    np.add.at(state.count, drops.higher, state.count[drops.lower])
    near = copies.at >= 0
    target = copies.best.copy()
    target[near] = drops.higher[copies.at[near]]
    np.add.at(state.count, target, copies.table.column("start").to_numpy())
    hashes = _cluster_hashes(edges, copies, state)
    state.touched[copies.best] = True
    state.touched[shards.first_indexed :] = False
    kept = np.flatnonzero(state.touched & (state.status != DROPPED))
    label = np.asarray(state.parent)[kept]
    cluster = np.column_stack([hashes[0][label], hashes[1][label]]).astype(">u8").view(np.uint8).reshape(-1, 16)
    return verdicts(shards.addresses(kept), {"kind": MARK, "keeper": cluster, "value": state.count[kept]})


def _cluster_hashes(edges: Sequence[str], copies: _Equal, state: _State) -> tuple[Words, Words]:
    """The smallest content hash of each component of more than one, by its label, in two words."""
    from gristmill.stages.kernels.cluster_hash import lower_to

    label = np.asarray(labels(state.parent))
    best = np.full(len(label), _MOST), np.full(len(label), _MOST)

    def enter(ends: Ints, hashes: npt.NDArray[np.uint8]) -> None:
        words = words_of(hashes)
        hi, lo = np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1])
        lower_to(label[ends].astype(np.int64), hi, lo, *best)

    for lower, higher, batch in _edges(edges, state.shards):
        for ends, name in ((lower, "key"), (higher, "order")):
            enter(ends, fixed_bytes(batch.column(name))[:, -16:])
    enter(copies.best, fixed_bytes(copies.table.column("content_hash")))
    return best


def _edges(paths: Sequence[str], shards: Shards) -> Iterator[tuple[Ints, Ints, pa.RecordBatch]]:
    for path in paths:
        for batch in mapped_batches(path):
            yield *_ends(batch, shards), batch

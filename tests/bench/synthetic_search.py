"""Synthetic signatures, and an engine that runs a search for near-duplicates over them: for bench_clusters.

CLUSTERED of the documents stand in planted near-duplicate clusters of geometric sizes, whose members share each band
with probability SHARED; and, where asked for, in one band all documents of a share have the same key (a template).
"""

import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import FileEntry, Receipt
from gristmill.pipeline.context import ShardRef
from gristmill.pipeline.engines.protocol import Notify
from gristmill.pipeline.exchange_job import places_of
from gristmill.pipeline.exchange_rows import sort_rows
from gristmill.pipeline.similar.tables import edges_schema, mapped_batches
from gristmill.pipeline.spill import SpillWriter
from gristmill.pipeline.task import Task, run_task
from gristmill.pipeline.tasks.exchange_emit import write_spill
from gristmill.stages.columns import column_of
from gristmill.stages.dedup.minhash_rows import OURS, sorted_rows
from gristmill.stages.protocol import emitted_schema

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

BANDS = 14
DOCUMENTS_A_SHARD = 100_000
ORDER_BYTES = 17
NO_COPIES = emitted_schema(16, ORDER_BYTES, 8).empty_table()
CLUSTERED, SHARED = 0.3, 0.4
MEAN_MEMBERS = 4


def mixed(values: Words, salt: int) -> Words:
    """splitmix64 of each value."""
    z = values + np.uint64((salt * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) & 0xFFFFFFFFFFFFFFFF)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def chance(values: Words, salt: int) -> npt.NDArray[np.float64]:
    """A number in [0, 1) for each value."""
    return (mixed(values, salt) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def planted(documents: int) -> npt.NDArray[np.uint32]:
    """The cluster of each document, uint32; one of its own for those that stand alone."""
    rng = np.random.default_rng(1)
    shuffled = rng.permutation(documents).astype(np.uint32)
    sizes = rng.geometric(1 / (MEAN_MEMBERS - 1), documents // MEAN_MEMBERS) + 1
    sizes = sizes[np.cumsum(sizes) <= documents * CLUSTERED]
    cluster = np.arange(documents, dtype=np.uint32)
    cluster[shuffled[: sizes.sum()]] = np.repeat(shuffled[np.cumsum(sizes) - 1], sizes)
    return cluster


Documents = tuple[Words, npt.NDArray[np.uint8], Words]
"""Band keys, ranks and addresses of documents."""


def shard_documents(cluster: npt.NDArray[np.uint32], first: int, stop: int, skewed: float) -> Documents:
    """The sketches of a shard of documents."""
    document = np.arange(first, stop, dtype=np.uint64)
    keys = np.empty((stop - first, BANDS), np.uint64)
    for band in range(BANDS):
        of = np.where(chance(document, band) < SHARED, cluster[first:stop], document)
        keys[:, band] = mixed(of.astype(np.uint64), 100 + band)
    keys[chance(document, 99) < skewed, 0] = 7 << 60
    return keys, ranks(mixed(document, 97)), document - np.uint64(first)


def ranks(first_word: Words) -> npt.NDArray[np.uint8]:
    """Orders of documents of the dataset whose content hashes begin so."""
    order = np.full((len(first_word), ORDER_BYTES), OURS, np.uint8)
    order[:, 1:9] = first_word.astype(">u8").view(np.uint8).reshape(-1, 8)
    order[:, 9:] = mixed(first_word, 98).view(np.uint8).reshape(-1, 8)
    return order


class Clock:
    """CPU seconds of each part by name; what is not in one is not timed."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = 0.0

    def start(self) -> None:
        self._since = time.process_time()

    def stop(self, part: str) -> None:
        self.seconds[part] = self.seconds.get(part, 0.0) + time.process_time() - self._since


class SyntheticEngine:
    """Runs tasks one by one in this process; stands in for those that read text."""

    name = "synthetic"

    def __init__(self, store: ObjectStore, cluster: npt.NDArray[np.uint32], skewed: float) -> None:
        self._store = store
        self._skewed = skewed
        self._places = places_among(len(cluster))
        self._cluster = cluster
        self.clock = Clock()
        self.making_s = 0.0
        self.making_cpu_s = 0.0
        self.edges: list[Path] = []

    def map(self, tasks: Sequence[Task], notify: Notify) -> Iterator[tuple[int, Receipt]]:
        """See `pipeline.engines.protocol`."""
        for number, task in enumerate(tasks):
            documents = self._made(task) if task.kind == "emit_keys" else None
            self.clock.start()
            receipt = self._run(task, documents)
            self.clock.stop(task.kind + "".join(re.findall(r" round( \d+)", task.label)))
            yield number, receipt

    def exchange(self, tasks: Sequence[Task], notify: Notify) -> Iterator[tuple[int, Receipt]]:
        """See `pipeline.engines.protocol`."""
        return self.map(tasks, notify)

    def close(self) -> None:
        """Nothing to give back."""

    def _made(self, task: Task) -> Documents | None:
        if task.payload["exchange"]["part"] == "copies":
            return None
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        first = int(task.payload["input"]) * DOCUMENTS_A_SHARD
        documents = shard_documents(
            self._cluster, first, min(first + DOCUMENTS_A_SHARD, len(self._cluster)), self._skewed
        )
        self.making_s += time.perf_counter() - wall_s
        self.making_cpu_s += time.process_time() - cpu_s
        return documents

    def _run(self, task: Task, documents: Documents | None) -> Receipt:
        if task.kind == "emit_keys":
            rows = pa.Table.from_batches([sorted_rows(*documents)]) if documents else NO_COPIES
            return write_spill(task, self._store, rows, task.payload["parts"])
        if task.kind == "similar_sets":
            return self._store.begin(task.key, task.what).commit({})
        return self._verified(task) if task.kind == "similar_verify" else run_task(self._store, task)

    def _verified(self, task: Task) -> Receipt:
        """As `similar_verify` leaves it: the pairs of one cluster."""
        pairs = pa.Table.from_batches([b for path in task.payload["merged"] for b in mapped_batches(path)])
        low, high = (documents_at(pairs.column(name).to_numpy(), self._places) for name in ("addr", "higher_addr"))
        alike = self._cluster[low] == self._cluster[high]
        rows = pairs.filter(pa.array(alike))
        writer = self._store.begin(task.key, task.what)
        if rows.num_rows:
            ends = [column_of(ranks(mixed(end[alike].astype(np.uint64), 97))) for end in (low, high)]
            ends += [rows.column(name).combine_chunks() for name in ("addr", "higher_addr")]
            spill = SpillWriter(writer, edges_schema(ORDER_BYTES))
            spill.part(sort_rows(edge_rows(ends, rows.column("bands").combine_chunks())).to_batches())
            spill.close("edges")
        receipt = writer.commit({"compared": pairs.num_rows, "similar": rows.num_rows})
        self.edges += [self._store.path(receipt.key, f) for f in receipt.files]
        return receipt


def edge_rows(ends: Sequence[pa.Array], bands: pa.Array) -> pa.Table:
    """Rows of EDGES of orders and addresses (lower, higher, addr, higher_addr)."""
    ones = pa.array(np.ones(len(bands), np.int64))
    value = pa.array(np.full(len(bands), 0.8))
    keeper = column_of(np.zeros((len(bands), 16), np.uint8))
    columns = [*ends, keeper, value, bands, ones, ones]
    return pa.Table.from_arrays(columns, schema=edges_schema(ORDER_BYTES))


def places_among(documents: int) -> Ints:
    """The places of the shards of so many documents."""
    return np.array(places_of([shard.entry.digest for shard in shards_of(documents)]), np.int64)


def documents_at(addr: Words, places: Ints) -> Ints:
    """Numbers of documents at addresses, in which the shards have these places."""
    place, row = addr >> np.uint64(32), addr & np.uint64(0xFFFFFFFF)
    order = np.argsort(places)
    shard = order[np.searchsorted(places[order], place.astype(np.int64))]
    return shard * DOCUMENTS_A_SHARD + row.astype(np.int64)


def shards_of(documents: int) -> list[ShardRef]:
    """Shards of that many documents, whose path is their number; none of them is read."""
    sizes = [min(DOCUMENTS_A_SHARD, documents - first) for first in range(0, documents, DOCUMENTS_A_SHARD)]
    return [
        ShardRef("", FileEntry("", "documents", rows, rows << 10, f"blake3:{number}"), Path(str(number)))
        for number, rows in enumerate(sizes)
    ]

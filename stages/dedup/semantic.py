"""Semantic near-duplicates: documents whose embedding is close to that of a kept one. Off unless a recipe names it.

Columns in: `id`, `content_hash`, and those of the keeper policy. Embeddings come from files that the user's model made
(`embeddings`; `stages.dedup.embeddings` says of what form). Verdicts: DROP with reason `semantic_duplicate`, keeper the
id of the best-ranked kept document whose cosine is at least the threshold, value the cosine in steps of 1e-6; MARK for
a kept document that others went for: the cluster is its content hash, and the count includes itself. Rank is policy,
then content hash, then id, so no layout and no order of rows or files plays a part. Documents without an embedding
stay, and so do those whose embedding is zero; both are counted.

Up to `exact_rows` documents each is compared with all kept ones: the result is exact. Above it the search is that of
usearch, which may overlook a duplicate (`near_vectors`); what it proposes is checked all the same. A float32 copy of
the vectors stands in an unnamed file of the folder for temporary files and is mapped; in memory are about 150 bytes a
document, a block of vectors, and the vectors of kept documents (4 bytes a value, up to thrice while they grow; usearch
takes some 200 bytes more for each). On one core of a Zen-4 server, three in ten documents being copies: 32,768 of 384
dimensions in 5 s with all pairs (the time grows with the square), in 75 s with usearch, which overlooks 0.1 % of what
goes; of 768 in 10 s. So the index pays from some 500,000 documents on.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import MISSING, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import ID_BYTES, id_bytes
from gristmill.stages.dedup import keeper
from gristmill.stages.dedup.embeddings import as_keys, check_files, read_ids, read_vectors
from gristmill.stages.dedup.near_vectors import AllPairs, Gone, Hnsw, independent, require_usearch
from gristmill.stages.params import file_param, param
from gristmill.stages.protocol import DROP, MARK, Reason, verdicts

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SemanticDedup:
    """Documents go whose embedding, which you give, is close to that of a kept one."""

    name: ClassVar[str] = "semantic_dedup"
    version: ClassVar[int] = 1
    measure_name: ClassVar[str] = "cosine"

    embeddings: str | tuple[str, ...] = file_param(MISSING, "Parquet or Arrow files of ids and vectors, made by you")
    vector: str = param("embedding", "the column of the vectors")
    threshold: float = param(0.95, "least cosine at which a document goes; what it means depends on your model")
    keep: tuple[str, ...] = param((), "which of duplicates stays: criteria in order, such as longest or score:NAME")
    exact_rows: int = param(200_000, "up to so many documents are compared with all kept ones; above, with usearch")

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            where = "stage semantic_dedup.threshold"
            raise UsageError("a cosine above 0 and up to 1 is wanted", where, self.threshold, "0.95, for instance")
        if not self.files:
            raise UsageError("no file is named", "stage semantic_dedup.embeddings", None, "name one at least")
        if self.exact_rows < 0:
            raise UsageError("must not be negative", "stage semantic_dedup.exact_rows", self.exact_rows)
        keeper.check(self.keep, "stage semantic_dedup.keep")

    @property
    def files(self) -> tuple[str, ...]:
        """The files, however many are named."""
        return (self.embeddings,) if isinstance(self.embeddings, str) else self.embeddings

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns that `count` needs."""
        return tuple(dict.fromkeys(("id", "content_hash", *keeper.columns_of(self.keep))))

    @property
    def counts(self) -> pa.Schema:
        """`addr`, and `order`: rank by policy, content hash, id."""
        width = keeper.order_bytes(self.keep) + 2 * ID_BYTES
        return pa.schema([("addr", pa.uint64()), ("order", pa.binary(width))])

    def reasons(self) -> tuple[Reason, ...]:
        """`semantic_duplicate`."""
        return (Reason("semantic_duplicate", "drop", "its embedding is close to that of the keeper"),)

    def prepare(self) -> None:
        """Read and check all embeddings once, before any work."""
        if check_files(self.files, self.vector).rows > self.exact_rows:
            require_usearch()

    def count(self, batch: pa.RecordBatch, addr: npt.NDArray[np.uint64]) -> pa.RecordBatch:
        """The rank of each row."""
        parts = [keeper.rank_bytes(batch, self.keep)]
        parts += [_fixed(batch.column("content_hash")), _fixed(id_bytes(batch.column("id")))]
        raw = np.ascontiguousarray(np.concatenate(parts, axis=1))
        schema = self.counts
        order = pa.FixedSizeBinaryArray.from_buffers(schema.field("order").type, len(raw), [None, pa.py_buffer(raw)])
        return pa.RecordBatch.from_arrays([pa.array(addr, pa.uint64()), order], schema=schema)

    def decide(self, counted: Iterator[pa.RecordBatch], told: dict[str, int]) -> Iterator[pa.RecordBatch]:
        """The verdicts; tells how many have embeddings, how many are zero, and whether the search was exact (1)."""
        checked = check_files(self.files, self.vector)
        addr, order = self._ranked(counted)
        rank_of = _Ranks(order[:, -ID_BYTES:])
        has = np.zeros(len(addr), np.bool_)
        for path in self.files:
            for ids in read_ids(path, self.vector):
                has[rank_of.known(ids)[1]] = True
        rank = np.flatnonzero(has)
        exact = len(rank) <= self.exact_rows
        told |= {"with_embedding": len(rank), "without_embedding": len(addr) - len(rank), "exact_search": int(exact)}
        told["zero_embeddings"] = 0
        if not len(rank):
            return
        with tempfile.TemporaryFile() as scratch:
            shape = (len(rank), checked.dimensions)
            vectors: Any = np.memmap(scratch, np.float32, "w+", shape=shape)
            told["zero_embeddings"] = self._fill(vectors, rank_of, np.cumsum(has) - 1)
            search = AllPairs(checked.dimensions) if exact else Hnsw(checked.dimensions)
            gone = list(independent(vectors, self.threshold, search))
            del vectors
        yield from self._verdicts(addr[rank], order[rank], gone)

    def _ranked(self, counted: Iterator[pa.RecordBatch]) -> tuple[npt.NDArray[np.uint64], Bytes]:
        """Addresses and orders of all rows, best rank first."""
        addrs, orders = [np.zeros(0, np.uint64)], [np.zeros((0, self.counts.field("order").type.byte_width), np.uint8)]
        for batch in counted:
            addrs.append(batch.column("addr").to_numpy())
            orders.append(_fixed(batch.column("order")))
        addr, order = np.concatenate(addrs), np.concatenate(orders)
        words = [order[:, at : at + 4].copy().view(">u4").ravel() for at in range(0, order.shape[1], 4)]
        by = np.lexsort((addr, *words[::-1]))
        return addr[by], order[by]

    def _fill(self, vectors: Any, rank_of: "_Ranks", place: Ints) -> int:
        """Put the vectors of known ids in the order of rank; how many are zero."""
        zeros = 0
        for path in self.files:
            for ids, found in read_vectors(path, self.vector):
                row, rank = rank_of.known(ids)
                vectors[place[rank]] = found[row]
                zeros += int((~found[row].any(axis=1)).sum())
        return zeros

    def _verdicts(self, addr: npt.NDArray[np.uint64], order: Bytes, gone: list[Gone]) -> Iterator[pa.RecordBatch]:
        row = np.concatenate([g.row for g in gone])
        kept = np.concatenate([g.keeper for g in gone])
        cosine = np.concatenate([g.cosine for g in gone])
        found = {"kind": DROP, "keeper": order[kept, -ID_BYTES:], "value": cosine, "limit": self.threshold}
        yield verdicts(addr[row], found)
        heads, count = np.unique(kept, return_counts=True)
        cluster = order[heads, -2 * ID_BYTES : -ID_BYTES]
        yield verdicts(addr[heads], {"kind": MARK, "keeper": cluster, "value": count + 1.0})


class _Ranks:
    """Where ids (n, 16), which stand in the order of rank, are found."""

    def __init__(self, ids: Bytes) -> None:
        keys = as_keys(ids)
        self._rank = np.argsort(keys, kind="stable")
        self._keys = keys[self._rank]

    def known(self, ids: Bytes) -> tuple[Ints, Ints]:
        """Of the ids those that are known: their places, and their ranks."""
        if not len(self._keys):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        wanted = as_keys(ids)
        at = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        row = np.flatnonzero(self._keys[at] == wanted)
        return row, self._rank[at[row]]


def _fixed(array: pa.FixedSizeBinaryArray) -> Bytes:
    width = array.type.byte_width
    raw = np.frombuffer(array.buffers()[1], np.uint8) if len(array) else np.zeros(0, np.uint8)
    return raw[array.offset * width : (array.offset + len(array)) * width].reshape(-1, width)

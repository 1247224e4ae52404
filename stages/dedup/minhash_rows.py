"""The fixed-width rows of near-duplicate search: copies by content hash, candidates by band key.

An order begins with one byte: 0 for a document of an index, 1 for one of the dataset, so that what an earlier run kept
ranks before all else; then the keeper's policy, then what tells equal ones apart (the content hash; for copies the
id). Candidates are pairs of addresses; two documents of an index are none.
"""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.schema import ID_BYTES, id_bytes
from gristmill.stages.columns import bytes_of, column_of, padded_words
from gristmill.stages.dedup import keeper
from gristmill.stages.dedup.ranks import content_bytes
from gristmill.stages.dedup.shingles import shingle_sets_of_ids
from gristmill.stages.dedup.sketch import Sketch, SketchSpec, band_keys, signatures_of_sets, sketch
from gristmill.stages.dedup.tokens import token_ids
from gristmill.stages.protocol import EMITTED_ADDR, VERDICTS, Reason, emitted_schema, verdicts

Addresses = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

OURS, INDEXED = 1, 0
"""First byte of an order."""

PAIRS_A_BLOCK = 1 << 20

BAND_KEY_BYTES = 9
"""The 64-bit key, big-endian, then the band's number."""


_NOTED_BANDS = 63
"""Bands from this one on share a bit."""


def bands_note(bands: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """The bit of each band, uint64 (n)."""
    return np.uint64(1) << np.minimum(bands, _NOTED_BANDS).astype(np.uint64)


@functools.lru_cache(maxsize=1 << 14)
def explain_bands(note: int, of: int) -> str:
    """Which bands met, in words."""
    met = [str(b) for b in range(_NOTED_BANDS) if note >> b & 1] + (["others"] if note >> _NOTED_BANDS else [])
    return f"met in bands {', '.join(met)} of {of}" if met else ""


def dup_counts(batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """How many records each stands for; 1 where none were counted."""
    return batch.column("dup_count").fill_null(1).to_numpy(zero_copy_only=False).astype(np.int64)


def _order(batch: pa.RecordBatch, keep: tuple[str, ...], last: Bytes) -> Bytes:
    first = np.full((batch.num_rows, 1), OURS, np.uint8)
    return np.concatenate([first, keeper.rank_bytes(batch, keep), last], axis=1)


def ranks(batch: pa.RecordBatch, keep: tuple[str, ...]) -> Bytes:
    """Orders of documents of the dataset, uint8 (n, 17 + 4 for each rule of the policy): the smallest is the best."""
    return _order(batch, keep, content_bytes(batch, "minhash_dedup"))


def indexed_ranks(content_hashes: Bytes, order_bytes: int) -> Bytes:
    """Orders of documents of an index: its byte, zeros for the policy, and what tells equal ones apart."""
    order = np.zeros((len(content_hashes), order_bytes), np.uint8)
    order[:, 0] = INDEXED
    order[:, -ID_BYTES:] = content_hashes
    return order


@dataclass(frozen=True)
class Copies:
    """Documents with equal content; of each group the best by policy, then id, stays.

    Verdicts: `note` is the address of the kept one, `start` the `dup_count` of the copy, `stop` that of the kept one;
    their content hash is added.
    """

    keep: tuple[str, ...] = ()
    name: ClassVar[str] = "copies"
    version: ClassVar[int] = 1
    key_bytes = ID_BYTES
    value_bytes: ClassVar[int] = 8
    reduced: ClassVar[pa.Schema] = VERDICTS.append(pa.field("content_hash", pa.binary(ID_BYTES)))

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns."""
        return tuple(dict.fromkeys(("id", "content_hash", "dup_count", *keeper.columns_of(self.keep))))

    @property
    def order_bytes(self) -> int:
        """Whose it is, policy, id."""
        return 1 + 4 * len(self.keep) + ID_BYTES

    def reasons(self) -> tuple[Reason, ...]:
        """`exact_duplicate`."""
        return (Reason("exact_duplicate", "drop", "text and media equal those of the keeper"),)

    def emit(self, batch: pa.RecordBatch, addr: Addresses) -> pa.RecordBatch:
        """One row for each record."""
        order = _order(batch, self.keep, bytes_of(id_bytes(batch.column("id"))))
        counts = dup_counts(batch).astype(">i8").view(np.uint8).reshape(-1, 8)
        columns = [
            column_of(content_bytes(batch, "minhash_dedup")),
            column_of(order),
            pa.array(addr, pa.uint64()),
            column_of(counts),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=emitted_schema(self.key_bytes, self.order_bytes, 8))

    def reduce(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """All but the first of each key; the open group's first is carried to the next batch."""
        from gristmill.stages.kernels.groups import group_starts

        carried: pa.Table | None = None
        for batch in batches:
            if not batch.num_rows:
                continue
            own = pa.Table.from_batches([batch])
            table = own if carried is None else pa.concat_tables([carried, own])
            rows = table.combine_chunks().to_batches()[0]
            starts = group_starts(bytes_of(rows.column("key")))[:-1]
            yield from _copies_in(rows, starts)
            carried = pa.Table.from_batches([rows.slice(int(starts[-1]), 1)])


def _copies_in(rows: pa.RecordBatch, starts: npt.NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
    first = np.zeros(rows.num_rows, np.int64)
    first[starts] = starts
    first = np.maximum.accumulate(first)
    order = bytes_of(rows.column("order"))
    goes = np.flatnonzero((first != np.arange(rows.num_rows)) & (order[:, 0] == OURS))
    if len(goes):
        addr = rows.column(EMITTED_ADDR).to_numpy()
        counts = bytes_of(rows.column("value")).copy().view(">i8").ravel().astype(np.int64)
        kept = first[goes]
        more = {"note": addr[kept], "start": counts[goes], "stop": counts[kept], "keeper": order[kept, -ID_BYTES:]}
        made = verdicts(addr[goes], more)
        content = rows.column("key").take(pa.array(goes))
        yield pa.RecordBatch.from_arrays([*made.columns, content], schema=Copies.reduced)


PAIRS = pa.schema(
    [(EMITTED_ADDR, pa.uint64()), ("higher_addr", pa.uint64()), ("bands", pa.uint64()), ("prefix", pa.uint32())]
)
"""Candidates: addresses of the worse- and the better-ranked document, a bit for each band they met in (the last one for
all above), and the first four bytes of the worse one's content hash."""


@dataclass(frozen=True)
class BandRows:
    """Documents by the keys of their bands; equal keys make candidates."""

    spec: SketchSpec
    keep: tuple[str, ...] = ()
    max_bucket: int = 32
    pivots: int = 8
    tokenizer: str = ""
    name: ClassVar[str] = "bands"
    version: ClassVar[int] = 1
    key_bytes = BAND_KEY_BYTES
    reduced: ClassVar[pa.Schema] = PAIRS

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns."""
        return tuple(dict.fromkeys(("content_hash", "text", "domain", *keeper.columns_of(self.keep))))

    @property
    def order_bytes(self) -> int:
        """Whose it is, policy, content hash."""
        return 1 + 4 * len(self.keep) + ID_BYTES

    @property
    def rows_each(self) -> int:
        """Rows of a document."""
        return self.spec.bands

    def reasons(self) -> tuple[Reason, ...]:
        """Candidates are no verdicts."""
        return ()

    def emit(self, batch: pa.RecordBatch, addr: Addresses) -> pa.RecordBatch:
        """A row for each band of each document that has a shingle."""
        made = self.sketches(batch)
        rows = np.flatnonzero(made.shingles > 0)
        return band_rows(made.band_keys[rows], ranks(batch, self.keep)[rows], addr[rows])

    def emit_sorted(self, batches: Iterator[tuple[pa.RecordBatch, Addresses]]) -> pa.RecordBatch:
        """The rows of all batches, sorted by (key, order, addr)."""
        parts: list[tuple[npt.NDArray[np.uint64], Bytes, Addresses]] = []
        for batch, addr in batches:
            made = self.sketches(batch)
            rows = np.flatnonzero(made.shingles > 0)
            parts.append((made.band_keys[rows], ranks(batch, self.keep)[rows], addr[rows]))
        none = (
            np.zeros((0, self.spec.bands), np.uint64),
            np.zeros((0, self.order_bytes), np.uint8),
            np.zeros(0, np.uint64),
        )
        return sorted_rows(*(np.concatenate(column) for column in zip(none, *parts, strict=True)))

    def sketches(self, batch: pa.RecordBatch) -> Sketch:
        """The band keys of the batch's documents."""
        if self.spec.shingles.unit != "token":
            return sketch(batch.column("text"), batch.column("domain"), self.spec)
        ids = token_ids(batch.column("text"), self.tokenizer)
        sets = shingle_sets_of_ids(ids.ids, ids.offsets, self.spec.shingles.n, self.spec.seed)
        lanes, shingles = signatures_of_sets(sets.hashes, sets.offsets, self.spec)
        return Sketch(band_keys(lanes, self.spec), shingles)

    def reduce(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows of `reduced`."""
        yield from Groups(self.max_bucket, self.pivots).pairs(batches)


def band_rows(band_keys: npt.NDArray[np.uint64], order: Bytes, addr: Addresses) -> pa.RecordBatch:
    """Emitted rows of documents with keys (n, bands)."""
    rows, bands = band_keys.shape
    key = np.empty((rows, bands, BAND_KEY_BYTES), np.uint8)
    key[:, :, :8] = band_keys.astype(">u8").view(np.uint8).reshape(rows, bands, 8)
    key[:, :, 8] = np.arange(bands, dtype=np.uint8)
    columns = [
        column_of(key.reshape(-1, BAND_KEY_BYTES)),
        column_of(np.repeat(order, bands, axis=0)),
        pa.array(np.repeat(addr, bands), pa.uint64()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=emitted_schema(BAND_KEY_BYTES, order.shape[1]))


def sorted_rows(band_keys: npt.NDArray[np.uint64], order: Bytes, addr: Addresses) -> pa.RecordBatch:
    """What `band_rows` gives, sorted."""
    from gristmill.stages.kernels.band_rows import sorted_band_rows
    from gristmill.stages.kernels.gather import gather
    from gristmill.stages.kernels.radix import order_by

    best = order_by([*padded_words(order), addr])
    key, orders, addresses = sorted_band_rows(band_keys[best].T, gather(order, best), addr[best])
    columns = [column_of(key), column_of(orders), pa.array(addresses)]
    return pa.RecordBatch.from_arrays(columns, schema=emitted_schema(BAND_KEY_BYTES, order.shape[1]))


class Groups:
    """Pairs of candidates from rows sorted by (key, order), and a census of groups that are too large for all pairs.

    A group of more than `cap` members pairs each with the best `pivots` alone. Of such groups `large` are the numbers
    of members, and `crowd` is given all their rows, in order; `served` are the rows of their pivots, which were paired
    with all members.
    """

    def __init__(self, cap: int, pivots: int, crowd: Callable[[pa.RecordBatch], None] | None = None) -> None:
        self.cap = cap
        self.pivots = pivots
        self.large: list[int] = []
        self.served: list[pa.RecordBatch] = []
        self._crowd = crowd

    def pairs(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows of PAIRS."""
        from gristmill.stages.kernels.groups import group_starts

        open_rows: pa.Table | None = None
        passed = 0
        for batch in batches:
            if not batch.num_rows:
                continue
            own = pa.Table.from_batches([batch])
            table = own if open_rows is None else pa.concat_tables([open_rows, own])
            rows = table.combine_chunks().to_batches()[0]
            starts = group_starts(bytes_of(rows.column("key")))
            yield from self._closed(rows, starts[:-1], passed)
            last = int(starts[-2])
            passed = passed if last == 0 else 0
            tail = rows.slice(last)
            if passed + tail.num_rows > self.cap:
                yield from self._against_pivots(tail, passed)
                passed += tail.num_rows - (self.pivots if passed else 0)
                tail = tail.slice(0, self.pivots)
            open_rows = pa.Table.from_batches([tail])
        if open_rows is not None and not passed:
            rows = open_rows.combine_chunks().to_batches()[0]
            yield from self._all_pairs(rows, np.array([0, rows.num_rows], np.int64))
        elif open_rows is not None:
            self._note(open_rows.combine_chunks().to_batches()[0], passed)

    def _closed(self, rows: pa.RecordBatch, starts: npt.NDArray[np.int64], passed: int) -> Iterator[pa.RecordBatch]:
        """Pairs of the groups that end in these rows; the first one may go on from `passed` members before."""
        if len(starts) < 2:
            return
        if passed:
            first = rows.slice(0, int(starts[1]))
            yield from self._against_pivots(first, passed)
            self._note(first, passed + first.num_rows - self.pivots)
            starts = starts[1:]
        yield from self._all_pairs(rows, starts)

    def _all_pairs(self, rows: pa.RecordBatch, starts: npt.NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        from gristmill.stages.kernels.groups import oversize, pair_blocks

        for group in oversize(starts, self.cap).tolist():
            members = rows.slice(int(starts[group]), int(starts[group + 1] - starts[group]))
            self._crowded(members)
            self._note(members, members.num_rows)
        for left, right in pair_blocks(starts, self.cap, self.pivots, PAIRS_A_BLOCK):
            yield from _pairs(rows, left, right)

    def _note(self, rows: pa.RecordBatch, members: int) -> None:
        """A large group, of which these are the first rows."""
        self.large.append(members)
        self.served.append(rows.slice(0, self.pivots).select(["key", EMITTED_ADDR]))

    def _crowded(self, rows: pa.RecordBatch) -> None:
        if self._crowd is not None:
            self._crowd(rows)

    def _against_pivots(self, rows: pa.RecordBatch, passed: int) -> Iterator[pa.RecordBatch]:
        """Members of a large group: where some `passed` before, the first `pivots` of these rows are the group's."""
        members = rows.num_rows
        self._crowded(rows.slice(self.pivots) if passed else rows)
        if not passed:
            yield from _pairs(rows, *np.triu_indices(min(self.pivots, members), 1))
        at_once = max(1, PAIRS_A_BLOCK // self.pivots)
        for first in range(self.pivots, members, at_once):
            rest = np.arange(first, min(members, first + at_once))
            yield from _pairs(rows, np.tile(np.arange(self.pivots), len(rest)), np.repeat(rest, self.pivots))


def _pairs(rows: pa.RecordBatch, left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
    """Pairs of positions, `left` of the better rank, without those of two documents of an index."""
    order = bytes_of(rows.column("order"))
    ours = order[right, 0] == OURS
    if not ours.all():
        left, right = left[ours], right[ours]
    if not len(left):
        return
    addr = rows.column(EMITTED_ADDR).to_numpy()
    bands = bands_note(bytes_of(rows.column("key"))[right, -1])
    prefix = order[right, -ID_BYTES : 4 - ID_BYTES].view(">u4").ravel().astype(np.uint32)
    columns = [pa.array(values) for values in (addr[right], addr[left], bands, prefix)]
    yield pa.RecordBatch.from_arrays(columns, schema=PAIRS)

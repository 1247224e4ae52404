"""Whether the rows of a dataset stand in the buckets that its manifest names (`facts.packing.buckets`).

Buckets tile the rows in the order of (domain, length); each document of a row is of its bucket's domain and length;
documents and tokens of each bucket, its media's tokens and its padding are those of its rows, and so are the lengths
that it says it holds (`verify_lengths`). A manifest of an
earlier version names no buckets, and nothing is asked of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.file_faults import FileFaults
from gristmill.manifests.verify_books import Dataset
from gristmill.manifests.verify_files import Fault
from gristmill.manifests.verify_lengths import LengthCount

Ints = npt.NDArray[np.int64]

_SEPARATOR = "separator"
_COUNTS = ("documents", "tokens", "image_tokens")


class BucketCount:
    """What the rows of a dataset hold, bucket by bucket, as its shards are read in order."""

    def __init__(self, dataset: Dataset) -> None:
        packing = dataset.manifest["facts"].get("packing") or {}
        self.buckets: list[dict[str, Any]] = packing.get("buckets") or []
        self._name = dataset.name
        self._rows = dataset.manifest["totals"]["rows"]
        self._context = dataset.manifest["facts"].get("context") or 0
        self._first = dict(_first_rows(dataset.manifest["shards"]))
        self._counts = np.zeros((len(self.buckets), len(_COUNTS)), np.int64)
        self._lengths = LengthCount(self.buckets)
        self._filled = np.zeros(len(self.buckets), np.int64)

    def add(self, batch: pa.RecordBatch, found: FileFaults) -> None:
        """Rows of the shard that `found` is of, from row `found.first` on, valid and without nulls."""
        if not self.buckets or self.tiling():
            return
        first = self._first[found.named.entry.path] + found.first
        rows = np.arange(first, first + batch.num_rows)
        bucket = np.searchsorted(np.array([b["stop_row"] for b in self.buckets]), rows, side="right")
        if bucket.max(initial=0) >= len(self.buckets):
            return
        docs = batch.column("docs")
        of_doc = bucket[_row_of(docs)]
        wrong = self._is_elsewhere(docs.flatten(), of_doc)
        outside = np.zeros(batch.num_rows, np.bool_)
        outside[_row_of(docs)[wrong]] = True
        found.rows("bucket", outside, "a document of another domain or length than the bucket's")
        self._count(batch, bucket)

    def tiling(self) -> str:
        """What is wrong with the ranges of rows, "" when they tile the rows in order."""
        bounds = [0, *(b["stop_row"] for b in self.buckets)]
        if bounds[-1] != self._rows or any(b["first_row"] != at for b, at in zip(self.buckets, bounds, strict=False)):
            return "the buckets do not tile the rows"
        keys = [((b["domain"] or ""), b["min_tokens"]) for b in self.buckets]
        return "" if keys == sorted(set(keys)) else "the buckets are not in the order of domain and length"

    def faults(self) -> Iterator[Fault]:
        """What is wrong with the buckets as a whole, when all rows were seen."""
        if not self.buckets:
            return
        if wrong := self.tiling():
            yield Fault(self._name, "bucket", wrong)
            return
        for number, bucket in enumerate(self.buckets):
            counts: dict[str, float] = dict(zip(_COUNTS, self._counts[number].tolist(), strict=True))
            places = (bucket["stop_row"] - bucket["first_row"]) * self._context
            counts["padding_frac"] = (places - int(self._filled[number])) / places if places else 0.0
            off = [f"{name} is {bucket[name]}, the rows hold {n}" for name, n in counts.items() if bucket[name] != n]
            if off:
                yield Fault(self._name, "bucket", f"bucket {number}: {'; '.join(off)}")
        for number, what in self._lengths.wrong():
            yield Fault(self._name, "bucket", f"bucket {number}: {what}")

    def _is_elsewhere(self, docs: pa.StructArray, bucket: Ints) -> npt.NDArray[np.bool_]:
        tokens = docs.field("n_tokens_total").to_numpy(zero_copy_only=False).astype(np.int64)
        low = np.array([b["min_tokens"] for b in self.buckets], np.int64)[bucket]
        most = np.iinfo(np.int64).max
        high = np.array([most if b["max_tokens"] is None else b["max_tokens"] for b in self.buckets], np.int64)[bucket]
        expected = pa.array([b["domain"] for b in self.buckets], pa.string()).take(pa.array(bucket))
        same = pc.fill_null(pc.equal(pc.fill_null(docs.field("domain"), ""), expected), True)
        return (tokens < low) | (tokens >= high) | ~same.to_numpy(zero_copy_only=False)

    def _count(self, batch: pa.RecordBatch, bucket: Ints) -> None:
        segments, media = batch.column("segments"), batch.column("media")
        items = segments.flatten()
        is_text = ~pc.equal(items.field("kind"), _SEPARATOR).to_numpy(zero_copy_only=False)
        sizes = _ints(items.field("end")) - _ints(items.field("start"))
        begins = is_text & (_ints(items.field("doc_offset")) == 0)
        of_segment, of_medium = bucket[_row_of(segments)], bucket[_row_of(media)]
        pieces, whole = _pieces(batch, is_text)
        self._lengths.add(of_segment[pieces], whole, sizes[pieces], begins[pieces])
        np.add.at(self._counts[:, 0], of_segment, begins)
        np.add.at(self._counts[:, 1], of_segment, np.where(is_text, sizes, 0))
        np.add.at(self._counts[:, 2], of_medium, _ints(media.flatten().field("token_len")))
        np.add.at(self._filled, bucket, _ints(batch.column("n_tokens")))


def _first_rows(shards: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, int]]:
    first = 0
    for shard in shards:
        yield shard["path"], first
        first += shard["rows"]


def _pieces(batch: pa.RecordBatch, is_text: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Which segments are pieces of documents, and the tokens of the whole document of each of these. A segment of a
    document that the row does not have is none: that is a fault of its own."""
    segments, docs = batch.column("segments"), batch.column("docs")
    row, inside = _row_of(segments), _ints(segments.flatten().field("doc_idx"))
    held = _ints(pc.list_value_length(docs))
    pieces = is_text & (inside >= 0) & (inside < held[row])
    doc = (np.cumsum(held) - held)[row[pieces]] + inside[pieces]
    return pieces, _ints(docs.flatten().field("n_tokens_total"))[doc]


def _ints(values: pa.Array) -> Ints:
    return pc.fill_null(values, 0).to_numpy(zero_copy_only=False).astype(np.int64)


def _row_of(lists: pa.Array) -> Ints:
    return np.repeat(np.arange(len(lists)), _ints(pc.list_value_length(lists)))

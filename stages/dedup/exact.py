"""Exact duplicates: of all records whose normal forms are equal, media too, the one of the best rank stays.

Columns in: `id`, `content_hash`, `domain`, `text`, `media`, `dup_cluster`, `dup_count`, and those of the keeper's
policy. `normalise` says what makes two texts equal:

* `auto` (default): by domain. In code and math nothing but white space is normalised: any of it is as one blank, none
  counts at the ends. In all other domains the texts are compared in the canonical caseless form of Unicode, too
  (`kernels.normal_form`): how accents are encoded, case and format characters do not count. Digits and punctuation
  always do. Records of which one is of code or math and the other is not are equal where their bytes are.
* `prose`, `exact`: one of these two for all records. `none`: equal bytes (`content_hash`) alone.

Media are equal where their hashes are; those that were not fetched have none and are equal where their URIs are.

Emitted: key = BLAKE3-128 of the normal form and the hashes of the media; order = rank (`keep`, then content hash, then
id); value = cluster, records that it stands for, and for `auto` what tells code from prose under one key: for code and
math the hash of their own form, for others zeros.
Reduced: a DROP for each record that equals one of better rank that is kept, with that one's id (value and limit 1.0;
`note` is 1 where they are equal only when normalised), and a MARK for that one: the smallest content hash, or earlier
cluster, of those it now stands for, and the sum of their `dup_count` (null counts 1).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from blake3 import blake3

from gristmill.manifests.schema import ID_BYTES
from gristmill.stages.columns import bytes_of, column_of, words_of
from gristmill.stages.dedup import keeper, ranks
from gristmill.stages.dedup.exact_stars import reduced_stars
from gristmill.stages.params import param
from gristmill.stages.protocol import Reason, emitted_schema

MEDIA_HASHES, MEDIA_PLACES = "media.list.element.sha256", "media.list.element.uri"
"""What is read of `media`, as Parquet names it."""

COUNT_BYTES = 8

Bytes = npt.NDArray[np.uint8]
Addresses = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ExactDedup:
    """Keep one record of each set with equal text and media: the best by `keep`, then by content hash, then by id."""

    normalise: Literal["auto", "prose", "exact", "none"] = param(
        "auto", "what counts as equal: by domain, without case and white space, without white space, or bytes"
    )
    keep: tuple[str, ...] = param((), "which one stays, criteria in order: longest, score:NAME, source:A>B, ...")

    name: ClassVar[str] = "exact_dedup"
    version: ClassVar[int] = 3
    key_bytes = ID_BYTES

    def __post_init__(self) -> None:
        keeper.check(self.keep, "stage exact_dedup.keep")

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns; no text where bytes alone are compared, and never the bytes of media."""
        text = () if self.normalise == "none" else ("domain", "text")
        media = (MEDIA_HASHES, MEDIA_PLACES)
        return tuple(dict.fromkeys((*ranks.columns_of(self.keep), *text, *media, "dup_cluster", "dup_count")))

    @property
    def order_bytes(self) -> int:
        """Width of a rank."""
        return ranks.rank_width(self.keep)

    @property
    def value_bytes(self) -> int:
        """Cluster, count; for `auto` a hash."""
        return ID_BYTES + COUNT_BYTES + (ID_BYTES if self.normalise == "auto" else 0)

    def reasons(self) -> tuple[Reason, ...]:
        """`exact_duplicate`."""
        return (Reason("exact_duplicate", "drop", "text (when normalised) and media equal those of the keeper"),)

    def explain(self, note: int) -> str:
        """How a record and its keeper are equal."""
        return "equal when normalised" if note else ""

    def emit(self, batch: pa.RecordBatch, addr: Addresses) -> pa.RecordBatch:
        """One row for each record. Raises GristmillError on an id that is not 32 hex digits, or a null."""
        rank = ranks.rank_bytes(batch, self.keep, self.name)
        content = rank[:, -2 * ID_BYTES : -ID_BYTES]
        value = [clusters_of(batch, content), counts_of(batch)]
        if self.normalise == "none":
            key = _byte_hashes(batch, content)
        else:
            exact = self._exact_rows(batch)
            key = _form_hashes(batch, exact if self.normalise != "auto" else np.zeros_like(exact), None)
            if self.normalise == "auto":
                value.append(_form_hashes(batch, exact, exact))
        columns = [column_of(raw) for raw in (key, rank, np.concatenate(value, axis=1))]
        columns.insert(2, pa.array(addr, pa.uint64()))
        schema = emitted_schema(self.key_bytes, self.order_bytes, self.value_bytes)
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def reduce(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The verdicts; of a key that goes on, no more than the kept ones are carried to the next batch."""
        yield from reduced_stars(batches)

    def _exact_rows(self, batch: pa.RecordBatch) -> Bools:
        if self.normalise == "auto":
            return ranks.is_exact_domain(batch.column("domain"))
        return np.full(batch.num_rows, self.normalise == "exact", np.bool_)


def _form_hashes(batch: pa.RecordBatch, exact: Bools, only: Bools | None) -> Bytes:
    """(n, 16) hashes of the normal forms of text and media; zeros for rows that are not among `only`."""
    from gristmill.stages.kernels.buffers import text_buffers
    from gristmill.stages.kernels.normal_form import EXACT, PROSE, form_digests

    hashes = np.zeros((batch.num_rows, ID_BYTES), np.uint8)
    rows = np.arange(batch.num_rows) if only is None else np.flatnonzero(only)
    if not len(rows):
        return hashes
    data, offsets = text_buffers(batch.column("text"))
    kinds = np.where(exact[rows], EXACT, PROSE).astype(np.uint8)
    media = media_hashes(batch.column("media").take(pa.array(rows)))
    hashes[rows] = form_digests(data, offsets[rows], offsets[rows + 1], kinds, media)
    return hashes


def _byte_hashes(batch: pa.RecordBatch, content: Bytes) -> Bytes:
    """The content hashes, for rows whose media were not all fetched with what tells those apart."""
    media = batch.column("media")
    hashes = pc.struct_field(media.flatten(), "sha256")
    if not hashes.null_count:
        return content
    rows = np.unique(pc.list_parent_indices(media).filter(hashes.is_null()).to_numpy())
    made = content.copy()
    for row, tail in media_hashes(media.take(pa.array(rows))).items():
        at = int(rows[row])
        made[at] = np.frombuffer(blake3(content[at].tobytes() + tail).digest(ID_BYTES), np.uint8)
    return made


def media_hashes(media: pa.ListArray) -> dict[int, bytes]:
    """What tells the media of a row apart, one behind the other, of the rows that have any: 32 bytes for each, its
    hash, or that of its URI where it was not fetched."""
    lengths = pc.fill_null(pc.list_value_length(media), 0).to_numpy(zero_copy_only=False)
    if not lengths.any():
        return {}
    hashes, places = (pc.struct_field(media.flatten(), name).to_pylist() for name in ("sha256", "uri"))
    told = [known or blake3((place or "").encode()).digest() for known, place in zip(hashes, places, strict=True)]
    ends = np.cumsum(lengths)
    some = np.flatnonzero(lengths).tolist()
    return {row: b"".join(told[ends[row] - lengths[row] : ends[row]]) for row in some}


def counts_of(batch: pa.RecordBatch) -> Bytes:
    """(n, 8): the records that each row stands for, big-endian."""
    counts = pc.fill_null(batch.column("dup_count"), 1).to_numpy(zero_copy_only=False)
    return np.maximum(counts, 1).astype(">i8").view(np.uint8).reshape(-1, COUNT_BYTES)


def clusters_of(batch: pa.RecordBatch, content: Bytes) -> Bytes:
    """(n, 16): the smaller of content hash and cluster."""
    clusters = batch.column("dup_cluster")
    if clusters.null_count == len(clusters):
        return content
    before = np.where(clusters.is_valid().to_numpy(zero_copy_only=False)[:, None], bytes_of(clusters), content)
    one, other = words_of(before), words_of(content)
    smaller = (one[:, 0] < other[:, 0]) | ((one[:, 0] == other[:, 0]) & (one[:, 1] < other[:, 1]))
    return np.where(smaller[:, None], before, content)

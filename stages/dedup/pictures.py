"""Equal pictures: of all records whose pictures decode to the same pixels the one of the best rank stays.

Two records are equal where they have as many pictures and each decodes to the same size, mode and pixels
(`pictures_child`), in the same order, whatever their texts and however the files were encoded. So two templates that
draw the same thing count once; a step that makes several records of one picture (`render_forms`) belongs behind this
one. Records without a picture are not looked at, nor are those with a video, a picture that was not fetched, or one
that cannot be decoded (that it broke the child is an external effect, `manifests.effects`): they all stay.

Columns in: `id`, `content_hash`, `media`, `dup_cluster`, `dup_count`, and those of the keeper's policy.
Emitted: key = BLAKE3-128 of the hashes of the pictures; order = rank (`keep`, then content hash, then id); value =
cluster and records that it stands for. Reduced as `exact_dedup`: a DROP for each record that equals a kept one, with
that one's id (`note` is 1 where texts or files differ), and a MARK for the kept one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from blake3 import blake3

from gristmill.manifests.child import ChildLimits
from gristmill.manifests.effects import ask_child
from gristmill.manifests.schema import ID_BYTES
from gristmill.stages.columns import column_of
from gristmill.stages.dedup import keeper, ranks
from gristmill.stages.dedup.exact import COUNT_BYTES, clusters_of, counts_of
from gristmill.stages.dedup.exact_stars import reduced_stars
from gristmill.stages.params import param
from gristmill.stages.protocol import Reason, emitted_schema

CHILD_TARGET = "gristmill.stages.dedup.pictures_child:make"
LIMITS = ChildLimits(max_seconds_per_record=20.0, max_rss_bytes=2 << 30, max_output_bytes=64)
MEDIA = ("media.list.element.kind", "media.list.element.bytes")
"""What is read of `media`, as Parquet names it."""

_ASKED_BYTES = 64 << 20
"""Of pictures that the child is given at a time."""
_HASH_BYTES = 32

Bytes = npt.NDArray[np.uint8]
Addresses = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class PictureDedup:
    """Keep one record of each set whose pictures decode to the same pixels: the best by `keep`, then by content."""

    keep: tuple[str, ...] = param((), "which one stays, criteria in order: longest, score:NAME, source:A>B, ...")

    name: ClassVar[str] = "picture_dedup"
    version: ClassVar[int] = 1
    key_bytes = ID_BYTES
    value_bytes = ID_BYTES + COUNT_BYTES

    def __post_init__(self) -> None:
        keeper.check(self.keep, "stage picture_dedup.keep")

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns; of media their kind and bytes."""
        return tuple(dict.fromkeys((*ranks.columns_of(self.keep), *MEDIA, "dup_cluster", "dup_count")))

    @property
    def order_bytes(self) -> int:
        """Width of a rank."""
        return ranks.rank_width(self.keep)

    def reasons(self) -> tuple[Reason, ...]:
        """`picture_duplicate`."""
        return (Reason("picture_duplicate", "drop", "its pictures have the pixels of the keeper's"),)

    def explain(self, note: int) -> str:
        """How a record and its keeper are equal."""
        return "the same pixels in another record" if note else "the same text and files"

    def emit(self, batch: pa.RecordBatch, addr: Addresses) -> pa.RecordBatch:
        """One row for each record with pictures. Raises GristmillError on an id that is not 32 hex digits."""
        keys = picture_keys(batch.column("media"))
        rows = np.array(sorted(keys), np.int64)
        here = batch.take(pa.array(rows))
        rank = ranks.rank_bytes(here, self.keep, self.name)
        content = rank[:, -2 * ID_BYTES : -ID_BYTES]
        key = np.frombuffer(b"".join(keys[row] for row in rows.tolist()), np.uint8).reshape(-1, ID_BYTES)
        value = np.concatenate([clusters_of(here, content), counts_of(here)], axis=1)
        columns = [column_of(key), column_of(rank), pa.array(addr[rows], pa.uint64()), column_of(value)]
        schema = emitted_schema(self.key_bytes, self.order_bytes, self.value_bytes)
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def reduce(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The verdicts."""
        yield from reduced_stars(batches)


def picture_keys(media: pa.ListArray) -> dict[int, bytes]:
    """Row -> key (16 bytes), of the rows that have pictures alone, each of which can be decoded."""
    lengths: list[int] = pc.fill_null(pc.list_value_length(media), 0).to_pylist()
    items = media.flatten()
    kinds: list[str | None] = pc.struct_field(items, "kind").to_pylist()
    files = pc.struct_field(items, "bytes")
    known = files.is_valid().to_pylist()
    first, rows = 0, dict[int, range]()
    for row, length in enumerate(lengths):
        own = range(first, first + length)
        if length and all(known[i] and kinds[i] == "image" for i in own):
            rows[row] = own
        first += length
    hashes = _hashes(files, [i for own in rows.values() for i in own])
    found: dict[int, bytes] = {}
    for row, own in rows.items():
        told = [hashes[i] for i in own]
        if all(told):
            found[row] = blake3(b"".join(told)).digest(ID_BYTES)
    return found


def _hashes(files: pa.LargeBinaryArray, places: Sequence[int]) -> dict[int, bytes]:
    """The hash of the pixels of each file; b"" of one that cannot be decoded."""
    found: dict[int, bytes] = {}
    asked: list[int] = []
    size = 0
    for number, place in enumerate(places):
        asked.append(place)
        size += len(files[place].as_buffer())
        if size >= _ASKED_BYTES or number == len(places) - 1:
            answers = ask_child(CHILD_TARGET, LIMITS, [memoryview(files[i].as_buffer()) for i in asked])
            for i, answer in zip(asked, answers, strict=True):
                found[i] = answer if isinstance(answer, bytes) and len(answer) == _HASH_BYTES else b""
            asked, size = [], 0
    return found

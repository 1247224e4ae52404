"""The sidecar of a shard of trainer rows: where each row's ids stand, what they hash to, and what else a loader needs.

`<shard>.idx`, little endian, 64 bytes of head, three tables, then the sides. It follows from the shard alone
(`index_of_shard`), so it is a cache that can be made anew; some 60 bytes a row.

    head     magic "GMROWS01", u32 context, u32 rows, u32 batches, u32 codec (0 none, 1 zstd), u64 offset of the sides,
             u64 their bytes, 16 bytes of the shard's digest, u64 xxh3 of all of this and the batch table
    batches  a record batch each: u64 offset of its message, of its ids, of its end; u64 its first row; u64 xxh3 of the
             message without the ids (so whoever reads documents or tasks of a row can check them); with a codec also
             u64 bytes of the ids as they stand in the file (`ipc_zstd`), of the one row that a batch then holds
    rows     u64 xxh3 of the row's ids (4 * context bytes, as they are before they are compressed); u32 offset of its
             side; u32 low half of xxh3 of the side; one entry more, for the end of the last side
    sides    of each row a sequence of LEB128 numbers: the number of segments, then of each segment
                 flags    kind (its index in SEGMENT_KINDS) + 16 * SAME_GROUP + 32 * OFFSET + 64 * MEDIUM
                 length   tokens
                 group    without SAME_GROUP: 1 + its attn_group (0 none); with it: that of the segment before
                 offset   with OFFSET: doc_offset; without: 0, or for a separator that of the segment before plus its
                          length
                 medium   with MEDIUM: media_idx
             the number of loss spans, and of each: start, length, the bits of its float32 weight; the number of media,
             and of each: token_start, token_len
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.ipc_layout import batch_buffers, file_blocks
from gristmill.manifests.ipc_zstd import BUFFERS_BEFORE_IDS, refuse_bombs
from gristmill.manifests.trainer_schema import SEGMENT_KINDS

MAGIC = b"GMROWS01"
HEAD = struct.Struct("<8sIIIIQQ16sQ")
SAME_GROUP, OFFSET, MEDIUM = 16, 32, 64
BATCH_TABLE = np.dtype([("at", "<u8"), ("ids_at", "<u8"), ("end", "<u8"), ("first", "<u8"), ("aux", "<u8")])
COLD_BATCH_TABLE = np.dtype([*BATCH_TABLE.descr, ("ids_bytes", "<u8")])
CODECS = ("none", "zstd")
ROW_TABLE = np.dtype([("ids", "<u8"), ("side_at", "<u4"), ("side", "<u4")])
_SEPARATOR = SEGMENT_KINDS.index("separator")
_UNKNOWN = 15

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class BatchPlace:
    """Where a record batch stands in its file: its message, the bytes of its ids within, and its end."""

    at: int
    ids_at: int
    ids_bytes: int
    end: int


SIDE_COLUMNS = ["segments", "loss_spans", "media"]
SIDES_AT_ONCE = 64
"""Batches whose sides are made together: one by one, a fifth of writing rows of a million tokens was calls."""


class IndexWriter:
    """Collects the batches of one shard."""

    def __init__(self, context: int, codec: str = "none") -> None:
        self._context = context
        self._codec = CODECS.index(codec)
        self._batches: list[tuple[int, ...]] = []
        self._hashes: list[int] = []
        self._pending: list[pa.RecordBatch] = []
        self._sides: list[bytes] = []

    def add(self, batch: pa.RecordBatch, place: BatchPlace, aux_hash: int) -> None:
        """A batch as it was written; `aux_hash` is xxh3 of its message without the ids."""
        row = (place.at, place.ids_at, place.end, len(self._hashes), aux_hash, place.ids_bytes)
        self._batches.append(row if self._codec else row[:-1])
        ids = ids_of(batch).data.cast("B")
        size = 4 * self._context
        self._hashes += [xxhash.xxh3_64_intdigest(ids[i * size : (i + 1) * size]) for i in range(batch.num_rows)]
        self._pending.append(batch.select(SIDE_COLUMNS))
        if len(self._pending) >= SIDES_AT_ONCE:
            self._make_sides()

    def _make_sides(self) -> None:
        if self._pending:
            self._sides += row_sides(pa.concat_batches(self._pending))
            self._pending = []

    def finish(self, shard_digest: str) -> bytes:
        """The file, for a shard of that digest (`blake3:...`)."""
        self._make_sides()
        batches = np.array(self._batches, dtype=_table_of(self._codec))
        rows = np.zeros(len(self._sides) + 1, dtype=ROW_TABLE)
        rows["ids"][:-1] = self._hashes
        rows["side_at"][1:] = np.cumsum([len(side) for side in self._sides])
        rows["side"][:-1] = [xxhash.xxh3_64_intdigest(side) & 0xFFFFFFFF for side in self._sides]
        sides = b"".join(self._sides)
        sides_at = HEAD.size + batches.nbytes + rows.nbytes
        digest = bytes.fromhex(shard_digest.rpartition(":")[2])[:16]
        fields = (MAGIC, self._context, len(self._sides), len(batches), self._codec, sides_at, len(sides), digest)
        return b"".join((_head(fields, batches.tobytes()), batches.tobytes(), rows.tobytes(), sides))


def _table_of(codec: int) -> np.dtype[np.void]:
    return COLD_BATCH_TABLE if codec else BATCH_TABLE


def _head(fields: tuple[bytes, int, int, int, int, int, int, bytes], batches: bytes) -> bytes:
    bare = HEAD.pack(*fields, 0)[:-8]
    return bare + struct.pack("<Q", xxhash.xxh3_64_intdigest(bare + batches))


@dataclass(frozen=True)
class RowIndex:
    """The head of an index, and its batch table; rows and sides stay where they are."""

    context: int
    rows: int
    batches: npt.NDArray[np.void]
    rows_at: int
    sides_at: int
    sides_bytes: int
    shard_digest: bytes
    codec: str

    @staticmethod
    def parse(data: bytes | memoryview, where: str) -> "RowIndex":
        """From the beginning of a file, all of head and batch table. Raises VerifyError where that is damaged."""
        try:
            *fields, said = HEAD.unpack_from(data)
            magic, context, rows, count, codec, sides_at, sides_bytes, digest = fields
            kind = _table_of(codec)
            table = bytes(data[HEAD.size : HEAD.size + count * kind.itemsize])
        except struct.error:
            raise _damaged(where, "cut short") from None
        if magic != MAGIC or codec >= len(CODECS) or len(table) != count * kind.itemsize:
            raise _damaged(where, "not an index of rows, or cut short")
        if xxhash.xxh3_64_intdigest(bytes(data[: HEAD.size - 8]) + table) != said:
            raise _damaged(where, "its head is not what it hashes to")
        batches = np.frombuffer(table, dtype=kind)
        rows_at = HEAD.size + len(table)
        return RowIndex(context, rows, batches, rows_at, sides_at, sides_bytes, digest, CODECS[codec])


def head_bytes(first: bytes) -> int:
    """Bytes of head and batch table, from the first HEAD.size bytes of a file; 0 where these are no head."""
    if len(first) < HEAD.size or first[:8] != MAGIC:
        return 0
    fields = HEAD.unpack_from(first)
    return HEAD.size + int(fields[3]) * _table_of(fields[4]).itemsize


def _damaged(where: str, how: str) -> VerifyError:
    remedy = "make it anew with `gristmill run`, or read the shard with plain pyarrow"
    return VerifyError("an index of rows is damaged", where, how, remedy)


def ids_of(batch: pa.RecordBatch) -> npt.NDArray[np.uint32]:
    """uint32[rows * context], without a copy."""
    column = batch.column("input_ids")
    return column.flatten().to_numpy()


def index_of_shard(path: Path, shard_digest: str) -> bytes:
    """The index of a shard as it stands on disk. Raises ValueError where its buffers are not what they say."""
    whole = pa.memory_map(str(path)).read_buffer()
    reader = pa.ipc.open_file(whole)
    view = memoryview(whole)
    blocks = file_blocks(view)
    cold = bool(blocks) and batch_buffers(view, blocks[0])[1]
    writer = IndexWriter(reader.schema.field("input_ids").type.list_size, CODECS[cold])
    for number, block in enumerate(blocks):
        refuse_bombs(view, block, reader.schema)
        ids_at, ids_bytes = batch_buffers(view, block)[0][BUFFERS_BEFORE_IDS].tolist()
        place = BatchPlace(block.offset, ids_at, ids_bytes, block.offset + block.metadata_bytes + block.body_bytes)
        around_ids = [view[place.at : ids_at], view[ids_at + ids_bytes : place.end]]
        batch = reader.get_batch(number)
        batch.validate()
        writer.add(batch, place, aux_hash(around_ids))
    return writer.finish(shard_digest)


def aux_hash(chunks: Sequence[bytes | memoryview]) -> int:
    """xxh3 of a message without its ids."""
    hasher = xxhash.xxh3_64()
    for chunk in chunks:
        hasher.update(chunk)
    return hasher.intdigest()


def row_sides(batch: pa.RecordBatch) -> list[bytes]:
    """The side of each row."""
    rows = batch.num_rows
    parts = [_segments(batch.column("segments")), _loss(batch.column("loss_spans")), _media(batch.column("media"))]
    counts = [np.full(rows, 1, np.int64) for _ in parts]
    values = []
    for i, (column, numbers, of_item) in enumerate(parts):
        lengths = column.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        per_item = np.concatenate(([0], np.cumsum(of_item)))
        counts[i] += per_item[bounds[1:]] - per_item[bounds[:-1]]
        values.append(np.insert(numbers, per_item[bounds[:-1]], lengths.astype(np.uint64)))
    return _interleaved(values, counts)


def _interleaved(values: list[npt.NDArray[np.uint64]], counts: list[Ints]) -> list[bytes]:
    """LEB128 of the numbers of all parts of each row, part behind part."""
    rows = len(counts[0])
    part = np.repeat(np.tile(np.arange(len(counts)), rows), np.stack(counts, axis=1).reshape(-1))
    numbers = np.empty(len(part), dtype=np.uint64)
    for number, mine in enumerate(values):
        numbers[part == number] = mine
    data, ends = _leb128(numbers)
    bounds = ends[np.concatenate(([0], np.cumsum(np.sum(counts, axis=0))))].tolist()
    whole = data.tobytes()
    return [whole[low:high] for low, high in pairwise(bounds)]


def _leb128(values: npt.NDArray[np.uint64]) -> tuple[Bytes, Ints]:
    """The bytes of all numbers, and n + 1 bounds."""
    size = np.ones(len(values), dtype=np.int64)
    for bits in range(7, 64, 7):
        size += values >> np.uint64(bits) != 0
    ends = np.concatenate(([0], np.cumsum(size)))
    data = np.zeros(int(ends[-1]), dtype=np.uint8)
    for place in range(int(size.max(initial=0))):
        here = np.flatnonzero(size > place)
        byte = (values[here] >> np.uint64(7 * place)) & np.uint64(0x7F)
        more = np.where(size[here] > place + 1, 0x80, 0).astype(np.uint64)
        data[ends[here] + place] = (byte | more).astype(np.uint8)
    return data, ends


Part = tuple[pa.ListArray, npt.NDArray[np.uint64], Ints]
"""A list column, the numbers of all its items, and how many numbers each item has."""


def _segments(column: pa.ListArray) -> Part:
    items = column.flatten()
    first = _first_of_list(column, len(items))
    names = ("start", "end", "attn_group", "doc_offset", "media_idx")
    start, end, group, offset, medium = (_numbers(items, name) for name in names)
    kind = pc.fill_null(pc.index_in(items.field("kind"), pa.array(SEGMENT_KINDS)), _UNKNOWN).to_numpy().astype(np.int64)
    length = end - start
    before = _shifted(group, -2)
    same = (group == before) & ~first
    expected = np.where((kind == _SEPARATOR) & ~first, _shifted(offset, 0) + _shifted(length, 0), 0)
    given = offset != expected
    flags = kind + SAME_GROUP * same + OFFSET * given + MEDIUM * (medium >= 0)
    fields = np.stack([flags, length, group + 1, offset, medium], axis=1).reshape(-1)
    present = np.stack([np.ones_like(same), np.ones_like(same), ~same, given, medium >= 0], axis=1)
    return column, fields[present.reshape(-1)].astype(np.uint64), present.sum(axis=1)


def _loss(column: pa.ListArray) -> Part:
    items = column.flatten()
    start, end = _numbers(items, "start"), _numbers(items, "end")
    weight = items.field("weight").to_numpy(zero_copy_only=False).astype(np.float32).view(np.uint32).astype(np.int64)
    return column, np.stack([start, end - start, weight], axis=1).reshape(-1).astype(np.uint64), np.full(len(items), 3)


def _media(column: pa.ListArray) -> Part:
    items = column.flatten()
    pair = np.stack([_numbers(items, "token_start"), _numbers(items, "token_len")], axis=1)
    return column, pair.reshape(-1).astype(np.uint64), np.full(len(items), 2)


def _numbers(items: pa.StructArray, name: str) -> Ints:
    field = items.field(name)
    known = pc.fill_null(field, -1) if field.null_count else field
    return known.to_numpy(zero_copy_only=False).astype(np.int64)


def _shifted(values: Ints, first: int) -> Ints:
    return np.concatenate(([first], values[:-1])) if len(values) else values


def _first_of_list(column: pa.ListArray, items: int) -> npt.NDArray[np.bool_]:
    lengths = column.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    first = np.zeros(items, dtype=np.bool_)
    starts = np.cumsum(lengths) - lengths
    first[starts[lengths > 0]] = True
    return first

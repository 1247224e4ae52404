"""The identity of a trainer row, computed from its columns alone, so that `verify` can do it again.

`row_id` is BLAKE3-128 over what the row holds, little endian, in this order:

1. uint32 each: 1 (the version of this definition), `context`, `n_tokens`, number of segments, number of docs;
2. `n_tokens` uint32 ids (padding and the pad id do not count);
3. for each segment 32 bytes: int32 start, end, kind (its index in SEGMENT_KINDS), attn_group, doc_idx; int64
   doc_offset; int32 media_idx (-1 for none);
4. for each doc 24 bytes: int32 use_no; uint32 length of its id in bytes; its content_hash; then all ids (UTF-8).

It depends neither on the row's file or place, nor on what is said about documents (source, domain, licence).
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from blake3 import blake3

from gristmill.manifests.schema import ID_BYTES
from gristmill.manifests.trainer_schema import SEGMENT_KINDS

ROW_ID_VERSION = 1

_SEGMENT = np.dtype(
    [
        ("start", "<i4"),
        ("end", "<i4"),
        ("kind", "<i4"),
        ("attn_group", "<i4"),
        ("doc_idx", "<i4"),
        ("doc_offset", "<i8"),
        ("media_idx", "<i4"),
    ]
)
_DOC = np.dtype([("use_no", "<i4"), ("id_bytes", "<u4"), ("content_hash", f"V{ID_BYTES}")])

_Records = npt.NDArray[Any]


def row_ids(batch: pa.RecordBatch) -> pa.FixedSizeBinaryArray:
    """The id of each row of a batch with the columns input_ids, n_tokens, segments and docs of `packed_schema`.

    Raises ValueError on a segment kind outside SEGMENT_KINDS.
    """
    input_ids = batch.column("input_ids")
    context = input_ids.type.list_size
    ids = input_ids.flatten().to_numpy().astype("<u4", copy=False).reshape(batch.num_rows, context)
    n_tokens = batch.column("n_tokens").to_numpy()
    segments, segment_at = _segment_records(batch.column("segments"))
    docs, doc_at, id_utf8, id_at = _doc_records(batch.column("docs"))
    digests = bytearray()
    for row in range(batch.num_rows):
        s = slice(segment_at[row], segment_at[row + 1])
        d = slice(doc_at[row], doc_at[row + 1])
        head = (ROW_ID_VERSION, context, n_tokens[row], s.stop - s.start, d.stop - d.start)
        hasher = blake3(np.array(head, dtype="<u4").tobytes())
        hasher.update(ids[row, : n_tokens[row]].view(np.uint8).data)
        hasher.update(segments[s].tobytes())
        hasher.update(docs[d].tobytes())
        hasher.update(id_utf8[id_at[d.start] : id_at[d.stop]])
        digests += hasher.digest(ID_BYTES)
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(ID_BYTES), batch.num_rows, [None, pa.py_buffer(bytes(digests))]
    )


def _segment_records(lists: pa.ListArray) -> tuple[_Records, list[int]]:
    fields = _fields(lists)
    kind = pc.index_in(fields["kind"], value_set=pa.array(SEGMENT_KINDS))
    if kind.null_count:
        raise ValueError(f"a segment kind outside {SEGMENT_KINDS}")
    records = np.empty(len(kind), dtype=_SEGMENT)
    records["kind"] = kind.to_numpy()
    records["media_idx"] = pc.fill_null(fields["media_idx"], -1).to_numpy()
    for name in ("start", "end", "attn_group", "doc_idx", "doc_offset"):
        records[name] = fields[name].to_numpy()
    return records, _bounds(lists)


def _doc_records(lists: pa.ListArray) -> tuple[_Records, list[int], memoryview, list[int]]:
    fields = _fields(lists)
    ids = fields["id"].cast(pa.large_binary())
    id_utf8 = b"".join(ids.to_pylist())
    records = np.empty(len(ids), dtype=_DOC)
    records["use_no"] = fields["use_no"].to_numpy()
    records["id_bytes"] = pc.binary_length(ids).to_numpy()
    hashes = b"".join(fields["content_hash"].to_pylist())
    records["content_hash"] = np.frombuffer(hashes, dtype=f"V{ID_BYTES}")
    id_at = np.concatenate(([0], np.cumsum(records["id_bytes"], dtype=np.int64))).tolist()
    return records, _bounds(lists), memoryview(id_utf8), id_at


def _fields(lists: pa.ListArray) -> dict[str, pa.Array]:
    values = lists.flatten()
    return {f.name: values.field(i) for i, f in enumerate(values.type)}


def _bounds(lists: pa.ListArray) -> list[int]:
    offsets = lists.offsets.to_numpy().astype(np.int64)
    return (offsets - offsets[0]).tolist()

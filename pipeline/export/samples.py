"""Samples as formats without columns take them: ids as arrays, all else as plain data that JSON can hold.

In: record batches of a source (`shape`). Out, for each sample, in order: its ids (uint32, a view), and a mapping:

    row        row_id (hex), n_tokens, cu_seqlens, segments, loss_spans, docs, media, tasks: as in `packed_schema`, with
               hashes as hex. cu_seqlens are the bounds of the runs of one attention group in the row, padding being a
               run of its own: [0, ..., n_tokens, context], as `reader.batch` has them
    document   id, content_hash (hex), source, domain, license, n_tokens, media
    text       all columns of DOCUMENT but `text`; of a medium no `bytes`

Bytes become hex, NaN and infinities null.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa

Ids = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]


def ids_of(batch: pa.RecordBatch) -> list[Ids]:
    """The ids of each sample: of a row `context` with the padding, of a document its own."""
    column = batch.column("input_ids")
    if pa.types.is_fixed_size_list(column.type):
        flat = column.flatten().to_numpy()
        return list(flat.reshape(batch.num_rows, column.type.list_size))
    values, offsets = column.values.to_numpy(), column.offsets.to_numpy()
    return [values[offsets[i] : offsets[i + 1]] for i in range(batch.num_rows)]


def described(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """What is said of each sample beside its ids or text; hashes are bytes yet, `json_of` makes them hex."""
    names = [name for name in batch.schema.names if name not in ("input_ids", "text")]
    found = batch.select(names).to_pylist()
    if "segments" in names:
        context = batch.column("input_ids").type.list_size
        for sample, bounds in zip(found, cu_seqlens(batch, context), strict=True):
            sample["cu_seqlens"] = bounds.tolist()
    for sample in found:
        for medium in sample["media"] or ():
            medium.pop("bytes", None)
    return found


def cu_seqlens(batch: pa.RecordBatch, context: int) -> list[npt.NDArray[np.int32]]:
    """Of each row: 0, the end of each run of one attention group, and `context` where there is padding."""
    segments = batch.column("segments")
    lists = segments.offsets.to_numpy()
    flat = segments.values.slice(int(lists[0]), int(lists[-1] - lists[0]))
    ends = flat.field("end").to_numpy()
    groups = flat.field("attn_group").fill_null(-1).to_numpy()
    last = np.ones(len(ends), dtype=np.bool_)
    last[:-1] = groups[1:] != groups[:-1]
    stops = lists[1:] - lists[0]
    last[stops[stops > 0] - 1] = True
    before = np.concatenate(([0], np.cumsum(last)))
    kept, bounds = ends[last], before[lists - lists[0]]
    n_tokens = batch.column("n_tokens").to_numpy()
    return [_row_bounds(kept[bounds[i] : bounds[i + 1]], int(n_tokens[i]), context) for i in range(batch.num_rows)]


def _row_bounds(ends: Any, n_tokens: int, context: int) -> npt.NDArray[np.int32]:
    tail = [context] if n_tokens < context else []
    return np.concatenate(([0], ends, tail)).astype(np.int32)


def json_of(value: object) -> bytes:
    """Compact JSON in the order of the keys, bytes as hex, no NaN or infinity but null: the same for the same value."""
    return orjson.dumps(value, default=bytes.hex)

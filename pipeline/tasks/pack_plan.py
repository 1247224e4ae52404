"""Task `pack_plan`: the lengths of all tokenised documents of a dataset -> the table of pieces in rows.

Made by one process from metadata. Payload: `shards` (paths of `tokenised` files, in order), `context`. Leaves `plan`
(Arrow IPC, spill layout with one part a shard of rows): `row` (in the dataset), `start`, `shard`, `doc` (row in that
shard), `doc_offset`, `length`, `separator`, sorted by (row, start); facts: `rows`, `documents`, `tokens`, `padding`,
`cut_docs`, `bounds` (`[first_row, stop_row]` of each part).
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.schema import id_bytes
from gristmill.pipeline.exchange_rows import words
from gristmill.pipeline.pack import Pack, pack
from gristmill.pipeline.spill import SpillWriter
from gristmill.pipeline.task import Task

ROW_SHARD_BYTES = 128 << 20

PLAN = pa.schema(
    [
        ("row", pa.int64()),
        ("start", pa.int64()),
        ("shard", pa.int32()),
        ("doc", pa.int64()),
        ("doc_offset", pa.int64()),
        ("length", pa.int64()),
        ("separator", pa.bool_()),
    ]
)


def _metadata(paths: list[str]) -> tuple[list[npt.NDArray[np.int64]], list[npt.NDArray[np.uint64]]]:
    lengths: list[npt.NDArray[np.int64]] = []
    keys: list[npt.NDArray[np.uint64]] = []
    for path in paths:
        with pa.memory_map(path) as source:
            table = pa.ipc.open_file(source).read_all().select(["n_tokens", "content_hash", "id"])
            lengths.append(table.column("n_tokens").to_numpy().astype(np.int64))
            ids = id_bytes(table.column("id").combine_chunks())
            keys.append(np.stack([*words(table.column("content_hash")), *words(ids)], axis=1))
    return lengths, keys


def row_ranges(rows: int, context: int) -> list[list[int]]:
    """Half-open ranges of rows, a shard each."""
    per_shard = max(1, ROW_SHARD_BYTES // (4 * context))
    return [[first, min(rows, first + per_shard)] for first in range(0, rows, per_shard)]


def _part(
    packed: Pack, doc_shard: npt.NDArray[np.int32], doc_row: npt.NDArray[np.int64], bounds: list[int]
) -> pa.RecordBatch:
    low, high = np.searchsorted(packed.row, bounds)
    at = slice(int(low), int(high))
    doc = packed.doc[at]
    columns = [
        packed.row[at],
        packed.start[at],
        doc_shard[doc],
        doc_row[doc],
        packed.doc_offset[at],
        packed.length[at],
        packed.separator[at],
    ]
    return pa.RecordBatch.from_arrays([pa.array(c) for c in columns], schema=PLAN)


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    lengths, keys = _metadata(payload["shards"])
    counts = [len(n) for n in lengths]
    doc_shard = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    doc_row = np.concatenate([np.zeros(0, np.int64), *(np.arange(n, dtype=np.int64) for n in counts)])
    all_lengths = np.concatenate([np.zeros(0, np.int64), *lengths])
    all_keys = np.concatenate([np.zeros((0, 4), np.uint64), *keys])
    packed = pack(all_lengths, all_keys, payload["context"])
    ranges = row_ranges(packed.rows, payload["context"])
    with store.begin(task.key, task.what) as writer:
        spill = SpillWriter(writer, PLAN)
        for bounds in ranges:
            spill.part([_part(packed, doc_shard, doc_row, bounds)])
        spill.close("plan")
        facts = {
            "rows": packed.rows,
            "documents": len(all_lengths),
            "tokens": int(all_lengths.sum()),
            "padding_frac": packed.padding_frac,
            "cut_docs": packed.cut_docs,
            "needless_cuts": packed.needless_cuts,
            "bounds": ranges,
        }
        return writer.commit(facts)

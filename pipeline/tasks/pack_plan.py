"""Task `pack_plan`: the lengths of all tokenised documents of a dataset -> the table of pieces in rows.

Made by one process from metadata. Payload: `shards` (paths of `tokenised` files, in order), `context`, `by` (what keeps
documents apart, `pipeline.buckets`), `max_segments` (null: any number). Leaves `plan` (Arrow IPC, spill layout with one
part a shard of rows): `row` (in the dataset), `start`, `shard`, `doc` (row in that shard), `doc_offset`, `length`,
`separator`, sorted by (row, start); facts: `rows`, `documents`, `tokens`, `padding_frac`, `cut_docs`,
`needless_cuts`, `buckets` (`pipeline.pack_buckets`), `bounds` (`[first_row, stop_row]` of each part).
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.pack import Pack
from gristmill.pipeline.pack_buckets import pack_buckets
from gristmill.pipeline.pack_inputs import Documents, read_documents
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


def row_ranges(rows: int, context: int) -> list[list[int]]:
    """Half-open ranges of rows, a shard each."""
    per_shard = max(1, ROW_SHARD_BYTES // (4 * context))
    return [[first, min(rows, first + per_shard)] for first in range(0, rows, per_shard)]


def _part(packed: Pack, documents: Documents, bounds: list[int]) -> pa.RecordBatch:
    low, high = np.searchsorted(packed.row, bounds)
    at = slice(int(low), int(high))
    doc = packed.doc[at]
    columns = [
        packed.row[at],
        packed.start[at],
        documents.shard[doc],
        documents.row[doc],
        packed.doc_offset[at],
        packed.length[at],
        packed.separator[at],
    ]
    return pa.RecordBatch.from_arrays([pa.array(c) for c in columns], schema=PLAN)


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    documents = read_documents([Path(p) for p in payload["shards"]], payload["context"])
    packed, buckets = pack_buckets(documents, payload["context"], payload["by"], payload["max_segments"])
    ranges = row_ranges(packed.rows, payload["context"])
    with store.begin(task.key, task.what) as writer:
        spill = SpillWriter(writer, PLAN)
        for bounds in ranges:
            spill.part([_part(packed, documents, bounds)])
        spill.close("plan")
        facts = {
            "rows": packed.rows,
            "documents": len(documents.lengths),
            "tokens": int(documents.lengths.sum()),
            "padding_frac": packed.padding_frac,
            "cut_docs": packed.cut_docs,
            "needless_cuts": packed.needless_cuts,
            "buckets": buckets,
            "bounds": ranges,
        }
        return writer.commit(facts)

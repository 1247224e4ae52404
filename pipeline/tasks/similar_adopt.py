"""Task `similar_adopt`: one file of an index -> spilled rows of an exchange of the search that queries it.

Payload: `path`, `part` (`keys` or `copies`), `parts`, `order_bytes`. An order of the index is a document's content
hash (keys) or id (copies); here it gets the first byte of an index, and zeros for the policy. Leaves `spill`, as
`emit_keys` does.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, refuse_damaged
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.exchange_rows import sort_rows
from gristmill.pipeline.similar.tables import mapped_batches
from gristmill.pipeline.task import Task
from gristmill.pipeline.tasks.exchange_emit import write_spill
from gristmill.stages.columns import bytes_of, column_of
from gristmill.stages.dedup.minhash_rows import indexed_ranks
from gristmill.stages.protocol import emitted_schema


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    refuse_damaged(Path(payload["path"]), task.what["input"])
    value_bytes = 8 if payload["part"] == "copies" else 0
    batches = [_adopted(b, payload["order_bytes"], value_bytes) for b in mapped_batches(payload["path"])]
    key_bytes = pa.ipc.open_file(payload["path"]).schema.field("key").type.byte_width
    schema = emitted_schema(key_bytes, payload["order_bytes"], value_bytes)
    return write_spill(task, store, sort_rows(pa.Table.from_batches(batches, schema=schema)), payload["parts"])


def _adopted(batch: pa.RecordBatch, order_bytes: int, value_bytes: int) -> pa.RecordBatch:
    order = indexed_ranks(bytes_of(batch.column("order")), order_bytes)
    columns = [batch.column("key"), column_of(order), batch.column("addr")]
    if value_bytes:
        ones = np.ones(batch.num_rows, ">i8").view(np.uint8).reshape(-1, value_bytes)
        columns.append(column_of(ones))
    key_bytes = batch.column("key").type.byte_width
    return pa.RecordBatch.from_arrays(columns, schema=emitted_schema(key_bytes, order_bytes, value_bytes))

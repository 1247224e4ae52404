"""Task `pack_rows`: one part of a packing table and the tokenised documents that it names -> trainer rows.

Payload: `plan` (path), `part`, `bounds` (`[first_row, stop_row]`), `shards` (paths of `tokenised` files, in the plan's
order), `context`, `tokenizer` (identity as data), `stage`, `image_cost`, and where it is not none `compression`. Leaves
`rows`: Arrow IPC of packed_schema, and `row_indexes`, the index of each (`manifests.row_index`). Tokens are read
through memory maps; a few rows are made at a time.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.ipc import IpcShards, TokenLookup, read_ipc
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.trainer_schema import TokenizerIdentity, TrainerFormat, packed_schema
from gristmill.pipeline.pack import Ints
from gristmill.pipeline.rows import Pieces, build_rows
from gristmill.pipeline.spill import read_part
from gristmill.pipeline.task import Task

BATCH_BYTES = 4 << 20
_DOC_COLUMNS = ("id", "content_hash", "source", "domain", "license", "n_tokens", "media")


class _Documents:
    """The tokenised documents that rows are made of: tokens by memory map, and what rows say of each."""

    def __init__(self, paths: list[Path]) -> None:
        self.lookup = TokenLookup(paths)
        self._tables = [pa.Table.from_batches(list(read_ipc(p))).select(list(_DOC_COLUMNS)) for p in paths]
        self.first = np.cumsum([0, *(t.num_rows for t in self._tables)]).astype(np.int64)

    def describe(self, doc: Ints) -> tuple[pa.RecordBatch, Ints]:
        """The columns that rows carry of each distinct document, and for each piece its place among them."""
        distinct, place = np.unique(doc, return_inverse=True)
        shard = np.searchsorted(self.first, distinct, side="right") - 1
        parts = [
            self._tables[number].take(pa.array(distinct[shard == number] - self.first[number]))
            for number in np.unique(shard).tolist()
        ]
        whole = pa.concat_tables(parts).combine_chunks()
        return whole.to_batches()[0], place.astype(np.int64)


def _rows(plan: pa.Table, documents: _Documents, form: TrainerFormat, first: int, stop: int) -> pa.RecordBatch:
    column = {name: plan.column(name).to_numpy() for name in plan.column_names}
    low, high = np.searchsorted(column["row"], (first, stop))
    here = {name: values[low:high] for name, values in column.items()}
    doc = documents.first[here["shard"]] + here["doc"]
    docs, place = documents.describe(doc)
    ids = documents.lookup.pieces(doc, here["doc_offset"], here["length"])
    pieces = Pieces(
        rows=stop - first,
        row=here["row"] - first,
        start=here["start"],
        doc=place,
        doc_offset=here["doc_offset"],
        length=here["length"],
        separator=here["separator"],
    )
    return build_rows(pieces, ids, docs, form)


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    cost = ImageCost(**payload["image_cost"])
    form = TrainerFormat(payload["context"], TokenizerIdentity(**payload["tokenizer"]), payload["stage"], cost)
    plan = pa.Table.from_batches(list(read_part(Path(payload["plan"]), payload["part"]))).combine_chunks()
    documents = _Documents([Path(p) for p in payload["shards"]])
    first, stop = payload["bounds"]
    at_once = max(1, BATCH_BYTES // (4 * form.context))
    with store.begin(task.key, task.what) as writer:
        shards = IpcShards(writer, "rows", packed_schema(form), "row_indexes", payload.get("compression", "none"))
        tokens = 0
        for row in range(first, stop, at_once):
            batch = _rows(plan, documents, form, row, min(stop, row + at_once))
            tokens += int(batch.column("n_tokens").to_numpy().sum())
            shards.write(batch)
        shards.close()
        return writer.commit({"rows": stop - first, "n_tokens": tokens})

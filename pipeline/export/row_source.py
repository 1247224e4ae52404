"""Rows of a dataset of rows as samples: stored order, or the order of epoch 0 of `TokenStream`'s implicit plan.

In: the dataset's shards and their indexes. Out: record batches of `packed_schema` without metadata. Ids and sides are
held against the hashes of the row, all else against that of its record batch; CorruptRowError names file and row.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.manifests.trainer_schema import packed_columns
from gristmill.pipeline.export.shape import Request, Source
from gristmill.pipeline.reader.order import places
from gristmill.pipeline.reader.plan import Plan, implicit_plan
from gristmill.pipeline.reader.rows_dataset import RowsDataset

READ_TOKENS = 1 << 20
_BATCHES_HELD = 256
"""Without their ids, some 50 KB each: a shuffled order comes back to them."""


def open_rows(request: Request, stop: int) -> Source:
    """The rows; `stop` is the end of what is asked for. Raises what `implicit_plan` raises."""
    plan = implicit_plan(request.dataset, request.seed)
    dataset = next(iter(plan.datasets.values()))
    if dataset.manifest["media_shards"]:
        remedy = "export its documents (`webdataset` of a dataset of documents), or read rows by TokenStream"
        raise UsageError("rows with pictures have no place for their bytes", "export", request.dataset, remedy)
    shuffled = request.order == "shuffled"
    schema = packed_columns(dataset.context)
    stored_bytes = sum(shard["bytes"] for shard in dataset.manifest["shards"])
    whole = lru_cache(_BATCHES_HELD)(dataset.without_ids)

    def read(first: int, end: int) -> Iterator[pa.RecordBatch]:
        step = max(1, READ_TOKENS // dataset.context)
        for at in range(first, end, step):
            wanted = np.arange(at, min(at + step, end), dtype=np.int64)
            yield _batch(dataset, places(plan, wanted).row if shuffled else wanted, whole, schema)

    def bounds(shard_bytes: int) -> list[int]:
        rows = max(1, shard_bytes * dataset.rows // stored_bytes)
        return [*range(request.first, stop, rows), stop]

    return Source("row", schema, request.first, stop, bounds, read, _facts(plan), dataset.tokenizer)


def _facts(plan: Plan) -> dict[str, Any]:
    dataset = next(iter(plan.datasets.values()))
    tokenizer = dict(dataset.manifest["facts"]["tokenizer"])
    return {"kind": "rows", "digest": dataset.digest, "context": dataset.context, "tokenizer": tokenizer}


def _batch(dataset: RowsDataset, rows: Any, whole: Callable[[int, int], pa.RecordBatch], schema: Any) -> pa.RecordBatch:
    ids = np.empty((len(rows), dataset.context), dtype=np.int32)
    dataset.read(rows, ids)
    others = _others(dataset, rows.tolist(), whole)
    flat = pa.array(ids.reshape(-1).view(np.uint32))
    column = pa.FixedSizeListArray.from_arrays(flat, type=schema.field("input_ids").type)
    columns = [column if name == "input_ids" else others.column(name) for name in schema.names]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _others(dataset: RowsDataset, rows: list[int], whole: Callable[[int, int], pa.RecordBatch]) -> pa.RecordBatch:
    """The columns beside the ids, rows of one batch that follow each other in one piece."""
    pieces: list[pa.RecordBatch] = []
    at = 0
    while at < len(rows):
        shard, number, first = dataset.batch_of(rows[at])
        batch = whole(shard, number)
        count = 1
        while at + count < len(rows) and rows[at + count] == rows[at] + count < first + batch.num_rows:
            count += 1
        pieces.append(batch.slice(rows[at] - first, count))
        at += count
    return pa.concat_batches(pieces)


def refuse_places(request: Request, samples: int) -> int:
    """The end of the places that are asked for, of so many samples. Raises UsageError where there are none."""
    stop = samples if request.stop is None else request.stop
    if not samples:
        raise UsageError("the dataset is empty: nothing to export", str(request.dataset), None, "name another")
    if not 0 <= request.first < stop <= samples:
        shown = f"{request.first}:{stop}"
        raise UsageError("no such places", "--rows", shown, f"give A:B with 0 <= A < B <= {samples}")
    return stop

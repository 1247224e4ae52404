"""Task `emit_keys`: one shard -> the fixed-width rows of an exchange, partitioned by key prefix and sorted.

Payload: `input` (path), `format` (`documents` or `idkeys`), `exchange` (stage, params, part), `base_dir`, `parts`;
`found` (null, or `ranges` and `base`: what the round before found in this shard; what it found nothing in is not read).
Leaves one spill file of role `spill` with a part for each partition, sorted by (key, order, addr). `addr` is the
row in the shard here; the reducer adds the shard's place in the frozen plan, so a new input elsewhere leaves
this work valid. Where a child failed on a record, that stands in the receipt (see manifests.effects).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, refuse_damaged
from gristmill.manifests.effects import facts_of_effects
from gristmill.manifests.errors import GristmillError
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.shard import read_numbered
from gristmill.pipeline.exchange_rows import part_bounds, sort_rows
from gristmill.pipeline.exchanges import load_exchange
from gristmill.pipeline.spill import write_parts
from gristmill.pipeline.task import Task
from gristmill.pipeline.verdicts import read_verdicts
from gristmill.stages.protocol import EmitsSorted, Exchange, Following, emitted_schema


def _idkeys(path: Path) -> Iterator[tuple[pa.RecordBatch, np.ndarray]]:
    reader = pa.ipc.open_file(pa.memory_map(str(path)))
    for index in range(reader.num_record_batches):
        batch = reader.get_batch(index)
        yield batch, batch.column("addr").to_numpy()


def _following(
    stage: Exchange, batches: Iterator[tuple[pa.RecordBatch, np.ndarray]], found: Mapping[str, Any]
) -> list[pa.RecordBatch]:
    if not found["ranges"]:
        return []
    if not isinstance(stage, Following):
        raise GristmillError("a round that takes nothing from the one before it", value=stage.name)
    table = read_verdicts(found["ranges"], found["base"])
    at = table.column("addr").to_numpy()
    emitted: list[pa.RecordBatch] = []
    for batch, addr in batches:
        first, stop = np.searchsorted(at, [addr[0], addr[-1] + np.uint64(1)]) if len(addr) else (0, 0)
        if stop > first:
            emitted.append(stage.emit_found(batch, addr, table.slice(first, stop - first)))
    return emitted


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    stage = load_exchange(payload["exchange"], payload["base_dir"])
    schema = emitted_schema(stage.key_bytes, stage.order_bytes, getattr(stage, "value_bytes", 0))
    path = Path(payload["input"])
    if payload["format"] == "idkeys":  # shards have checksums in their pages
        refuse_damaged(path, task.what["input"])
    batches = _idkeys(path) if payload["format"] == "idkeys" else read_numbered(path, stage.reads)
    if isinstance(stage, EmitsSorted):
        ordered = pa.Table.from_batches([stage.emit_sorted(batches)], schema=schema)
    else:
        found = payload["found"]
        emitted = (stage.emit(*b) for b in batches) if found is None else _following(stage, batches, found)
        ordered = sort_rows(pa.Table.from_batches(emitted, schema=schema))
    return write_spill(task, store, ordered, payload["parts"])


def write_spill(task: Task, store: ObjectStore, ordered: pa.Table, parts: int) -> Receipt:
    """Commit sorted rows of an exchange as a spill file of so many parts."""
    with store.begin(task.key, task.what) as writer:
        write_parts(writer, "spill", ordered, part_bounds(ordered.column("key"), parts))
        return writer.commit({"rows": ordered.num_rows, **facts_of_effects()})

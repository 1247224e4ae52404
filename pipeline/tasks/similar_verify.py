"""Task `similar_verify`: one part of the candidate pairs with the sets of both sides -> the pairs that are similar.

Payload: `stage`, `params`, `base_dir`; `merged` (paths of pairs), `sets` (`[path, part, base]` of all shards).
Leaves `edges`: the pairs whose measured similarity is at least the threshold, rows of EDGES sorted by rank of the
lower, then of the higher one. Facts: `compared`, `similar`.

Memory: 100 bytes for each of PAIRS_AT_ONCE pairs, 90 for each similar one, 80 a document, and the sets of a block of
pairs: `set_files.BLOCK_BYTES`, or twice the largest set where that is more; whatever the part's sets come to.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, ObjectWriter
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.exchange_rows import sort_rows
from gristmill.pipeline.similar.set_files import SetFiles, located, shared_by_pair
from gristmill.pipeline.similar.tables import edges_schema, mapped_batches
from gristmill.pipeline.spill import write_one
from gristmill.pipeline.task import Task
from gristmill.stages import catalogue
from gristmill.stages.columns import column_of

PAIRS_AT_ONCE = 1 << 22


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    stage: Any = catalogue.load(payload["stage"], payload["params"], Path(payload["base_dir"]))
    pairs = pa.Table.from_batches([b for path in payload["merged"] for b in mapped_batches(path)])
    sets = located(payload["sets"])
    slices = (pairs.slice(first, PAIRS_AT_ONCE) for first in range(0, pairs.num_rows, PAIRS_AT_ONCE))
    edges = pa.concat_tables([verified(stage, some.combine_chunks(), sets) for some in slices])
    edges = sort_rows(edges.combine_chunks())
    with store.begin(task.key, task.what) as writer:
        _write(writer, edges)
        return writer.commit({"compared": pairs.num_rows, "similar": edges.num_rows})


def verified(stage: Any, pairs: pa.Table, sets: SetFiles) -> pa.Table:
    """The similar ones among the pairs, rows of EDGES."""
    low, high = (sets.places(pairs.column(name).to_numpy()) for name in ("addr", "higher_addr"))
    sizes, of_higher = sets.sizes[low], sets.sizes[high]
    # No more can be shared than the smaller one has: where that is not enough, nothing is read.
    able = np.flatnonzero(stage.similarities(np.minimum(sizes, of_higher), sizes, of_higher) >= stage.threshold)
    value = stage.similarities(shared_by_pair(sets, low[able], high[able]), sizes[able], of_higher[able])
    similar = value >= stage.threshold
    return _edges(pairs.take(pa.array(able[similar])), sets, value[similar], (low[able[similar]], high[able[similar]]))


def _edges(rows: pa.Table, sets: SetFiles, value: np.ndarray, places: tuple[np.ndarray, np.ndarray]) -> pa.Table:
    low, high = places
    columns = {
        "key": column_of(sets.orders[low]),
        "order": column_of(sets.orders[high]),
        "addr": rows.column("addr"),
        "higher_addr": rows.column("higher_addr"),
        "keeper": column_of(sets.ids[high]),
        "value": pa.array(value),
        "bands": rows.column("bands"),
        "count": pa.array(sets.counts[low]),
        "higher_count": pa.array(sets.counts[high]),
    }
    schema = edges_schema(sets.orders.shape[1])
    return pa.table([columns[f.name] for f in schema], schema=schema)


def _write(writer: ObjectWriter, edges: pa.Table) -> None:
    if edges.num_rows:
        write_one(writer, "edges", edges.schema, edges.to_batches())

"""Task `similar_verify`: one part of the candidate pairs with the sets of both sides -> the pairs that are similar.

Payload: `stage`, `params`, `base_dir`; `merged` (paths of pairs), `sets` (`[path, part, base]` of all shards).
Leaves `edges`: the pairs whose measured similarity is at least the threshold, rows of EDGES sorted by rank of the
lower, then of the higher one. Facts: `compared`, `similar`.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, ObjectWriter, Receipt
from gristmill.manifests.errors import VerifyError
from gristmill.pipeline.exchange_rows import sort_rows
from gristmill.pipeline.similar.tables import SETS, concat_batches, edges_schema, mapped_batches
from gristmill.pipeline.spill import SpillWriter
from gristmill.pipeline.task import Task
from gristmill.pipeline.tasks.exchange_reduce import placed_run
from gristmill.stages import catalogue


def _sets(payload: Any) -> pa.Table:
    batches = [b for path, part, base in payload["sets"] for b in placed_run(path, part, base)]
    return concat_batches(batches, SETS)


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    stage: Any = catalogue.load(payload["stage"], payload["params"], Path(payload["base_dir"]))
    pairs = pa.Table.from_batches([b for path in payload["merged"] for b in mapped_batches(path)]).combine_chunks()
    edges = verified(stage, pairs, _sets(payload))
    writer = store.begin(task.key, task.what)
    try:
        _write(writer, edges)
        return writer.commit({"compared": pairs.num_rows, "similar": edges.num_rows})
    except BaseException:
        writer.abandon()
        raise


def verified(stage: Any, pairs: pa.Table, sets: pa.Table) -> pa.Table:
    """The similar ones among the pairs, rows of EDGES in order of rank."""
    from gristmill.stages.kernels.set_pairs import count_shared

    addr = sets.column("addr").to_numpy()
    if (addr[1:] < addr[:-1]).any():
        sets = sets.sort_by("addr").combine_chunks()
        addr = sets.column("addr").to_numpy()
    low, high = (_places(pairs.column(name).to_numpy(), addr) for name in ("addr", "higher_addr"))
    lists = sets.column("hashes").combine_chunks() if sets.num_rows else pa.array([], SETS.field("hashes").type)
    offsets = lists.offsets.to_numpy()
    sizes = np.diff(offsets)
    values = lists.values.to_numpy()
    value = stage.similarities(count_shared(values, offsets, low, high), sizes[low], sizes[high])
    similar = np.flatnonzero(value >= stage.threshold)
    rows, low, high = pairs.take(pa.array(similar)), low[similar], high[similar]
    counts, ids = sets.column("count").to_numpy(), sets.column("id")
    columns = {
        "key": rows.column("lower"),
        "order": rows.column("higher"),
        "addr": rows.column("addr"),
        "higher_addr": rows.column("higher_addr"),
        "keeper": ids.take(pa.array(high)),
        "value": pa.array(value[similar]),
        "bands": rows.column("bands"),
        "count": pa.array(counts[low]),
        "higher_count": pa.array(counts[high]),
    }
    schema = edges_schema(rows.schema.field("lower").type.byte_width)
    return sort_rows(pa.table([columns[f.name] for f in schema], schema=schema).combine_chunks())


def _places(wanted: np.ndarray, addr: np.ndarray) -> np.ndarray:
    at = np.searchsorted(addr, wanted)
    if len(wanted) and (at.max() >= len(addr) or (addr[at] != wanted).any()):
        raise VerifyError("a document of a pair has no set", "similar_verify", None, "run again")
    return at


def _write(writer: ObjectWriter, edges: pa.Table) -> None:
    if edges.num_rows:
        spill = SpillWriter(writer, edges.schema)
        spill.part(edges.to_batches())
        spill.close("edges")

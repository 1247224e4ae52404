"""Task `similar_index`: what a search kept of one shard -> the part of an index.

Payload: `stage`, `params`, `base_dir`, `key` (of the sets), `shard` (path), `drops`, `base` (its verdicts). Leaves, in
the order of the rows: `keys` (band rows; order: content hash), `copies` (key: content hash, order: id) and `sets` (rows
of SETS, by content hash); `addr` is the row of the shard. Nothing where no document was kept.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.commit import ObjectStore, Receipt
from gristmill.manifests.schema import ID_BYTES, id_bytes
from gristmill.manifests.shard import read_numbered
from gristmill.pipeline.similar.tables import sets_schema
from gristmill.pipeline.spill import write_one
from gristmill.pipeline.task import Task
from gristmill.pipeline.tasks.similar_sets import sets_of
from gristmill.pipeline.verdicts import read_verdicts
from gristmill.stages import catalogue
from gristmill.stages.columns import bytes_of
from gristmill.stages.dedup.minhash_rows import BAND_KEY_BYTES, band_rows
from gristmill.stages.protocol import DROP, emitted_schema

_SCHEMAS = {
    "keys": emitted_schema(BAND_KEY_BYTES, ID_BYTES),
    "copies": emitted_schema(ID_BYTES, ID_BYTES),
    "sets": sets_schema(ID_BYTES),
}


def _gone(payload: Any) -> npt.NDArray[np.uint64]:
    if not payload["drops"]:
        return np.zeros(0, np.uint64)
    table = read_verdicts(payload["drops"], payload["base"])
    return table.filter(pc.equal(table.column("kind"), DROP)).column("addr").to_numpy()


def _parts(stage: Any, batch: pa.RecordBatch, rows: npt.NDArray[np.uint64], key: str) -> dict[str, pa.RecordBatch]:
    made = stage.keys().sketches(batch)
    some = made.shingles > 0
    hashes = bytes_of(batch.column("content_hash"))
    equal = [batch.column("content_hash"), id_bytes(batch.column("id")), pa.array(rows)]
    return {
        "keys": band_rows(made.band_keys[some], hashes[some], rows[some]),
        "copies": pa.RecordBatch.from_arrays(equal, schema=_SCHEMAS["copies"]),
        "sets": sets_of(stage, batch, rows, key, batch.column("content_hash")).filter(pa.array(some)),
    }


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    stage: Any = catalogue.load(payload["stage"], payload["params"], Path(payload["base_dir"]))
    gone = _gone(payload)
    made: dict[str, list[pa.RecordBatch]] = {name: [] for name in _SCHEMAS}
    for batch, rows in read_numbered(Path(payload["shard"]), ("id", "content_hash", "text", "domain", "dup_count")):
        stays = ~np.isin(rows, gone)
        if stays.any():
            for name, rows_made in _parts(stage, batch.filter(pa.array(stays)), rows[stays], payload["key"]).items():
                made[name].append(rows_made)
    with store.begin(task.key, task.what) as writer:
        for name, batches in made.items() if made["copies"] else ():
            write_one(writer, name, _SCHEMAS[name], batches)
        return writer.commit({"documents": sum(b.num_rows for b in made["copies"])})

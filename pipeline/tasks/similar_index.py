"""Task `similar_index`: what a search kept of one shard -> the part of an index.

Payload: `stage`, `params`, `base_dir`, `key` (of the sets), `shard` (path), `drops`, `base` (its verdicts). Leaves, in
the order of the rows: `keys` (band rows; order: content hash), `copies` (key: content hash, order: id) and `sets` (rows
of SETS, by content hash); `addr` is the row of the shard. Nothing where no document was kept.

Memory: the fixed-width rows of the shard (400 bytes a document), and a row group with its sets.
"""

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import Receipt
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
    held: dict[str, list[pa.RecordBatch]] = {"keys": [], "copies": []}
    sets = _made(payload, stage, gone, held)
    first = next(sets, None)
    with store.begin(task.key, task.what) as writer:
        if first is not None:
            write_one(writer, "sets", _SCHEMAS["sets"], itertools.chain([first], sets))
            for name, batches in held.items():
                write_one(writer, name, _SCHEMAS[name], batches)
        return writer.commit({"documents": sum(b.num_rows for b in held["copies"])})


def _made(
    payload: Any, stage: Any, gone: npt.NDArray[np.uint64], held: Mapping[str, list[pa.RecordBatch]]
) -> Iterator[pa.RecordBatch]:
    """The sets of what was kept, row group by row group; the rest, of fixed width, is held."""
    for batch, rows in read_numbered(Path(payload["shard"]), ("id", "content_hash", "text", "domain", "dup_count")):
        stays = ~np.isin(rows, gone)
        if stays.any():
            made = _parts(stage, batch.filter(pa.array(stays)), rows[stays], payload["key"])
            for name, some in held.items():
                some.append(made[name])
            yield made["sets"]

"""Task `synth_prepare`: one shard of documents -> those that sequences can be made of, cut into atoms.

Payload: `shard` (path), `tokenizer` (spec), `base_dir`, `holdout` (null, or `frac` and `seed`). Leaves `prepared`
(Arrow IPC of `synth.stored.PREPARED`, mapped by who builds sequences) and `refused` (`row` in the shard, `reason`);
documents that are held out are in neither. Facts: `documents` and `tokens` of `prepared`.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.effects import facts_of_effects
from gristmill.manifests.ipc import IpcShards
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.shard import read_numbered
from gristmill.pipeline.held_documents import held_rows
from gristmill.pipeline.spill import write_one
from gristmill.pipeline.task import Task
from gristmill.pipeline.tasks.tokenise import known_tokenizer
from gristmill.synth.atoms import Source, prepare
from gristmill.synth.stored import PREPARED, to_batch

REFUSED = pa.schema([("row", pa.int64()), ("reason", pa.string())])
_TOLD = ("id", "source", "domain", "license", "content_hash", "text")
_COLUMNS = (*_TOLD, "dup_cluster")


def _sources(batch: pa.RecordBatch, rows: Sequence[int]) -> list[Source]:
    some = batch.take(pa.array(rows, pa.int64()))
    told = {name: some.column(name).to_pylist() for name in _TOLD}
    clusters = pc.coalesce(some.column("dup_cluster"), some.column("content_hash")).to_pylist()
    texts = {name: [value or "" for value in told[name]] for name in _TOLD if name != "content_hash"}
    each = zip(*(texts[n] for n in _TOLD[:4]), told["content_hash"], clusters, texts["text"], strict=True)
    return [Source(*fields) for fields in each]


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    tokenizer = known_tokenizer(task)
    refused: list[tuple[int, str]] = []
    documents = tokens = 0
    with store.begin(task.key, task.what) as writer:
        shards = IpcShards(writer, "prepared", PREPARED)
        for batch, numbers in read_numbered(Path(payload["shard"]), _COLUMNS):
            rows = np.flatnonzero(~held_rows(batch, payload["holdout"]))
            sources = _sources(batch, rows.tolist())
            where = dict(zip((source.id for source in sources), numbers[rows].tolist(), strict=True))
            prepared, why = prepare(sources, tokenizer)
            refused += sorted((where[name], reason) for name, reason in why.items())
            documents, tokens = documents + len(prepared), tokens + sum(p.total for p in prepared)
            shards.write(to_batch(prepared, [where[p.source.id] for p in prepared]))
        shards.close()
        told = [[row for row, _ in refused], [reason for _, reason in refused]]
        columns = [pa.array(values, field.type) for values, field in zip(told, REFUSED, strict=True)]
        write_one(writer, "refused", REFUSED, [pa.RecordBatch.from_arrays(columns, schema=REFUSED)])
        return writer.commit({"documents": documents, "tokens": tokens, **facts_of_effects()})

"""Running an exchange without a pipeline: rows sorted as the pipeline sorts them, in batches of any cut."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.schema import DOCUMENT, content_hashes, document_batch
from gristmill.pipeline.exchange_rows import sort_rows
from gristmill.stages.protocol import VERDICTS, emitted_schema


def documents(rows: Sequence[dict[str, Any]]) -> pa.RecordBatch:
    """Records of some columns, with ids by number and right hashes where none are given."""
    made = [{"id": f"{number:032x}", **row} for number, row in enumerate(rows)]
    names = dict.fromkeys(name for row in made for name in row)
    columns = {n: pa.array([row.get(n) for row in made], DOCUMENT.field(n).type) for n in names}
    media = columns.get("media", pa.nulls(len(made), DOCUMENT.field("media").type))
    columns["text"] = columns.get("text", pa.array([], pa.large_string()))
    hashes = content_hashes(columns["text"].fill_null(""), media)
    return document_batch({"content_hash": hashes, **columns})


def emitted(stage: Any, batch: pa.RecordBatch, addr: Sequence[int] | None = None) -> pa.RecordBatch:
    """What a stage emits for a batch, of the schema that it declares."""
    at = np.arange(batch.num_rows, dtype=np.uint64) if addr is None else np.array(addr, np.uint64)
    found = stage.emit(batch, at)
    value_bytes = getattr(stage, "value_bytes", 0)
    assert found.schema == emitted_schema(stage.key_bytes, stage.order_bytes, value_bytes)
    return found


def reduced(stage: Any, rows: pa.RecordBatch, cuts: Sequence[int] = ()) -> list[dict[str, Any]]:
    """The verdicts on emitted rows, by address, kind and start, whatever batches they come in."""
    table = sort_rows(pa.Table.from_batches([rows]))
    bounds = [0, *sorted(min(cut, table.num_rows) for cut in cuts), table.num_rows]
    batches = [b for a, z in pairwise(bounds) for b in (table.slice(a, z - a).to_batches() or [rows.slice(0, 0)])]
    made = list(stage.reduce(iter(batches)))
    assert all(batch.schema == VERDICTS for batch in made)
    found = [row for batch in made for row in batch.to_pylist()]
    return sorted(found, key=lambda row: (row["addr"], row["kind"], row["start"]))


def verdicts_on(stage: Any, batch: pa.RecordBatch, cuts: Sequence[int] = ()) -> list[dict[str, Any]]:
    """Both."""
    return reduced(stage, emitted(stage, batch), cuts)

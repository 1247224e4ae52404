"""Datasets of rows that are large for what they cost to make: ids are zeros of sparse files, indexes are real.

What is asked of them is how much of a reader grows with the size of its data; no reader of Arrow opens them.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.manifests.manifest import FORMAT, FORMAT_VERSION, write_manifest
from gristmill.manifests.row_index import BatchPlace, IndexWriter
from gristmill.manifests.trainer_schema import packed_schema
from tests.pipeline.trainer_rows import TOKENIZER, form_of

DIGEST = "blake3:" + "ab" * 32


def sparse_dataset(folder: Path, shards: int, rows: int, context: int) -> Path:
    """A dataset of that many shards of that many rows; all shards are one file, by as many names."""
    (folder / "row_indexes").mkdir(parents=True)
    at_once = max(1, (4 << 20) // (4 * context))
    writer, size = IndexWriter(context), 4 * context
    for first in range(0, rows, at_once):
        count = min(at_once, rows - first)
        place = BatchPlace(first * size, first * size, count * size, (first + count) * size)
        writer.add(zeros(count, context), place, 0)
    with (folder / "part.arrow").open("wb") as file:
        file.truncate(rows * size)
    index = writer.finish(DIGEST)
    (folder / "row_indexes" / "part.idx").write_bytes(index)
    for number in range(1, shards):
        (folder / f"part-{number}.arrow").hardlink_to(folder / "part.arrow")
        (folder / "row_indexes" / f"part-{number}.idx").hardlink_to(folder / "row_indexes" / "part.idx")
    names = ["part", *(f"part-{number}" for number in range(1, shards))]
    entry: dict[str, Any] = {"role": "rows", "rows": rows, "digest": DIGEST, "extra": {}}
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": "rows",
        "facts": {"context": context, "tokenizer": vars(TOKENIZER)},
        "media_shards": [],
        "shards": [entry | {"path": f"{name}.arrow", "bytes": rows * size} for name in names],
        "row_indexes": [entry | {"path": f"row_indexes/{name}.idx", "bytes": len(index)} for name in names],
    }
    write_manifest(folder, manifest)
    return folder


def zeros(count: int, context: int) -> pa.RecordBatch:
    """Rows of one segment of zeros."""
    one = {
        "start": 0,
        "end": context,
        "kind": "text",
        "attn_group": 0,
        "doc_idx": 0,
        "doc_offset": 0,
        "media_idx": None,
    }
    values = {
        "row_id": pa.array([bytes(16)] * count, pa.binary(16)),
        "input_ids": pa.FixedSizeListArray.from_arrays(
            pa.array(memoryview(bytes(4 * count * context)).cast("I"), pa.uint32()),
            type=packed_schema(form_of(context)).field("input_ids").type,
        ),
        "n_tokens": pa.array([context] * count, pa.int32()),
        "segments": [[one]] * count,
    }
    empty = {name: [[]] * count for name in ("docs", "media", "loss_spans", "tasks")}
    schema = packed_schema(form_of(context))
    columns = [pa.array(c, schema.field(n).type) if isinstance(c, list) else c for n, c in (values | empty).items()]
    return pa.RecordBatch.from_arrays(columns, schema=schema)

"""Hugging Face datasets: what `save_to_disk` writes, for `datasets.load_from_disk` and for the hub.

`data-00000-of-00042.arrow` are Arrow *streams* (the library maps those, not Arrow files), `state.json` names them,
`dataset_info.json` describes. Features are not written: the library infers them from the schema, and their JSON changes
with its versions. Columns are those of the source, in types that every version of the library knows:

    fixed_size_binary -> binary, dictionary -> its values, map -> list of structs {key, value}

and, of rows, `cu_seqlens` list<int32> (`samples`) behind `segments`. Record batches hold about 4 MiB, or one sample.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.canonical import key_of
from gristmill.manifests.commit import HashingFile
from gristmill.manifests.ipc import BATCH_BYTES, row_bytes
from gristmill.manifests.receipt import FileEntry
from gristmill.pipeline.export.document_source import cut_places
from gristmill.pipeline.export.samples import cu_seqlens
from gristmill.pipeline.export.shape import Format, Shard, Source, Written


def known_type(kind: pa.DataType) -> pa.DataType:
    """The type that a column of this one gets."""
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_dictionary(kind):
        return known_type(kind.value_type)
    if pa.types.is_map(kind):
        return pa.list_(pa.struct([("key", known_type(kind.key_type)), ("value", known_type(kind.item_type))]))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, known_type(field.type)) for field in kind])
    if pa.types.is_large_list(kind):
        return pa.large_list(known_type(kind.value_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(known_type(kind.value_type), kind.list_size)
    return pa.list_(known_type(kind.value_type)) if pa.types.is_list(kind) else kind


def schema_of(source: Source) -> pa.Schema:
    """Of the files."""
    fields = [pa.field(f.name, known_type(f.type)) for f in source.schema]
    if source.unit == "row":
        fields.insert(source.schema.get_field_index("segments") + 1, pa.field("cu_seqlens", pa.list_(pa.int32())))
    return pa.schema(fields)


def write(shard: Shard, batches: Iterator[pa.RecordBatch]) -> Written:
    """See the module."""
    name = f"data-{shard.number:05d}-of-{shard.shards:05d}.arrow"
    file = HashingFile(shard.folder / name)
    schema = schema_of(shard.source)
    samples = tokens = 0
    with pa.ipc.new_stream(pa.PythonFile(file, "w"), schema) as stream:
        for batch in batches:
            made = converted(batch, schema)
            places = cut_places(row_bytes(made), BATCH_BYTES)
            for first, stop in pairwise(places):
                stream.write_batch(made.slice(first, stop - first))
            samples += batch.num_rows
            if "n_tokens" in batch.schema.names:
                tokens += int(np.sum(batch.column("n_tokens").to_numpy()))
    return Written([FileEntry(name, "samples", samples, file.bytes, file.finish())], samples, tokens)


def converted(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch in `schema`."""
    columns: list[Any] = []
    for field in schema:
        if field.name == "cu_seqlens":
            context = batch.column("input_ids").type.list_size
            columns.append(pa.array(cu_seqlens(batch, context), type=field.type))
        else:
            columns.append(batch.column(field.name).cast(field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def finish(folder: Path, source: Source, shards: Sequence[Written]) -> list[FileEntry]:
    """`dataset_info.json`, then `state.json`, without which the library loads nothing."""
    names = [file.path for shard in shards for file in shard.files]
    info = {"citation": "", "description": "", "homepage": "", "license": ""}
    state = {
        "_data_files": [{"filename": name} for name in names],
        "_fingerprint": key_of([f.digest for shard in shards for f in shard.files])[:16],
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": "train",
    }
    return [_json(folder, "dataset_info.json", info), _json(folder, "state.json", state)]


def _json(folder: Path, name: str, value: object) -> FileEntry:
    file = HashingFile(folder / name)
    file.write(json.dumps(value, indent=2, sort_keys=True).encode())
    return FileEntry(name, "index", 0, file.bytes, file.finish())


FORMAT = Format(
    name="hf",
    title="Hugging Face datasets",
    version=1,
    units=("row", "document", "text"),
    shard_bytes=512 << 20,
    write=write,
    finish=finish,
    reader='datasets.load_from_disk("DIR")',
)

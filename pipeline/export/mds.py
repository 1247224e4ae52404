"""MosaicML Streaming: `shard.00000.mds` and `index.json` (MDS version 2, uncompressed).

A shard, little endian: u32 samples, u32[samples + 1] where each sample begins and the last ends, counted from the
file's start, a JSON of the columns, the samples. A sample: u32 sizes of its columns of no fixed size, in their order,
then the columns, which are sorted by name. Offsets of 32 bits bound a shard to 4 GiB.

    row        tokens ndarray:uint32:context (with the padding), n_tokens int, row_id str (hex); cu_seqlens, docs,
               loss_spans, media, segments, tasks: str of JSON, as `samples` has them
    document   tokens ndarray:uint32, n_tokens int; id, content_hash (hex), source, domain, license str ("": none)

Texts of JSON, since a batch of strings goes through any collate function, and nobody pays for what is not asked for.
`tokens` is the name that llm-foundry looks for.
"""

import json
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash
from blake3 import blake3

from gristmill.manifests.canonical import DIGEST_PREFIX
from gristmill.manifests.commit import HashingFile
from gristmill.manifests.errors import UsageError
from gristmill.manifests.receipt import FileEntry
from gristmill.manifests.verify_files import READ_BYTES
from gristmill.pipeline.export.samples import described, ids_of, json_of
from gristmill.pipeline.export.shape import Format, Shard, Source, Written

MAX_SHARD_BYTES = (1 << 32) - 1
HASH = "xxh3_64"
"""Of the hashes that the library knows the one that costs nothing; it is looked at where `validate_hash` names it."""
JSON_COLUMNS = ("cu_seqlens", "docs", "loss_spans", "media", "segments", "tasks")
TEXT_COLUMNS = ("content_hash", "domain", "id", "license", "source")

Ints = npt.NDArray[np.int64]


def columns_of(source: Source) -> dict[str, str]:
    """Name -> encoding of the columns, sorted."""
    if source.unit == "row":
        tokens = f"ndarray:uint32:{source.facts['context']}"
        said = dict.fromkeys((*JSON_COLUMNS, "row_id"), "str")
    else:
        tokens, said = "ndarray:uint32", dict.fromkeys(TEXT_COLUMNS, "str")
    columns: dict[str, str] = {"tokens": tokens, "n_tokens": "int"}
    return dict(sorted((columns | said).items()))


def write(shard: Shard, batches: Iterator[pa.RecordBatch]) -> Written:
    """See the module. Raises UsageError where the shard would pass 4 GiB."""
    name = f"shard.{shard.number:05d}.mds"
    path = shard.folder / name
    columns = columns_of(shard.source)
    config = json.dumps(config_of(columns), sort_keys=True).encode()
    sizes: list[int] = []
    tokens = 0
    with path.open("xb") as file:
        file.write(bytes(4 + 4 * (shard.stop - shard.first + 1)))
        file.write(config)
        for batch in batches:
            for ids, said in zip(ids_of(batch), described(batch), strict=True):
                sample = encoded(ids, said, columns)
                file.write(sample)
                sizes.append(len(sample))
                tokens += said["n_tokens"]
        file.seek(0)
        file.write(_head(sizes, len(config), shard))
        file.flush()
        os.fsync(file.fileno())
    digest, quick = _hashes(path)
    entry = FileEntry(name, "samples", len(sizes), path.stat().st_size, digest, {HASH: quick})
    return Written([entry], len(sizes), tokens)


def _head(sizes: list[int], config_bytes: int, shard: Shard) -> bytes:
    try:
        return head_of(np.array(sizes, dtype=np.int64), config_bytes)
    except ValueError as error:
        raise UsageError("a shard of MDS is below 4 GiB", str(shard.folder), error, "lower --shard-bytes") from None


def head_of(sizes: Ints, config_bytes: int) -> bytes:
    """The head of a shard of samples of so many bytes. Raises ValueError where an offset passes 32 bits."""
    first = 4 + 4 * (len(sizes) + 1) + config_bytes
    ends = first + np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    if int(ends[-1]) > MAX_SHARD_BYTES:
        raise ValueError(f"{int(ends[-1])} bytes")
    return struct.pack("<I", len(sizes)) + ends.astype("<u4").tobytes()


def config_of(columns: Mapping[str, str]) -> dict[str, Any]:
    """What a shard and the index say of the columns; fixed sizes in bytes, None for the others."""
    return {
        "version": 2,
        "format": "mds",
        "compression": None,
        "hashes": [HASH],
        "size_limit": None,
        "column_names": list(columns),
        "column_encodings": list(columns.values()),
        "column_sizes": [_fixed_bytes(encoding) for encoding in columns.values()],
    }


def _fixed_bytes(encoding: str) -> int | None:
    if encoding == "int":
        return 8
    shape = encoding.removeprefix("ndarray:uint32:")
    return 4 * int(shape) if shape.isdecimal() else None


def encoded(ids: npt.NDArray[np.uint32], said: Mapping[str, Any], columns: Mapping[str, str]) -> bytes:
    """One sample."""
    sizes: list[int] = []
    data: list[bytes] = []
    for name, encoding in columns.items():
        if name == "tokens":
            part = ids.tobytes() if _fixed_bytes(encoding) else shape_of(len(ids)) + ids.tobytes()
        elif name == "n_tokens":
            part = struct.pack("<q", said[name])
        elif name in JSON_COLUMNS:
            part = json_of(said[name])
        else:
            part = _text(said[name])
        data.append(part)
        if _fixed_bytes(encoding) is None:
            sizes.append(len(part))
    return struct.pack(f"<{len(sizes)}I", *sizes) + b"".join(data)


def _text(value: str | bytes | None) -> bytes:
    return value.hex().encode() if isinstance(value, bytes) else (value or "").encode()


def shape_of(length: int) -> bytes:
    """The shape of an array of one dimension, as `ndarray` without a shape has it: in the smallest type."""
    code, form = (0, "B") if length < 1 << 8 else (1, "H") if length < 1 << 16 else (2, "I")
    return struct.pack(f"<B{form}", (1 << 2) | code, length)


def _hashes(path: Path) -> tuple[str, str]:
    """The digest of a file, and the hash that the library knows."""
    strong, quick = blake3(), xxhash.xxh3_64()
    with path.open("rb") as file:
        while piece := file.read(READ_BYTES):
            strong.update(piece)
            quick.update(piece)
    return DIGEST_PREFIX + strong.hexdigest(), quick.hexdigest()


def finish(folder: Path, source: Source, shards: Sequence[Written]) -> list[FileEntry]:
    """`index.json`, which names the shards."""
    config = config_of(columns_of(source))
    named = [{**config, **_raw(shard.files[0]), "samples": shard.samples, "zip_data": None} for shard in shards]
    file = HashingFile(folder / "index.json")
    file.write(json.dumps({"version": 2, "shards": named}, sort_keys=True).encode())
    return [FileEntry("index.json", "index", 0, file.bytes, file.finish())]


def _raw(file: FileEntry) -> dict[str, Any]:
    return {"raw_data": {"basename": file.path, "bytes": file.bytes, "hashes": dict(file.extra)}}


FORMAT = Format(
    name="mds",
    title="MosaicML Streaming (MDS)",
    version=1,
    units=("row", "document"),
    shard_bytes=1 << 26,
    write=write,
    finish=finish,
    reader='streaming.StreamingDataset(local="DIR", batch_size=8)',
)

"""WebDataset: `shard-00000.tar`, samples in order, each a group of files of one key. Tars are GNU, with fixed headers.

The key is the sample's place in the export and its id, `000000000-<row_id or document id>`: rows of the same content
have the same row_id, and a key must not repeat. Files of a sample:

    row, document   .npy: the ids, uint32[n] (a row with its padding); .json: what `samples` says
    text            .txt: the text; .json; and of each medium with bytes, by its number in the text, .0.png, .1.jpg:
                    `media[i].file` in the .json names it

Owner, mode and time are the same for all: 0, 0644, 1970.
"""

import io
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import HashingFile
from gristmill.manifests.receipt import FileEntry
from gristmill.pipeline.export.samples import described, ids_of, json_of
from gristmill.pipeline.export.shape import Format, Shard, Source, Written

BLOCK = tarfile.BLOCKSIZE
END = bytes(2 * BLOCK)
SUFFIXES = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "video/mp4": "mp4",
    "video/webm": "webm",
}


def write(shard: Shard, batches: Iterator[pa.RecordBatch]) -> Written:
    """See the module."""
    name = f"shard-{shard.number:05d}.tar"
    file = HashingFile(shard.folder / name)
    place, tokens = shard.first, 0
    for batch in batches:
        said = described(batch)
        tokens += sum(s.get("n_tokens", 0) for s in said)
        for sample, parts in zip(said, _parts(batch, said), strict=True):
            key = f"{place:09d}-{sample['row_id'].hex() if 'row_id' in sample else sample['id']}"
            file.write(b"".join(member(f"{key}.{suffix}", data) for suffix, data in parts))
            place += 1
    file.write(END)
    entry = FileEntry(name, "samples", place - shard.first, file.bytes, file.finish())
    return Written([entry], place - shard.first, tokens)


def _parts(batch: pa.RecordBatch, said: list[dict[str, Any]]) -> Iterator[list[tuple[str, bytes]]]:
    """(suffix, data) of the files of each sample."""
    if "text" not in batch.schema.names:
        for ids, sample in zip(ids_of(batch), said, strict=True):
            yield [("npy", npy_of(ids)), ("json", json_of(sample))]
        return
    texts, media = batch.column("text").to_pylist(), batch.column("media").to_pylist()
    for text, found, sample in zip(texts, media, said, strict=True):
        files: list[tuple[str, bytes]] = []
        for number, medium in enumerate(found or ()):
            if medium["bytes"] is not None:
                sample["media"][number]["file"] = f"{number}.{SUFFIXES.get(medium['mime'], 'bin')}"
                files.append((sample["media"][number]["file"], medium["bytes"]))
        yield [("txt", (text or "").encode("utf-8")), ("json", json_of(sample)), *files]


def npy_of(ids: Any) -> bytes:
    """A .npy file of one dimension."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<u4", "fortran_order": False, "shape": ids.shape})
    return head.getvalue() + ids.tobytes()


def member(name: str, data: bytes) -> bytes:
    """A file of a tar, padded to its block."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    return b"".join((info.tobuf(tarfile.GNU_FORMAT), data, bytes(-len(data) % BLOCK)))


def finish(folder: Path, source: Source, shards: Sequence[Written]) -> list[FileEntry]:
    """Nothing: a reader is given the names, `shard-{00000..00041}.tar`."""
    del folder, source, shards
    return []


FORMAT = Format(
    name="webdataset",
    title="WebDataset",
    version=1,
    units=("row", "document", "text"),
    shard_bytes=256 << 20,
    write=write,
    finish=finish,
    reader='webdataset.WebDataset("DIR/shard-00000.tar", shardshuffle=False).decode()',
)

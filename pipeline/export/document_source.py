"""Documents as samples: the tokenised ones behind a dataset of rows, or the texts of a dataset of documents.

In: Arrow files of TOKENISED, Parquet files of DOCUMENT, as the manifest names them; each is held against its digest
before a sample of it is handed out, since their rows have no hashes of their own (a text has, and `verify --deep` holds
it against that). Out: record batches of these schemas in the manifest's order. A tokenised document has no separator.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3

from gristmill.manifests.canonical import DIGEST_PREFIX
from gristmill.manifests.errors import VerifyError
from gristmill.manifests.ipc import read_ipc
from gristmill.manifests.schema import DOCUMENT
from gristmill.manifests.trainer_schema import TOKENISED, TokenizerIdentity
from gristmill.manifests.verify_files import READ_BYTES
from gristmill.pipeline.export.shape import Request, Source
from gristmill.pipeline.reader.shard_source import check_inside

ID_BYTES = 4
_ROW_BYTES = 100
"""What a tokenised document takes beside its ids, about."""
_TEXTS_AT_ONCE = 256

Ints = npt.NDArray[np.int64]
Entries = Sequence[Mapping[str, Any]]


def open_tokenised(request: Request, manifest: Mapping[str, Any], stop: int) -> Source:
    """The tokenised documents behind a dataset of rows."""
    entries, folder = manifest["tokenised"], request.dataset
    check_inside(folder, (entry["path"] for entry in entries))
    starts = starts_of(entries)
    sound = lru_cache(None)(lambda number: _sound(folder, entries[number]))

    def read(first: int, end: int) -> Iterator[pa.RecordBatch]:
        for number, begins, ends in _parts(starts, first, end):
            yield from _cut((b.select(TOKENISED.names) for b in read_ipc(sound(number))), begins, ends)

    def bounds(shard_bytes: int) -> list[int]:
        sizes = np.concatenate([_lengths(folder / e["path"]) for e in entries])[request.first : stop]
        return [request.first + at for at in cut_places(sizes * ID_BYTES + _ROW_BYTES, shard_bytes)]

    facts = {"kind": "rows", "digest": manifest["digest"], "tokenizer": dict(manifest["facts"]["tokenizer"])}
    identity = TokenizerIdentity(**manifest["facts"]["tokenizer"])
    return Source("document", TOKENISED, request.first, stop, bounds, read, facts, identity)


def open_texts(request: Request, manifest: Mapping[str, Any], stop: int) -> Source:
    """The documents of a dataset of documents."""
    entries, folder = manifest["shards"], request.dataset
    starts = starts_of(entries)
    sound = lru_cache(None)(lambda number: _sound(folder, entries[number]))

    def read(first: int, end: int) -> Iterator[pa.RecordBatch]:
        for number, begins, ends in _parts(starts, first, end):
            with pq.ParquetFile(sound(number)) as file:
                batches = (b.cast(DOCUMENT) for b in file.iter_batches(_TEXTS_AT_ONCE, columns=DOCUMENT.names))
                yield from _cut(batches, begins, ends)

    def bounds(shard_bytes: int) -> list[int]:
        samples = max(1, shard_bytes * int(starts[-1]) // sum(e["bytes"] for e in entries))
        return [*range(request.first, stop, samples), stop]

    return Source(
        "text", DOCUMENT, request.first, stop, bounds, read, {"kind": "documents", "digest": manifest["digest"]}
    )


def starts_of(entries: Entries) -> Ints:
    """int64[files + 1]: the samples before each file, and of all."""
    return np.concatenate(([0], np.cumsum([e["rows"] for e in entries], dtype=np.int64)))


def cut_places(sizes: Ints, most: int) -> list[int]:
    """Where pieces begin of at most `most` bytes, or of one item that is larger, with the end of the last."""
    out, ends, at = [0], np.cumsum(sizes, dtype=np.int64), 0
    while at < len(sizes):
        before = int(ends[at - 1]) if at else 0
        at = max(at + 1, int(np.searchsorted(ends, before + most, side="right")))
        out.append(at)
    return out


def _parts(starts: Ints, first: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """(file, first, stop) of the samples [first, stop), counted inside each file."""
    for number in range(len(starts) - 1):
        begins, ends = max(first, int(starts[number])), min(stop, int(starts[number + 1]))
        if begins < ends:
            yield number, begins - int(starts[number]), ends - int(starts[number])


def _cut(batches: Iterator[pa.RecordBatch], first: int, stop: int) -> Iterator[pa.RecordBatch]:
    at = 0
    for batch in batches:
        begins, ends = max(first - at, 0), min(stop - at, batch.num_rows)
        if begins < ends:
            yield batch.slice(begins, ends - begins)
        at += batch.num_rows
        if at >= stop:
            return


def _lengths(path: Path) -> Ints:
    columns = [batch.column("n_tokens").to_numpy() for batch in read_ipc(path)]
    return np.concatenate([np.empty(0, np.int64), *columns])


def _sound(folder: Path, entry: Mapping[str, Any]) -> Path:
    """The path of a file whose bytes are those of its digest. Raises VerifyError."""
    path = folder / entry["path"]
    hasher = blake3()
    try:
        with path.open("rb") as file:
            while piece := file.read(READ_BYTES):
                hasher.update(piece)
    except FileNotFoundError:
        raise VerifyError("a file of the dataset is missing", str(path), None, "see `gristmill verify`") from None
    found = DIGEST_PREFIX + hasher.hexdigest()
    if found != entry["digest"]:
        raise VerifyError("the file is damaged", str(path), found, "see `gristmill verify`")
    return path

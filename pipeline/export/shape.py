"""What the parts of an export hand each other.

A sample is one row of a dataset of rows (unit `row`), one tokenised document behind such a dataset (`document`), or one
document of a dataset of documents (`text`). A source hands out samples by their place in the order of the export, as
record batches whose columns are `packed_schema`, TOKENISED or DOCUMENT; a format writes the samples [first, stop) of a
shard, then what ties the shards together. Which samples stand in which shard follows from the source and the shard size
alone, so the bytes do not depend on who writes what when.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from gristmill.manifests.receipt import FileEntry
from gristmill.manifests.trainer_schema import TokenizerIdentity

Unit = Literal["row", "document", "text"]
Order = Literal["stored", "shuffled"]


@dataclass(frozen=True)
class Request:
    """What a person asked for. `rows` are places in the order, half open; `stop` None: to the end. `shard_bytes` None:
    the format's own size; `unit` None: what suits dataset and format."""

    dataset: Path
    format: str
    unit: Unit | None = None
    order: Order = "stored"
    seed: int = 0
    first: int = 0
    stop: int | None = None
    shard_bytes: int | None = None


@dataclass(frozen=True)
class Source:
    """Samples [first, stop) of a dataset, in the order asked for.

    `bounds(shard_bytes)` gives the places where shards of about that size begin, with the end of the last;
    `read(first, stop)` the samples between two places, held against their hashes: raises VerifyError.
    """

    unit: Unit
    schema: pa.Schema
    first: int
    stop: int
    bounds: Callable[[int], list[int]]
    read: Callable[[int, int], Iterator[pa.RecordBatch]]
    facts: Mapping[str, Any]
    """name, kind and digest of the dataset; of rows also context and tokenizer."""
    tokenizer: TokenizerIdentity | None = None


@dataclass(frozen=True)
class Shard:
    """Where a shard goes, and what it holds: samples [first, stop), number `number` of `shards`."""

    folder: Path
    number: int
    shards: int
    first: int
    stop: int
    source: Source


@dataclass(frozen=True)
class Written:
    """A finished shard: its files, with digests, and the tokens in them, without padding and without
    what a format adds (0 of texts)."""

    files: Sequence[FileEntry]
    samples: int
    tokens: int


@dataclass(frozen=True)
class Format:
    """A format. `units` that it can hold, the default of a dataset of rows first; `reader` is a line of the card.

    `write` makes a shard's files; `finish(folder, source, shards)` the files that are written last. Each gives the
    entries of what it wrote, and raises UsageError where the format cannot hold it, OSError of the disk.
    """

    name: str
    title: str
    version: int
    units: Sequence[Unit]
    shard_bytes: int
    write: Callable[[Shard, Iterator[pa.RecordBatch]], Written]
    finish: Callable[[Path, Source, Sequence[Written]], list[FileEntry]]
    reader: str

"""Labelled documents for a classifier, from whatever names them.

An argument is a finished dataset's folder of a run (it holds `manifest.json`), a file, a folder or a pattern; each
file is read by its suffix as `gristmill stage judge` does, pages go through `extract_html`. Out: `Side`, at most
`max_docs` documents, those whose content hashes lowest with the seed, as the windows that a scorer sees.

A document's `key` says where it comes from, coarse to fine: host and path of its URL; or a name for the argument (its
last part without a wildcard), the record's `source` or `repository` field where it has one, then the path of its file.
"""

import heapq
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3

from gristmill.manifests.errors import InputError, UsageError
from gristmill.manifests.manifest import MANIFEST, read_manifest
from gristmill.pipeline.judge import KINDS, Kind, kind_of_file
from gristmill.pipeline.sources import catalogue as sources
from gristmill.pipeline.sources.digests import DigestCache
from gristmill.pipeline.sources.files import Selection, list_inputs
from gristmill.pipeline.sources.protocol import InputFile, ReadOptions
from gristmill.pipeline.suggest import did_you_mean
from gristmill.stages.chain import run_chain
from gristmill.stages.quality.features import Windows
from gristmill.stages.text.extract_html import ExtractHtml

READER = "classifier"
DEFAULT_MAX_DOCS = 20_000

_PAGE_KINDS = frozenset({"html", "warc"})
_SOURCE_FIELDS = ("source", "repository", "repo")
_COLUMNS = ("content_hash", "domain", "source", "url", "lang", "text", "meta")


@dataclass(frozen=True)
class Document:
    """One labelled document; `digest` is its content hash, `label` its argument, `lang` "" where nothing says."""

    digest: bytes
    windows: tuple[str, ...]
    key: tuple[str, ...]
    domain: str
    lang: str
    label: str = ""


@dataclass(frozen=True)
class Input:
    """One argument as the card gives it: files and bytes, the digest of names and digests of its files."""

    name: str
    files: tuple[InputFile, ...]

    @property
    def digest(self) -> str:
        """Digest over the sorted names and digests of the files; no absolute path enters it."""
        listing = "".join(f"{file.rel}\0{file.digest}\n" for file in self.files)
        return f"blake3:{blake3(listing.encode()).hexdigest()}"


@dataclass(frozen=True)
class Reading:
    """How a side is read. `kind` overrides what suffixes say; `domain` what files and records say."""

    windows: Windows = field(default_factory=Windows)
    kind: str | None = None
    domain: str = ""
    max_docs: int = DEFAULT_MAX_DOCS
    seed: int = 0


@dataclass(frozen=True)
class Side:
    """Documents of one class, sorted by digest; `seen` were read, `lost` by reason were not readable or had no text."""

    documents: tuple[Document, ...]
    inputs: tuple[Input, ...]
    seen: int
    lost: dict[str, int]


def read_side(arguments: Sequence[str], reading: Reading) -> Side:
    """The documents of one class. Raises InputError where an argument names nothing that can be read."""
    if reading.kind is not None and reading.kind not in KINDS:
        raise UsageError("no such kind of file", "--as", reading.kind, did_you_mean(reading.kind, KINDS))
    lost: Counter[str] = Counter()
    chosen = _Smallest(reading.max_docs, reading.seed)
    inputs: list[Input] = []
    for argument in arguments:
        found = _input(argument)
        inputs.append(found)
        batches = _published(argument, found) if _is_dataset(argument) else _files(found, reading, lost)
        for batch, label in batches:
            for document in _documents(batch, label, reading):
                if document.windows:
                    chosen.offer(document)
                else:
                    lost["empty"] += 1
    return Side(chosen.sorted(), tuple(inputs), chosen.seen, dict(sorted(lost.items())))


class _Smallest:
    """The `limit` documents whose seeded digests are the smallest."""

    def __init__(self, limit: int, seed: int) -> None:
        self._limit = limit
        self._seed = str(seed).encode()
        self._heap: list[tuple[int, int, Document]] = []
        self.seen = 0

    def offer(self, document: Document) -> None:
        rank = -int.from_bytes(blake3(self._seed + document.digest).digest(8), "big")
        self.seen += 1
        if len(self._heap) < self._limit:
            heapq.heappush(self._heap, (rank, -self.seen, document))
        else:
            heapq.heappushpop(self._heap, (rank, -self.seen, document))

    def sorted(self) -> tuple[Document, ...]:
        return tuple(sorted((entry[2] for entry in self._heap), key=lambda one: (one.digest, one.key)))


def check_some(side: Side, where: str) -> None:
    """Raises InputError where nothing was read, and says what was lost."""
    if not side.documents:
        lost = ", ".join(f"{reason} {count}" for reason, count in side.lost.items()) or None
        raise InputError("no documents with text", where, lost, "name files or folders that hold some")


def read_rows(argument: str, kind: str | None) -> Iterator[pa.RecordBatch]:
    """The rows of every file that an argument names, as they are read: pages are still HTML. Losses are passed over."""
    for file in _input(argument).files:
        yield from _read(file, KINDS[kind or kind_of_file(Path(file.rel))], Counter())


def _is_dataset(argument: str) -> bool:
    return (Path(argument) / MANIFEST).is_file()


def _input(argument: str) -> Input:
    name = label_of(argument)
    if _is_dataset(argument):
        manifest = read_manifest(Path(argument))
        if manifest["kind"] != "documents":
            raise InputError("not a dataset of documents", argument, manifest["kind"], "name one without emit")
        shards = manifest["shards"]
        root = Path(argument)
        return Input(name, tuple(InputFile(str(root / s["path"]), s["path"], s["bytes"], s["digest"]) for s in shards))
    return Input(name, list_inputs(argument, str(Path.cwd()), Selection(file_links=False), DigestCache()))


def label_of(argument: str) -> str:
    """The last part of an argument that holds no wildcard."""
    plain = [part for part in argument.split("/") if part and not set(part) & set("*?[")]
    return plain[-1] if plain else "."


def _published(argument: str, found: Input) -> Iterator[tuple[pa.RecordBatch, str]]:
    for shard in found.files:
        try:
            with pq.ParquetFile(shard.url) as opened:
                for batch in opened.iter_batches(columns=list(_COLUMNS)):
                    yield batch, found.name
        except (OSError, pa.ArrowException) as error:
            raise InputError(
                "cannot be read", shard.url, error, f"`gristmill verify {Path(argument).parent}`"
            ) from error


def _files(found: Input, reading: Reading, lost: "Counter[str]") -> Iterator[tuple[pa.RecordBatch, str]]:
    for file in found.files:
        kind_name = reading.kind or kind_of_file(Path(file.rel))
        for batch in _read(file, KINDS[kind_name], lost):
            if kind_name in _PAGE_KINDS:
                result = run_chain([ExtractHtml()], batch)
                lost.update(fate.reason for fate in result.fates)
                yield result.kept, found.name
            else:
                yield batch, found.name


def _read(file: InputFile, kind: Kind, lost: "Counter[str]") -> Iterator[pa.RecordBatch]:
    source = sources.load(kind.source)
    for read in source.read_file(file, ReadOptions(READER, kind.domain, extra=dict(source.OPTIONS))):
        lost.update(loss.reason for loss in read.losses)
        if read.batch.num_rows:
            yield read.batch if read.batch.column("meta").null_count == 0 else _with_path(read.batch, file)


def _with_path(batch: pa.RecordBatch, file: InputFile) -> pa.RecordBatch:
    path = json.dumps({READER: {"path": file.rel}})
    index = batch.schema.get_field_index("meta")
    return batch.set_column(index, batch.schema.field(index), batch.column(index).fill_null(path))


def _documents(batch: pa.RecordBatch, label: str, reading: Reading) -> Iterator[Document]:
    pieces, rows = reading.windows.of(batch.column("text"))
    by_row: list[list[str]] = [[] for _ in range(batch.num_rows)]
    for piece, row in zip(pieces, rows.tolist(), strict=True):
        if piece.strip():
            by_row[row].append(piece)
    columns: dict[str, list[Any]] = {name: batch.column(name).to_pylist() for name in _COLUMNS if name != "text"}
    for row, seen in enumerate(by_row):
        record = {name: values[row] for name, values in columns.items()}
        domain, lang = reading.domain or record["domain"] or "", record["lang"] or ""
        yield Document(record["content_hash"], tuple(seen), _key(record, label), domain, lang, label)


def _key(record: dict[str, Any], label: str) -> tuple[str, ...]:
    """Where a document comes from, coarse to fine."""
    if record["url"]:
        url = urlsplit(record["url"])
        return (url.netloc.lower().removeprefix("www."), *(part for part in url.path.split("/") if part))
    fields = [inner for inner in json.loads(record["meta"] or "{}").values() if isinstance(inner, dict)]
    named = [str(inner[name]) for inner in fields for name in _SOURCE_FIELDS if inner.get(name)]
    own = record["source"] if record["source"] not in (None, READER) else ""
    path = next((str(inner["path"]) for inner in fields if inner.get("path")), "")
    return (label, *([own] if own else []), *named[:1], *(part for part in path.split("/") if part))

"""What a source is: a function from one input file to batches of documents and losses.

Each module of this folder that is named in `catalogue.SOURCES` holds

* `NAME`: the word in a recipe (`read: {NAME: GLOB}`),
* `OPTIONS`: names of the further keys that its `read:` mapping may hold, with default values,
* `SUFFIXES`: ends of the names, in lower case, of the files that are read of a folder; none for all files,
* `read_file(file, options) -> Iterator[ReadBatch]`.

Invariants: every record of the file appears exactly once, as a row of a batch or as a `Loss`, in file order;
batches hold at most `batch_rows` rows and, but for a single larger record, at most `batch_bytes` of text;
the batches are a pure function of the file's bytes and the options. A file that cannot be opened at all
raises InputError; anything wrong inside it is a Loss and reading goes on behind it where that is possible.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

import pyarrow as pa

from gristmill.manifests.schema import BATCH_BYTES, BATCH_ROWS, MAX_DOC_BYTES

RAW_EXCERPT_BYTES = 256

OptionValue = str | int | float | bool | None


@dataclass(frozen=True)
class InputFile:
    """One input: `url` is what is opened, `rel` its name relative to the glob's fixed part (in ids and
    ledgers; no absolute path enters any digest), `digest` "blake3:<hex>" of its bytes; `etag`, of an object in object
    storage, is what the server calls its content."""

    url: str
    rel: str
    bytes: int
    digest: str
    etag: str = ""


@dataclass(frozen=True)
class ReadOptions:
    """How a dataset is read. `key` names the field whose value identifies a record, None for the default."""

    dataset: str
    domain: str | None = None
    license: str | None = None
    key: str | None = None
    extra: Mapping[str, OptionValue] = field(default_factory=dict[str, OptionValue])
    max_doc_bytes: int = MAX_DOC_BYTES
    batch_bytes: int = BATCH_BYTES
    batch_rows: int = BATCH_ROWS


@dataclass(frozen=True)
class Loss:
    """One record (or the unreadable tail) that did not become a row.

    `offset` is a byte offset (in .gz and .zst that of the uncompressed stream, in which a damaged member has no
    bytes) or a row number for columnar files; `raw` at most RAW_EXCERPT_BYTES of it; `raw_hash` BLAKE3-128 of all
    its bytes that could be read.
    """

    verdict: Literal["drop", "quarantine"]
    reason: str
    offset: int
    raw_hash: bytes
    detail: str = ""
    value: float = float("nan")
    limit: float = float("nan")
    raw: bytes = b""
    url: str | None = None
    measure: str = ""


@dataclass(frozen=True)
class ReadBatch:
    """Rows of manifests.schema.DOCUMENT in file order, with the losses that stood among them."""

    batch: pa.RecordBatch
    losses: tuple[Loss, ...] = ()


class ReadFile(Protocol):
    """The signature of a source module's `read_file`."""

    def __call__(self, file: InputFile, options: ReadOptions) -> Iterator[ReadBatch]:
        """Read one file from start to end."""
        ...


REASONS: Mapping[str, str] = {
    "bad_utf8": "quarantine: bytes that are not UTF-8 where the format demands it",
    "bad_json": "quarantine: a line that is not JSON (NaN, lone surrogate, cut line)",
    "not_an_object": "quarantine: JSON that is no object",
    "bad_field": "quarantine: a field of the wrong type (text not a string, key not a scalar)",
    "missing_text": "quarantine: no text field",
    "missing_key": "quarantine: the field named by `key` is absent or null",
    "too_large": "quarantine: a record above max_doc_bytes",
    "truncated": "quarantine: the file ends inside a record or a compressed stream; the tail is one record",
    "corrupt": "quarantine: a compressed stream, container or record whose bytes are damaged",
    "bad_encoding": "quarantine: no character encoding fits the page",
    "bad_http": "quarantine: a WARC response without a readable HTTP head",
    "binary": "drop: a file of a text or code tree that is not text",
    "http_status": "drop: a WARC response whose status is not 200; value is the status",
    "mime": "drop: a WARC payload that is neither HTML nor plain text; detail is the type",
    "excluded_path": "drop: a file of a tree that its source leaves out (version control, lock files)",
    "not_sampled": "drop: left out by --sample, by content hash",
}
"""The closed vocabulary of reasons that reading gives; the first word is the verdict."""

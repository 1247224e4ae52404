"""The one place for record schemas, ids and content hashes.

`DOCUMENT` is the schema of every document between reading and the trainer's output (design section 3);
intermediate shards are Parquet files of it. Text is UTF-8 in `large_string`; U+FFFC stands where a medium
stands, in order, and `text.count(U+FFFC) == len(media)`. `id` is the lower-case hex of 128 bits.
`scores` holds what classifiers said of a document, by the name of the score; null where none was asked.
`dup_cluster` is the smallest content hash of the cluster of duplicates that a kept document belongs to, and `dup_count`
how many records it stands for, itself included; both null where deduplication found nothing like it.
Lengths in `*_chars` are Unicode code points, in `*_bytes` UTF-8 bytes.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from blake3 import blake3

MEDIUM_CHAR = "\ufffc"
REPLACEMENT_CHAR = "\ufffd"
MAX_DOC_BYTES = 1 << 30
BATCH_BYTES = 16 << 20
BATCH_ROWS = 2048
ID_BYTES = 16

DOMAINS = ("web", "code", "math", "knowledge", "vision")
DERIVATIONS = ("split", "join", "rephrase", "form", "permute")

DICTIONARY = pa.dictionary(pa.int32(), pa.string())

ANNOTATION = pa.struct(
    [
        ("id", pa.string()),
        ("role", pa.string()),
        ("text", pa.large_string()),
        ("bbox_full", pa.list_(pa.float64())),
        ("bbox_visible", pa.list_(pa.float64())),
        ("polygon", pa.list_(pa.float64())),
        ("point", pa.list_(pa.float64())),
        ("visible_frac", pa.float64()),
        ("truncated", pa.bool_()),
        ("z", pa.int32()),
        ("t_start_s", pa.float64()),
        ("t_end_s", pa.float64()),
    ]
)

MEDIUM = pa.struct(
    [
        ("kind", pa.string()),
        ("sha256", pa.binary(32)),
        ("mime", pa.string()),
        ("bytes", pa.large_binary()),
        ("uri", pa.string()),
        ("width", pa.int32()),
        ("height", pa.int32()),
        ("frames", pa.int32()),
        ("fps", pa.float64()),
        ("annotations", pa.list_(ANNOTATION)),
    ]
)

DOCUMENT = pa.schema(
    [
        ("id", pa.string()),
        ("content_hash", pa.binary(ID_BYTES)),
        ("domain", DICTIONARY),
        ("source", pa.string()),
        ("url", pa.string()),
        ("lang", pa.string()),
        ("license", pa.string()),
        ("text", pa.large_string()),
        ("media", pa.list_(MEDIUM)),
        ("parents", pa.list_(pa.string())),
        ("derivation", DICTIONARY),
        ("meta", pa.large_string()),
        ("scores", pa.map_(pa.string(), pa.float64())),
        ("dup_cluster", pa.binary(ID_BYTES)),
        ("dup_count", pa.int64()),
    ]
)


_URI_CONTEXT = "gristmill medium uri 1"


def content_hash(text: bytes | memoryview, media_sha256: Iterable[bytes] = ()) -> bytes:
    """BLAKE3-128 over the UTF-8 text and the 32-byte hashes of its media, in order: 16 bytes.

    Unkeyed fast hashes never decide a deletion: input is hostile (design section 3).
    """
    hasher = blake3(text)
    for sha in media_sha256:
        hasher.update(sha)
    return hasher.digest(ID_BYTES)


def _medium_hash(medium: Mapping[str, Any]) -> bytes:
    """What tells a medium from another: the hash of its bytes; of one that was not fetched, where it lies."""
    if medium["sha256"]:
        return medium["sha256"]
    return blake3((medium["uri"] or "").encode("utf-8", "surrogatepass"), derive_key_context=_URI_CONTEXT).digest()


def _medium_hashes(media: pa.ListArray) -> list[list[bytes]]:
    """Those of each row; the bytes of media, which may be gigabytes, are not looked at."""
    items = media.flatten()
    told = pa.Table.from_arrays([items.field(n) for n in ("sha256", "uri")], names=["sha256", "uri"]).to_pylist()
    hashes = iter([_medium_hash(medium) for medium in told])
    lengths = media.value_lengths().fill_null(0).to_pylist()
    return [[next(hashes) for _ in range(length)] for length in lengths]


def content_hashes(text: pa.LargeStringArray, media: pa.ListArray) -> pa.FixedSizeBinaryArray:
    """`content_hash` of each row; a null text counts as ""."""
    rows = len(text)
    shas: list[list[bytes]] | None = None
    if media.null_count != len(media):
        shas = _medium_hashes(media)
    if rows == 0:
        return pa.array([], pa.binary(ID_BYTES))
    offsets = np.frombuffer(text.buffers()[1], dtype=np.int64)[text.offset : text.offset + rows + 1]
    body = memoryview(text.buffers()[2] or b"")
    bounds = offsets.tolist()
    digests = [
        blake3(body[bounds[i] : bounds[i + 1]]).digest(ID_BYTES)
        if shas is None
        else content_hash(body[bounds[i] : bounds[i + 1]], shas[i])
        for i in range(rows)
    ]
    return pa.array(digests, pa.binary(ID_BYTES))


def record_id(kind: str, namespace: str, key: str) -> str:
    """Id of a record that has a key of its own: hex of BLAKE3-128 over kind, namespace and key.

    `kind` says what the key is (`warc`, `url`, `key`, `path`); keys that are unique only within a
    dataset (`key`, `path`) give the dataset's name as `namespace`, the others "".
    """
    return blake3(f"{kind}\0{namespace}\0{key}".encode("utf-8", "surrogatepass")).hexdigest(ID_BYTES)


def repeated_id(first_id: str, ordinal: int) -> str:
    """Id of the `ordinal`-th (1, 2, ...) further record that has the same key, in content order."""
    return record_id("repeat", first_id, str(ordinal))


def joined_id(dataset: str, old_id: str, ordinal: int) -> str:
    """Id, in a dataset that joins others, of the `ordinal`-th (1, 2, ...) further record that came with `old_id`."""
    return record_id("joined", f"{dataset}\0{old_id}", str(ordinal))


def derived_id(parent: str, form: str) -> str:
    """Id of the record of that form that was made from another one, and from no more than that."""
    return record_id("form", parent, form)


def id_bytes(ids: pa.StringArray) -> pa.FixedSizeBinaryArray:
    """The 16 bytes of each id (hex, no nulls)."""
    raw = bytes.fromhex("".join(ids.to_pylist()))
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(ID_BYTES), len(ids), [None, pa.py_buffer(raw)])


def document_batch(columns: dict[str, pa.Array]) -> pa.RecordBatch:
    """A batch of DOCUMENT from some of its columns (at least `text`); missing ones are null.

    Raises KeyError when a name is not in DOCUMENT, pa.ArrowInvalid when a type cannot be cast.
    """
    unknown = set(columns) - set(DOCUMENT.names)
    if unknown:
        raise KeyError(f"not columns of a document: {sorted(unknown)}")
    rows = len(columns["text"])
    arrays = [columns[f.name].cast(f.type) if f.name in columns else pa.nulls(rows, f.type) for f in DOCUMENT]
    return pa.RecordBatch.from_arrays(arrays, schema=DOCUMENT)

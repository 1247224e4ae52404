"""Datasets that Gristmill wrote, read again: columns of DOCUMENT as they are, but for what must not be believed.

`id` is kept where it is 32 lower-case hex digits, else made from what stands there; `content_hash` is made anew;
`domain` of the reading dataset goes before the record's, `license` behind it; `source` is the reading dataset. A
text with media must have as many U+FFFC as media; in one without, U+FFFC becomes U+FFFD. A medium's bytes must have the
sha256 beside them; one without gets it.
"""

import re
from collections.abc import Sequence
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.media_index import binary_bounds
from gristmill.manifests.schema import DOCUMENT, MEDIUM_CHAR, REPLACEMENT_CHAR, content_hashes, record_id
from gristmill.pipeline.sources.columns import constant, hex_strings
from gristmill.pipeline.sources.protocol import ReadOptions

_OWN_ID = re.compile(r"[0-9a-f]{32}")
_MEDIA = DOCUMENT.field("media").type


def miscounted_media(text: pa.Array, media: pa.Array) -> list[int]:
    """Rows whose number of media is not that of U+FFFC in the text (large_binary); rows without media are sound."""
    counts = np.asarray(pc.fill_null(pc.list_value_length(media), 0), np.int64)
    rows = np.flatnonzero(counts)
    marks = [(text[int(row)].as_py() or b"").count(MEDIUM_CHAR.encode()) for row in rows]
    return rows[np.asarray(marks, np.int64) != counts[rows]].tolist()


def with_sha256(media: pa.ListArray) -> tuple[pa.ListArray, list[int]]:
    """Media with the sha256 of their bytes where none stood; and the rows in which another stood."""
    items: pa.StructArray = media.flatten()
    columns = dict(zip([f.name for f in items.type], items.flatten(), strict=True))
    data, said = columns["bytes"], columns["sha256"].to_pylist()
    if data.null_count == len(data):
        return media, []
    body, bounds = memoryview(data.buffers()[2] or b""), binary_bounds(data)
    there = data.is_valid().to_pylist()
    found = [sha256(body[bounds[i] : bounds[i + 1]]).digest() if there[i] else said[i] for i in range(len(said))]
    lengths = np.asarray(pc.fill_null(pc.list_value_length(media), 0), np.int64)
    row_of = np.repeat(np.arange(len(media)), lengths)
    wrong = [int(row_of[i]) for i in range(len(said)) if said[i] is not None and found[i] != said[i]]
    if found == said:
        return media, wrong
    columns["sha256"] = pa.array(found, pa.binary(32))
    made = pa.StructArray.from_arrays(list(columns.values()), fields=list(items.type))
    offsets = pa.array(np.concatenate(([0], np.cumsum(lengths))).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, made), sorted(set(wrong))


def own_batch(
    batch: pa.RecordBatch, text: pa.Array, keys: Sequence[str | int | None], options: ReadOptions
) -> pa.RecordBatch:
    """Rows of DOCUMENT from a batch with its columns, its text as large_string and its ids as Python values."""
    rows = len(text)
    columns = {
        name: own_column(batch.column(batch.schema.get_field_index(name)), name)
        for name in DOCUMENT.names
        if name != "text"
    }
    bare = pc.equal(pc.fill_null(pc.list_value_length(columns["media"]), 0), 0)
    text = pc.if_else(bare, pc.replace_substring(text, MEDIUM_CHAR, REPLACEMENT_CHAR), text)
    hashes = content_hashes(text, columns["media"])
    made = [None if key is None else _own_id(str(key), options.dataset) for key in keys]
    by_content = hex_strings(np.frombuffer(hashes.buffers()[1], np.uint8).reshape(rows, -1))
    columns |= {
        "id": pc.coalesce(pa.array(made, pa.string()), by_content),
        "content_hash": hashes,
        "source": constant("source", options.dataset, rows),
        "text": text,
    }
    if options.domain is not None:
        columns["domain"] = constant("domain", options.domain, rows)
    if options.license is not None:
        columns["license"] = columns["license"].fill_null(options.license)
    return pa.RecordBatch.from_arrays([columns[name] for name in DOCUMENT.names], schema=DOCUMENT)


def _own_id(key: str, dataset: str) -> str:
    return key if _OWN_ID.fullmatch(key) else record_id("key", dataset, key)


def own_column(column: pa.Array, name: str) -> pa.Array:
    """A column in the type that DOCUMENT has for that name."""
    kind = DOCUMENT.field(name).type
    if pa.types.is_dictionary(kind) and not pa.types.is_dictionary(column.type):
        return column.cast(kind.value_type).dictionary_encode()
    return column.cast(kind)

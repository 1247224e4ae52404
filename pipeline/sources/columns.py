"""From Python values to the columns of a batch of DOCUMENT.

In: UTF-8 text as a `large_string` array of offset 0, and lists as long as it. Out: a RecordBatch of
manifests.schema.DOCUMENT with `content_hash` of the text as it stands in the batch and `id` by the rules of the design:
hash of the record's own key where it has one, else hex of `content_hash`. No U+FFFC is left in a text: the formats that
come here have no media, and U+FFFD stands there. "" counts as null in `url`, `lang` and `license`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.schema import DOCUMENT, ID_BYTES, content_hash
from gristmill.pipeline.sources.content_hashes import Bytes, hash_rows
from gristmill.pipeline.sources.protocol import ReadOptions

_MEDIUM_CHAR = b"\xef\xbf\xbc"
_REPLACEMENT = b"\xef\xbf\xbd"
_DICTIONARY_FIELDS = frozenset({"domain", "derivation"})


@dataclass(slots=True)
class Columns:
    """What a reader knows of its rows beside the text: lists of equal length, None where unknown; all but the first
    may be empty.

    `key_text` is what `manifests.schema.record_id` hashes (`identity` makes it), None for a row without a key;
    `meta` is a JSON object.
    """

    key_text: list[str | None] = field(default_factory=list[str | None])
    url: list[str | None] = field(default_factory=list[str | None])
    lang: list[str | None] = field(default_factory=list[str | None])
    license: list[str | None] = field(default_factory=list[str | None])
    meta: list[bytes | None] = field(default_factory=list[bytes | None])

    def extend(self, more: "Columns") -> None:
        """Puts the rows of `more` behind these."""
        self.key_text += more.key_text
        self.url += more.url
        self.lang += more.lang
        self.license += more.license
        self.meta += more.meta

    def slice(self, start: int, stop: int) -> "Columns":
        """The rows from `start` to `stop`."""
        rows = slice(start, stop)
        return Columns(self.key_text[rows], self.url[rows], self.lang[rows], self.license[rows], self.meta[rows])


def identity(kind: str, namespace: str, key: str) -> str:
    """What `record_id(kind, namespace, key)` hashes."""
    return f"{kind}\0{namespace}\0{key}"


def one_row(text: bytes, columns: Columns, options: ReadOptions) -> pa.RecordBatch:
    """The batch of one row; `text` is UTF-8 and is not copied."""
    text = without_medium_chars(text)
    array = as_text(np.array([0, len(text)], np.int64), pa.py_buffer(text))
    hashes = np.frombuffer(content_hash(text), np.uint8).reshape(1, ID_BYTES)
    return hashed_batch(array, hashes, columns, options)


def finished_batch(text: pa.Array, columns: Columns, options: ReadOptions) -> pa.RecordBatch:
    """The batch of rows with the given texts (large_string, no nulls, offset 0)."""
    offsets, data = text_bytes(text)
    if medium_chars(data).size:
        data, offsets = data.copy(), offsets.copy()
        replace_medium_chars(data)
        text = as_text(offsets, pa.py_buffer(data))
    return hashed_batch(text, hash_rows(data, offsets), columns, options)


def empty_batch() -> pa.RecordBatch:
    """A batch of no rows, for losses that stand alone."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in DOCUMENT], schema=DOCUMENT)


def hashed_batch(text: pa.Array, hashes: Bytes, columns: Columns, options: ReadOptions) -> pa.RecordBatch:
    """The batch of rows whose texts, without U+FFFC, have these hashes."""
    rows = len(text)
    known = {
        "id": ids(columns.key_text, hashes),
        "content_hash": pa.Array.from_buffers(pa.binary(ID_BYTES), rows, [None, pa.py_buffer(hashes)]),
        "domain": constant("domain", options.domain, rows),
        "source": constant("source", options.dataset, rows),
        "url": _strings("url", columns.url, rows),
        "lang": _strings("lang", columns.lang, rows),
        "license": _licenses(columns.license, options.license, rows),
        "text": text,
        "meta": _meta(columns.meta, rows),
    }
    arrays = [known[name] if name in known else constant(name, None, rows) for name in DOCUMENT.names]
    return pa.RecordBatch.from_arrays(arrays, schema=DOCUMENT)


@lru_cache(maxsize=128)
def constant(name: str, value: str | None, rows: int) -> pa.Array:
    """The column `name` of DOCUMENT with one value in all rows. Kept, since most batches are of like length."""
    kind = DOCUMENT.field(name).type
    if value is None:
        return pa.nulls(rows, kind)
    if name in _DICTIONARY_FIELDS:
        indices = pa.array(np.zeros(rows, np.int32))
        return pa.DictionaryArray.from_arrays(indices, pa.array([value], pa.string()))
    return pa.repeat(pa.scalar(value, kind), rows)


def as_text(offsets: npt.NDArray[np.int64], data: pa.Buffer) -> pa.Array:
    """large_string over `data`, which is UTF-8 cut at character boundaries."""
    buffers = [None, pa.py_buffer(offsets), data]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def text_bytes(text: pa.Array) -> tuple[npt.NDArray[np.int64], Bytes]:
    """Offsets (rows + 1) and UTF-8 bytes of a large_string array of offset 0, not copied."""
    _, offsets, data = text.buffers()
    if not len(text):
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    starts = np.frombuffer(offsets, np.int64)[: len(text) + 1]
    # An array of empty strings only may come without a buffer for its bytes.
    return starts, np.frombuffer(data, np.uint8)[: starts[-1]] if data and data.size else np.zeros(0, np.uint8)


def without_medium_chars(text: bytes) -> bytes:
    """UTF-8 with U+FFFD for each U+FFFC; the same object without any, which is mostly told by one rare byte."""
    return text.replace(_MEDIUM_CHAR, _REPLACEMENT) if _MEDIUM_CHAR[:1] in text else text


def may_hold_medium_chars(data: bytes, start: int, end: int) -> bool:
    """Whether there may be a U+FFFC in UTF-8 `data[start:end]`."""
    return data.find(_MEDIUM_CHAR[:1], start, end) >= 0


def medium_chars(data: Bytes) -> npt.NDArray[np.intp]:
    """Where in UTF-8 each U+FFFC begins. Most texts hold no byte of EF or above, which is seen at memory speed."""
    if not data.size or int(data.max()) < _MEDIUM_CHAR[0]:
        return np.zeros(0, np.intp)
    at = np.flatnonzero(data[:-2] == _MEDIUM_CHAR[0])
    return at[(data[at + 2] == _MEDIUM_CHAR[2]) & (data[at + 1] == _MEDIUM_CHAR[1])]


def replace_medium_chars(data: Bytes) -> None:
    """U+FFFD for each U+FFFC of UTF-8, in place: they differ in one byte of three."""
    data[medium_chars(data) + 2] = _REPLACEMENT[2]


def ids(key_text: Sequence[str | None], hashes: Bytes) -> pa.Array:
    """Ids as lower-case hex: hash of the key text, where there is none the content hash."""
    all_keyed = None not in key_text
    keys = pa.array(key_text if all_keyed else [key for key in key_text if key is not None], pa.large_string())
    offsets, data = text_bytes(keys)
    if all_keyed:
        return hex_strings(hash_rows(data, offsets))
    digests = hashes.copy()
    if len(keys):
        digests[[i for i, key in enumerate(key_text) if key is not None]] = hash_rows(data, offsets)
    return hex_strings(digests)


def hex_strings(digests: Bytes) -> pa.Array:
    """Lower-case hex of each row of a (rows, n) array, as string."""
    rows, width = digests.shape
    offsets = np.arange(rows + 1, dtype=np.int32) * np.int32(2 * width)
    data = digests.tobytes().hex().encode()
    return pa.Array.from_buffers(pa.string(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _strings(name: str, values: Sequence[str | None], rows: int) -> pa.Array:
    return pa.array([value or None for value in values], pa.string()) if any(values) else constant(name, None, rows)


def _licenses(values: Sequence[str | None], default: str | None, rows: int) -> pa.Array:
    if not any(values):
        return constant("license", default, rows)
    return pa.array([value or default for value in values], pa.string())


def _meta(values: Sequence[bytes | None], rows: int) -> pa.Array:
    if not any(values):
        return constant("meta", None, rows)
    return pa.array(values, pa.large_binary()).view(pa.large_string())

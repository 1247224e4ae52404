"""From records to batches of DOCUMENT, bounded by rows and bytes of text.

In: texts as UTF-8 bytes, and for each a key text, url, language, license and meta. Out: RecordBatches of
manifests.schema.DOCUMENT with `content_hash` of the text as it stands in the batch and `id` by the rules of the design:
hash of the record's own key where it has one, else hex of `content_hash`.

Invariants: no U+FFFC is left in a text (readers of the other kinds have no media; U+FFFD stands there); arrays start
at offset 0; texts are copied once, into the buffer of their batch, while they are in the processor's cache, and a
text of `batch_bytes` or more not at all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.schema import DOCUMENT, ID_BYTES, MEDIUM_CHAR, REPLACEMENT_CHAR, content_hash
from gristmill.pipeline.sources.content_hashes import Bytes, hash_rows
from gristmill.pipeline.sources.protocol import Loss, ReadBatch, ReadOptions

MEDIUM_CHAR_UTF8 = b"\xef\xbf\xbc"
REPLACEMENT_UTF8 = b"\xef\xbf\xbd"
_HEX = np.array([f"{byte:02x}".encode() for byte in range(256)], dtype="S2").view(np.uint8).reshape(256, 2)
_DICTIONARY_FIELDS = frozenset({"domain", "derivation"})


@dataclass(slots=True)
class Columns:
    """What a reader knows of its rows beside the text: lists of equal length, None where unknown.

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


class DocumentBuilder:
    """Collects rows and losses of one file, and gives a batch whenever the bounds of the options are reached.

    `add`, `add_row`, `lose` and `finish` yield the batches that are full; the caller passes them on.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._losses: list[Loss] = []
        self._start()

    def _start(self) -> None:
        self._sizes: list[int] = []
        self._hashes: list[bytes] = []
        self._columns = Columns()
        self._bytes = 0
        self._buffer: Any = None
        self._view = memoryview(b"")

    def add(self, texts: Sequence[str], columns: Columns, max_bytes: int) -> Iterator[ReadBatch]:
        """Adds rows whose texts take at most `max_bytes` of UTF-8."""
        options, rows = self._options, len(self._sizes) + len(texts)
        if rows <= options.batch_rows and self._bytes + max_bytes <= options.batch_bytes and len(texts) > 1:
            self._append(texts, columns)
            return
        for at, text in enumerate(texts):
            yield from self.add_row(text.encode(), columns.slice(at, at + 1))

    def add_row(self, text: bytes, columns: Columns) -> Iterator[ReadBatch]:
        """Adds one row; `text` is UTF-8."""
        options, size = self._options, len(text)
        if len(self._sizes) == options.batch_rows or self._bytes + size > options.batch_bytes:
            yield from self._full()
        if MEDIUM_CHAR_UTF8[:1] in text:
            text = text.replace(MEDIUM_CHAR_UTF8, REPLACEMENT_UTF8)
        if size >= options.batch_bytes:
            yield from self.add_alone(pa.py_buffer(text), columns)
            return
        self._hashes.append(content_hash(text))
        self._room()[self._bytes : self._bytes + size] = text
        self._bytes += size
        self._sizes.append(size)
        self._columns.extend(columns)

    def add_alone(self, text: pa.Buffer, columns: Columns) -> Iterator[ReadBatch]:
        """Adds one row whose UTF-8 text, without U+FFFC, becomes the column of a batch of its own."""
        yield from self._full()
        array = as_text(np.array([0, text.size], np.int64), text)
        yield ReadBatch(
            _batch(
                array,
                hash_rows(np.frombuffer(text, np.uint8), np.array([0, text.size], np.int64)),
                columns,
                self._options,
            )
        )

    def lose(self, loss: Loss) -> Iterator[ReadBatch]:
        """Adds a loss."""
        self._losses.append(loss)
        if len(self._losses) >= self._options.batch_rows:
            yield from self._full()

    def finish(self) -> Iterator[ReadBatch]:
        """What is left."""
        if self._sizes or self._losses:
            yield from self._full()

    def _append(self, texts: Sequence[str], columns: Columns) -> None:
        view, start, end = self._room(), self._bytes, self._bytes
        ends = [0]
        for text in texts:
            data = (text.replace(MEDIUM_CHAR, REPLACEMENT_CHAR) if MEDIUM_CHAR in text else text).encode()
            size = len(data)
            view[end : end + size] = data
            end += size
            ends.append(end - start)
        data = np.frombuffer(view[start:end], np.uint8)
        offsets = np.array(ends, np.int64)
        self._hashes.append(hash_rows(data, offsets).tobytes())
        self._sizes += np.diff(offsets).tolist()
        self._bytes = end
        self._columns.extend(columns)

    def _room(self) -> memoryview:
        if self._buffer is None:
            self._buffer = pa.allocate_buffer(self._options.batch_bytes)
            self._view = memoryview(self._buffer).cast("B")
        return self._view

    def _full(self) -> Iterator[ReadBatch]:
        if not self._sizes:
            if self._losses:
                yield ReadBatch(empty_batch(), self._take_losses())
            return
        offsets = np.zeros(len(self._sizes) + 1, np.int64)
        np.cumsum(self._sizes, out=offsets[1:])
        self._room()
        data = self._buffer.slice(0, self._bytes)
        hashes = np.frombuffer(b"".join(self._hashes), np.uint8).reshape(-1, ID_BYTES)
        batch = _batch(as_text(offsets, data), hashes, self._columns, self._options)
        self._start()
        yield ReadBatch(batch, self._take_losses())

    def _take_losses(self) -> tuple[Loss, ...]:
        losses, self._losses = tuple(self._losses), []
        return losses


def one_row(text: bytes, columns: Columns, options: ReadOptions) -> pa.RecordBatch:
    """The batch of one row; `text` is UTF-8 and is not copied."""
    if MEDIUM_CHAR_UTF8[:1] in text:
        text = text.replace(MEDIUM_CHAR_UTF8, REPLACEMENT_UTF8)
    array = as_text(np.array([0, len(text)], np.int64), pa.py_buffer(text))
    hashes = np.frombuffer(content_hash(text), np.uint8).reshape(1, ID_BYTES)
    return _batch(array, hashes, columns, options)


def finished_batch(text: pa.Array, columns: Columns, options: ReadOptions) -> pa.RecordBatch:
    """The batch of rows with the given texts (large_string, no nulls, offset 0)."""
    offsets, data = text_bytes(text)
    if has_medium_chars(data):
        data = data.copy()
        data[_medium_chars(data) + 2] = REPLACEMENT_UTF8[2]  # one byte of three differs
        text = as_text(offsets.copy(), pa.py_buffer(data))
    return _batch(text, hash_rows(data, offsets), columns, options)


def empty_batch() -> pa.RecordBatch:
    """A batch of no rows, for losses that stand alone."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in DOCUMENT], schema=DOCUMENT)


def _batch(text: pa.Array, hashes: Bytes, columns: Columns, options: ReadOptions) -> pa.RecordBatch:
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


def has_medium_chars(data: Bytes) -> bool:
    """Whether UTF-8 bytes may hold U+FFFC: most hold no byte of EF or above, which is seen at memory speed."""
    return bool(data.size) and int(data.max()) >= MEDIUM_CHAR_UTF8[0] and bool(_medium_chars(data).size)


def _medium_chars(data: Bytes) -> npt.NDArray[np.intp]:
    at = np.flatnonzero(data[:-2] == MEDIUM_CHAR_UTF8[0])
    return at[(data[at + 2] == MEDIUM_CHAR_UTF8[2]) & (data[at + 1] == MEDIUM_CHAR_UTF8[1])]


def ids(key_text: Sequence[str | None], hashes: Bytes) -> pa.Array:
    """Ids as lower-case hex: hash of the key text, where there is none the content hash."""
    keyed = [i for i, key in enumerate(key_text) if key is not None]
    digests = hashes.copy() if len(keyed) < len(key_text) else np.empty_like(hashes)
    if keyed:
        keys = pa.array([key for key in key_text if key is not None], pa.large_string())
        offsets, data = text_bytes(keys)
        digests[keyed] = hash_rows(data, offsets)
    return hex_strings(digests)


def hex_strings(digests: Bytes) -> pa.Array:
    """Lower-case hex of each row of a (rows, n) array, as string."""
    rows, width = digests.shape
    offsets = np.arange(rows + 1, dtype=np.int32) * np.int32(2 * width)
    data = _HEX[digests].reshape(-1)
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

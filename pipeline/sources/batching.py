"""Collects the records of a file into batches, bounded by rows and bytes of text.

In: texts as UTF-8, and for each what `columns.Columns` holds. Out: ReadBatches as full as the bounds allow, arrays at
offset 0. A text is copied once, into the buffer of its batch, and hashed while it is in the processor's cache; a text
of `batch_bytes` or more is alone in its batch and is not copied at all.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from gristmill.manifests.schema import ID_BYTES, MEDIUM_CHAR, REPLACEMENT_CHAR, content_hash
from gristmill.pipeline.sources.columns import (
    Columns,
    as_text,
    empty_batch,
    finished_batch,
    hashed_batch,
)
from gristmill.pipeline.sources.content_hashes import Bytes, hash_rows
from gristmill.pipeline.sources.protocol import Loss, ReadBatch, ReadOptions
from gristmill.pipeline.sources.spare_buffers import take_buffer


class DocumentBuilder:
    """Collects rows and losses of one file, and gives a batch whenever the bounds of the options are reached.

    `add`, `add_row`, `add_alone`, `lose` and `finish` yield the batches that are full; the caller passes them on.
    """

    def __init__(self, options: ReadOptions, hash_together: bool = False) -> None:
        """`hash_together`: texts are short and hashed when a batch is full, many at a time; else one by one, when
        they are added."""
        self._options = options
        self._hash_together = hash_together
        self._losses: list[Loss] = []
        self._start()

    def _start(self) -> None:
        self._sizes: list[int] = []
        self._hashes: list[bytes] = []
        self._columns = Columns()
        self._bytes = 0
        self._buffer: Bytes | None = None
        self._view = memoryview(b"")

    def add(self, texts: Sequence[str], columns: Columns, max_bytes: int) -> Iterator[ReadBatch]:
        """Adds rows whose texts take at most `max_bytes` of UTF-8."""
        options, rows = self._options, len(self._sizes) + len(texts)
        if rows <= options.batch_rows and self._bytes + max_bytes <= options.batch_bytes:
            self._append(texts)
            self._columns.extend(columns)
            return
        for at, text in enumerate(texts):
            whole = text.replace(MEDIUM_CHAR, REPLACEMENT_CHAR).encode()
            yield from self._append_one(whole, columns.slice(at, at + 1))

    def add_row(
        self, text: bytes | memoryview, key_text: str | None, url: str | None, meta: bytes
    ) -> Iterator[ReadBatch]:
        """Adds one row; `text` is UTF-8 without U+FFFC, the others as in Columns."""
        return self._append_one(text, Columns([key_text], [url], [None], [None], [meta]))

    def add_alone(self, text: pa.Buffer, columns: Columns) -> Iterator[ReadBatch]:
        """Adds one row whose UTF-8 text becomes the column of a batch of its own."""
        yield from self._full()
        array = as_text(np.array([0, text.size], np.int64), text)
        yield ReadBatch(finished_batch(array, columns, self._options), self._take_losses())

    def lose(self, loss: Loss) -> Iterator[ReadBatch]:
        """Adds a loss."""
        self._losses.append(loss)
        if len(self._losses) >= self._options.batch_rows:
            yield from self._full()

    def finish(self) -> Iterator[ReadBatch]:
        """What is left."""
        return self._full()

    def _append_one(self, text: bytes | memoryview, columns: Columns) -> Iterator[ReadBatch]:
        options, size = self._options, len(text)
        if size >= options.batch_bytes:
            yield from self.add_alone(pa.py_buffer(text), columns)
            return
        if len(self._sizes) == options.batch_rows or self._bytes + size > options.batch_bytes:
            yield from self._full()
        if not self._hash_together:
            self._hashes.append(content_hash(text))
        self._room()[self._bytes : self._bytes + size] = text
        self._bytes += size
        self._sizes.append(size)
        self._columns.extend(columns)

    def _append(self, texts: Sequence[str]) -> None:
        view, end = self._room(), self._bytes
        sizes = self._sizes
        for text in texts:
            data = (text.replace(MEDIUM_CHAR, REPLACEMENT_CHAR) if MEDIUM_CHAR in text else text).encode()
            size = len(data)
            view[end : end + size] = data
            end += size
            sizes.append(size)
        self._bytes = end

    def _room(self) -> memoryview:
        if self._buffer is None:
            self._buffer = take_buffer(self._options.batch_bytes)
            self._view = memoryview(self._buffer.data)
        return self._view

    def _full(self) -> Iterator[ReadBatch]:
        """All that is held, if anything is, as a batch."""
        if not self._sizes:
            if self._losses:
                yield ReadBatch(empty_batch(), self._take_losses())
            return
        offsets = np.zeros(len(self._sizes) + 1, np.int64)
        np.cumsum(self._sizes, out=offsets[1:])
        if self._hashes:
            hashes = np.frombuffer(b"".join(self._hashes), np.uint8).reshape(-1, ID_BYTES)
        else:
            hashes = hash_rows(np.frombuffer(self._room()[: self._bytes], np.uint8), offsets)
        text = as_text(offsets, pa.py_buffer(self._buffer).slice(0, self._bytes))
        batch = hashed_batch(text, hashes, self._columns, self._options)
        self._start()
        yield ReadBatch(batch, self._take_losses())

    def _take_losses(self) -> tuple[Loss, ...]:
        losses, self._losses = tuple(self._losses), []
        return losses

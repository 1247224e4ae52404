"""Collects the records of a file into batches, bounded by rows and bytes of text.

In: texts as UTF-8, and for each what `columns.Columns` holds. Out: ReadBatches as full as the bounds allow, arrays at
offset 0. A text is copied once, into the buffer of its batch, while it is in the processor's cache; a text of
`batch_bytes` or more is alone in its batch and is not copied at all. Texts are hashed many at a time.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pyarrow as pa

from gristmill.manifests.schema import MEDIUM_CHAR, REPLACEMENT_CHAR
from gristmill.pipeline.sources.columns import (
    Columns,
    as_text,
    empty_batch,
    finished_batch,
    hashed_batch,
    replace_medium_chars,
)
from gristmill.pipeline.sources.content_hashes import LONG_TEXT_BYTES, Bytes, hash_parts, hash_rows
from gristmill.pipeline.sources.kernel_use import kernels_pay
from gristmill.pipeline.sources.protocol import Loss, ReadBatch, ReadOptions
from gristmill.pipeline.sources.spare_buffers import take_buffer

# What a kernel may write behind the last text.
SLACK_BYTES = 64


@cache
def _kernel() -> Callable[[Sequence[memoryview], Bytes, int], int]:
    from gristmill.stages.kernels.utf8 import copy_utf8

    return copy_utf8


class DocumentBuilder:
    """Collects rows and losses of one file, and gives a batch whenever the bounds of the options are reached.

    The methods return the batches that are full, which the caller passes on. A builder is fed either by `add`, or
    row by row by `add_row`, whose rows have neither language nor license of their own.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._losses: list[Loss] = []
        self._start()

    def _start(self) -> None:
        self._sizes: list[int] = []
        self._columns = Columns()
        self._bytes = 0
        self._buffer: Bytes | None = None
        self._view = memoryview(b"")
        self._hashes: dict[int, bytes] = {}

    def add(self, texts: Sequence[str], columns: Columns, max_bytes: int) -> list[ReadBatch]:
        """Adds rows whose texts take at most `max_bytes` of UTF-8."""
        options, rows = self._options, len(self._sizes) + len(texts)
        if rows <= options.batch_rows and self._bytes + max_bytes <= options.batch_bytes:
            self._append(texts)
            self._columns.extend(columns)
            return []
        full: list[ReadBatch] = []
        for at, text in enumerate(texts):
            data, row = text.replace(MEDIUM_CHAR, REPLACEMENT_CHAR).encode(), columns.slice(at, at + 1)
            if len(data) >= options.batch_bytes:
                full += self.add_alone(pa.py_buffer(data), row)
                continue
            full += self._make_room(len(data))
            self._write(data)
            self._columns.extend(row)
        return full

    def place(self, rows: int, max_bytes: int) -> tuple[Bytes, int] | None:
        """Where the texts of `rows` rows, of at most `max_bytes` in all, may be written: a buffer, with SLACK_BYTES of
        room behind, and the place in it; None if they do not fit in the batch. `wrote` tells of them."""
        options = self._options
        if len(self._sizes) + rows > options.batch_rows or self._bytes + max_bytes > options.batch_bytes:
            return None
        self._room()
        assert self._buffer is not None
        return self._buffer, self._bytes

    def wrote(self, sizes: Sequence[int], columns: Columns) -> None:
        """Adds rows whose texts, UTF-8 without U+FFFC, stand at the place that `place` gave."""
        row, start = len(self._sizes), self._bytes
        for size in sizes:
            if size >= LONG_TEXT_BYTES:
                self._hashes[row] = hash_parts([self._view[start : start + size]])
            row += 1
            start += size
        self._sizes += sizes
        self._bytes = start
        self._columns.extend(columns)

    def add_row(self, text: bytes | memoryview, key_text: str | None, url: str | None, meta: bytes) -> list[ReadBatch]:
        """Adds one row; `text` is UTF-8 without U+FFFC, the others as in Columns."""
        if len(text) >= self._options.batch_bytes:
            return self.add_alone(pa.py_buffer(text), Columns([key_text], [url], [None], [None], [meta]))
        full = self._make_room(len(text))
        self._write(text)
        columns = self._columns
        columns.key_text.append(key_text)
        columns.url.append(url)
        columns.meta.append(meta)
        return full

    def add_utf8(self, parts: Sequence[memoryview], key_text: str | None, url: str | None, meta: bytes) -> bool:
        """Adds the row whose text is `parts`, one or more, put together, if that is UTF-8 and fits in the batch, and
        kernels are in use; if not, nothing is changed. The others as in `add_row`, which makes the same batches."""
        options, start, sizes, size = self._options, self._bytes, self._sizes, sum(map(len, parts))
        if size >= options.batch_bytes or start + size > options.batch_bytes or len(sizes) == options.batch_rows:
            return False
        if not kernels_pay(size):
            return False
        if (buffer := self._buffer) is None:
            self._room()
            assert self._buffer is not None
            buffer = self._buffer
        kind = _kernel()(parts, buffer, start)
        if kind < 0:
            return False
        if kind:
            replace_medium_chars(buffer[start : start + size])
        elif size >= LONG_TEXT_BYTES:
            # While it is in the processor's cache.
            self._hashes[len(sizes)] = hash_parts(parts)
        sizes.append(size)
        self._bytes += size
        columns = self._columns
        columns.key_text.append(key_text)
        columns.url.append(url)
        columns.meta.append(meta)
        return True

    def add_alone(self, text: pa.Buffer, columns: Columns) -> list[ReadBatch]:
        """Adds one row whose UTF-8 text becomes the column of a batch of its own."""
        before = self.finish()
        array = as_text(np.array([0, text.size], np.int64), text)
        return [*before, ReadBatch(finished_batch(array, columns, self._options), self._take_losses())]

    def lose(self, loss: Loss) -> list[ReadBatch]:
        """Adds a loss."""
        self._losses.append(loss)
        return self.finish() if len(self._losses) >= self._options.batch_rows else []

    def finish(self) -> list[ReadBatch]:
        """All that is held, if anything is."""
        if not self._sizes:
            return [ReadBatch(empty_batch(), self._take_losses())] if self._losses else []
        offsets = np.zeros(len(self._sizes) + 1, np.int64)
        np.cumsum(self._sizes, out=offsets[1:])
        data = np.frombuffer(self._room()[: self._bytes], np.uint8)
        text = as_text(offsets, pa.py_buffer(self._buffer).slice(0, self._bytes))
        batch = hashed_batch(text, hash_rows(data, offsets, self._hashes), self._columns, self._options)
        self._start()
        return [ReadBatch(batch, self._take_losses())]

    def _make_room(self, size: int) -> list[ReadBatch]:
        options = self._options
        if len(self._sizes) == options.batch_rows or self._bytes + size > options.batch_bytes:
            return self.finish()
        return []

    def _write(self, text: bytes | memoryview) -> None:
        size = len(text)
        end = self._bytes + size
        self._room()[self._bytes : end] = text
        self._bytes = end
        self._sizes.append(size)

    def _append(self, texts: Sequence[str]) -> None:
        view, end, sizes = self._room(), self._bytes, self._sizes
        for text in texts:
            data = (text.replace(MEDIUM_CHAR, REPLACEMENT_CHAR) if MEDIUM_CHAR in text else text).encode()
            size = len(data)
            view[end : end + size] = data
            end += size
            sizes.append(size)
        self._bytes = end

    def _room(self) -> memoryview:
        if self._buffer is None:
            self._buffer = take_buffer(self._options.batch_bytes + SLACK_BYTES)
            self._view = memoryview(self._buffer.data)
        return self._view

    def _take_losses(self) -> tuple[Loss, ...]:
        losses, self._losses = tuple(self._losses), []
        return losses

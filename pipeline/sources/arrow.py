"""Arrow IPC, file (Feather 2) and stream: one row a record; columns as in `tabular`.

A local file is mapped, not copied. A file without a readable footer is read as the stream that it holds, up to the
place where it is cut. Each batch is validated before it is used: Arrow trusts offsets that it is given. A batch that is
not valid is one `corrupt` loss, as is a schema that cannot be read; a stream that ends early is one `truncated` loss.
Losses have the row's number as their offset.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from gristmill.pipeline.sources.columns import empty_batch
from gristmill.pipeline.sources.fields import FIELD_OPTIONS
from gristmill.pipeline.sources.files import is_url, open_binary
from gristmill.pipeline.sources.losses import lose, lose_rest
from gristmill.pipeline.sources.protocol import InputFile, OptionValue, ReadBatch, ReadOptions
from gristmill.pipeline.sources.tabular import plan_table, read_table_batch, touch_names

NAME = "arrow"
OPTIONS: dict[str, OptionValue] = FIELD_OPTIONS
SUFFIXES = (".arrow", ".arrows", ".ipc", ".feather")
_MAGIC = b"ARROW1"
_STREAM_AT = 8  # where the stream inside a file begins: behind the magic, padded
_BINARY = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
_END_OF_STREAM_BYTES = 8
_DAMAGE = (pa.ArrowException, OSError, UnicodeDecodeError)


def read_file(file: InputFile, options: ReadOptions) -> Iterator[ReadBatch]:
    """The rows and losses of one file. Raises InputError if it cannot be opened or has no fitting columns."""
    with open_binary(file.url) as stream:
        if not stream.read(1):
            return
        stream.seek(0)
        source = pa.PythonFile(stream, mode="r") if is_url(file.url) else pa.memory_map(file.url)
        try:
            schema, batches = _open(source)
            touch_names(schema)
        except _DAMAGE as error:
            yield ReadBatch(empty_batch(), (lose_rest("corrupt", stream, str(error)),))
            return
        plan = plan_table(schema, file, options)
        row = 0
        for batch in batches:
            if isinstance(batch, tuple):
                yield ReadBatch(empty_batch(), (lose(batch[0], b"", row, batch[1]),))
                continue
            yield from read_table_batch(batch, row, plan, options)
            row += batch.num_rows
            del batch


def _open(source: Any) -> tuple[pa.Schema, Iterator[Any]]:
    """Schema and batches; in the place of one that cannot be used, reason and detail of the loss."""
    if source.read(len(_MAGIC)) != _MAGIC:
        source.seek(0)
        opened = pa.ipc.open_stream(source)
        return opened.schema, _stream_batches(opened, source)
    try:
        opened = pa.ipc.open_file(source)
    except _DAMAGE:
        source.seek(_STREAM_AT)
        opened = pa.ipc.open_stream(source)
        return opened.schema, _cut_file_batches(opened, source)
    return opened.schema, _file_batches(opened)


def _file_batches(opened: Any) -> Iterator[Any]:
    for number in range(opened.num_record_batches):
        try:
            yield _validated(opened.get_batch(number))
        except _DAMAGE as error:
            yield "corrupt", f"record batch {number}: {error}"


def _stream_batches(opened: Any, source: Any) -> Iterator[Any]:
    while True:
        try:
            batch = opened.read_next_batch()
        except StopIteration:
            if not _has_end(source):
                yield "truncated", "no end-of-stream marker"
            return
        except _DAMAGE as error:
            yield "truncated" if source.tell() >= source.size() else "corrupt", str(error)
            return
        try:
            yield _validated(batch)
        except pa.ArrowException as error:
            yield "corrupt", f"record batch: {error}"


def _has_end(source: Any) -> bool:
    """Whether the last thing read was an end-of-stream marker (of version 0.15 and later, or before)."""
    end = source.tell()
    source.seek(max(end - _END_OF_STREAM_BYTES, 0))
    marker = source.read(min(end, _END_OF_STREAM_BYTES))
    return marker[-4:] == b"\0\0\0\0" and marker[:4] in (b"\xff\xff\xff\xff", b"\0\0\0\0")


def _cut_file_batches(opened: Any, source: Any) -> Iterator[Any]:
    for batch in _stream_batches(opened, source):
        if isinstance(batch, tuple):
            break
        yield batch
    yield "truncated", "the file has no footer"


def _validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, if all its offsets and lengths hold. Text may still not be UTF-8: that costs a row, no batch."""
    plain = [column.view(_BINARY[column.type]) if column.type in _BINARY else column for column in batch.columns]
    for column in plain:
        column.validate(full=True)
    return batch

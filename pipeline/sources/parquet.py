"""Parquet: one row a record; columns as in `tabular`.

Row groups are read one after the other, in batches whose rows are few enough for `batch_bytes`. A file whose footer
cannot be read is one `corrupt` loss; damage inside a row group loses what is left of that group as one, and reading
goes on with the next. Losses have the row's number as their offset.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from gristmill.pipeline.sources.columns import empty_batch
from gristmill.pipeline.sources.fields import FIELD_OPTIONS
from gristmill.pipeline.sources.files import is_url, open_binary
from gristmill.pipeline.sources.losses import lose, lose_rest
from gristmill.pipeline.sources.protocol import InputFile, OptionValue, ReadBatch, ReadOptions
from gristmill.pipeline.sources.tabular import TablePlan, plan_table, read_table_batch, touch_names

NAME = "parquet"
OPTIONS: dict[str, OptionValue] = FIELD_OPTIONS
SUFFIXES = (".parquet", ".parq")
_MAX_DECODED_BYTES = 256 << 20
_DAMAGE = (pa.ArrowException, OSError, UnicodeDecodeError)


def read_file(file: InputFile, options: ReadOptions) -> Iterator[ReadBatch]:
    """The rows and losses of one file. Raises InputError if it cannot be opened or has no fitting columns."""
    with open_binary(file.url) as stream:
        try:
            opened = _open(stream, file, options)
            schema = opened.schema_arrow
            touch_names(schema)
        except _DAMAGE as error:
            stream.seek(0)
            yield ReadBatch(empty_batch(), (lose_rest("corrupt", stream, str(error)),))
            return
        plan = plan_table(schema, file, options)
        first_row = 0
        for group in range(opened.num_row_groups):
            rows = opened.metadata.row_group(group).num_rows
            yield from _read_group(opened, group, first_row, plan, options)
            first_row += rows


def _open(stream: BinaryIO, file: InputFile, options: ReadOptions) -> Any:
    import pyarrow.parquet as pq

    local = not is_url(file.url)
    how = {"memory_map": local, "pre_buffer": False, "page_checksum_verification": True}
    source = file.url if local else stream
    opened = pq.ParquetFile(source, **how)
    risky = _risky_columns(opened.metadata, options.batch_rows)
    if not risky:
        return opened
    return pq.ParquetFile(source, metadata=opened.metadata, read_dictionary=risky, **how)


def _risky_columns(metadata: Any, batch_rows: int) -> list[str]:
    """Columns of which a batch could be huge though the file is small, one large value standing for many rows:
    they are kept as dictionaries until a batch is cut to size."""
    risky: set[str] = set()
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            has_dictionary = any("DICTIONARY" in encoding for encoding in column.encodings)
            if column.physical_type == "BYTE_ARRAY" and has_dictionary:
                rows = min(batch_rows, metadata.row_group(group).num_rows)
                if column.total_uncompressed_size * rows > _MAX_DECODED_BYTES:
                    risky.add(column.path_in_schema)
    return sorted(risky)


def _read_group(opened: Any, group: int, first_row: int, plan: TablePlan, options: ReadOptions) -> Iterator[ReadBatch]:
    about = opened.metadata.row_group(group)
    row_bytes = about.total_byte_size // max(about.num_rows, 1)
    batch_rows = min(max(options.batch_bytes // max(row_bytes, 1), 1), options.batch_rows)
    batches = opened.iter_batches(batch_rows, [group], use_threads=False)
    done, damage = 0, "fewer rows than its footer says"
    while True:
        try:
            batch = next(batches, None)
        except _DAMAGE as error:
            batch, damage = None, str(error)
        if batch is None:
            break
        yield from read_table_batch(batch, first_row + done, plan, options)
        done += batch.num_rows
    if done < about.num_rows:
        detail = f"rows {first_row + done} to {first_row + about.num_rows}, the rest of a row group: {damage}"
        yield ReadBatch(empty_batch(), (lose("corrupt", b"", first_row + done, detail),))

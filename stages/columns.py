"""What stages do with columns of a batch: count characters, replace columns and rows, divide counts; and columns of
fixed-width bytes as arrays."""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.stages.kernels.buffers import Bytes, Offsets, text_buffers
from gristmill.stages.protocol import Floats

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


def char_counts(text: pa.Array) -> Ints:
    """Unicode code points of each text; 0 for null."""
    lengths = pc.fill_null(pc.utf8_length(text), 0)
    return lengths.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)


def with_column(batch: pa.RecordBatch, name: str, column: pa.Array) -> pa.RecordBatch:
    """The batch with another column of that name, in its place and under its field."""
    index = batch.schema.get_field_index(name)
    return batch.set_column(index, batch.schema.field(index), column)


def with_rows(text: pa.Array, anew: Mapping[int, bytes | bytearray]) -> pa.Array:
    """The column (large_string) with some of its rows replaced by this UTF-8; nulls stay. One text that is replaced is
    not copied."""
    data, offsets = text_buffers(text)
    lengths = np.diff(offsets)
    lengths[list(anew)] = [len(made) for made in anew.values()]
    ends = np.zeros(len(text) + 1, dtype=np.int64)
    np.cumsum(lengths, out=ends[1:])
    body = anew[0] if len(text) == 1 and anew else b"".join(_parts(data, offsets, anew))
    valid = text.is_valid().buffers()[1] if text.null_count else None
    return pa.LargeStringArray.from_buffers(len(text), pa.py_buffer(ends), pa.py_buffer(body), valid)


def _parts(
    data: Bytes, offsets: Offsets, anew: Mapping[int, bytes | bytearray]
) -> Iterator[memoryview | bytes | bytearray]:
    start = 0
    for row in sorted(anew):
        yield data[offsets[start] : offsets[row]].data
        yield anew[row]
        start = row + 1
    yield data[offsets[start] : offsets[-1]].data


def ratio(part: npt.NDArray[np.generic], whole: npt.NDArray[np.generic]) -> Floats:
    """Part of whole, row by row; 0 where both are nothing."""
    return part.astype(np.float64, copy=False) / np.maximum(whole.astype(np.float64, copy=False), 1.0)


def column_of(raw: Bytes) -> pa.FixedSizeBinaryArray:
    """A column of (n, width) bytes."""
    rows, width = raw.shape
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), rows, [None, pa.py_buffer(np.ascontiguousarray(raw))])


def bytes_of(column: pa.Array) -> Bytes:
    """(n, width) bytes of a fixed-size binary column; those of a null are 0."""
    width = column.type.byte_width
    if column.null_count:
        column = pc.fill_null(column, bytes(width))
    if not len(column):
        return np.zeros((0, width), np.uint8)
    raw = np.frombuffer(column.buffers()[1], np.uint8)
    return raw[column.offset * width : (column.offset + len(column)) * width].reshape(-1, width)


def padded_words(raw: Bytes) -> list[Words]:
    """(n, width) bytes as words, the first one first, zero-padded behind: they compare as the bytes do."""
    return [padded_word(raw[:, first : first + 8]) for first in range(0, raw.shape[1], 8)]


def padded_word(raw: Bytes) -> Words:
    """Up to eight bytes of each row as a number, zero-padded behind."""
    if raw.shape[1] == 8 and raw.strides[1] == 1:
        return raw.view(">u8")[:, 0].astype(np.uint64)
    whole = np.zeros((len(raw), 8), np.uint8)
    whole[:, : raw.shape[1]] = raw
    return whole.view(">u8").ravel().astype(np.uint64)


def words_of(raw: Bytes) -> Words:
    """(n, width / 8) big-endian numbers, which compare as the bytes do."""
    return np.ascontiguousarray(raw).view(">u8").astype(np.uint64)

"""Text buffers: every slice, null and type reads as the rows that Arrow shows."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.kernels.buffers import text_buffers

ROWS = st.lists(st.none() | st.text(max_size=8), max_size=8)


def _rows(array: pa.Array) -> list[str]:
    data, offsets = text_buffers(array)
    assert not data.flags.writeable
    assert not offsets.flags.writeable
    ends = offsets.tolist()
    return [data[ends[i] : ends[i + 1]].tobytes().decode() for i in range(len(ends) - 1)]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
@given(rows=ROWS, data=st.data())
def test_rows_are_those_of_the_slice(kind: pa.DataType, rows: list[str | None], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(rows)))
    length = data.draw(st.integers(0, len(rows) - start))
    array = pa.array(rows, pa.string()).cast(kind).slice(start, length)
    assert _rows(array) == [row or "" for row in rows[start : start + length]]


def test_a_large_string_is_not_copied() -> None:
    array = pa.array(["abc", None, "defg"], pa.large_string())
    data, offsets = text_buffers(array.slice(1))
    assert data.ctypes.data == array.buffers()[2].address
    assert offsets.tolist() == [3, 3, 7]


def test_bytes_under_a_null_are_not_read() -> None:
    validity = pa.py_buffer(np.packbits([1, 0, 1], bitorder="little"))
    offsets = pa.py_buffer(np.array([0, 1, 4, 5], dtype=np.int64))
    array = pa.LargeStringArray.from_buffers(3, offsets, pa.py_buffer(b"a\xff\xff\xffb"), validity)
    assert _rows(array) == ["a", "", "b"]

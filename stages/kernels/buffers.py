"""Arrow text as the arrays that kernels read: bytes and offsets, without a copy."""

from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]

_T = TypeVar("_T", bound=np.generic)

_NO_BYTES: Bytes = np.frombuffer(b"", dtype=np.uint8)


def text_buffers(array: pa.Array) -> tuple[Bytes, Offsets]:
    """UTF-8 bytes and n + 1 offsets into them: row i is `data[offsets[i]:offsets[i + 1]]`.

    Takes string, large_string and dictionaries of them; slices are seen without copying, so the first offset
    need not be 0. A null row is empty. Both arrays are read-only.
    """
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.type != pa.large_string():
        array = array.cast(pa.large_string())
    if len(array) == 0:
        return _NO_BYTES, np.frombuffer(bytes(8), dtype=np.int64)
    offsets = _offsets(array)
    if array.null_count and (np.diff(offsets)[_null_rows(array)] != 0).any():
        # A null slot may lie over bytes of any content.
        array = pc.fill_null(array, "")
        offsets = _offsets(array)
    body = array.buffers()[2]
    return (_read_only(body, np.uint8) if body is not None else _NO_BYTES), offsets


def _offsets(array: pa.Array) -> Offsets:
    return _read_only(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]


def _read_only(buffer: pa.Buffer, kind: type[_T]) -> npt.NDArray[_T]:
    view = np.frombuffer(buffer, dtype=kind)
    view.flags.writeable = False
    return view


def _null_rows(array: pa.Array) -> npt.NDArray[np.bool_]:
    return array.is_null().to_numpy(zero_copy_only=False)

"""Embeddings of documents in files: Parquet or Arrow IPC, told by their first bytes.

A file has a column `id` (32 lower-case hex digits, or 16 bytes) and a column of vectors: lists, of fixed size or not,
of floats of 16, 32 or 64 bits, all of one length. Each id stands in one row of all files. Vectors are read as float32,
some thousand rows at a time. What is wrong is an InputError with file and row (from 1 on).
"""

import functools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.errors import InputError

ID = "id"
ROWS_AT_A_TIME = 4096
MAX_DIMENSIONS = 1 << 16

_PARQUET, _ARROW = b"PAR1", b"ARROW1"
_HEX = re.compile(r"[0-9a-f]{32}")
_REMEDY = "give Parquet or Arrow IPC files with a column id (hex) and one of vectors"

Bytes = npt.NDArray[np.uint8]
Vectors = npt.NDArray[np.float32]


class Checked(NamedTuple):
    """What files hold that are right: `rows` vectors of so many `dimensions`."""

    rows: int
    dimensions: int


def check_files(paths: Sequence[str], column: str) -> Checked:
    """Read all files once. Raises InputError on the first that is wrong, on an id that comes again, on none at all.

    Memory: 16 bytes a row, and twice that while ids are sorted."""
    stamps = tuple((path, Path(path).stat().st_size, Path(path).stat().st_mtime_ns) for path in paths)
    return _checked(stamps, column)


@functools.lru_cache(maxsize=8)
def _checked(stamps: tuple[tuple[str, int, int], ...], column: str) -> Checked:
    seen: list[Bytes] = []
    dimensions = 0
    for path, _, _ in stamps:
        for ids, vectors in read_vectors(path, column):
            if dimensions not in (0, vectors.shape[1]):
                value = f"{vectors.shape[1]} instead of {dimensions}"
                raise InputError("vectors of another length", path, value, "one model makes all embeddings")
            dimensions = vectors.shape[1]
            seen.append(ids)
    if not seen:
        raise InputError("no embedding in the files", ", ".join(path for path, _, _ in stamps), None, _REMEDY)
    every = np.sort(as_keys(np.concatenate(seen)))
    again = np.flatnonzero(every[1:] == every[:-1])
    if len(again):
        shown = every[again[:1]].view(np.uint8).tobytes().hex()
        where = ", ".join(path for path, _, _ in stamps)
        raise InputError("an id with two embeddings", where, shown, "leave one row of each id, in all files")
    return Checked(len(every), dimensions)


def as_keys(ids: Bytes) -> npt.NDArray[np.bytes_]:
    """Ids (n, 16) as values that sort and compare."""
    return np.ascontiguousarray(ids).view("S16").ravel()


def read_ids(path: str, column: str) -> Iterator[Bytes]:
    """The ids (n, 16) of a file, in its order."""
    for first, batch in _batches(path, (ID,), column):
        yield _ids(batch.column(ID), path, first)


def read_vectors(path: str, column: str) -> Iterator[tuple[Bytes, Vectors]]:
    """Ids (n, 16) and vectors (n, dimensions) of a file, in its order; all values are finite."""
    for first, batch in _batches(path, (ID, column), column):
        ids = _ids(batch.column(ID), path, first)
        yield ids, _vectors(batch.column(column), path, first)


def _batches(path: str, wanted: tuple[str, ...], column: str) -> Iterator[tuple[int, pa.RecordBatch]]:
    try:
        with open(path, "rb") as stream:
            head = stream.read(6)
        opened = _parquet if head.startswith(_PARQUET) else _arrow if head.startswith(_ARROW) else None
        if opened is None:
            raise InputError("neither Parquet nor Arrow IPC", path, head, _REMEDY)
        first = 1
        for batch in opened(path, wanted, column):
            for start in range(0, batch.num_rows, ROWS_AT_A_TIME):
                yield first, batch.slice(start, ROWS_AT_A_TIME)
                first += min(ROWS_AT_A_TIME, batch.num_rows - start)
    except (OSError, pa.ArrowException) as error:
        raise InputError("embeddings cannot be read", path, str(error), _REMEDY) from error


def _parquet(path: str, wanted: tuple[str, ...], column: str) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, memory_map=True) as file:
        _refuse_columns(file.schema_arrow, path, column)
        yield from file.iter_batches(batch_size=ROWS_AT_A_TIME, columns=list(wanted))


def _arrow(path: str, wanted: tuple[str, ...], column: str) -> Iterator[pa.RecordBatch]:
    with pa.memory_map(path) as source:
        file = pa.ipc.open_file(source)
        _refuse_columns(file.schema, path, column)
        for index in range(file.num_record_batches):
            yield file.get_batch(index).select(list(wanted))


def _refuse_columns(schema: pa.Schema, path: str, column: str) -> None:
    for name in (ID, column):
        if schema.names.count(name) != 1:
            remedy = f"the file has {', '.join(schema.names[:20])}; the parameter `vector` names that of the vectors"
            raise InputError("embeddings without this column", path, name, remedy)
    kind: Any = schema.field(column).type
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    if not any(is_list(kind) for is_list in lists) or not pa.types.is_floating(kind.value_type):
        raise InputError("not a column of vectors", f"{path}, column {column}", kind, "lists of floats are wanted")


def _ids(column: pa.Array, path: str, first: int) -> Bytes:
    raw = bytearray()
    try:
        values = column.to_pylist()
    except UnicodeDecodeError as error:
        where = f"{path}, row {first} or behind it"
        raise InputError("not an id", where, str(error), "32 lower-case hex digits, or 16 bytes") from error
    for row, value in enumerate(values, first):
        if isinstance(value, bytes) and len(value) == 16:
            raw += value
        elif isinstance(value, str) and _HEX.fullmatch(value):
            raw += bytes.fromhex(value)
        else:
            raise InputError("not an id", f"{path}, row {row}", ascii(value), "32 lower-case hex digits, or 16 bytes")
    return np.frombuffer(bytes(raw), np.uint8).reshape(-1, 16)


def _vectors(column: Any, path: str, first: int) -> Vectors:
    rows = len(column)
    if column.null_count:
        row = first + column.is_null().to_numpy(zero_copy_only=False).argmax()
        raise InputError("no vector", f"{path}, row {row}", None, "leave out rows of documents without embedding")
    if pa.types.is_fixed_size_list(column.type):
        lengths = np.full(rows, column.type.list_size)
    else:
        lengths = column.value_lengths().to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero((lengths != lengths[:1]) | (lengths < 1) | (lengths > MAX_DIMENSIONS))
    if len(wrong):
        where = f"{path}, row {first + wrong[0]}"
        raise InputError("a vector of another length", where, int(lengths[wrong[0]]), "one model makes all embeddings")
    values = column.flatten().to_numpy(zero_copy_only=False)
    with np.errstate(over="ignore"):
        found = values.astype(np.float32).reshape(rows, -1)
    finite = np.isfinite(found).all(axis=1)
    if not finite.all():
        where = f"{path}, row {first + int(finite.argmin())}"
        raise InputError("a vector that is not finite", where, None, "NaN, infinity and null are in no embedding")
    return found

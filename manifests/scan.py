"""Reading single columns of the files that a manifest names, and ids as numbers.

Files stream in row groups (Parquet) or mapped record batches (Arrow IPC), so memory is bounded by one of
them. An id is 32 hex digits; as numbers it is two big-endian uint64, which sort as the text does. Ids are
taken in parts: part p of P holds those whose first 16 bits scaled to P give p, so that a dataset of any
number of records can be sorted piece by piece.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.ipc import read_ipc
from gristmill.manifests.manifest import MANIFEST
from gristmill.manifests.shard import read_shard
from gristmill.manifests.verify_files import is_inside

IDS_A_PART = 1 << 24
_PART_BITS = 16
_ID_PATTERN = "^[0-9a-f]{32}$"

Found = TypeVar("Found")
Words = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Part:
    """Which ids to take: the whole is part 0 of 1."""

    index: int = 0
    of: int = 1

    def holds(self, first: Words) -> Bools:
        """Whether the ids with these first words belong to the part."""
        prefix = first >> np.uint64(64 - _PART_BITS)
        return (prefix * np.uint64(self.of)) >> np.uint64(_PART_BITS) == np.uint64(self.index)


def parts_for(records: int) -> list[Part]:
    """The parts in which so many ids are sorted, each of about IDS_A_PART (256 MiB of numbers)."""
    count = min(1 << _PART_BITS, max(1, -(-records // IDS_A_PART)))
    return [Part(index, count) for index in range(count)]


def named_paths(folder: Path, manifest: Mapping[str, Any], file_list: str) -> list[Path]:
    """The files of one of a manifest's lists. Raises VerifyError on a path that leaves the folder."""
    for entry in manifest.get(file_list, []):
        if not is_inside(entry["path"]):
            raise VerifyError(
                "a path that leaves the folder of its manifest",
                str(folder / MANIFEST),
                entry["path"],
                "this manifest was tampered with: do not use the dataset",
            )
    return [folder / entry["path"] for entry in manifest.get(file_list, [])]


def read_columns(path: Path, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The named columns of a Parquet or Arrow IPC file. Raises VerifyError on damage."""
    if path.suffix == ".parquet":
        yield from read_shard(path, names)
        return
    for batch in read_ipc(path):
        yield batch.select(list(names))


def valid_ids(ids: pa.StringArray) -> Bools:
    """Which values are 32 lower-case hex digits; null is not."""
    matches = pc.match_substring_regex(ids, _ID_PATTERN)
    return pc.fill_null(matches, False).to_numpy(zero_copy_only=False)


def id_words(ids: pa.StringArray) -> tuple[Words, Words]:
    """First and second word of each id, all of which must be valid."""
    if not len(ids):
        return np.zeros(0, np.uint64), np.zeros(0, np.uint64)
    raw = bytes.fromhex(pc.binary_join(pa.ListArray.from_arrays([0, len(ids)], ids), "")[0].as_py())
    words = np.frombuffer(raw, dtype=">u8").reshape(-1, 2).astype(np.uint64)
    return words[:, 0], words[:, 1]


def words_to_id(first: int, second: int) -> str:
    """Inverse of `id_words` for one id."""
    return f"{first:016x}{second:016x}"


def sort_by_id(first: Words, second: Words) -> npt.NDArray[np.int64]:
    """The order that sorts ids; equal ones stay in order."""
    return np.lexsort((second, first))


def doc_ids(docs: pa.ListArray) -> pa.StringArray:
    """The ids in the `docs` of trainer rows, row after row."""
    return docs.flatten().field("id")


Mask = Callable[[pa.RecordBatch], Bools]
"""Which rows of a batch are meant."""


def matching_rows(
    path: Path, probe: Sequence[str], mask: Mask, wanted: Sequence[str], most: int
) -> list[dict[str, Any]]:
    """The first `most` rows whose `probe` columns match, as their `wanted` columns. VerifyError on damage.

    Statistics would skip nothing: ids are hashes, so every row group spans nearly all of them. The wanted
    columns are read only where something matches.
    """
    if path.suffix != ".parquet":
        return _take(read_columns(path, list(dict.fromkeys([*probe, *wanted]))), mask, wanted, most)
    rows: list[dict[str, Any]] = []
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            for group in range(file.num_row_groups):
                if len(rows) >= most:
                    break
                batches = file.read_row_group(group, columns=list(probe), use_threads=False).to_batches()
                if any(mask(batch).any() for batch in batches):
                    names = list(dict.fromkeys([*probe, *wanted]))
                    found = file.read_row_group(group, columns=names, use_threads=False).to_batches()
                    rows += _take(iter(found), mask, wanted, most - len(rows))
    except (pa.ArrowException, OSError, EOFError) as error:
        raise VerifyError("shard cannot be read", str(path), error, "run `gristmill verify`") from error
    return rows


def _take(batches: Iterator[pa.RecordBatch], mask: Mask, wanted: Sequence[str], most: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for batch in batches:
        at = np.flatnonzero(mask(batch))[: most - len(rows)]
        if len(at):
            rows += batch.select(list(wanted)).take(pa.array(at)).to_pylist()
        if len(rows) >= most:
            break
    return rows


def scan_files(paths: Sequence[Path], read: Callable[[Path], list[Found]]) -> Iterator[list[Found]]:
    """`read` of each file, in order, some files at once; files behind the last one asked for are left out."""
    threads = len(os.sched_getaffinity(0))
    pool = ThreadPoolExecutor(max_workers=threads)
    waiting: deque[Future[list[Found]]] = deque()
    rest = iter(paths)
    try:
        waiting.extend(pool.submit(read, path) for path in islice(rest, threads))
        while waiting:
            found = waiting.popleft().result()
            waiting.extend(pool.submit(read, path) for path in islice(rest, 1))
            yield found
    finally:
        pool.shutdown(cancel_futures=True)

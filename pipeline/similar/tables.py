"""The tables that the tasks of near-duplicate search hand on, and how they are read.

MERGED: candidate pairs, each once: addresses of the document of worse and of better rank, and a bit for each band that
met. SETS: a document that stands in such a pair: `addr`, `order` (its rank; of an index, its content hash), `id` (16
bytes), `count` (records that it stands for), and its set of shingle hashes, ascending. EDGES: a verified pair, in the
form of exchange rows: `key` and `order` are the orders (rank) of the document of worse and of better rank, `addr` and
`higher_addr` where they stand, `keeper` the id of the better one, `value` their similarity, `bands` a bit for each band
that met, `count` and `higher_count` as above.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.schema import ID_BYTES
from gristmill.pipeline.exchange_rows import MAX_PARTITIONS
from gristmill.pipeline.spill import read_whole
from gristmill.stages.protocol import DROP

Addresses = npt.NDArray[np.uint64]

DOCS_A_PART = 1 << 16
STORED_BYTES_A_PART = 1 << 26

MERGED = pa.schema([("addr", pa.uint64()), ("higher_addr", pa.uint64()), ("bands", pa.uint64())])


def sets_schema(order_bytes: int) -> pa.Schema:
    """See the module."""
    return pa.schema(
        [
            ("addr", pa.uint64()),
            ("order", pa.binary(order_bytes)),
            ("id", pa.binary(ID_BYTES)),
            ("count", pa.int64()),
            ("hashes", pa.large_list(pa.uint64())),
        ]
    )


def edges_schema(order_bytes: int) -> pa.Schema:
    """See the module."""
    order = pa.binary(order_bytes)
    return pa.schema(
        [
            ("key", order),
            ("order", order),
            ("addr", pa.uint64()),
            ("higher_addr", pa.uint64()),
            ("keeper", pa.binary(ID_BYTES)),
            ("value", pa.float64()),
            ("bands", pa.uint64()),
            ("count", pa.int64()),
            ("higher_count", pa.int64()),
        ]
    )


def pair_parts(documents: int, stored_bytes: int) -> int:
    """Parts that the candidate pairs of so many documents are cut into: a power of two, so that it seldom changes.

    One task compares a part. Its sets, up to four times the bytes that their documents have in shards, are not held
    (`similar.set_files`): they are bounded by bytes for the sake of even work.
    """
    wanted = max(-(-documents // DOCS_A_PART), -(-stored_bytes // STORED_BYTES_A_PART))
    return min(MAX_PARTITIONS, 1 << max(0, wanted - 1).bit_length())


def mapped_batches(path: str | Path) -> Iterator[pa.RecordBatch]:
    """The batches of an IPC file, mapped. Raises VerifyError when its bytes are not what they were."""
    return read_whole(Path(path))


def dropped_addresses(paths: Iterable[str | Path]) -> Addresses:
    """Sorted addresses of the records that verdicts in these files drop."""
    found: list[Addresses] = []
    for path in paths:
        for batch in mapped_batches(path):
            goes = pc.equal(batch.column("kind"), DROP).to_numpy(zero_copy_only=False)
            found.append(batch.column("addr").to_numpy()[goes])
    return np.sort(np.concatenate(found)) if found else np.zeros(0, np.uint64)


def among(values: npt.NDArray[Any], ordered: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which of the values are among the sorted ones."""
    if not len(ordered):
        return np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return ordered[at] == values


def without(batches: Iterator[pa.RecordBatch], gone: Addresses) -> Iterator[pa.RecordBatch]:
    """The rows whose address is not among `gone` (sorted)."""
    for batch in batches:
        stays = ~among(batch.column("addr").to_numpy(), gone)
        yield batch if stays.all() else batch.filter(pa.array(stays))


def rows_of(path: str | Path, first: int, stop: int) -> pa.Table:
    """The rows [first, stop) of an IPC file."""
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all().slice(first, stop - first)

"""Writing trainer rows that stand ready in memory: shards with their indexes, hashed, against pyarrow's own writer.

GB per CPU second, medians of ROUNDS rounds after one that is not counted, by turns, into /dev/shm where there is one: a
disk's page cache costs what the machine's memory allows, from 0.2 to 2 s a GB here, whoever writes. Ours aligns, hashes
files (BLAKE3) and rows (xxh3), makes the index, and syncs; `pyarrow` writes the same batches and no more.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.ipc import IpcShards, read_ipc
from gristmill.manifests.manifest import read_manifest
from tests.bench.bench_reader import make_rows

ROUNDS = 5
SIZES = {8192: 8192, 1 << 20: 64}
MEMORY = Path("/dev/shm")


def ours(batches: list[pa.RecordBatch], folder: Path, number: int) -> None:
    """Through the writer that `emit` uses."""
    with ObjectStore(folder).begin(f"{number:032x}", {}) as writer:
        shards = IpcShards(writer, "rows", batches[0].schema, "row_indexes")
        for batch in batches:
            shards.write(batch)
        shards.close()
        writer.commit({})


def pyarrows(batches: list[pa.RecordBatch], folder: Path, number: int) -> None:
    """The bare writer."""
    with pa.ipc.new_file(str(folder / f"{number}.arrow"), batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def cpu_s(
    write: Callable[[list[pa.RecordBatch], Path, int], None], batches: list[pa.RecordBatch], number: int
) -> float:
    """Of one round, into a folder of its own."""
    place = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        start = time.process_time()
        write(batches, Path(folder), number)
        return time.process_time() - start


def contest(context: int) -> dict[str, Any]:
    """Rows of one length."""
    with tempfile.TemporaryDirectory() as made:
        dataset = make_rows(Path(made), context, SIZES[context])
        paths = [dataset / entry["path"] for entry in read_manifest(dataset)["shards"]]
        batches = [pa.concat_batches([batch]) for path in paths for batch in read_ipc(path)]
        size = sum(batch.num_rows for batch in batches) * 4 * context
        own, bare = list[float](), list[float]()
        for number in range(ROUNDS + 1):
            one = cpu_s(ours, batches, number), cpu_s(pyarrows, batches, number)
            if number:
                own.append(size / 1e9 / one[0])
                bare.append(size / 1e9 / one[1])
    return {
        "what": f"writing rows of {context} tokens, with hashes and indexes",
        "value": median(own),
        "unit": "GB of ids per CPU second",
        "peer": "pyarrow, nothing hashed",
        "peer_value": median(bare),
        "n": len(own),
        "spread": (max(own) - min(own)) / median(own),
        "target": "at least 1 GB",
    }


def main() -> list[dict[str, Any]]:
    """See the module."""
    return [contest(context) for context in SIZES]

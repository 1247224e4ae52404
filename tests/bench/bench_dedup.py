"""Exact and line dedup against the reading that bounds them: the exchange over a corpus, beside reading it once.

Both read the same committed Parquet shards in the same process; CPU seconds, interleaved rounds. Dedup reads the texts
as well, so its ratio is never below 1. Lines of the corpus are some 85 characters long, a tenth of them copies.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.schema import DOCUMENT, content_hashes, document_batch
from gristmill.manifests.shard import ParquetShards, read_shard
from gristmill.pipeline.exchange_rows import merge_runs, sort_rows
from gristmill.stages.dedup.exact import ExactDedup
from gristmill.stages.dedup.lines import LineDedup
from gristmill.stages.protocol import VERDICTS

DOCS = 40_000
ROUNDS = 5


def corpus(root: Path) -> list[Path]:
    """About 160 MB of documents, a fifth of them copies, in shards."""
    rng = np.random.default_rng(1)
    words = np.array([f"w{i:05d}" for i in range(5000)])
    writer = ObjectStore(root).begin("0" * 32, {})
    shards = ParquetShards(writer, "data", DOCUMENT)
    shared = [" ".join(words[rng.integers(0, 5000, 12)]) for _ in range(500)]
    texts: list[str] = []
    for number in range(DOCS):
        if number % 5 == 0 and texts:
            texts.append(texts[int(rng.integers(0, len(texts)))])
            continue
        lines = [" ".join(line) for line in words[rng.integers(0, 5000, (48, 12))]]
        for place in rng.integers(0, 48, 5).tolist():
            lines[place] = shared[int(rng.integers(0, len(shared)))]
        texts.append("\n".join(lines))
    for start in range(0, DOCS, 2000):
        text = pa.array(texts[start : start + 2000], pa.large_string())
        ids = pa.array([f"{start + i:032x}" for i in range(len(text))], pa.string())
        hashes = content_hashes(text, pa.nulls(len(text), DOCUMENT.field("media").type))
        shards.write(document_batch({"text": text, "id": ids, "content_hash": hashes}))
    shards.close()
    return [root / "objects" / ("0" * 32) / f.path for f in writer.commit({}).files]


def read_all(paths: list[Path]) -> int:
    """Bytes of text read."""
    return sum(int(b.column("text").nbytes) for p in paths for b in read_shard(p))


def dedup(paths: list[Path], stage: Any) -> int:
    """Verdicts of a stage."""
    runs: list[pa.Table] = []
    for number, path in enumerate(paths):
        first = number << 32
        for batch in read_shard(path, stage.reads):
            addr = np.arange(first, first + batch.num_rows, dtype=np.uint64)
            first += batch.num_rows
            runs.append(sort_rows(pa.Table.from_batches([stage.emit(batch, addr)])))
    reduced = stage.reduce(merge_runs([iter(r.to_batches()) for r in runs]))
    return pa.Table.from_batches(list(reduced), schema=VERDICTS).num_rows


def cpu_s(work: Callable[[], int]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def beside_reading(paths: list[Path], size: int, stage: Any, what: str, target: str) -> dict[str, Any]:
    """A stage's row of the report."""
    dedup(paths[:1], stage)
    rounds = [(cpu_s(lambda: read_all(paths)), cpu_s(lambda: dedup(paths, stage))) for _ in range(ROUNDS)]
    read = median(r for r, _ in rounds)
    own = median(d for _, d in rounds)
    return {
        "what": what,
        "value": size / 1e6 / own,
        "unit": "MB/s of text",
        "peer": "reading alone",
        "peer_value": size / 1e6 / read,
        "ratio": own / read,
        "target": target,
        "n": ROUNDS,
        "spread": [round(d / r, 3) for r, d in rounds],
    }


def main() -> list[dict[str, Any]]:
    """Dedup's cost beside one reading."""
    with tempfile.TemporaryDirectory() as folder:
        paths = corpus(Path(folder))
        size = read_all(paths)
        exact = "exact dedup (reading, keys of normal forms, sort, reduce) beside reading the shards"
        lines = "line dedup (reading, a key for each line, sort, reduce) beside reading the shards"
        return [
            beside_reading(paths, size, ExactDedup(), exact, "below 2: reading takes the larger part"),
            beside_reading(paths, size, LineDedup(), lines, ""),
        ]

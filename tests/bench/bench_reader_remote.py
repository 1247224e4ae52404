"""Rows from object storage (a real S3 server on the loopback) and from cold storage, by order, fetching and cache.

`remote` rows: a stream of batches of 8 x 8,192 tokens, each row held against its hash, from an empty cache and again
from a full one; wall clock, for what is waited for is the server, which shares the machine. `bytes` are those that the
server sent for a byte of ids used; ROWS_READ rows are read, so what is fetched and not yet used counts against it.
`cold` rows: compressed with zstd, single rows in a shuffled order by CPU time, against the same rows as they stand.
`resume`: from a state at the end of a plan to the first batch. Needs the extra s3 for `remote` (`make setup-extras`).
"""

import json
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

from gristmill.manifests.manifest import read_manifest
from gristmill.pipeline.reader import ReadOptions, TokenStream
from gristmill.pipeline.reader.block_cache import BlockCache
from gristmill.pipeline.reader.block_shuffle import ShuffleChoice, ShuffleModel
from gristmill.pipeline.reader.plan import implicit_plan
from gristmill.pipeline.reader.rows_dataset import RowsDataset
from gristmill.pipeline.reader.state import sealed_state
from tests.bench.bench_reader import AT_ONCE_TOKENS, BATCH
from tests.laws.running import run_inline, write_recipe
from tests.pipeline.reader.sparse_rows import sparse_dataset

ROUNDS = 5
TEXT_BYTES = 100_000_000
RECIPE = """
name: bench
datasets:
  docs: {{read: {{jsonl: "docs.jsonl", key: id}}, domain: code}}
  plain: {{from: [docs], steps: [emit: {{context: {context}}}]}}
  cold: {{from: [docs], steps: [emit: {{context: {context}, compression: zstd}}]}}
"""
ROWS_READ = 512
CHOICES: dict[str, tuple[ShuffleChoice, int | None]] = {
    "in windows of 4 blocks of 64": (ShuffleModel(block_rows=64, window_blocks=4), None),
    "globally, fetched 64 at once": ("global", 64),
    "globally, fetched one by one": ("global", 1),
}


def make_code(folder: Path, context: int) -> Path:
    """Rows of the Python sources that are installed here, up to TEXT_BYTES, plain and compressed."""
    left = TEXT_BYTES
    with (folder / "docs.jsonl").open("w", encoding="utf-8") as file:
        for path in sorted(Path(np.__file__).parents[1].rglob("*.py")):
            text = path.read_text(encoding="utf-8", errors="replace")
            left -= len(text)
            if left < 0:
                break
            file.write(json.dumps({"id": str(path), "text": text}) + "\n")
    run_inline(write_recipe(folder, RECIPE.format(context=context)), folder / "out")
    return folder / "out"


def cpu_rows(dataset: RowsDataset, order: Any) -> list[float]:
    """Rows per CPU second, ROUNDS times."""
    at_once = max(1, AT_ONCE_TOKENS // dataset.context)
    buffer = np.empty((at_once, dataset.context), dtype=np.int32)
    found: list[float] = []
    for _ in range(ROUNDS + 1):
        start = time.process_time()
        for i in range(0, len(order), at_once):
            part = order[i : i + at_once]
            dataset.read(part, buffer[: len(part)])
        found.append(len(order) / (time.process_time() - start))
    return found[1:]


def size_of(folder: Path) -> int:
    """Bytes of the shards of a dataset."""
    return sum(entry["bytes"] for entry in read_manifest(folder)["shards"])


def cold(out: Path, folder: Path) -> list[dict[str, Any]]:
    """Compressed rows against plain ones."""
    plain, packed = RowsDataset.open(out / "plain"), RowsDataset.open(out / "cold")
    reads = min(4096, (512 << 20) // (4 * plain.context))
    order = np.random.default_rng(1).integers(0, plain.rows, reads)
    base, direct = cpu_rows(plain, order), cpu_rows(packed, order)
    packed.keep_in(BlockCache(folder / "cache"))
    cached = cpu_rows(packed, order)
    what = f"{plain.rows} rows of {plain.context} tokens of code"
    ratio = size_of(out / "cold") / size_of(out / "plain")
    rows = [one(f"zstd, {what}", direct, base), one(f"zstd through the cache, {what}", cached, base)]
    return [{"what": f"size with zstd, {what}", "value": ratio, "unit": "of the plain shards"}, *rows]


def one(what: str, ours: Sequence[float], plain: Sequence[float]) -> dict[str, Any]:
    """A result of CPU time."""
    return {
        "what": what,
        "value": median(ours),
        "unit": "rows per CPU second",
        "peer": "the same rows as they stand",
        "peer_value": median(plain),
        "ratio": median(ours) / median(plain),
        "n": len(ours),
        "spread": (max(ours) - min(ours)) / median(ours),
    }


def resume(folder: Path) -> dict[str, Any]:
    """From a state at the end of a plan to the first batch."""
    plan = implicit_plan(sparse_dataset(folder / "sparse", 1000, 512, 8192))
    times: list[float] = []
    for i in range(20):
        stream = TokenStream(plan, global_batch=BATCH, options=ReadOptions(torch=False))
        state = sealed_state(stream.state_dict() | {"next": (plan.rows - 10 * BATCH * (i + 1)) // BATCH * BATCH})
        start = time.perf_counter()
        stream.load_state_dict(state)
        next(iter(stream))
        times.append(1000 * (time.perf_counter() - start))
    spread = (max(times) - min(times)) / median(times)
    found = {
        "what": f"going on at the end of {plan.rows:,} rows",
        "value": median(times),
        "unit": "ms to the first batch",
    }
    return found | {"target": "< 50", "n": len(times), "spread": spread}


def remote(out: Path, folder: Path) -> list[dict[str, Any]]:
    """Rows from a server: all choices, with an empty cache and with a full one."""
    from tests.extras.s3.server import KEY, SECRET, ask, proxy_to, s3_server

    results: list[dict[str, Any]] = []
    with s3_server(folder) as server, proxy_to(server) as proxy, pytest.MonkeyPatch.context() as patch:
        for name, value in (("AWS_ACCESS_KEY_ID", KEY), ("AWS_SECRET_ACCESS_KEY", SECRET)):
            patch.setenv(name, value)
        patch.setenv("AWS_ENDPOINT_URL", proxy.url)
        ask(server, "PUT", "/bench")
        upload(out / "plain", "s3://bench/plain")
        for number, (what, (shuffle, fetch_rows)) in enumerate(CHOICES.items()):
            plan = implicit_plan("s3://bench/plain", shuffle=shuffle)
            options = ReadOptions(torch=False, cache_dir=folder / f"cache-{number}", fetch_rows=fetch_rows)
            for state in ("empty", "full"):
                before = proxy.sent_bytes
                rows, seconds = read_part(TokenStream(plan, global_batch=BATCH, options=options))
                sent = (proxy.sent_bytes - before) / (4 * plan.stages[0].context * rows)
                found = {"what": f"{rows} rows from S3, shuffled {what}, {state} cache", "value": rows / seconds}
                results.append(found | {"unit": "rows/s", "bytes fetched / used": sent, "n": 1})
    return results


def upload(folder: Path, url: str) -> None:
    """What a reader needs of a dataset."""
    from gristmill.manifests.remote import put
    from gristmill.manifests.remote_access import place_of

    manifest = read_manifest(folder)
    for file in ["manifest.json", *(e["path"] for k in ("shards", "row_indexes") for e in manifest[k])]:
        put(place_of(url), file, (folder / file).read_bytes())


def read_part(stream: TokenStream) -> tuple[int, float]:
    """The first rows of an epoch: how many, and seconds."""
    start, rows = time.perf_counter(), 0
    for batch in stream:
        rows += len(batch)
        if rows >= ROWS_READ:
            break
    return rows, time.perf_counter() - start


def main() -> list[dict[str, Any]]:
    """See the module."""
    results: list[dict[str, Any]] = []
    for context in (8192, 1 << 20):
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            out = make_code(folder, context)
            results += cold(out, folder)
            if context == 8192:
                results.append(resume(folder))
                results += remote(out, folder) if find_spec("moto") is not None else []
    return results

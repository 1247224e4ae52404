"""Reading rows of the trainer, against Hugging Face datasets, mosaicml-streaming and litdata over the same rows.

Rows per second of CPU time, medians; peers in processes of their own, with a warm page cache. `rows` reads rows in a
shuffled order into a reused buffer, each held against its hash (ours up to 64 at once, which peers have no call for);
`loader` is the whole way to batches of 8 that the consumer copies to int64. Rows of 8,192 and of 1,048,576 tokens.
Peers are left out that their environment does not have (`make setup-all`, or another that GRISTMILL_PEERS names).
"""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from gristmill.pipeline.reader import ReadOptions, TokenStream
from gristmill.pipeline.reader.rows_dataset import RowsDataset
from tests.laws.running import run_inline, write_recipe

PEER_PYTHON = Path(os.environ.get("GRISTMILL_PEERS", Path(__file__).parents[2] / ".venv-peers")) / "bin" / "python"
MODULES = {"hf": "datasets", "mds": "streaming", "litdata": "litdata"}
ROUNDS = 5
AT_ONCE_TOKENS = 64 * 8192
BATCH = 8
SIZES = {8192: 4096, 1 << 20: 64}
READS = {8192: 8192, 1 << 20: 256}
TARGETS = {
    ("rows", 8192): {"hf": 8, "mds": 8, "litdata": 8},
    ("loader", 8192): {"hf": 5, "mds": 6, "litdata": 2},
    ("rows", 1 << 20): {"mds": 2.5, "litdata": 4},
}
RECIPE = """
name: bench
tokenizer: bytes
datasets:
  docs: {{read: {{jsonl: "docs.jsonl", key: id}}, domain: web}}
  rows: {{from: [docs], steps: [emit: {{context: {context}}}]}}
"""


def make_rows(folder: Path, context: int, rows: int) -> Path:
    """A dataset of rows of documents of about 1,000 tokens, or as long as the context where that is long."""
    length = 1000 if context <= 8192 else context // 4
    draw = np.random.default_rng(context)
    with (folder / "docs.jsonl").open("w", encoding="ascii") as file:
        for number in range(rows * context // length):
            text = draw.integers(97, 123, length - 1, dtype=np.uint8).tobytes().decode()
            file.write(json.dumps({"id": f"d{number}", "text": text}) + "\n")
    run_inline(write_recipe(folder, RECIPE.format(context=context)), folder / "out")
    return folder / "out" / "rows"


def own(dataset: Path, order: Any, verify: bool) -> tuple[list[float], list[float]]:
    """Rows per CPU second: single rows, and through the loader."""
    data = RowsDataset.open(dataset)
    at_once = max(1, AT_ONCE_TOKENS // data.context)
    buffer = np.empty((at_once, data.context), dtype=np.int32)
    direct: list[float] = []
    loaded: list[float] = []
    for number in range(ROUNDS + 1):
        start = time.process_time()
        for i in range(0, len(order), at_once):
            data.read(order[i : i + at_once], buffer, verify)
        direct_s = time.process_time() - start
        start = time.process_time()
        seen = 0
        for batch in TokenStream(
            dataset, global_batch=BATCH, threads=1, verify="row" if verify else "off", options=ReadOptions(torch=False)
        ):
            batch.tokens.astype(np.int64)
            seen += len(batch)
        if number:
            direct.append(len(order) / direct_s)
            loaded.append(seen / (time.process_time() - start))
    return direct, loaded


def save_for_peers(dataset: Path, folder: Path, order: Any) -> None:
    """`rows.npy` and `order.npy`."""
    data = RowsDataset.open(dataset)
    rows = np.empty((data.rows, data.context), dtype=np.int32)
    data.read(np.arange(data.rows), rows)
    np.save(folder / "rows.npy", rows.view(np.uint32))
    np.save(folder / "order.npy", order)


def peers() -> list[str]:
    """Those that their environment has."""
    if not PEER_PYTHON.exists():
        return []
    code = "import sys; from importlib.util import find_spec; print(*(m for m in sys.argv[1:] if find_spec(m)))"
    words = [str(PEER_PYTHON), "-c", code, *MODULES.values()]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    return [peer for peer, module in MODULES.items() if module in found]


def contest(context: int) -> list[dict[str, Any]]:
    """Rows of one length."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        dataset = make_rows(folder, context, SIZES[context])
        total = RowsDataset.open(dataset).rows
        order = np.random.default_rng(1).integers(0, total, READS[context])
        save_for_peers(dataset, folder, order)
        results: list[dict[str, Any]] = []
        unverified, _ = own(dataset, order, False)
        direct, loaded = own(dataset, order, True)
        results.append(row("rows", context, "nothing verified", direct, unverified) | {"target": "at least 0.7"})
        for peer in peers():
            words = [str(PEER_PYTHON), str(Path(__file__).with_name("reader_peers.py")), str(folder), peer]
            done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
            told = json.loads(done.stdout.rstrip().rpartition("\n")[2])
            for what, ours, theirs in (("rows", direct, "rows_per_cpu_s"), ("loader", loaded, "loader_rows_per_cpu_s")):
                target = TARGETS.get((what, context), {}).get(peer)
                found = row(what, context, peer, ours, told[theirs])
                results.append(found if target is None else found | {"target": f"at least {target}"})
    return results


def row(what: str, context: int, peer: str, ours: list[float], theirs: list[float]) -> dict[str, Any]:
    """One result."""
    return {
        "what": f"reading, {what} of {context} tokens",
        "value": median(ours),
        "unit": "rows per CPU second",
        "peer": peer,
        "peer_value": median(theirs),
        "ratio": median(ours) / median(theirs),
        "n": len(ours),
        "spread": (max(ours) - min(ours)) / median(ours),
    }


def main() -> list[dict[str, Any]]:
    """See the module."""
    return [one for context in SIZES for one in contest(context)]

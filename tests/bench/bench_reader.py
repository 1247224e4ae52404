"""Reading rows of the trainer, against Hugging Face datasets, mosaicml-streaming and litdata over the same rows.

Rows per second of CPU time, medians of ROUNDS rounds, each in a process of its own, by turns, with a warm page cache.
`first` reads each row once, in a shuffled order, into a reused buffer, as a pre-training run does; `again` does so once
more (a file that is mapped has paid its page faults by then). Ours are held against their hash, and read up to 64 at
once, which peers have no call for. `loader` is the whole way to batches of 8 that the consumer copies to int64. Rows of
8,192 and of 1,048,576 tokens. `resume` is the time from a plan's folder and a state to the first batch.
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
from gristmill.pipeline.reader.state import sealed_state
from tests.laws.running import run_inline, write_recipe

PEER_PYTHON = Path(os.environ.get("GRISTMILL_PEERS", Path(__file__).parents[2] / ".venv-peers")) / "bin" / "python"
MODULES = {"hf": "datasets", "mds": "streaming", "litdata": "litdata"}
ROUNDS = 5
AT_ONCE_TOKENS = 64 * 8192
BATCH = 8
SIZES = {8192: 8192, 1 << 20: 128}
TARGETS = {
    ("first", 8192): {"hf": 8, "mds": 8, "litdata": 8},
    ("loader", 8192): {"hf": 5, "mds": 6, "litdata": 2},
    ("first", 1 << 20): {"mds": 2.5, "litdata": 4},
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


def own(dataset: Path, order: Any, verify: bool) -> dict[str, float]:
    """A round of ours, as peers tell theirs."""
    data = RowsDataset.open(dataset)
    at_once = max(1, AT_ONCE_TOKENS // data.context)
    buffer = np.empty((at_once, data.context), dtype=np.int32)
    data.read(order[:at_once], buffer, verify)
    told: dict[str, float] = {}
    for which in ("first", "again"):
        start = time.process_time()
        for i in range(0, len(order), at_once):
            rows = order[i : i + at_once]
            data.read(rows, buffer[: len(rows)], verify)
        told[which] = len(order) / (time.process_time() - start)
    start, seen = time.process_time(), 0
    words = "row" if verify else "off"
    for batch in TokenStream(dataset, global_batch=BATCH, verify=words, options=ReadOptions(torch=False)):
        batch.tokens.astype(np.int64)
        seen += len(batch)
        batch.release()
    told["loader"] = seen / (time.process_time() - start)
    return told


def resume(dataset: Path) -> dict[str, Any]:
    """Seconds from a folder and a state, at random places, to the first batch."""
    whole = TokenStream(dataset, global_batch=BATCH, options=ReadOptions(torch=False))
    draw, times = np.random.default_rng(3), list[float]()
    for place in draw.integers(0, whole.plan.rows - BATCH, 20).tolist():
        start = time.perf_counter()
        stream = TokenStream(dataset, global_batch=BATCH, options=ReadOptions(torch=False))
        stream.load_state_dict(sealed_state(whole.state_dict() | {"next": place}))
        assert next(iter(stream)).first == place
        times.append(time.perf_counter() - start)
    spread = (max(times) - min(times)) / median(times)
    named = {"what": "opening a dataset and going on, to the first batch", "value": 1000 * median(times), "unit": "ms"}
    return {**named, "n": len(times), "spread": spread, "target": "at most 50 and opening"}


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
        order = np.random.default_rng(1).permutation(RowsDataset.open(dataset).rows)
        save_for_peers(dataset, folder, order)
        rounds: dict[str, list[dict[str, float]]] = {}
        for number in range(ROUNDS + 1):
            told = {"ours": own(dataset, order, True), "nothing verified": own(dataset, order, False)}
            told |= {peer: one_of_peer(folder, peer) for peer in peers()}
            for name, one in told.items() if number else ():
                rounds.setdefault(name, []).append(one)
        results = [row(what, context, rounds, "nothing verified") | {"target": "at least 0.7"} for what in ("first",)]
        for peer in rounds.keys() - {"ours", "nothing verified"}:
            for what in ("first", "again", "loader"):
                target = TARGETS.get((what, context), {}).get(peer)
                found = row(what, context, rounds, peer)
                results.append(found if target is None else found | {"target": f"at least {target}"})
        return [*results, resume(dataset)]


def one_of_peer(folder: Path, peer: str) -> dict[str, float]:
    """A round of a peer's, in a process of its own."""
    words = [str(PEER_PYTHON), str(Path(__file__).with_name("reader_peers.py")), str(folder), peer]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.rstrip().rpartition("\n")[2])


def row(what: str, context: int, rounds: dict[str, list[dict[str, float]]], peer: str) -> dict[str, Any]:
    """One result."""
    ours, theirs = ([one[what] for one in rounds[name]] for name in ("ours", peer))
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

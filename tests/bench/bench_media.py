"""Reading media by their hash, against Hugging Face datasets and mosaicml-streaming over the same bytes.

Media per second of CPU time: BLOBS of 80 to 120 KB, in a random order, as bytes objects, with a warm page cache;
medians of ROUNDS rounds, each in a process of its own, by turns, after a pass that is not counted. Ours are looked up
by sha256 and held against their xxh3, which the peers have no hash for. Peers are left out that their environment does
not have (`make setup-all`, or another that GRISTMILL_PEERS names).
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gristmill.manifests.schema import DOCUMENT, document_batch
from gristmill.pipeline.reader.rows_dataset import RowsDataset
from tests.bench.bench_reader import MODULES, PEER_PYTHON, peers
from tests.laws.running import run_inline, write_recipe

BLOBS = 2000
READS = 4000
ROUNDS = 7
TARGET = 2.5
RECIPE = """
name: bench
tokenizer: bytes
datasets:
  docs: {read: {parquet: "docs.parquet"}, domain: vision}
  rows: {from: [docs], steps: [emit: {context: 8192}]}
"""


def make(folder: Path) -> tuple[Path, list[bytes]]:
    """A dataset of rows with BLOBS media, and their sha256; the media as files for the peers, with `order.npy`."""
    draw = np.random.default_rng(3)
    (folder / "blobs").mkdir()
    shas: list[bytes] = []
    media: list[list[dict[str, Any]]] = []
    for number in range(BLOBS):
        data = draw.bytes(int(draw.integers(80_000, 120_001)))
        (folder / "blobs" / str(number)).write_bytes(data)
        shas.append(hashlib.sha256(data).digest())
        media.append([{"kind": "image", "sha256": shas[-1], "bytes": data, "width": 640, "height": 480}])
    columns = {
        "id": pa.array([f"{n:032x}" for n in range(BLOBS)]),
        "text": pa.array([f"picture {n} \ufffc" for n in range(BLOBS)], pa.large_string()),
        "media": pa.array(media, DOCUMENT.field("media").type),
    }
    pq.write_table(pa.Table.from_batches([document_batch(columns)]), folder / "docs.parquet", row_group_size=64)
    np.save(folder / "order.npy", draw.integers(0, BLOBS, READS))
    run_inline(write_recipe(folder, RECIPE), folder / "out")
    return folder / "out" / "rows", shas


def own(folder: Path, how: str) -> float:
    """Media per CPU second of a round: `xxh3` or `sha256` verified, or the bare `pread` of the same bytes. The sha256
    of all stand in `shas`."""
    shas = (folder / "shas").read_bytes()
    order = np.load(folder / "order.npy").tolist()
    store = RowsDataset.open(folder / "out" / "rows").media()
    asked: list[Any] = [shas[32 * i : 32 * i + 32] for i in order]
    for sha in asked:
        store.read(sha)
    read: Callable[[Any], bytes] = partial(store.read, verify=how == "sha256")
    if how == "pread":
        asked, read = [store.place(sha) for sha in asked], lambda place: os.pread(*place)
    start = time.process_time()
    for one in asked:
        read(one)
    return len(asked) / (time.process_time() - start)


def round_of(words: list[str]) -> float:
    """What a process of its own tells."""
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout.split()[-1])


def main() -> list[dict[str, Any]]:
    """See the module."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        _, shas = make(folder)
        (folder / "shas").write_bytes(b"".join(shas))
        code = "import sys, pathlib; from tests.bench.bench_media import own; "
        call = "print(own(pathlib.Path(sys.argv[1]), sys.argv[2]))"
        ways = {how: [sys.executable, "-c", code + call, made, how] for how in ("xxh3", "sha256", "pread")}
        script = str(Path(__file__).with_name("media_peers.py"))
        ways |= {
            peer: [str(PEER_PYTHON), script, made, peer] for peer in peers() if peer in MODULES and peer != "litdata"
        }
        told: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, words in ways.items():
                told[name].append(round_of(words))
        ours = told["xxh3"]
        return [
            {
                "what": f"media of 80 to 120 KB by their hash, random, n={READS}",
                "value": median(ours),
                "unit": "media per CPU second",
                "peer": {"sha256": "sha256 verified, too", "pread": "os.pread of the same bytes"}.get(name, name),
                "peer_value": median(values),
                "ratio": median(ours) / median(values),
                "n": ROUNDS,
                "spread": (max(ours) - min(ours)) / median(ours),
                "peer_spread": (max(values) - min(values)) / median(values),
                **({"target": f"at least {TARGET}"} if name in MODULES else {}),
            }
            for name, values in told.items()
            if name != "xxh3"
        ]

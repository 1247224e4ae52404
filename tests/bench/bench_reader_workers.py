"""Loaders behind two DataLoader workers, which is how peers are used: what the hand-over between processes costs.

Rows per second of CPU time, workers included, and of wall time; medians of ROUNDS rounds, by turns, each in a process
of its own. Ours runs in an environment with torch ($GRISTMILL_TORCH, else .venv-extras); peers as for `bench_reader`.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from gristmill.pipeline.reader.rows_dataset import RowsDataset
from tests.bench.bench_reader import PEER_PYTHON, make_rows, one_of_peer, peers, save_for_peers

ROOT = Path(__file__).parents[2]
OWN_PYTHON = Path(os.environ.get("GRISTMILL_TORCH", ROOT / ".venv-extras")) / "bin" / "python"
ROUNDS = 5
CONTEXT, ROWS = 8192, 8192


def one(python: Path, folder: Path, name: str) -> dict[str, float]:
    """A round of one loader."""
    words = [str(python), str(Path(__file__).with_name("reader_workers.py")), str(folder), name]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return json.loads(done.stdout.rstrip().rpartition("\n")[2])


def main() -> list[dict[str, Any]]:
    """See the module."""
    if not OWN_PYTHON.exists():
        return []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        dataset = make_rows(folder, CONTEXT, ROWS)
        save_for_peers(dataset, folder, np.random.default_rng(1).permutation(RowsDataset.open(dataset).rows))
        names = peers()
        for name in names:
            one_of_peer(folder, name)  # writes the rows in its format
        rounds: dict[str, list[dict[str, float]]] = {}
        for _ in range(ROUNDS):
            rounds.setdefault("ours", []).append(one(OWN_PYTHON, folder, "ours"))
            for name in names:
                rounds.setdefault(name, []).append(one(PEER_PYTHON, folder, name))
        return [row(unit, key, rounds, n) for n in names for unit, key in UNITS.items()]


UNITS = {"rows per CPU second": "rows_per_cpu_s", "rows per second": "rows_per_s"}


def row(unit: str, key: str, rounds: dict[str, list[dict[str, float]]], peer: str) -> dict[str, Any]:
    """One result."""
    ours, theirs = ([one[key] for one in rounds[name]] for name in ("ours", peer))
    return {
        "what": f"reading behind two DataLoader workers, batches of 8 x {CONTEXT}",
        "value": median(ours),
        "unit": unit,
        "peer": peer,
        "peer_value": median(theirs),
        "ratio": median(ours) / median(theirs),
        "n": len(ours),
        "spread": (max(ours) - min(ours)) / median(ours),
    }

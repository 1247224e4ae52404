"""Exports of rows of 8,192 tokens against the libraries' own writers over the same samples.

MB of token ids (4 bytes each) per second of CPU time, medians. Ours read the dataset, hold each row against its hash,
write, hash and fsync; the libraries are handed samples that lie in memory, in the shape that they take. Peers run in
processes of their own, in the environment of the extras (or another that GRISTMILL_EXTRAS names); without it they are
left out. Megatron's is of rows, and ours writes a .jsonl beside it.
"""

import json
import os
import pickle
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.ipc import read_ipc
from gristmill.manifests.manifest import read_manifest
from gristmill.pipeline.export import mds
from gristmill.pipeline.export.formats import FORMATS, open_source
from gristmill.pipeline.export.run import export
from gristmill.pipeline.export.samples import described, ids_of, json_of
from gristmill.pipeline.export.shape import Request
from tests.bench.bench_reader import make_rows

EXTRAS_PYTHON = Path(os.environ.get("GRISTMILL_EXTRAS", Path(__file__).parents[2] / ".venv-extras")) / "bin" / "python"
CONTEXT = 8192
ROWS = 2048
ROUNDS = 5


def own(dataset: Path, folder: Path, form: str) -> list[float]:
    """CPU seconds of each round."""
    seconds: list[float] = []
    for _ in range(ROUNDS + 1):
        start = time.process_time()
        export(Request(dataset, form, "row"), folder / "written")
        seconds.append(time.process_time() - start)
        shutil.rmtree(folder / "written")
    return seconds[1:]


def save_samples(dataset: Path, folder: Path, form: str) -> None:
    """What the library's writer is given."""
    paths = [dataset / entry["path"] for entry in read_manifest(dataset)["shards"]]
    batches = [batch for path in paths for batch in read_ipc(path)]
    given = (one for b in batches for one in zip(ids_of(b), described(b), strict=True))
    samples = [] if form == "hf" else [_sample(*one, form) for one in given]
    (folder / "samples.pickle").write_bytes(pickle.dumps(samples))
    if form == "hf":
        with pa.ipc.new_file(str(folder / "table.arrow"), batches[0].schema) as writer:
            writer.write_table(pa.Table.from_batches(batches))
    if form == "mds":
        source = open_source(Request(dataset, "mds"))
        (folder / "columns.json").write_text(json.dumps(mds.columns_of(source)))


def _sample(ids: Any, said: dict[str, Any], form: str) -> Any:
    if form == "megatron":
        return ids.astype(np.uint16)
    if form == "webdataset":
        return {"__key__": said["row_id"].hex(), "npy": ids.copy(), "json": json.loads(json_of(said))}
    texts = {name: json_of(said[name]).decode() for name in mds.JSON_COLUMNS}
    return {"tokens": ids.copy(), "n_tokens": said["n_tokens"], "row_id": said["row_id"].hex(), **texts}


def theirs(folder: Path, form: str) -> list[float]:
    """CPU seconds of each round of the library's writer."""
    words = [str(EXTRAS_PYTHON), str(Path(__file__).with_name("export_peers.py")), str(folder), form]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.rstrip().rpartition("\n")[2])


def main() -> list[dict[str, Any]]:
    """See the module."""
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        dataset = make_rows(folder, CONTEXT, ROWS)
        megabytes = 4e-6 * CONTEXT * read_manifest(dataset)["totals"]["rows"]
        for form in FORMATS:
            ours = [megabytes / s for s in own(dataset, folder, form)]
            result = {"what": f"export as {form}", "value": median(ours), "unit": "MB of ids per CPU second"}
            result |= {"n": ROUNDS, "spread": (max(ours) - min(ours)) / median(ours)}
            if EXTRAS_PYTHON.exists():
                save_samples(dataset, folder, form)
                peer = [megabytes / s for s in theirs(folder, form)]
                spread = (max(peer) - min(peer)) / median(peer)
                result |= {"peer": "its own writer", "peer_value": median(peer), "peer_spread": spread}
                result["ratio"] = median(ours) / median(peer)
            results.append(result)
    return results

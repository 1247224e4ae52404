"""Engines against the local one and a PySpark job by hand: the same recipe, the same cores, the same bytes out.

200 MB of text in 8 Parquet files, two workers, wall seconds of interleaved rounds once an engine is up (a small dataset
is run first; how long that takes is told apart), medians. `filters` are four text filters, `minhash` is minhash_dedup.
Growth: the local engine and Spark over 1x, 2x, 4x and 8x of 50 MB of filtering; the exponent of time by size.

In the environment of the extras (`make setup-extras`): rows of an engine that is not installed are left out.
"""

import json
import math
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.bench.bench_minhash_run import installed_texts, with_copies

PYTHON = Path(__file__).parents[2] / ".venv-extras" / "bin" / "python"
BYTES = 200_000_000
FILES = 8
ROUNDS = 3
GROWTH_BYTES = 50_000_000
TARGETS = {("filters", "spark"): 0.7, ("minhash", "spark"): 0.45, ("filters", "datatrove"): 0.65}
STEPS = {
    "filters": "[gopher_repetition, gopher_quality, c4, fineweb]",
    "minhash": "[minhash_dedup]",
}
RECIPE = """\
name: bench
datasets:
  warm: {{read: {{parquet: "w*.parquet", key: id}}, domain: web, steps: {steps}}}
  docs: {{read: {{parquet: "p*.parquet", key: id}}, domain: web, steps: {steps}}}
"""


def write_inputs(folder: Path, texts: list[str], size: int, what: str) -> int:
    """Parquet files with so many bytes of text (copies of the texts that differ in one word), a small one, the recipe;
    bytes of text."""
    folder.mkdir(parents=True)
    made: list[str] = []
    held = 0
    while held < size:
        text = texts[len(made) % len(texts)]
        turn = len(made) // len(texts)
        made.append(f"edition {turn} {text}" if turn else text)
        held += len(made[-1].encode())
    for number in range(FILES):
        _write(folder / f"p{number}.parquet", made[number::FILES], f"{number}-")
    _write(folder / "w0.parquet", made[:200], "w-")
    (folder / "recipe.yaml").write_text(RECIPE.format(steps=STEPS[what]), encoding="utf-8")
    return held


def _write(path: Path, texts: list[str], prefix: str) -> None:
    ids = pa.array([f"{prefix}{n}" for n in range(len(texts))])
    pq.write_table(pa.table({"id": ids, "text": pa.array(texts, pa.large_string())}), path, compression="zstd")


def run(module: str, folder: Path, *words: str) -> dict[str, Any]:
    """What a process of the extras' environment told."""
    command = [str(PYTHON), "-m", f"tests.bench.{module}", str(folder), *words]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.rstrip().rpartition("\n")[2])


def contest(what: str, folder: Path, size: int) -> list[dict[str, Any]]:
    """Rows for one recipe."""
    runs: dict[str, list[dict[str, Any]]] = {"local": [], "spark": [], "datatrove": [], "by hand": []}
    for _ in range(ROUNDS):
        for name, told in runs.items():
            told.append(run("spark_by_hand", folder, what) if name == "by hand" else run("engine_run", folder, name))
    digests = {told["digest"] for name in ("local", "spark", "datatrove") for told in runs[name]}
    assert len(digests) == 1, digests
    local = median(told["run_s"] for told in runs["local"])
    rows: list[dict[str, Any]] = []
    for name, all_told in runs.items():
        seconds = [told["run_s"] for told in all_told]
        start_s = median(told["start_s"] for told in all_told)
        row = {
            "what": f"{what}, {size / 1e6:.0f} MB, engine {name} (up in {start_s:.1f} s)",
            "value": size / 1e6 / median(seconds),
            "unit": "MB/s",
            "n": ROUNDS,
            "spread": (max(seconds) - min(seconds)) / median(seconds),
        }
        if name != "local":
            row |= {"peer": "local", "peer_value": size / 1e6 / local, "ratio": local / median(seconds)}
        if (what, name) in TARGETS:
            row["target"] = f"at least {TARGETS[what, name]}"
        rows.append(row)
    return rows


def growth(name: str, folders: list[tuple[Path, int]]) -> dict[str, Any]:
    """The exponent of time by size, fitted over all sizes."""
    seconds = [run("engine_run", folder, name)["run_s"] for folder, _ in folders]
    slope = float(np.polyfit([math.log(size) for _, size in folders], [math.log(s) for s in seconds], 1)[0])
    shown = ", ".join(f"{size / 1e6:.0f} MB {s:.1f} s" for (_, size), s in zip(folders, seconds, strict=True))
    return {"what": f"growth of filtering on {name}: {shown}", "value": slope, "unit": "exponent", "target": "<= 1.1"}


def main() -> list[dict[str, Any]]:
    """See the module."""
    if not PYTHON.exists():
        return [{"what": "engines: make setup-extras first", "value": "left out", "unit": ""}]
    texts = with_copies(installed_texts(80_000_000))
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as made:
        for what in STEPS:
            folder = Path(made) / what
            rows += contest(what, folder, write_inputs(folder, texts, BYTES, what))
        sizes = [Path(made) / f"x{times}" for times in (1, 2, 4, 8)]
        folders = [
            (folder, write_inputs(folder, texts, GROWTH_BYTES << n, "filters")) for n, folder in enumerate(sizes)
        ]
        rows += [growth(name, folders) for name in ("local", "spark")]
    return rows

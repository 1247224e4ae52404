"""Engines against the local one and a PySpark job by hand: the same recipe, the same cores, the same bytes out.

200 MB of text in 8 Parquet files, two workers, wall seconds of interleaved rounds once an engine is up (a small dataset
is run first; how long that takes is told apart), medians. `filters` are four text filters, `minhash` is minhash_dedup;
datatrove filters 1 GB, too, once (n = 1: it takes minutes). Growth: every engine over 1x, 2x, 4x and 8x of 50 MB of
both recipes, less what a run of hardly anything costs; the exponent of time by size.

In the environment of the extras (`make setup-extras`): rows of an engine that is not installed there are left out.
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
BY_HAND = "by hand"
BYTES = 200_000_000
FILES = 8
ROUNDS = 3
GROWTH_BYTES = 50_000_000
LARGE_BYTES = 1_000_000_000
TARGETS = {("filters", "spark"): 0.7, ("minhash", "spark"): 0.45, ("filters", "datatrove"): 0.65}
LARGE_TARGET = 0.8
MODULES = {"spark": "pyspark", "datatrove": "datatrove", BY_HAND: "pyspark"}
GROWTH_ENGINES = ("local", "spark", "datatrove")
NOTHING_BYTES = 1_000_000
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


def installed() -> list[str]:
    """The engines, and the job by hand, that the environment has what they need for."""
    code = "import sys; from importlib.util import find_spec; print(*(m for m in sys.argv[1:] if find_spec(m)))"
    words = [str(PYTHON), "-c", code, *set(MODULES.values())]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    return ["local", *(name for name, module in MODULES.items() if module in found)]


def contest(what: str, folder: Path, size: int, names: list[str], rounds: int) -> list[dict[str, Any]]:
    """Rows for one recipe."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(rounds):
        for name, told in runs.items():
            told.append(run("spark_by_hand", folder, what) if name == BY_HAND else run("engine_run", folder, name))
    digests = {told["digest"] for name in names if name != BY_HAND for told in runs[name]}
    assert len(digests) == 1, digests
    return [_row(what, size, name, all_told, runs["local"]) for name, all_told in runs.items()]


def _row(what: str, size: int, name: str, told: list[dict[str, Any]], of_local: list[dict[str, Any]]) -> dict[str, Any]:
    seconds = [one["run_s"] for one in told]
    start_s = median(one["start_s"] for one in told)
    row = {
        "what": f"{what}, {size / 1e6:.0f} MB, engine {name} (up in {start_s:.1f} s)",
        "value": size / 1e6 / median(seconds),
        "unit": "MB/s",
        "n": len(told),
        "spread": (max(seconds) - min(seconds)) / median(seconds),
    }
    if name != "local":
        local = median(one["run_s"] for one in of_local)
        row |= {"peer": "local", "peer_value": size / 1e6 / local, "ratio": local / median(seconds)}
    target = LARGE_TARGET if size >= LARGE_BYTES and name == "datatrove" else TARGETS.get((what, name))
    return row if target is None else row | {"target": f"at least {target}"}


def growth(what: str, name: str, folders: list[tuple[Path, int]]) -> dict[str, Any]:
    """The exponent of time by size, fitted over all sizes; the first folder holds hardly anything."""
    fixed_s, *seconds = [run("engine_run", folder, name)["run_s"] for folder, _ in folders]
    logs = [math.log(max(s - fixed_s, 0.01)) for s in seconds]
    slope = float(np.polyfit([math.log(size) for _, size in folders[1:]], logs, 1)[0])
    shown = ", ".join(f"{size / 1e6:.0f} MB {s:.1f} s" for (_, size), s in zip(folders[1:], seconds, strict=True))
    told = f"growth of {what} on {name}: {fixed_s:.1f} s for nothing, {shown}"
    return {"what": told, "value": slope, "unit": "exponent", "n": 1, "target": "<= 1.1"}


def main() -> list[dict[str, Any]]:
    """See the module."""
    if not PYTHON.exists():
        return [{"what": "engines: make setup-extras first", "value": "left out", "unit": ""}]
    names = installed()
    texts = with_copies(installed_texts(80_000_000))
    rows: list[dict[str, Any]] = []
    for what in STEPS:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made) / what
            rows += contest(what, folder, write_inputs(folder, texts, BYTES, what), names, ROUNDS)
    if "datatrove" in names:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made) / "large"
            size = write_inputs(folder, texts, LARGE_BYTES, "filters")
            rows += contest("filters", folder, size, ["local", "datatrove"], 1)
    for what in STEPS:
        with tempfile.TemporaryDirectory() as made:
            sizes = [NOTHING_BYTES, *(GROWTH_BYTES << n for n in range(4))]
            folders = [(Path(made) / f"x{size}", size) for size in sizes]
            folders = [(folder, write_inputs(folder, texts, size, what)) for folder, size in folders]
            rows += [growth(what, name, folders) for name in GROWTH_ENGINES if name in names]
    return rows

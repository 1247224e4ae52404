"""minhash_dedup as a step of a run: Parquet in, Parquet out, one core, kernels warm.

The documents are the sources, stubs and texts of the installed packages, a tenth of them twice and a tenth with a
block of words replaced, in files of 40 MB and of 10 MB of text (a shard holds up to 256 MB; what a file costs whatever
it holds is a sixth at 10). `step`: committed shards of documents (Parquet) to deduplicated shards (Parquet), with the
ledger, in process. `run`: from the users' Parquet files, reading and its account too. CPU seconds of rounds, those of
both sizes in turn; outputs (some 100 MB each) stay to the end, for ext4 takes longer to make a file where some were
removed within a minute (8 % of a step over files of 10 MB).
"""

import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gristmill.pipeline.engines.local import LocalEngine
from gristmill.pipeline.engines.protocol import EngineEvent
from gristmill.pipeline.recipe import load_recipe
from gristmill.pipeline.run import Run, RunOptions, load

BYTES = 80_000_000
FILES = (2, 8)
ROUNDS = 7
MIN_CHARS, MAX_CHARS = 200, 50_000
RECIPE = """\
name: bench
datasets:
  raw: {read: {parquet: "p*.parquet", key: id}, domain: web}
  docs: {from: raw, steps: [minhash_dedup]}
"""


def installed_texts(most_bytes: int) -> list[str]:
    """Texts of installed packages, sorted by path, up to so many bytes."""
    roots = [Path(p) for p in sys.path if p and Path(p).is_dir()]
    paths = sorted(
        {p for root in roots for suffix in ("py", "pyi", "txt", "rst", "md") for p in root.rglob(f"*.{suffix}")}
    )
    texts: list[str] = []
    held = 0
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if MIN_CHARS <= len(text) <= MAX_CHARS:
            texts.append(text)
            held += len(text.encode())
        if held >= most_bytes:
            break
    return texts


def with_copies(texts: list[str]) -> list[str]:
    """A tenth of them twice, another with three words replaced; in a mixed order."""
    rng = random.Random(1)
    rng.shuffle(texts)
    tenth = len(texts) // 10
    near: list[str] = []
    for text in texts[tenth : 2 * tenth]:
        words = text.split(" ")
        at = rng.randrange(max(1, len(words) - 3))
        near.append(" ".join([*words[:at], "three", "other", "words", *words[at + 3 :]]))
    mixed = [*texts, *texts[:tenth], *near]
    rng.shuffle(mixed)
    return mixed


def write_inputs(folder: Path, files: int) -> int:
    """Parquet files and the recipe; bytes of text."""
    folder.mkdir()
    texts = with_copies(installed_texts(int(BYTES / 1.2)))
    for number in range(files):
        mine = texts[number::files]
        ids = pa.array([f"{number}-{i}" for i in range(len(mine))])
        table = pa.table({"id": ids, "text": pa.array(mine, pa.large_string())})
        pq.write_table(table, folder / f"p{number}.parquet", compression="zstd")
    (folder / "recipe.yaml").write_text(RECIPE, encoding="utf-8")
    return sum(len(t.encode()) for t in texts)


def _silent(_: EngineEvent) -> None:
    return


def timed(folder: Path, out: Path, until: str) -> tuple[float, float, dict[str, Any]]:
    """CPU and wall seconds of a run up to a dataset, and its manifests."""
    from gristmill.pipeline.selection import Selection

    loaded = load(load_recipe(folder / "recipe.yaml"))
    options = RunOptions(selection=Selection("until", until))
    cpu, wall = time.process_time(), time.perf_counter()
    manifests = Run(loaded, out, LocalEngine(out, 0), options, _silent).execute()
    return time.process_time() - cpu, time.perf_counter() - wall, manifests


def measured(folder: Path, name: str) -> tuple[float, float, dict[str, Any]]:
    """Seconds of the step, and of reading and the step, of a run of its own; the books of the step."""
    out = folder / name
    read, _, _ = timed(folder, out, "raw")
    step, _, manifests = timed(folder, out, "docs")
    return step, read + step, manifests["docs"]["steps"][1]


def main() -> list[dict[str, Any]]:
    """MB of text a CPU second."""
    seconds: dict[tuple[str, int], list[float]] = {(what, n): [] for n in FILES for what in ("step", "run")}
    with tempfile.TemporaryDirectory() as made:
        sizes = {files: write_inputs(Path(made) / str(files), files) for files in FILES}
        tally: dict[str, Any] = {}
        for number in range(ROUNDS + 1):
            for files in FILES:
                step, whole, tally = measured(Path(made) / str(files), f"out{number}")
                if number:  # the first warms the kernels
                    seconds["step", files].append(step)
                    seconds["run", files].append(whole)
    told = f"{tally['records_in']} documents, {sizes[FILES[0]] / 1e6:.0f} MB, {tally['dropped']} dropped"
    rows: list[dict[str, Any]] = []
    for (what, files), of in seconds.items():
        rates = [sizes[files] / 1e6 / s for s in of]
        spread = (max(rates) - min(rates)) / median(rates)
        shown = f"minhash_dedup {what}, Parquet to Parquet, {files} files: {told}"
        rows.append({"what": shown, "value": median(rates), "unit": "MB/s", "n": ROUNDS, "spread": spread})
    rows[0]["target"] = ">= 60"
    return rows

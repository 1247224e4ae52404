"""minhash_dedup as a step of a run: Parquet in, Parquet out, one core, kernels warm.

The documents are the sources, stubs and texts of the installed packages, a tenth of them twice and a tenth with a
block of words replaced. `step`: committed shards of documents (Parquet) to deduplicated shards (Parquet), with the
ledger, in process. `run`: from the users' Parquet files, reading and its account too. CPU seconds of rounds.
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
FILES = 8
ROUNDS = 5
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


def write_inputs(folder: Path) -> int:
    """Parquet files and the recipe; bytes of text."""
    texts = with_copies(installed_texts(int(BYTES / 1.2)))
    for number in range(FILES):
        mine = texts[number::FILES]
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


def main() -> list[dict[str, Any]]:
    """MB of text a CPU second."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        size = write_inputs(folder)
        steps: list[float] = []
        wholes: list[float] = []
        manifests: dict[str, Any] = {}
        for number in range(ROUNDS + 1):
            out = folder / f"out{number}"
            read, _, _ = timed(folder, out, "raw")
            step, _, manifests = timed(folder, out, "docs")
            if number:  # the first warms the kernels
                steps.append(step)
                wholes.append(read + step)
        tally = manifests["docs"]["steps"][1]
    told = f"{tally['records_in']} documents, {size / 1e6:.0f} MB, {tally['dropped']} dropped"
    rows: list[dict[str, Any]] = []
    for what, seconds in (("minhash_dedup step", steps), ("run with minhash_dedup", wholes)):
        rates = [size / 1e6 / s for s in seconds]
        spread = (max(rates) - min(rates)) / median(rates)
        shown = f"{what}, Parquet to Parquet: {told}"
        rows.append({"what": shown, "value": median(rates), "unit": "MB/s", "n": ROUNDS, "spread": spread})
    rows[0]["target"] = ">= 60"
    return rows

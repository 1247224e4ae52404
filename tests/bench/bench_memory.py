"""Peak memory of a worker, and what starting costs: process, imports, kernels, apart.

A run in the driver (`--workers 0`) in a fresh process over a record of 200 MB; its peak resident size over that of
the same run on a small record, in units of the record. And over the demo's input where it was gathered.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

REPO = Path(__file__).parents[2]
RECORD_BYTES = 200_000_000
RECIPE = """\
name: long
tokenizer: bytes
datasets:
  d:
    read: {jsonl: "*.jsonl"}
    steps: [gopher_quality, language, exact_dedup]
"""
_RUN = """
import resource, sys
from gristmill.pipeline.cli.main import main
code = main(["run", sys.argv[1], "--out", sys.argv[2], "--workers", "0", "--quiet", "--json"])
own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(code, own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_kib(recipe: Path, out: Path) -> tuple[int, int]:
    """Peak KiB of the process and of its largest child."""
    done = subprocess.run(
        [sys.executable, "-c", _RUN, str(recipe), str(out)], capture_output=True, text=True, check=True
    )
    code, own, child = done.stdout.split("\n")[-2].split()
    if code != "0":
        raise RuntimeError(done.stderr)
    return int(own), int(child)


def long_record() -> list[dict[str, Any]]:
    """Peak over a run with a short record, as a multiple of the record."""
    sentence = "the people of that place have been with us to see what it can be and do. "
    peaks: list[int] = []
    for size in (10_000, RECORD_BYTES):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            line = json.dumps({"id": "a", "text": sentence * (size // len(sentence))})
            (root / "a.jsonl").write_text(line + "\n", encoding="utf-8")
            (root / "r.yaml").write_text(RECIPE, encoding="utf-8")
            peaks.append(peak_kib(root / "r.yaml", root / "out")[0])
    ratio = (peaks[1] - peaks[0]) * 1024 / RECORD_BYTES
    base = f"{peaks[0] / 1024:.0f} MiB with a short record"
    return [
        {
            "what": "peak memory of a 200 MB record",
            "value": ratio,
            "unit": f"records over {base}",
            "target": "< 3",
            "n": 1,
        }
    ]


def demo() -> list[dict[str, Any]]:
    """Peak of a worker on the demo's input."""
    recipe = REPO / "pipeline/recipes/demo.yaml"
    if not (REPO / "demo/input/demo-data.json").exists():
        return [{"what": "peak memory on the demo", "value": "not measured", "unit": "run `make demo` first"}]
    with tempfile.TemporaryDirectory() as folder:
        own, child = peak_kib(recipe, Path(folder) / "out")
    return [
        {"what": "peak memory of a worker on the demo", "value": own / 1024, "unit": "MiB", "target": "< 1024", "n": 1},
        {"what": "its largest child (pages, tokens)", "value": child / 1024, "unit": "MiB", "target": "< 2048", "n": 1},
    ]


def seconds(code: str) -> float:
    """Wall seconds of a fresh process, best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - start)
    return best


def start_up() -> list[dict[str, Any]]:
    """Process start, imports and kernels, each over the one before."""
    steps = {
        "process start": "pass",
        "import gristmill.pipeline": "import gristmill.pipeline",
        "import what a run needs": "import gristmill.pipeline.run, gristmill.pipeline.tasks.read_map",
        "gristmill --help": "from gristmill.pipeline.cli.main import main; main(['--help'])",
        "kernels, warm cache": (
            "from tests.laws.test_stages import make_batch; from gristmill.stages import catalogue;"
            "from pathlib import Path;"
            "catalogue.load('gopher_quality', {}, Path()).measure(make_batch(['a b c']))"
        ),
    }
    base = seconds(steps["process start"])
    return [
        {"what": w, "value": seconds(c) - (base if c != "pass" else 0), "unit": "s", "n": 3} for w, c in steps.items()
    ]


def main() -> list[dict[str, Any]]:
    """All of it."""
    return [*start_up(), *long_record(), *demo()]

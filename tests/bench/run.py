"""`make bench`: every bench of this folder, in a process of its own, as one table (and JSON with `--json FILE`).

A bench is a module `bench_*.py` with `main() -> list[dict]`; each dict has `what`, `value`, `unit`, and where it
compares `peer`, `peer_value`, `ratio`, `target`; `n` and `spread` say how it was measured. A target such as ">= 20",
"at least 0.7", "< 3" or "below 1" is held against `ratio`, else `value`; what misses it is marked and counted.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_ONE = "import importlib, json, sys; print('\\n' + json.dumps(importlib.import_module(sys.argv[1]).main()))"


def run_bench(name: str) -> list[dict[str, Any]]:
    """The results of one bench; a row that says so when it failed."""
    words = [sys.executable, "-c", _ONE, f"tests.bench.{name}"]
    done = subprocess.run(words, cwd=HERE.parents[1], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return [{"what": name, "value": "FAILED", "unit": f"exit code {done.returncode}"}]
    return json.loads(done.stdout.rstrip().rpartition("\n")[2])


def main() -> int:
    """Run benches by name (all by default); exit 1 when one failed. A missed target is told, not an exit code."""
    parser = argparse.ArgumentParser(description="speed and memory as ratios to peers in the same run")
    parser.add_argument("names", nargs="*", help="such as bench_pack; all when none is given")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results here")
    args = parser.parse_args()
    names = args.names or sorted(p.stem for p in HERE.glob("bench_*.py"))
    results: dict[str, list[dict[str, Any]]] = {}
    for name in names:
        results[name] = run_bench(name)
        for row in results[name]:
            row["missed"] = misses(row)
            print("  ".join(f"{key}={_short(value)}" for key, value in row.items()), flush=True)
    missed = [row["what"] for rows in results.values() for row in rows if row["missed"]]
    print(f"targets missed: {len(missed)}" + "".join(f"\n  {what}" for what in missed))
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return int(any(row["value"] == "FAILED" for rows in results.values() for row in rows))


def misses(row: dict[str, Any]) -> bool:
    """Whether a result misses its target; False where it has none that is a bound."""
    value = row.get("ratio", row["value"])
    bound = re.search(r"(>=|at least|>|<=|at most|<|below)\s*([\d.]+)", str(row.get("target", "")))
    if bound is None or not isinstance(value, int | float):
        return False
    limit = float(bound.group(2))
    return value < limit if bound.group(1) in (">=", "at least", ">") else value > limit


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())

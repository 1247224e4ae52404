"""`gristmill stage check`: a gate for a recipe whose filters were changed."""

import argparse
import re
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gristmill.manifests.errors import EXIT_DONE, EXIT_VERIFY, UsageError
from gristmill.pipeline.cli.command import Command
from gristmill.pipeline.cli.output import emit_json, print_line, print_table, say

if TYPE_CHECKING:
    from gristmill.pipeline.trial.check import Change

HELP = """compare what a changed recipe keeps with what a finished run kept

The recipe is run into a scratch folder (work of the baseline that still applies is found there), and every
record is compared: which were kept and now go, or the reverse. If more than --max-change of the records of any dataset
change side, or a dataset of the baseline is not in the recipe any more, the exit code is 4, so that the command can
stand in front of an upgrade. Alarms of the recipe do not count here. The baseline stays as it is.

for instance:
  gristmill stage check recipe.yaml --baseline out --max-change 0.5%
  gristmill stage check recipe.yaml --baseline out --sample 0.05 --examples 10
  gristmill stage check recipe.yaml --baseline out --out checked --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `stage check`."""
    parser.add_argument("recipe", metavar="RECIPE", help="the changed recipe")
    parser.add_argument("--baseline", required=True, metavar="RUN", type=Path, help="a finished output to compare with")
    parser.add_argument(
        "--max-change", default="0.5%", metavar="SHARE", help="most records that may change side (0.5%%)"
    )
    parser.add_argument("--out", metavar="DIR", help="keep the new output here (default: a scratch folder)")
    parser.add_argument("--sample", type=float, metavar="FRAC", help="compare this fraction, by content hash")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a value of the recipe"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: all cores; 0: in this one)")
    parser.add_argument("--examples", type=int, default=5, metavar="N", help="records of each kind of change (5)")
    parser.add_argument("--chars", type=int, default=240, metavar="N", help="characters of each example (240)")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def parse_share(text: str) -> float:
    """`0.5%` or `0.005` as a fraction. Raises UsageError."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(%?)\s*", text)
    share = float(found[1]) / (100 if found[2] else 1) if found else -1.0
    if not 0 <= share <= 1:
        raise UsageError("not a share", "--max-change", text, "give for instance 0.5% or 0.005")
    return share


def run(args: argparse.Namespace) -> int:
    """Run, compare, print; exit 4 when too much changed."""
    from gristmill.pipeline.trial.check import changes, check_finished, reuse_work, with_texts

    most = parse_share(args.max_change)
    if args.sample is not None and not 0 < args.sample <= 1:
        raise UsageError("not a fraction", "--sample", args.sample, "give a number above 0, at most 1")
    if args.examples < 0 or args.chars < 0:
        raise UsageError("negative", "stage check", min(args.examples, args.chars), "give 0 or more")
    check_finished(args.baseline)
    with _place(args.out) as out:
        if out == args.baseline.resolve():
            raise UsageError("is the baseline itself", "--out", args.out, "name another folder, or leave --out out")
        reuse_work(args.baseline, out)
        _make(args, out)
        found, missing = changes(args.baseline, out, args.examples, args.sample is not None)
        reports = [_as_data(change, with_texts(change, args.baseline, out, args.chars)) for change in found]
    ok = all(change.frac <= most for change in found) and not missing
    if args.json:
        emit_json({"ok": ok, "max_change": most, "sample": args.sample, "missing": missing, "datasets": reports})
    else:
        _print(reports, most)
    if any(change.frac > most for change in found):
        say(f"more than {most:.3%} of a dataset changed side")
    for name in missing:
        say(f"{name}: a dataset of the baseline that the recipe does not make as documents any more")
    return EXIT_DONE if ok else EXIT_VERIFY


@contextmanager
def _place(asked: str | None) -> Generator[Path]:
    from gristmill.pipeline.cli.run import output_folder

    if asked is not None:
        yield output_folder(asked)
        return
    with tempfile.TemporaryDirectory(prefix="gristmill-check-") as folder:
        yield Path(folder)


def _make(args: argparse.Namespace, out: Path) -> None:
    from gristmill.pipeline.engines.choose import workers_for
    from gristmill.pipeline.engines.local import LocalEngine
    from gristmill.pipeline.progress import progress
    from gristmill.pipeline.recipe import load_recipe
    from gristmill.pipeline.run import Run, RunOptions, load

    # A gate has a limit of its own: alarms would stop it before it could tell what changes.
    loaded = replace(load(load_recipe(Path(args.recipe), args.set)), judges=False)
    engine = LocalEngine(out, workers_for(args.workers, None))
    try:
        with progress(out, args.quiet) as notify:
            Run(loaded, out, engine, RunOptions(args.sample), notify).execute()
    finally:
        engine.close()


def _as_data(change: "Change", examples: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "dataset": change.dataset,
        "records": change.records,
        "changed_frac": change.frac,
        "kept_to_dropped": change.dropped,
        "dropped_to_kept": change.returned,
        "appeared": change.appeared,
        "vanished": change.vanished,
        "moves": [{"before": m["a"], "after": m["b"], "count": m["count"]} for m in change.moves],
        "examples": list(examples),
    }


def _fate(fate: dict[str, str] | None) -> str:
    if fate is None:
        return "not seen"
    return "kept" if fate["verdict"] == "keep" else f"{fate['step']}: {fate['reason']}"


def _print(reports: Sequence[dict[str, Any]], most: float) -> None:
    counts = ("dataset", "records", "kept_to_dropped", "dropped_to_kept", "appeared", "vanished")
    rows = [
        (*(r[name] for name in counts), f"{r['changed_frac']:.3%}", "" if r["changed_frac"] <= most else "TOO MUCH")
        for r in reports
    ]
    headers = ("dataset", "records", "now dropped", "now kept", "appeared", "vanished", "changed", "")
    print_table(headers, rows)
    for report in reports:
        for move in report["moves"]:
            print_line(f"{report['dataset']}: {move['count']} from {_fate(move['before'])} to {_fate(move['after'])}")
        for example in report["examples"]:
            print_line()
            told = f"{_fate(example['before'])} -> {_fate(example['after'])}"
            print_line(f"{report['dataset']}  {example['url'] or example['id']}  {told}")
            for line in example["text"].strip().split("\n"):
                print_line(f"  | {line}")


COMMAND = Command(HELP, add_arguments, run)

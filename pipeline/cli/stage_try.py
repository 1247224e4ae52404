"""`gristmill stage try`: what a stage would drop of real documents, before it stands in any recipe."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gristmill.manifests.errors import EXIT_DONE, InputError, UsageError
from gristmill.pipeline.cli.command import Command
from gristmill.pipeline.cli.output import emit_json, print_line, print_table, say

if TYPE_CHECKING:
    from gristmill.pipeline.trial.overlap import Overlap
    from gristmill.pipeline.trial.trial import Trial

HELP = """show what a stage would drop of a dataset's documents

STAGE is a built-in name or ./FILE.py:FUNCTION. DATASET is a dataset of a run (OUT/DATASET), a file, or a folder of
files. Printed are counts by reason and by source, twenty examples (errors with what was raised, dropped and kept
near a limit, the most extreme), and the stage's speed on one core. With --against RUN: how many of its drops the
filters of that run made already; give the documents that went into those filters then, for instance a dataset without
steps.

for instance:
  gristmill stage try ./my_filters.py:shouting out/web
  gristmill stage try gopher_quality out/raw --set min_doc_words=20 --against out
  gristmill stage try c4 docs.jsonl.zst --documents 10000 --json"""

SECONDS_BETWEEN_LINES = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `stage try`."""
    parser.add_argument("stage", metavar="STAGE", help="a stage's name, or ./FILE.py:FUNCTION")
    parser.add_argument("dataset", metavar="DATASET", type=Path, help="OUT/DATASET, a file, or a folder of files")
    parser.add_argument("--against", metavar="RUN", type=Path, help="an output whose filters to compare with")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter (repeatable)")
    parser.add_argument("--documents", type=int, metavar="N", help="look at the first N documents only")
    parser.add_argument("--chars", type=int, default=240, metavar="N", help="characters of each example (240)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Try the stage; exit 0 whatever it drops."""
    from gristmill.pipeline.cli.stage import load_row_stages, parse_settings
    from gristmill.pipeline.trial.documents import documents
    from gristmill.pipeline.trial.overlap import overlap
    from gristmill.pipeline.trial.trial import try_stage

    if args.documents is not None and args.documents < 1:
        raise UsageError("not a number of documents", "--documents", args.documents, "give 1 or more")
    if args.chars < 0:
        raise UsageError("negative", "--chars", args.chars, "give 0 or more")
    params = parse_settings(args.set, [args.stage], one=True)
    stage = load_row_stages([args.stage], [args.stage], params, "stage try")[0]
    lost: Counter[str] = Counter()
    trial = try_stage(stage, documents(args.dataset, lost), args.documents, _progress())
    if not trial.documents:
        remedy = "name a file or dataset that has some"
        raise InputError("holds no documents", str(args.dataset), _told(lost) or None, remedy)
    against = overlap(trial, args.against) if args.against else None
    if args.json:
        emit_json({**_as_data(args, trial, against), "lost": dict(lost)})
    else:
        _print(args, trial, against)
    _warn(trial, lost)
    return EXIT_DONE


def _told(lost: Counter[str]) -> str:
    return ", ".join(f"{reason} {count}" for reason, count in sorted(lost.items()))


def _warn(trial: "Trial", lost: Counter[str]) -> None:
    if lost:
        say(f"{lost.total()} records cannot be read: {_told(lost)}")
    for name, count in trial.numbers.items():
        if not count:
            say(f"{name} is a number in none of the {trial.documents} documents: no limit on it ever drops one")


def _progress() -> "Callable[[Trial], None]":
    last = [time.monotonic()]

    def notify(trial: "Trial") -> None:
        if time.monotonic() - last[0] >= SECONDS_BETWEEN_LINES:
            last[0] = time.monotonic()
            say(f"{trial.documents} documents, {len(trial.gone)} dropped")

    return notify


def _as_data(args: argparse.Namespace, trial: "Trial", against: "Overlap | None") -> dict[str, Any]:
    from gristmill.pipeline.trial.examples import as_data

    report: dict[str, Any] = {
        "stage": args.stage,
        "documents": trial.documents,
        "kept": trial.kept,
        "changed": trial.changed,
        "reasons": [
            {"verdict": verdict, "reason": reason, "count": count} for (verdict, reason), count in _ordered(trial)
        ],
        "sources": {
            source: {"records": counts["records"], "reasons": {k: n for k, n in counts.items() if k != "records"}}
            for source, counts in sorted(trial.sources.items())
        },
        "chars_in": trial.chars_in,
        "chars_kept": trial.chars_kept,
        "chars_cut": dict(trial.cut),
        "seconds": round(trial.seconds, 4),
        "mb_a_second": round(trial.mb_a_second, 2),
        "examples": [as_data(example) for example in trial.examples.chosen()],
    }
    if against is not None:
        names = ("step", "reason", "both", "only_run")
        rows = [dict(zip(names, row, strict=True)) for row in against.rows]
        report["against"] = {"rows": rows, "only_stage": against.only_stage, "known": against.known}
    return report


def _ordered(trial: "Trial") -> list[tuple[tuple[str, str], int]]:
    return sorted(trial.reasons.items(), key=lambda item: (-item[1], item[0]))


def _print(args: argparse.Namespace, trial: "Trial", against: "Overlap | None") -> None:
    n = trial.documents
    print_line(f"{args.stage}: {n} documents, {trial.kept} kept, {n - trial.kept} gone, {trial.changed} changed")
    print_line(f"{trial.mb_a_second:.1f} MB of text a second on one core ({trial.text_bytes / 1e6:.1f} MB)")
    if trial.cut:
        cuts = ", ".join(f"{reason} {chars}" for reason, chars in sorted(trial.cut.items()))
        print_line(f"characters: {trial.chars_in} in, {trial.chars_kept} kept; cut: {cuts}")
    print_line()
    rows = [(verdict, reason, count, f"{count / n:.2%}") for (verdict, reason), count in _ordered(trial)]
    print_table(("verdict", "reason", "documents", "of all"), rows)
    print_line()
    print_table(
        ("source", "documents", "gone", "of them", "most for"), [_source_row(*s) for s in trial.sources.items()]
    )
    if against is not None:
        _print_overlap(trial, against)
    _print_examples(trial, args.chars)


def _source_row(source: str, counts: Any) -> tuple[object, ...]:
    reasons = sorted(((n, r) for r, n in counts.items() if r != "records"), reverse=True)
    gone = sum(n for n, _ in reasons)
    return source, counts["records"], gone, f"{gone / counts['records']:.2%}", reasons[0][1] if reasons else ""


def _print_overlap(trial: "Trial", against: "Overlap") -> None:
    print_line()
    if not against.known:
        print_line("the run dropped none of these documents: give what went into its filters, such as a raw dataset")
        return
    print_table(("of the run", "reason", "dropped by both", "by the run alone"), against.rows)
    print_line(f"{against.only_stage} of {len(trial.gone)} drops are this stage's alone")


def _print_examples(trial: "Trial", chars: int) -> None:
    shows = ""
    for example in trial.examples.chosen():
        if example.shows != shows:
            shows = example.shows
            print_line()
            print_line(f"--- {shows} ---")
        near = f" ({example.measure} {example.value:g}, limit {example.limit:g})" if example.measure else ""
        why = f": {example.detail}" if example.detail else ""
        print_line(f"{example.reason}{near}{why}  {example.source}  {example.url or example.id}")
        for line in example.text[:chars].strip().split("\n"):
            print_line(f"  | {line}")
    sys.stdout.flush()


COMMAND = Command(HELP, add_arguments, run)

"""`gristmill diff`: two outputs compared, dataset by dataset. A difference is a result: the exit code is 0."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gristmill.manifests.errors import EXIT_DONE, UsageError
from gristmill.pipeline.cli.output import emit_json, print_line, print_table

if TYPE_CHECKING:
    from gristmill.manifests.diff import DatasetDiff, Diff

HELP = """compare two runs

For each dataset: what was asked for differently, the counts of each step, and which records changed side. Two
datasets may be given as well, whatever their names. The exit code is 0 whatever is found.

for instance:
  gristmill diff out-before out-after
  gristmill diff out/web other/web --examples 20 --json"""

_CHANGES = {
    "kept_to_dropped": "kept in A, dropped in B",
    "dropped_to_kept": "dropped in A, kept in B",
    "moved": "dropped elsewhere or for another reason",
    "content": "kept in both with another content",
    "only_a": "only A has seen",
    "only_b": "only B has seen",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `diff`."""
    parser.add_argument("a", metavar="A", type=Path, help="an output, or a dataset in it")
    parser.add_argument("b", metavar="B", type=Path, help="another")
    parser.add_argument("--examples", type=int, default=5, metavar="N", help="records shown of each change (5)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """Compare and report."""
    from gristmill.manifests.diff import diff

    if args.examples < 0:
        raise UsageError("not a number of examples", "--examples", args.examples, "give 0 or more")
    found = diff(args.a, args.b, args.examples)
    if args.json:
        emit_json(found)
    else:
        _print(found)
    return EXIT_DONE


def _print(found: "Diff") -> None:
    if found.same:
        print_line("the same: every manifest has the same digest")
        return
    for dataset in found.datasets:
        print_line(f"{dataset.name}: {_verdict(dataset)}")
        if not dataset.same:
            _print_dataset(dataset)


def _verdict(dataset: "DatasetDiff") -> str:
    if dataset.same:
        return "the same"
    if dataset.digest_a is None or dataset.digest_b is None:
        return f"only in {'B' if dataset.digest_a is None else 'A'}"
    return "the same files, described differently" if dataset.same_files else "different"


def _print_dataset(dataset: "DatasetDiff") -> None:
    for asked in dataset.asked:
        print_line(f"  {asked['what']}: {asked['a']} in A, {asked['b']} in B")
    for change, count in dataset.changed.items():
        if count:
            print_line(f"  {count} records {_CHANGES[change]}")
    differing = [s for s in dataset.steps if s["a"] != s["b"]]
    if differing:
        print_table(("step", "kept in A", "in B", "reasons in A", "in B"), map(_step, differing))
    if dataset.moves:
        rows = [(_fate(move["a"]), _fate(move["b"]), move["count"]) for move in dataset.moves]
        print_table(("in A", "in B", "records"), rows)
    if dataset.examples:
        rows = [(e.id, _fate(e.a), _fate(e.b)) for e in dataset.examples]
        print_table(("for instance", "in A", "in B"), rows)
    print_line()


def _step(step: Mapping[str, Any]) -> tuple[object, ...]:
    sides = (step["a"], step["b"])
    kept = ["no such step" if side is None else side["kept"] for side in sides]
    reasons = ["" if s is None else ", ".join(f"{r} {n}" for r, n in s["reasons"].items()) for s in sides]
    return (step["step"], *kept, *reasons)


def _fate(fate: Mapping[str, str] | None) -> str:
    if fate is None:
        return "not seen"
    return " ".join(part for part in (fate["verdict"], fate["step"], fate["reason"]) if part)

"""`gristmill ls`: the datasets of an output with the books of each step."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gristmill.manifests.errors import EXIT_DONE
from gristmill.manifests.manifest import ALARMS
from gristmill.pipeline.cli.output import emit_json, print_line, print_table
from gristmill.pipeline.cli.reading import folder_of

HELP = """list the datasets of a run with the books of each step

For each step: records read, kept, dropped, quarantined (they could not be processed) and derived (made
from others), and how many went for which reason. DIR is what --out named, or one dataset's folder.

for instance:
  gristmill ls out
  gristmill ls out/web
  gristmill ls out --json"""


BUCKET_HEADERS = ("dataset", "rows of", "document tokens", "rows", "documents", "tokens", "of media", "padding %")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `ls`."""
    parser.add_argument("dir", metavar="DIR", help="an output, or a dataset in it")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """Print the listing."""
    from gristmill.manifests.listing import list_output

    with folder_of(args.dir) as folder:
        listing = list_output(folder)
    if args.json:
        emit_json(listing)
        return EXIT_DONE
    warn_of_sample(listing["sample"])
    headers = ("dataset", "kind", "records", "rows", "tokens", "state", "digest")
    print_table(headers, [_summary(dataset) for dataset in listing["datasets"]])
    if listing["pending"]:
        print_line(f"not made yet: {', '.join(listing['pending'])}")
    for name in listing["stopped"]:
        print_line(f"stopped by an alarm: {name}; see: gristmill ls {os.path.join(args.dir, ALARMS, name)}")
    print_line()
    books = [row for dataset in listing["datasets"] for row in _books(dataset)]
    headers = ("dataset", "step", "read", "kept", "dropped", "quarantined", "derived", "reasons")
    print_table(headers, books)
    buckets = [row for dataset in listing["datasets"] for row in _buckets(dataset)]
    if buckets:
        print_line()
        print_table(BUCKET_HEADERS, buckets)
    for line in _facts(listing["datasets"]):
        print_line(line)
    return EXIT_DONE


def _facts(datasets: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What else steps have to tell: how much was compared, what was too short for it, ..."""
    for dataset in datasets:
        for step in dataset["steps"]:
            told = [f"{name} {json.dumps(value)}" for name, value in step.get("facts", {}).items()]
            if told:
                yield f"{dataset['name']}.{step['step']}: {', '.join(told)}"


def _buckets(dataset: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """What the rows of a dataset are packed by, in their order."""
    for bucket in dataset["buckets"]:
        domain = "all domains" if bucket["domain"] is None else bucket["domain"] or "no domain"
        low, high = bucket["min_tokens"], bucket["max_tokens"]
        lengths = f">={low}" if high is None and low else "any" if high is None else f"{low}-{high}"
        rows = f"{bucket['first_row']}-{bucket['stop_row']}"
        counts = [bucket[name] for name in ("documents", "tokens", "image_tokens")]
        yield (dataset["name"], domain, lengths, rows, *counts, f"{100 * bucket['padding_frac']:.4f}")


def warn_of_sample(sample: float | None) -> None:
    """Say loudly that this is no whole run."""
    if sample is not None:
        print_line(f"THIS IS A SAMPLE of {sample:g} of the input, not the whole")


def state_of(dataset: Mapping[str, Any]) -> str:
    """What a reader must know of a dataset before using it; "complete" when nothing."""
    states: list[str] = []
    if dataset["sample"] is not None:
        states.append(f"SAMPLE of {dataset['sample']:g}")
    if dataset["until"] is not None:
        states.append(f"only until {dataset['until']}")
    if dataset["alarms"]:
        states.append("STOPPED BY AN ALARM")
    if dataset["stale"]:
        states.append("by another version of the recipe")
    return "; ".join(states) or "complete"


def _summary(dataset: Mapping[str, Any]) -> tuple[object, ...]:
    counts = [dataset[name] for name in ("records", "rows", "tokens")]
    return (dataset["name"], dataset["kind"], *counts, state_of(dataset), dataset["digest"][7:19])


def _books(dataset: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    # A line that leaves the terminal must stand for itself; on one, a name said once reads better.
    name = dataset["name"]
    for step in dataset["steps"]:
        ordered = sorted(step["reasons"].items(), key=lambda item: (-item[1], item[0]))
        reasons = ", ".join(f"{reason} {count}" for reason, count in ordered)
        counts = [step[n] for n in ("records_in", "kept", "dropped", "quarantined", "derived")]
        yield (name, step["step"], *counts, reasons)
        name = "" if sys.stdout.isatty() else name

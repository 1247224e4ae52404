"""`gristmill show`: the records of a dataset that a person would look at first, and clusters of duplicates."""

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gristmill.manifests.errors import EXIT_DONE, UsageError
from gristmill.manifests.manifest import FILE_LISTS
from gristmill.pipeline.cli.output import emit_json, print_line, say
from gristmill.pipeline.cli.reading import folder_of

if TYPE_CHECKING:
    from gristmill.manifests.find import Place

HELP = """show records of a dataset

Prints samples: for each step, verdict and reason a few records, chosen by content and seed. The text is what
the step saw, cut to --chars; control characters are shown as escapes.

With --clusters it lists the largest clusters of duplicates instead: the record that stayed, those that went for it,
with what was measured. --compare shows any two records side by side. --row shows a row of a dataset of trainer rows:
its documents, its segments with their texts, loss spans and padding. Of rows with planted tasks, --task shows one with
its evidence, --map all of them in a strip of the row, and --tasks what a whole dataset asks.

for instance:
  gristmill show out web
  gristmill show out web --verdict drop --step gopher_quality
  gristmill show out/web --reason too_short --limit 20 --json
  gristmill show out --clusters
  gristmill show out --compare 3f9a... 77c0...
  gristmill show out/train_8k --row 17
  gristmill show out/long_64k --tasks
  gristmill show out/long_64k --row 0 --task 3
  gristmill show out/long_64k --row 0 --map"""

VERDICTS = ("keep", "drop", "quarantine")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `show`."""
    parser.add_argument("dir", metavar="DIR", help="an output, or a dataset in it")
    parser.add_argument("dataset", metavar="DATASET", nargs="?", help="a dataset of the output (default: all)")
    parser.add_argument("--step", metavar="S", help="only records that this step judged")
    parser.add_argument("--reason", metavar="R", help="only records that went for this reason")
    parser.add_argument("--verdict", choices=VERDICTS, help="only records with this verdict")
    parser.add_argument("--limit", type=int, default=3, metavar="N", help="records of each reason (3)")
    parser.add_argument("--chars", type=int, default=400, metavar="N", help="characters of each text (400)")
    parser.add_argument("--clusters", action="store_true", help="the largest clusters of duplicates, --limit of them")
    parser.add_argument("--compare", nargs=2, metavar=("ID", "ID"), help="two records side by side, ids in full")
    parser.add_argument("--row", type=int, metavar="N", help="of a dataset of trainer rows: this row, counted from 0")
    parser.add_argument("--task", type=int, metavar="I", help="of --row: this planted task, counted from 0")
    parser.add_argument("--map", action="store_true", help="of --row: where its tasks stand, a line a task")
    parser.add_argument("--tasks", action="store_true", help="of a dataset of sequences: an overview of all its tasks")
    parser.add_argument(
        "--tokenizer", metavar="PATH", help="of --row: the dataset's tokenizer, where it is not packaged"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object, texts in full sample length")


def run(args: argparse.Namespace) -> int:
    """Print the samples."""
    if args.limit < 0 or args.chars < 0:
        raise UsageError("negative", "gristmill show", min(args.limit, args.chars), "give 0 or more")
    if args.row is not None or args.tasks:
        return _row(args)
    if args.task is not None or args.map:
        given = "--map" if args.task is None else "--task"
        raise UsageError("shows tasks of a row", "gristmill show", given, "add --row N")
    if args.tokenizer is not None:
        raise UsageError("decodes nothing here", "gristmill show --tokenizer", args.tokenizer, "add --row N")
    with folder_of(args.dir, FILE_LISTS if args.clusters or args.compare else ("samples",)) as folder:
        return _show(args, folder)


def _row(args: argparse.Namespace) -> int:
    from gristmill.pipeline.cli.show_row import show_row
    from gristmill.pipeline.cli.show_task import show_map, show_task
    from gristmill.pipeline.cli.show_tasks import show_tasks

    if args.clusters or args.compare or args.step or args.reason or args.verdict:
        raise UsageError("shows rows, and no records", "gristmill show", None, "leave out what picks records")
    if sum((args.task is not None, args.map, args.tasks)) > 1 or (args.tasks and args.row is not None):
        remedy = "give --row N, with --task I or --map, or --tasks alone"
        raise UsageError("one view at a time", "gristmill show", None, remedy)
    place = args.dir if args.dataset is None else f"{args.dir.rstrip('/')}/{args.dataset}"
    row: int | None = args.row
    if row is None:
        show_tasks(place, args.json)
    elif args.map:
        show_map(place, row, args.json)
    elif args.task is not None:
        show_task(place, row, args.task, args.tokenizer, args.json)
    else:
        show_row(place, row, args.chars, args.tokenizer, args.json)
    return EXIT_DONE


def _show(args: argparse.Namespace, folder: Path) -> int:
    from gristmill.manifests.find import places

    found = places(folder)
    if args.dataset is not None:
        from gristmill.pipeline.suggest import did_you_mean

        names = [place.name for place in found]
        found = [place for place in found if place.name == args.dataset]
        if not found:
            raise UsageError("no such dataset", args.dir, args.dataset, did_you_mean(args.dataset, names))
    if args.clusters or args.compare:
        return _duplicates(args, folder, found)
    samples: list[dict[str, Any]] = []
    for place in found:
        samples += choose([{"dataset": place.name, **s} for s in place.samples()], args)
    if args.json:
        emit_json({"samples": samples})
    else:
        _print(samples, args.chars)
        if not samples:
            say("no samples of that kind; `gristmill ls` shows steps and reasons")
    return EXIT_DONE


def _duplicates(args: argparse.Namespace, folder: Path, found: "Sequence[Place]") -> int:
    from gristmill.pipeline.cli.show_clusters import show_clusters, show_compared

    if args.compare:
        show_compared(folder, found, args.compare, args.json)
    else:
        show_clusters(folder, found, args.limit, args.chars, args.json, args.step, args.dir)
    return EXIT_DONE


def choose(samples: Iterable[dict[str, Any]], args: argparse.Namespace) -> list[dict[str, Any]]:
    """The samples asked for, `limit` of each step, verdict and reason."""
    chosen: list[dict[str, Any]] = []
    count: Counter[tuple[str, str, str]] = Counter()
    for sample in samples:
        cell = (sample["step"], sample["verdict"], sample["reason"])
        asked = zip((args.step, args.verdict, args.reason), cell, strict=True)
        if all(want is None or want == have for want, have in asked) and count[cell] < args.limit:
            count[cell] += 1
            chosen.append(sample)
    return chosen


def _print(samples: Iterable[Mapping[str, Any]], chars: int) -> None:
    for sample in samples:
        reason = f" {sample['reason']}" if sample["reason"] else ""
        print_line(f"{sample['dataset']}.{sample['step']}: {sample['verdict']}{reason}{_value(sample)}")
        print_line(f"  id {sample['id']}  {sample.get('url') or ''}".rstrip())
        text = sample.get("text") or ""
        for line in text[:chars].split("\n"):
            print_line(f"  | {line}")
        more = max(sample.get("chars") or 0, len(text)) - len(text[:chars])
        if more > 0:
            print_line(f"  | ... {more} characters more")
        print_line()


def _value(sample: Mapping[str, Any]) -> str:
    if sample.get("value") is None:
        return ""
    limit = f", limit {sample['limit']:g}" if sample.get("limit") is not None else ""
    return f" ({sample.get('measure') or 'measured'} {sample['value']:g}{limit})"

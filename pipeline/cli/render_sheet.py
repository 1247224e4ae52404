"""`gristmill render sheet`: pictures of an output with what is said of them drawn over."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from gristmill.manifests.errors import EXIT_DONE, UsageError
from gristmill.pipeline.cli.reading import folder_of

HELP = """draw contact sheets of render pairs, one PNG for each family

On each picture: the visible box of every annotation, its full box (dashed) where that is another, its point and its
role. The first records of each family are shown.

for instance:
  gristmill render sheet pairs --out sheets
  gristmill render sheet pairs/svg --out sheets --families charts,maps --each 24"""

EACH = 12
_NOT_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("dir", metavar="DIR", help="an output, or a dataset in it")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="where the sheets go")
    parser.add_argument("--families", metavar="A,B", help="only these families")
    parser.add_argument("--each", type=int, default=EACH, metavar="N", help=f"records of a family (default: {EACH})")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """Draw the sheets; prints a line for each."""
    from gristmill.pipeline.cli.output import emit_json, print_line
    from gristmill.pipeline.cli.run import output_folder

    if args.each < 1:
        raise UsageError("is no number of records", "--each", args.each, "give 1 or more")
    wanted = {f.strip() for f in args.families.split(",") if f.strip()} if args.families is not None else None
    out = output_folder(args.out)
    with folder_of(args.dir, ("shards",)) as folder:
        written = list(_sheets(Path(folder), out, wanted, args.each))
    if not written:
        raise UsageError("no record of these families", "--families", args.families, "see gristmill render report DIR")
    if args.json:
        emit_json({"out": args.out, "sheets": written})
        return EXIT_DONE
    for one in written:
        print_line(f"{one['path']}: {one['records']} of {one['of']} records of {one['source']} {one['family']}")
    return EXIT_DONE


def _sheets(folder: Path, out: Path, wanted: set[str] | None, each: int) -> Iterator[dict[str, object]]:
    from gristmill.manifests.commit import replace_file
    from gristmill.render.dataset import Record, records, rendered_datasets
    from gristmill.render.sheet import sheet

    for name, place, manifest in rendered_datasets(folder):
        first: dict[tuple[str, str], list[Record]] = {}
        counts: dict[tuple[str, str], int] = {}
        for record in records(place, manifest):
            key = (record.source, record.render["family"])
            if wanted is not None and key[1] not in wanted:
                continue
            counts[key] = counts.get(key, 0) + 1
            if counts[key] <= each:
                first.setdefault(key, []).append(record)
        for source, family in sorted(first):
            shown = first[(source, family)]
            title = f"{source} {family}: {len(shown)} of {counts[(source, family)]} records of {name}"
            path = out / f"{_NOT_NAME.sub('_', f'{name}.{source}.{family}')}.png"
            replace_file(path, sheet(shown, title))
            yield {
                "path": str(path),
                "source": source,
                "family": family,
                "records": len(shown),
                "of": counts[(source, family)],
            }

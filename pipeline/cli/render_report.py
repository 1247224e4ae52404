"""`gristmill render report`: how varied the render pairs of an output are."""

import argparse
from pathlib import Path

from gristmill.manifests.errors import EXIT_DONE
from gristmill.pipeline.cli.reading import folder_of

HELP = """tell how varied render pairs are, by family

Counts of attempts let through; distinct code skeletons (code without words, numbers, names and colours) and distinct
difference hashes of pictures, whole and among the first 200 and 1,000 records; the share of a family's skeletons that
other families have, too; pictures that come twice; annotations a record and how much of them is seen.

for instance:
  gristmill render report pairs
  gristmill render report pairs/svg --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("dir", metavar="DIR", help="an output, or a dataset in it")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """Print the report."""
    from gristmill.pipeline.cli.output import emit_json, print_line, print_table
    from gristmill.render.dataset import rendered_datasets
    from gristmill.render.report import HEADERS, diversity, table_rows

    with folder_of(args.dir, ("shards", "ledger")) as folder:
        reports = [diversity(place, manifest) for _, place, manifest in rendered_datasets(Path(folder))]
    if args.json:
        emit_json({"datasets": reports})
        return EXIT_DONE
    for report in reports:
        print_line(f"{report['dataset']} ({report['digest'][:19]})")
        print_table(HEADERS, table_rows(report))
        for source, told in report["sources"].items():
            for name, one in told["families"].items():
                if one["nearest"]:
                    frac = f"{100 * one['nearest_frac']:.1f}"
                    print_line(f"{source} {name}: {frac} % of its skeletons are in {one['nearest']}, too")
    return EXIT_DONE

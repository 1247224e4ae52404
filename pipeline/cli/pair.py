"""`gristmill pair`: what two documents have in common."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gristmill.manifests.errors import EXIT_DONE
from gristmill.pipeline.cli.command import Command
from gristmill.pipeline.cli.output import emit_json, print_line, print_table

if TYPE_CHECKING:
    from gristmill.pipeline.pair_similar import PairOptions, PairReport

HELP = """tell how similar two documents are, and whether minhash_dedup would merge them

Each FILE holds one document and is read by its suffix: a page is extracted first, .py and the like are code, whose
letters, marks and case stay as they are. The options are the parameters of minhash_dedup, with its defaults. A verdict
is a result: the exit code is 0 whatever is found, 3 when a file cannot be read, 2 when the command is wrong.

for instance:
  gristmill pair similar one.txt other.html
  gristmill pair similar a.py b.py --shingle 7 --containment --threshold 0.8
  gristmill pair similar one.txt other.txt --bands 20 --rows 5 --json
  gristmill pair similar one.txt other.txt --unit token --tokenizer ./tokenizer.json"""

ASKED = ("bands", "rows", "threshold", "shingle", "unit", "normalise", "tokenizer", "seed")
UNITS: Mapping[str, str] = {"word": "words", "char": "characters", "token": "tokens"}


def _arguments(parser: argparse.ArgumentParser) -> None:
    from gristmill.pipeline.pair_similar import THRESHOLD, PairOptions

    default = PairOptions().sketch
    parser.add_argument("a", metavar="FILE", type=Path, help="a document")
    parser.add_argument("b", metavar="FILE", type=Path, help="another one")
    parser.add_argument("--bands", type=int, default=default.bands, metavar="N", help=f"bands ({default.bands})")
    parser.add_argument("--rows", type=int, default=default.rows, metavar="N", help=f"rows of a band ({default.rows})")
    parser.add_argument(
        "--threshold", type=float, default=THRESHOLD, metavar="FRAC", help=f"similarity that merges ({THRESHOLD:g})"
    )
    parser.add_argument(
        "--shingle", type=int, default=default.shingles.n, metavar="N", help=f"units ({default.shingles.n})"
    )
    parser.add_argument(
        "--unit", choices=default.shingles.UNITS, default=default.shingles.unit, help="of a shingle (word)"
    )
    parser.add_argument(
        "--tokenizer", default="", metavar="NAME|FILE", help="of --unit token: a packaged one, or a file (deepseek)"
    )
    parser.add_argument(
        "--normalise", choices=default.shingles.FORMS, default="auto", help="auto: exact for code and mathematics"
    )
    parser.add_argument("--containment", action="store_true", help="judge by the share of the smaller document")
    parser.add_argument("--seed", type=int, default=default.seed, metavar="N", help=f"of all hashes ({default.seed})")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _options(args: argparse.Namespace) -> "PairOptions":
    from gristmill.pipeline.pair_similar import PairOptions
    from gristmill.stages.dedup.shingles import ShingleSpec
    from gristmill.stages.dedup.sketch import SketchSpec

    shingles = ShingleSpec(args.unit, args.shingle, args.normalise)
    sketch = SketchSpec(shingles, args.bands, args.rows, args.seed)
    options = PairOptions(sketch, args.threshold, args.containment, args.tokenizer)
    options.check()
    return options


def _similar(args: argparse.Namespace) -> int:
    from gristmill.pipeline.pair_similar import compare, read_document

    options = _options(args)
    report = compare(read_document(args.a), read_document(args.b), options)
    if args.json:
        asked = {name: getattr(args, name) for name in ASKED}
        judged_by = "containment" if args.containment else "jaccard"
        emit_json({**vars(report), "similarity": judged_by, "options": asked})
    else:
        _print(report, options)
    return EXIT_DONE


def _print(report: "PairReport", options: "PairOptions") -> None:
    sides = [(s.file, s.kind, s.domain or "", s.form, s.chars, s.shingles) for s in (report.a, report.b)]
    print_table(("file", "kind", "domain", "form", "characters", "shingles"), sides)
    print_line()
    spec = options.sketch
    unit = f"{spec.shingles.n} {UNITS[spec.shingles.unit]}"
    figures = (
        ("jaccard", f"{report.jaccard:.4f}", "shared shingles by those of both"),
        ("containment", f"{report.containment:.4f}", "shared shingles by those of the smaller"),
        ("shared shingles", report.shared_shingles, f"of {unit}"),
        ("bands shared", report.bands_shared, f"of {spec.bands}, of {spec.rows} rows each"),
        ("chance", f"{report.chance:.4f}", "that a pair of this jaccard shares a band"),
    )
    print_table(("measure", "value", "meaning"), figures)
    print_line()
    judged_by = "containment" if options.by_containment else "jaccard"
    verdict = "would merge" if report.would_merge else "would not merge"
    print_line(f"{verdict} (threshold of {judged_by} {options.threshold:g})")
    if report.note:
        print_line(f"note: {report.note}")
    for name, shown in (("shared", "in both"), ("only_a", "only in the first"), ("only_b", "only in the second")):
        for passage in report.examples[name]:
            print_line(f"{shown}: {passage}")


COMMANDS: Mapping[str, Command] = {"similar": Command(HELP, _arguments, _similar)}

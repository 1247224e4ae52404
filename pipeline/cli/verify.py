"""`gristmill verify`: whether an output is what its manifests say. Exits 0 sound, 3 no output, 4 faults."""

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gristmill.manifests.errors import EXIT_DONE, EXIT_VERIFY
from gristmill.manifests.remote_access import is_remote
from gristmill.pipeline.cli.output import emit_json, plain, print_line
from gristmill.pipeline.cli.told_progress import told_progress

if TYPE_CHECKING:
    from gristmill.manifests.verify import VerifyReport
    from gristmill.pipeline.rederive import Rederived
    from gristmill.pipeline.reprove import Reproved

HELP = """check every byte that a run's manifests name

Reads run.json, each manifest, each receipt and every file that they name, compares sizes and digests,
and balances the books: records between steps, ledgers against counts. One flipped byte is a fault and gives exit
code 4. --deep also looks into the shards: schemas, ids, hashes of texts, trainer rows; and it draws some records of
render pairs again, where the engines are those that made them, and proves every task of long sequences again, and
holds short cuts over all of them to chance.

for instance:
  gristmill verify out
  gristmill verify out/train_8k --deep
  gristmill verify s3://bucket/prefix
  gristmill verify my_mds          an export: every file of it
  gristmill verify out --json"""

FAULTS_SHOWN = 50
GATE_SHOWN = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `verify`."""
    parser.add_argument("dir", metavar="DIR", help="an output, or a dataset in it")
    parser.add_argument("--deep", action="store_true", help="also check what stands inside the shards")
    parser.add_argument("--tokenizer", metavar="PATH", help="of --deep: the rows' tokenizer, where it is not packaged")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def run(args: argparse.Namespace) -> int:
    """Verify and report."""
    report, mend = _verified(args)
    drawn = _drawn_again(args, report)
    proved = _proved_again(args, report)
    more = [f for one in (*drawn, *proved) for f in one.faults]
    faults = sorted([*report.faults, *more], key=lambda f: (f.path, f.kind))
    report = replace(report, ok=not faults, faults=faults)
    if args.json:
        again = [{k: v for k, v in vars(one).items() if k != "faults"} for one in drawn]
        tasks = [{k: v for k, v in vars(one).items() if k != "faults"} for one in proved]
        told = {"drawn_again": again, "proved_again": tasks}
        emit_json({**plain(report), "mend": mend, **{name: value for name, value in told.items() if value}})
    else:
        _print(args.dir, report)
        for one in drawn:
            what = one.why_not and f"not drawn again: {one.why_not}"
            print_line(f"{one.dataset} {one.domain}: {what or f'{one.looked_at} of {one.of} records drawn again'}")
        for one in proved:
            told = f"{one.rows} rows, {one.tasks} tasks proved again"
            print_line(f"{one.dataset}: {(one.why_not and f'not proved again: {one.why_not}') or told}")
            _print_gate(one)
        if report.faults:
            _print_mend(args.dir, mend)
    return EXIT_DONE if report.ok else EXIT_VERIFY


def _print_gate(proved: "Reproved") -> None:
    """The lines of a batch's gate that are least probable."""
    for line in proved.gate[:GATE_SHOWN]:
        told = f"{line['found']:g} of {line['tasks']}, {line['expected']:.1f} expected ({line['deviation']:+.1f} sigma)"
        note = "" if line["gated"] else "; too few tasks for a gate"
        print_line(f"  {line['family']} {line['what']}: {told}{note}")
    if len(proved.gate) > GATE_SHOWN:
        print_line(f"  and {len(proved.gate) - GATE_SHOWN} lines nearer to chance; --json lists all")


def _drawn_again(args: argparse.Namespace, report: "VerifyReport") -> "list[Rederived]":
    """Some records of render pairs against what their code makes, in an output that is sound and lies here."""
    if not args.deep or report.faults or is_remote(args.dir):
        return []
    from gristmill.pipeline.export.check import is_export
    from gristmill.pipeline.rederive import rederive

    return [] if is_export(Path(args.dir)) else list(rederive(Path(args.dir)))


def _proved_again(args: argparse.Namespace, report: "VerifyReport") -> "list[Reproved]":
    """The tasks of sequences, in an output that is sound and lies here."""
    if not args.deep or report.faults or is_remote(args.dir):
        return []
    from gristmill.pipeline.export.check import is_export
    from gristmill.pipeline.reprove import reprove

    return [] if is_export(Path(args.dir)) else list(reprove(Path(args.dir), args.tokenizer))


def _verified(args: argparse.Namespace) -> "tuple[VerifyReport, list[str]]":
    """The report, and the folders to remove to mend what it found."""
    from gristmill.manifests.mend import places_to_remove
    from gristmill.manifests.verify import verify
    from gristmill.pipeline.export.check import is_export, verify_export

    def mend(out: Path, report: "VerifyReport") -> list[str]:
        return places_to_remove(out, (f.path for f in report.faults)) if report.faults else []

    with told_progress("reading", _gigabytes, args.quiet) as progress:
        if not is_remote(args.dir):
            if is_export(Path(args.dir)):
                return verify_export(Path(args.dir), progress), []
            report = verify(Path(args.dir), args.deep, progress)
            return report, mend(Path(args.dir), report)
        from gristmill.manifests.remote_view import remote_view

        with remote_view(args.dir, receipts=True) as view:
            report = verify(view.folder, args.deep, progress, view)
            return report, mend(view.folder, report)


def _print(out: str, report: "VerifyReport") -> None:
    for fault in report.faults[:FAULTS_SHOWN]:
        print_line(f"{fault.path}: {fault.kind}: {fault.detail}")
    if len(report.faults) > FAULTS_SHOWN:
        print_line(f"... and {len(report.faults) - FAULTS_SHOWN} more; --json lists all")
    if report.pending:
        print_line(f"not made yet: {', '.join(report.pending)}")
    depth = "every byte and what stands in the shards" if report.deep else "every byte"
    checked = f"{report.checked} files, {report.bytes / 1e6:.1f} MB, {depth}"
    if report.ok:
        print_line(f"{out}: sound: {len(report.datasets)} datasets, {checked}")
    else:
        print_line(f"{out}: NOT SOUND: {len(report.faults)} faults in {checked}")


def _print_mend(out: str, mend: list[str]) -> None:
    """What a person does about damage: the work whose files are hurt goes, and is done again."""
    if not mend:
        print_line("to mend it, run the same recipe again; of an export, remove it and export again")
        return
    print_line("to mend it, remove these folders, then run the same recipe again:")
    for place in mend[:FAULTS_SHOWN]:
        print_line(f"  {os.path.join(out, place)}")
    if len(mend) > FAULTS_SHOWN:
        print_line(f"  and {len(mend) - FAULTS_SHOWN} more; --json lists all")


def _gigabytes(done: int, total: int) -> str | None:
    """A line, of what takes more than a moment."""
    return f"verify: {done / 1e9:.1f} of {total / 1e9:.1f} GB" if total > 1 << 30 else None

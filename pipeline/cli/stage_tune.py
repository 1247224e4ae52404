"""`gristmill stage tune`: how much a filter would keep at other limits, without running it again."""

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gristmill.manifests.errors import EXIT_DONE, UsageError
from gristmill.pipeline.cli.command import Command
from gristmill.pipeline.cli.output import emit_json, print_line, print_table
from gristmill.pipeline.suggest import did_you_mean

if TYPE_CHECKING:
    from gristmill.pipeline.trial.tune import Curve, Stored

HELP = """show the share kept against each limit of a filter

From the measures that a run stored beside its data (--measures all of `gristmill run` stores those of every record,
else of 1 %, chosen by content), so nothing is run again. STAGE is a step's name or its stage's; RUN an output or a
dataset in it. A table is printed, and a picture written to --plot (tune-DATASET-STEP.png in the working folder).

for instance:
  gristmill stage tune gopher_quality out
  gristmill stage tune gopher_quality out/web --set gopher_short_doc=30 --set gopher_too_many_bullets=0.8
  gristmill stage tune shouting out --json"""


PICTURES = (".png", ".svg", ".pdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `stage tune`."""
    parser.add_argument("stage", metavar="STAGE", help="a step of the run that has rules")
    parser.add_argument("run", metavar="RUN", type=Path, help="an output, or a dataset in it")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="REASON=LIMIT",
        help="what if this limit were another (repeatable)",
    )
    parser.add_argument("--plot", metavar="FILE", type=Path, help="where the picture goes (.png, .svg, .pdf)")
    parser.add_argument("--no-plot", action="store_true", help="no picture")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the table, write the picture."""
    from gristmill.pipeline.trial.tune import curves, stored_steps

    if args.plot and args.plot.suffix.lower() not in PICTURES:
        raise UsageError("no such kind of picture", "--plot", str(args.plot), f"end it in one of {', '.join(PICTURES)}")
    steps = stored_steps(args.stage, args.run)
    if args.plot and len(steps) > 1:
        raise UsageError("several datasets have this step", "--plot", str(args.plot), "name one, as OUT/DATASET")
    reports: list[dict[str, Any]] = []
    for stored in steps:
        found = curves(stored)
        limits = _limits(args.set, [curve.rule["reason"] for curve in found])
        plot = None if args.no_plot else _plot(args, stored, found)
        report = _as_data(stored, found, limits, plot)
        reports.append(report)
        if not args.json:
            _print(report)
    if args.json:
        emit_json({"stage": args.stage, "steps": reports})
    return EXIT_DONE


def _limits(settings: Sequence[str], reasons: Sequence[str]) -> dict[str, float]:
    limits: dict[str, float] = {}
    for setting in settings:
        reason, equals, text = setting.partition("=")
        if not equals or reason not in reasons:
            raise UsageError("not a reason of this step", "--set", setting, did_you_mean(reason, reasons))
        try:
            limits[reason] = float(text)
        except ValueError:
            limits[reason] = math.nan
        if math.isnan(limits[reason]):
            raise UsageError("not a number", f"--set {reason}", text, "for instance 0.3")
    return limits


def _plot(args: argparse.Namespace, stored: "Stored", found: "Sequence[Curve]") -> Path:
    from gristmill.pipeline.trial.tune_plot import draw

    path = args.plot or Path(f"tune-{stored.dataset}-{stored.step}.png")
    try:
        draw(stored, found, path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise UsageError("cannot be written", "--plot", str(path), error.strerror or "give another place") from error
    return path


def _as_data(
    stored: "Stored", found: "Sequence[Curve]", limits: Mapping[str, float], plot: Path | None
) -> dict[str, Any]:
    from gristmill.pipeline.trial.tune import keep_rate, margin

    now, _, _ = keep_rate(stored, {})
    report: dict[str, Any] = {
        "dataset": stored.dataset,
        "step": stored.step,
        "records": stored.records,
        "measured": stored.measured,
        "kept_frac": now,
        "margin": margin(now, stored.measured),
        "rules": [
            {**dict(curve.rule), "points": [vars(point) for point in curve.points], "kept_frac": curve.now.alone}
            for curve in found
        ],
        "plot": str(plot) if plot else None,
    }
    if limits:
        then, go, back = keep_rate(stored, limits)
        report["if"] = {"limits": dict(limits), "kept_frac": then, "go": go, "come_back": back}
    return report


def _print(report: Mapping[str, Any]) -> None:
    n = report["measured"]
    print_line(
        f"{report['dataset']}.{report['step']}: {n} of {report['records']} records measured; kept "
        f"{report['kept_frac']:.2%} (+-{report['margin']:.2%})"
    )
    rows: list[tuple[object, ...]] = []
    for rule in report["rules"]:
        for point in rule["points"]:
            mark = "now" if point["limit"] == rule["limit"] else ""
            what = f"{rule['measure']} {rule['direction']} {point['limit']:g}"
            rows.append((rule["reason"], what, f"{point['alone']:.2%}", f"{point['together']:.2%}", mark))
    print_table(("reason", "drop when", "rule alone keeps", "all rules keep", ""), rows)
    if "if" in report:
        then = report["if"]
        told = ", ".join(f"{reason}={limit:g}" for reason, limit in then["limits"].items())
        print_line(
            f"with {told}: kept {then['kept_frac']:.2%}; of the measured records {then['go']} go, "
            f"{then['come_back']} come back"
        )
    if report["plot"]:
        print_line(f"picture: {report['plot']}")
    print_line()


COMMAND = Command(HELP, add_arguments, run)

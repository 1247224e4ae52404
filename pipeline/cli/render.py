"""`gristmill render`: make pairs of code and picture, and look at them."""

import argparse
import os
import re
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gristmill.manifests.errors import EXIT_DONE, AlarmError, InputError, UsageError
from gristmill.pipeline.cli import render_report, render_sheet
from gristmill.pipeline.cli.command import Command
from gristmill.pipeline.cli.render_recipe import RECIPE, put_recipe, told_by_option
from gristmill.pipeline.cli.run import output_folder

if TYPE_CHECKING:
    from gristmill.manifests.manifest import Manifest
    from gristmill.pipeline.run import LoadedRecipe

REPORT = "render_report.json"

HELP = f"""make pairs of code and picture, verified (experimental)

DOMAIN is svg or web, or ./FILE.py:CLASS with the methods of gristmill.render.protocol.Domain. Each of --count slots is
filled by the first of five attempts that verification lets through: the picture is drawn from the code's text, what is
where in it is measured, and a second engine or a second look must agree. What is rejected stands in the books with its
reason, value and limit, and the run stops (exit 5) when too few are let through. The same seed, versions and fonts give
the same bytes, whatever the number of workers; a larger count keeps what is there. A smaller one, another seed or other
families want another DIR.

With --from, code that exists already is taken the same way: made safe, drawn, annotated, verified.

DIR becomes an output like any other, for ls, show, trace, verify, diff; its recipe is DIR/{RECIPE}, which a recipe of
your own writes as `render: {{svg: 200}}`, with steps behind it. `gristmill doctor` tells which engines work here.

for instance:
  gristmill render svg --count 200 --seed 1 --out pairs
  gristmill render svg --count 40 --families bar_chart,street_map --out try
  gristmill render svg --from icons/ "more/*.svg" --out icons
  gristmill render report pairs                     how varied they are, by family
  gristmill render sheet pairs --out sheets         pictures with their boxes, a sheet for each family
  gristmill ls pairs                                the books
  gristmill show pairs --step render                what was rejected, and why

exit codes: 0 made, 2 wrong usage or an engine is not there, 3 a file cannot be read, 5 too few were let through,
6 a worker or the disk was lost (run again to resume), 130 interrupted
"""

STEPS: tuple[str, ...] = ("picture_dedup",)
"""Steps behind `render`: a picture that comes again is no further pair."""

_DATASET = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `render`."""
    parser.add_argument("domain", metavar="DOMAIN", help="svg, web, or ./FILE.py:CLASS")
    parser.add_argument("--count", type=int, metavar="N", help="slots, each with at most one record")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="decides every draw (default: 0)")
    parser.add_argument("--out", required=True, metavar="DIR", help="where results go")
    parser.add_argument("--families", metavar="A,B", help="only these template families")
    parser.add_argument("--from", dest="from_", nargs="+", metavar="FILE", help="existing code: files, folders, globs")
    parser.add_argument("--license", metavar="L", help="licence of the records")
    parser.add_argument(
        "--min-accept-frac", type=float, metavar="FRAC", help="stop below this share of attempts let through"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: all cores; 0: in this one)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def run(args: argparse.Namespace) -> int:
    """Make the pairs; exit 0 when they are published."""
    started_s = time.monotonic()
    text, name = recipe_text(args)
    out = output_folder(args.out)
    loaded = put_recipe(out, text)
    try:
        manifest = _made(args, loaded, out)[name]
    except InputError as error:
        raise told_by_option(error, out, text) from error
    _tell(args, out / name, manifest, time.monotonic() - started_s)
    return EXIT_DONE


def _made(args: argparse.Namespace, loaded: "LoadedRecipe", out: Path) -> Mapping[str, "Manifest"]:
    from gristmill.pipeline.alarms import told_of
    from gristmill.pipeline.cli.output import say
    from gristmill.pipeline.cli.run import told_of_loss, use_scratch
    from gristmill.pipeline.engines.choose import workers_for
    from gristmill.pipeline.engines.local import LocalEngine
    from gristmill.pipeline.profile import load_profile
    from gristmill.pipeline.progress import progress
    from gristmill.pipeline.run import Run, RunOptions

    profile = load_profile(None)
    use_scratch(profile.scratch)
    with told_of_loss(out, args):
        engine = LocalEngine(out, workers_for(args.workers, profile.workers))
        try:
            with progress(out, args.quiet) as notify:
                return Run(loaded, out, engine, RunOptions(), notify).execute()
        except AlarmError as stop:
            for line in told_of(stop)[1:]:
                say(f"alarm: {line}")
            raise
        finally:
            engine.close()


def recipe_text(args: argparse.Namespace) -> tuple[str, str]:
    """The recipe that a command line means, and the name of its one dataset. Raises UsageError."""
    import yaml

    from gristmill.render import domains

    if (args.count is None) == (args.from_ is None):
        raise UsageError("takes one of both", "--count, --from", None, "give --count N, or --from FILE...")
    if not all(args.from_ or ["."]):
        raise UsageError("names nothing", "--from", "", "give files, folders or globs; . is this folder")
    out = Path(args.out).resolve()
    domain = args.domain
    if domains.is_user_file(domain):
        path, _, attribute = domain.rpartition(":")
        domain = f"{_from_out(path, out)}:{attribute}"
    name = domains.load(args.domain, Path()).name
    if not _DATASET.fullmatch(name):
        raise UsageError("no dataset can bear the domain's name", "DOMAIN", name, "use a-z, 0-9, _ and -")
    wanted: dict[str, Any] = {"count": args.count} if args.from_ is None else {}
    if args.from_ is not None:
        wanted["from"] = [_from_out(pattern, out) for pattern in args.from_]
    if args.families is not None:
        wanted["families"] = [family.strip() for family in args.families.split(",") if family.strip()]
    if args.min_accept_frac is not None:
        wanted["min_accept_frac"] = args.min_accept_frac
    license_ = {"license": args.license} if args.license else {}
    dataset = {"render": {domain: wanted}, **license_, "steps": list(STEPS)}
    recipe = {"name": f"render-{name}", "seed": args.seed, "datasets": {name: dataset}}
    return yaml.safe_dump(recipe, sort_keys=False, allow_unicode=True), name


def _from_out(pattern: str, out: Path) -> str:
    """A path of the command line as a recipe in the output names it: so the output may be moved with what it reads."""
    if "://" in pattern:
        return pattern
    found = os.path.relpath(os.path.realpath(os.path.expanduser(pattern)), out)
    return os.path.join(found, "") if pattern.endswith("/") else found


def _tell(args: argparse.Namespace, folder: Path, manifest: "Manifest", seconds: float) -> None:
    from gristmill.manifests.canonical import canonical_json
    from gristmill.manifests.commit import replace_file
    from gristmill.pipeline.cli.output import emit_json, print_line, print_table
    from gristmill.render.report import HEADERS, diversity, table_rows

    report = diversity(folder, manifest)
    replace_file(folder.parent / REPORT, canonical_json(report))
    step = manifest["steps"][0]
    told = {"attempts": step["records_in"], "accepted": step["kept"], "reasons": step["reasons"]}
    slots = next(iter(manifest["facts"]["render"].values()), {})
    if args.json:
        made = {"out": args.out, "dataset": manifest["name"], "digest": manifest["digest"], **told, "slots": slots}
        emit_json({**made, "records": manifest["totals"]["records"], "seconds": round(seconds, 3), "report": report})
        return
    print_table(HEADERS, table_rows(report))
    print_line()
    frac = 100 * step["kept"] / max(step["records_in"], 1)
    print_line(f"accepted {step['kept']} of {step['records_in']} attempts ({frac:.1f} %) in {seconds:.1f} s")
    for reason, count in sorted(step["reasons"].items(), key=lambda item: (-item[1], item[0])):
        print_line(f"rejected {count}: {reason}")
    if slots.get("empty_slots"):
        print_line(f"slots without a sample: {slots['empty_slots']} of {slots['slots']}")
    out = shlex.quote(args.out)
    print_line("look with:")
    sheets = f"render sheet {out} --out {out}_sheets"
    for command in (f"ls {out}", f"show {out} --step render", sheets, f"verify --deep {out}"):
        print_line(f"  gristmill {command}")


COMMANDS = {
    "report": Command(render_report.HELP, render_report.add_arguments, render_report.run),
    "sheet": Command(render_sheet.HELP, render_sheet.add_arguments, render_sheet.run),
}

"""`gristmill run`: make the datasets of a recipe."""

import argparse
import errno
import os
import shlex
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gristmill.manifests.commit import OBJECTS
from gristmill.manifests.errors import (
    EXIT_DONE,
    EXIT_ENGINE,
    AlarmError,
    EngineMissingError,
    GristmillError,
    StorageLostError,
    UsageError,
)
from gristmill.manifests.receipt import RECEIPT
from gristmill.manifests.remote_access import is_remote, obstore
from gristmill.pipeline.cli.reading import told_of_url
from gristmill.pipeline.cli.refused import expected

if TYPE_CHECKING:
    from gristmill.pipeline.replay import Replay

QUARANTINED_FRAC_SHOWN = 0.2

HELP = """make the datasets of a recipe

Each dataset is published under --out when it is done; work that is already there is found, not
done again, so the same command resumes a run that was interrupted in any way. Results do not depend on
--workers or --engine.

A step may declare an alarm, `- c4: {alarm: {max_drop_frac: 0.3}}`: where it drops and quarantines more than that of the
records of any source (of 100 records or more; `min_records` sets another number), or cuts more than `max_cut_frac` of
its characters, the run stops with exit code 5. What was done stays, what went can be looked at under
OUT/alarms/DATASET, and when the alarm is raised the same command goes on.

A profile is a table of profiles.toml, which is looked for in the working directory, then in ~/.config/gristmill
($GRISTMILL_PROFILES names another): `workers`, `engine`, `master`, `executor`, and `scratch`, the folder for temporary
files of the run and its workers (TMPDIR), relative to the file and made when absent; below it the tables `spark`,
`slurm` and `ray`.

What a machine's speed or memory decided (a page that took too long) is recorded with the work that met it. With
--replay the same work is done as the record of another output says, so that both have the same bytes, whatever the
machine or the engine.

for instance:
  gristmill run recipe.yaml --out out
  gristmill run recipe.yaml --out again --engine spark --replay out    the same bytes, on other machines
  gristmill run recipe.yaml --out try --sample 0.01          one record in a hundred, by content
  gristmill run recipe.yaml --out out --until web.language   stop behind a step and look
  gristmill run recipe.yaml --out out --set datasets.web.steps.gopher_quality.min_doc_words=20
  gristmill run recipe.yaml --out out --set datasets.web.steps.c4.alarm.max_drop_frac=0.3

exit codes: 0 all datasets are made, 2 wrong recipe or usage, 3 an input cannot be read, 5 an alarm stopped the run,
6 a worker or the disk was lost (run again to resume), 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `run`."""
    parser.add_argument("recipe", metavar="RECIPE", help="a YAML file, or the name of a packaged recipe")
    parser.add_argument("--out", required=True, metavar="DIR", help="where results go: a folder, or s3://BUCKET/PREFIX")
    parser.add_argument("--engine", metavar="E", help="where tasks run: local (default), spark, or datatrove")
    parser.add_argument("--master", metavar="URL", help="Spark's cluster: local[*] (default), spark://HOST:PORT, yarn")
    parser.add_argument("--executor", metavar="X", help="datatrove's executor: local (default), slurm, or ray")
    parser.add_argument("--profile", metavar="P", help="a table of profiles.toml: workers, engine, scratch")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: all cores; 0: in this one)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a value, like seed=3")
    parser.add_argument(
        "--measures",
        choices=("sample", "all"),
        default="sample",
        help="store measures of 1 %% or all records",
    )
    group = parser.add_mutually_exclusive_group()
    for option, text in (
        ("only", "just this; what it needs must be finished"),
        ("from", "from this step on; what comes before must be finished"),
        ("until", "up to this step, and what it needs"),
    ):
        group.add_argument(f"--{option}", dest=f"{option}_", metavar="DATASET[.STEP]", help=text)
    parser.add_argument("--sample", type=float, metavar="FRAC", help="read this fraction, by content hash")
    parser.add_argument("--replay", metavar="OUT", help="an output whose external effects hold here, too")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def output_folder(text: str) -> Path:
    """The folder that results go to, made when absent. Raises UsageError when it cannot be one."""
    if not text:
        raise UsageError("names nothing", "--out", text, "give a folder")
    if is_remote(text):
        raise UsageError("this command writes to a folder", "--out", None, "give one")
    try:
        out = Path(text).resolve()
        out.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, FileNotFoundError, NotADirectoryError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"no folder can be made there ({reason})", "--out", text, "give another place") from None
    except OSError as error:
        if error.errno not in (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL, errno.EILSEQ):
            raise
        raise UsageError(f"no folder can be made there ({error.strerror})", "--out", text, "give another") from None
    return out


@contextmanager
def output_of_run(text: str) -> Generator[Path]:
    """The folder that a run works in: its output, or the working copy of one in object storage. As `output_folder`."""
    if not is_remote(text):
        yield output_folder(text)
        return
    with told_of_url(text) as copy:
        yield copy


def replayed_output(text: str) -> "Replay":
    """The output whose record is replayed. Raises UsageError when it is none."""
    from gristmill.manifests.open_store import open_store
    from gristmill.manifests.working_copy import working_copy
    from gristmill.pipeline.replay import Replay

    if is_remote(text):
        obstore()
        return Replay(open_store(working_copy(text)), text.rstrip("/"))
    remedy = "give the --out of a run that did some work: a folder, or s3://BUCKET/PREFIX"
    try:
        sound = bool(text) and (Path(text) / OBJECTS).is_dir()
    except (OSError, ValueError):
        sound = False
    if not sound:
        raise UsageError("there is no work of a run in it", "--replay", text, remedy)
    return Replay(open_store(Path(text).resolve()), text)


def use_scratch(folder: str | None) -> None:
    """Have this process, and those that it starts from here on, make temporary files in a folder, made when absent.

    Raises UsageError when it cannot be one that can be written to.
    """
    if folder is None:
        return
    remedy = "name a folder that you may write to"
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"no folder can be made there ({error.strerror})", "scratch", folder, remedy) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError("cannot be written to", "scratch", folder, remedy)
    os.environ["TMPDIR"] = folder
    tempfile.tempdir = None  # else it stays what it was when somebody first asked


def run(args: argparse.Namespace) -> int:
    """Make the datasets; exit 0 when all are published."""
    from gristmill.pipeline.alarms import told_of
    from gristmill.pipeline.build_render import shipped_files
    from gristmill.pipeline.cli.output import say
    from gristmill.pipeline.engines.choose import choice_of, engine_for
    from gristmill.pipeline.profile import load_profile
    from gristmill.pipeline.progress import progress
    from gristmill.pipeline.recipe import load_recipe
    from gristmill.pipeline.recipe_files import recipe_files
    from gristmill.pipeline.run import Run, RunOptions, load
    from gristmill.pipeline.selection import OPTIONS, Selection, parse_selection

    started_s = time.monotonic()
    profile = load_profile(args.profile)
    choice = choice_of(args, profile)
    if args.sample is not None and not 0 < args.sample <= 1:
        raise UsageError("not a fraction", "--sample", args.sample, "give a number above 0, at most 1")
    recipe = load_recipe(Path(args.recipe), args.set)
    loaded = load(recipe)
    chosen = [(o, getattr(args, f"{o}_")) for o in OPTIONS if getattr(args, f"{o}_")]
    selection = parse_selection(recipe, *chosen[0]) if chosen else Selection()
    use_scratch(profile.scratch)  # where the working copy of an output in object storage goes, too
    replay = None if args.replay is None else replayed_output(args.replay)
    options = RunOptions(args.sample, args.measures == "all", selection, keeps_copy=False, replay=replay)
    steps = (step for spec in recipe.datasets for step in loaded.steps(spec))
    shipped = recipe_files(recipe.base_dir, steps, shipped_files(loaded.renders))
    with output_of_run(args.out) as out, told_of_loss(out, args):
        engine = engine_for(choice, out, shipped)
        try:
            with progress(out, args.quiet) as notify:
                manifests = Run(loaded, out, engine, options, notify).execute()
        except AlarmError as stop:
            for line in told_of(stop)[1:]:
                say(f"alarm: {line}")
            raise
        finally:
            engine.close()
    _report(args, manifests, time.monotonic() - started_s, replay)
    return EXIT_DONE


@contextmanager
def told_of_loss(out: Path, args: argparse.Namespace) -> Generator[None]:
    """Say what a run leaves, and how it goes on, where it ends with exit code 6 (a lost engine, a full disk), or where
    an engine is not there that is to go on with what another run has done."""
    try:
        yield
    except (GristmillError, OSError) as error:
        told = expected(error) if isinstance(error, OSError) else error
        lost = told is not None and told.exit_code == EXIT_ENGINE
        if lost and isinstance(error, StorageLostError) and is_remote(args.out):
            _tell(args, f"what stands in {args.out}, which cannot be asked now")
        elif lost or isinstance(error, EngineMissingError):
            done = _committed(out)
            if lost or done:
                count = "an unknown number of" if done is None else done
                _tell(args, f"{count} tasks in {args.out}; datasets published: {_published(out) or 'none yet'}")
        raise


def _tell(args: argparse.Namespace, committed: str) -> None:
    from gristmill.pipeline.cli.output import say

    say(f"committed: {committed}")
    say(f"resume with: gristmill {shlex.join(args.called_with)}")


def _committed(out: Path) -> int | None:
    """Tasks with a whole receipt; None where that cannot be told."""
    from gristmill.manifests.open_store import open_store

    with suppress(GristmillError, OSError):
        keys = [path.parent.name for path in (out / OBJECTS).glob(f"*/{RECEIPT}")]
        return sum(found is not None for found in open_store(out).find_all(keys))
    return None


def _published(out: Path) -> str:
    from gristmill.manifests.manifest import published

    with suppress(GristmillError, OSError, ValueError):
        return ", ".join(name for name, _ in published(out))
    return ""


def _report(
    args: argparse.Namespace, manifests: Mapping[str, Mapping[str, Any]], seconds: float, replay: "Replay | None"
) -> None:
    from gristmill.pipeline.cli.output import emit_json, print_line, print_table

    if args.json:
        datasets = [{"name": name, "path": name, "digest": m["digest"], **m["totals"]} for name, m in manifests.items()]
        report = {"out": args.out, "sample": args.sample, "seconds": round(seconds, 3), "datasets": datasets}
        if replay is not None:
            report["replay"] = {"out": args.replay, "tasks": replay.tasks, "recorded": replay.recorded}
        emit_json({**report, "warnings": [*warnings(manifests, args.out), *_afresh(replay)]})
        return
    if args.sample is not None:
        print_line(f"THIS IS A SAMPLE of {args.sample:g} of the input")
    rows = [(name, *_counts(m), m["digest"][7:19]) for name, m in manifests.items()]
    print_table(("dataset", "dropped", "quarantined", "records", "rows", "tokens", "digest"), rows)
    for line in [*warnings(manifests, args.out), *_afresh(replay)]:
        print_line(line)
    print_line(f"done in {seconds:.1f} s; look with: gristmill ls {args.out}")


def _afresh(replay: "Replay | None") -> list[str]:
    """A warning where tasks had no record to replay."""
    if replay is None or replay.recorded == replay.tasks:
        return []
    fresh = replay.tasks - replay.recorded
    return [f"WARNING: {fresh} of {replay.tasks} tasks have no record in {replay.shown} and were done afresh"]


def _counts(manifest: Mapping[str, Any]) -> tuple[object, ...]:
    gone = [sum(step[key] for step in manifest["steps"]) for key in ("dropped", "quarantined")]
    totals = manifest["totals"]
    return (*gone, totals["records"], totals["rows"] or "", totals["tokens"] or "")


def _left_lines(name: str, manifest: Mapping[str, Any]) -> Iterator[str]:
    """Steps that could not compare everything that they should have."""
    for step in manifest["steps"]:
        facts = manifest["facts"].get(step["step"])
        if isinstance(facts, Mapping) and facts.get("large_left"):
            yield (
                f"WARNING: {name}.{step['step']}: not all pairs were compared of {facts['large_groups']} groups (the "
                f"largest of {facts['largest_group']}) that share a band key and are like one another too seldom; use "
                "more rows a band, or a larger max_bucket"
            )


def warnings(manifests: Mapping[str, Mapping[str, Any]], out: Path | str = "OUT") -> list[str]:
    """A line for each dataset that read nothing, and for each step and source that quarantined much of it, let
    nothing through, or was over its alarm with too few records to stop the run."""
    from gristmill.pipeline.alarms import spared_lines

    lines: list[str] = []
    for name, manifest in manifests.items():
        if manifest["steps"][0]["step"] == "read" and not manifest["inputs"]:
            globs = ", ".join(manifest["origin"]["glob"])
            lines.append(f"WARNING: {name} read nothing: no file matches {globs}")
        for step in manifest["steps"]:
            for source, tally in step["sources"].items():
                quarantined, records = tally["quarantined"], tally["records_in"]
                if not records or (tally["kept"] and quarantined <= QUARANTINED_FRAC_SHOWN * records):
                    continue
                reason = max(tally["reasons"], key=lambda r: (tally["reasons"][r], r))
                what = f"quarantined {quarantined}" if quarantined else "kept none"
                lines.append(
                    f"WARNING: {name}.{step['step']} {what} of {records} records of {source}, most for {reason}; "
                    f"see: gristmill show {out} {name} --step {step['step']}"
                )
        lines.extend(spared_lines(name, manifest))
        lines.extend(_left_lines(name, manifest))
    return lines

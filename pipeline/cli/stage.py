"""`gristmill stage`: which stages there are, and what they say of a document.

`try`, `tune` and `check` have files of their own.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gristmill.manifests.errors import EXIT_DONE, GristmillError, InputError, UsageError
from gristmill.pipeline.cli import stage_check, stage_try, stage_tune
from gristmill.pipeline.cli.command import Command
from gristmill.pipeline.cli.output import emit_json, print_line, print_table, print_text
from gristmill.pipeline.suggest import did_you_mean

if TYPE_CHECKING:
    from gristmill.pipeline.judge import Judgement
    from gristmill.stages.protocol import RowStage

LIST_HELP = """list every stage with its parameters, limits and reasons

Built-in stages and those of installed plug-ins; a stage of your own file is named as ./FILE.py:FUNCTION.

for instance:
  gristmill stage list
  gristmill stage list gopher_quality      parameters, limits, sources and reasons of one
  gristmill stage list --full              those of all
  gristmill stage list --json"""

JUDGE_HELP = """tell what stages would say of a document, without a recipe

Each STAGE in turn sees what the one before it kept, as in a recipe. A file is read by its suffix: .html as a
page, .jsonl a record a line, .parquet, .arrow, .warc, .wet, .py and the like as code, all else as
text. Without FILE, or for -, text is read from standard input. A verdict is a result: the exit code is 0.

for instance:
  gristmill stage judge gopher_quality page.txt
  gristmill stage judge extract_html,language page.html --set language.keep='[en, fr]'
  gristmill stage judge ./my_filters.py:shouting docs.jsonl --json
  some-command | gristmill stage judge gopher_quality --set gopher_quality.min_doc_words=20"""

STDIN = "-"


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stages", nargs="*", metavar="STAGE", help="show one of them in full")
    parser.add_argument("--full", action="store_true", help="show all of them in full")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _list(args: argparse.Namespace) -> int:
    from gristmill.stages import catalogue

    described = [catalogue.describe(name, Path()) for name in args.stages] or catalogue.list_stages()
    found = [{**stage, "about": _about(stage["module"])} for stage in described]
    if args.json:
        emit_json({"stages": found})
    elif args.stages or args.full:
        for stage in found:
            _print_stage(stage)
    else:
        print_table(("stage", "kind", "what it does"), [(s["name"], s["kind"], s["doc"]) for s in found])
    return EXIT_DONE


def _about(module: str) -> str:
    """What a stage's module says first: what it is, and after whom."""
    loaded = sys.modules.get(module)
    doc = loaded.__doc__ if loaded else None
    return " ".join((doc or "").partition("\n\n")[0].split())


def _print_stage(stage: Mapping[str, Any]) -> None:
    print_line(f"{stage['name']}: {stage['doc']}")
    if stage["about"]:
        print_line(stage["about"])
    print_line(f"{stage['shape']}, version {stage['version']}, in {stage['module']}")
    sections = {
        ("parameter", "type", "default", "meaning"): [
            (p["name"], p["type"], p["default"], p["doc"]) for p in stage["params"]
        ],
        ("reason", "dropped when", "source"): [(r["reason"], _when(r), r["source"]) for r in stage["rules"]],
        ("reason", "verdict", "meaning"): [(r["reason"], r["verdict"], r["doc"]) for r in stage["reasons"]],
    }
    for headers, rows in sections.items():
        if rows:
            print_line()
            print_table(headers, rows)
    print_line()


def _when(rule: Mapping[str, Any]) -> str:
    own = rule.get("by_profile") or {}
    others = ", ".join(f"{name} {'off' if limit is None else format(limit, 'g')}" for name, limit in own.items())
    return f"{rule['measure']} is {rule['direction']} {rule['limit']:g}" + (f" ({others})" if others else "")


def _judge_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stages", metavar="STAGE[,STAGE...]", help="names of stages, or ./FILE.py:FUNCTION")
    parser.add_argument("files", nargs="*", metavar="FILE", help="documents; - or none is standard input")
    parser.add_argument(
        "--set", action="append", default=[], metavar="STAGE.KEY=VALUE", help="a parameter (repeatable)"
    )
    parser.add_argument("--as", dest="kind", metavar="KIND", help="read every file as html, jsonl, text, code ...")
    parser.add_argument("--text", action="store_true", help="print the text of changed records")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _judge(args: argparse.Namespace) -> int:
    from gristmill.pipeline.recipe_shape import label_steps

    names = args.stages.split(",")
    labels = label_steps(names)
    stages = load_row_stages(names, labels, parse_settings(args.set, labels))
    judgements = list(_judge_all(args.files or [STDIN], args.kind, stages, labels))
    if args.json:
        emit_json({"files": judgements})
        return EXIT_DONE
    for judgement in judgements:
        _print_judgement(judgement, args.text)
    return EXIT_DONE


def parse_settings(settings: Iterable[str], labels: Sequence[str], one: bool = False) -> dict[str, dict[str, Any]]:
    """Label -> parameters, from `STAGE.KEY=VALUE`; STAGE is a label, or with `one` left out. Raises UsageError."""
    from gristmill.pipeline.recipe_yaml import parse_value

    params: dict[str, dict[str, Any]] = {label: {} for label in labels}
    for setting in settings:
        path, equals, text = setting.partition("=")
        label, dot, key = (labels[0], ".", path.removeprefix(f"{labels[0]}.")) if one else path.rpartition(".")
        if not (equals and dot and key):
            shape, example = ("KEY=VALUE", "") if one else ("STAGE.KEY=VALUE", "gopher_quality.")
            raise UsageError(f"not {shape}", "--set", setting, f"for instance {example}min_doc_words=20")
        if label not in params:
            raise UsageError("not a stage that judges", f"--set {path}", label, did_you_mean(label, labels))
        params[label][key] = parse_value(text, f"--set {path}").plain()
    return params


def load_row_stages(
    names: Sequence[str],
    labels: Sequence[str],
    params: Mapping[str, Mapping[str, Any]],
    command: str = "stage judge",
) -> "list[RowStage]":
    """The stages, ready to run. Raises UsageError for one that needs a whole dataset."""
    from gristmill.stages import catalogue
    from gristmill.stages.protocol import Expander, Filter, Mapper

    stages: list[RowStage] = []
    for name, label in zip(names, labels, strict=True):
        stage = catalogue.load(name, params[label], Path())
        if not isinstance(stage, Filter | Mapper):
            does = "makes further records" if isinstance(stage, Expander) else "looks at a whole dataset"
            what = f"{does} and has no verdict on one document"
            raise UsageError(what, command, name, "name row-local stages (stage list: filter, mapper)")
        stages.append(stage)
    catalogue.prepare(stages)
    return stages


def _judge_all(
    files: Sequence[str], kind: str | None, stages: "Sequence[RowStage]", labels: Sequence[str]
) -> "Iterator[Judgement]":
    from gristmill.pipeline.judge import KINDS, judge_file, kind_of_file

    if kind is not None and kind not in KINDS:
        raise UsageError("no such kind of file", "--as", kind, did_you_mean(kind, KINDS))
    for name in files:
        if name == STDIN:
            yield from _judge_stdin(kind or "text", stages, labels)
        else:
            path = Path(name)
            yield from judge_file(path, name, KINDS[kind or kind_of_file(path)], stages, labels)


def _judge_stdin(kind: str, stages: "Sequence[RowStage]", labels: Sequence[str]) -> "Iterator[Judgement]":
    from gristmill.pipeline.judge import KINDS, judge_file

    if sys.stdin.isatty():
        raise UsageError("no FILE, and standard input is a terminal", "stage judge", None, "name files")
    with tempfile.TemporaryDirectory(prefix="gristmill-judge-") as folder:
        path = Path(folder) / "stdin"
        with path.open("wb") as opened:
            while piece := sys.stdin.buffer.read(1 << 20):
                opened.write(piece)
        try:
            yield from judge_file(path, STDIN, KINDS[kind], stages, labels)
        except InputError as error:
            raise _from_stdin(error) from error


def _from_stdin(error: GristmillError) -> InputError:
    return InputError(error.what, "standard input", error.value, error.remedy)


def _print_judgement(judgement: "Judgement", with_text: bool) -> None:
    j = judgement
    why = ""
    if j.reason is not None:
        why = f"  {j.step}: {j.reason}"
    if j.measure and j.value is not None:
        why += f" ({j.measure} is {j.value:g}" + (f", the limit {j.limit:g})" if j.limit is not None else ")")
    if j.detail:
        why += f": {j.detail}"
    which = f"[{j.record}]" if j.record is not None else f" at {j.offset}"
    print_line(f"{j.file}{which}  {j.verdict}{why}")
    measures = {name: value for name, value in j.measures.items() if value is not None}
    if measures:
        print_line("    " + "  ".join(f"{name}={value:g}" for name, value in measures.items()))
    if j.cut_chars:
        print_line("    cut: " + "  ".join(f"{reason} {chars}" for reason, chars in j.cut_chars.items()))
    for column, value in j.changes.items():
        print_line(f"    {column} becomes {value!r}")
    if j.text is not None:
        print_line(f"    the text becomes {len(j.text)} characters{':' if with_text else ' (--text shows them)'}")
        if with_text:
            print_text(j.text)


COMMANDS: Mapping[str, Command] = {
    "list": Command(LIST_HELP, _list_arguments, _list),
    "judge": Command(JUDGE_HELP, _judge_arguments, _judge),
    "try": stage_try.COMMAND,
    "tune": stage_tune.COMMAND,
    "check": stage_check.COMMAND,
}

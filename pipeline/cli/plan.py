"""`gristmill plan`: show steps and inputs of a recipe, and what a run would reuse."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import EXIT_DONE, UsageError
from gristmill.manifests.remote_access import is_remote
from gristmill.pipeline.cli.reading import told_of_url
from gristmill.pipeline.cli.trainer_plan import described, draw, is_trainer_plan
from gristmill.pipeline.cli.trainer_plan_tables import show

HELP = """show steps and inputs of a recipe, and what a run would reuse

Nothing is done and nothing written but a cache of input digests beside --out. Behind the first gap of
a dataset the rest is not known yet and is not guessed. The state `alarm` says that what is done would stop a run.

for instance:
  gristmill plan recipe.yaml
  gristmill plan recipe.yaml --out out     what is already there (or s3://BUCKET/PREFIX)
  gristmill plan recipe.yaml --resolved    the recipe with every default written out
  gristmill plan trainer.yaml              a file with `stages:`: what each stage reads of each source, and how often
  gristmill plan trainer.yaml --plots plots    shares of its stages, epochs and exposure, as PNG
  gristmill plan out/train_8k              the same of one dataset of rows
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `plan`."""
    parser.add_argument(
        "recipe", metavar="RECIPE", help="a YAML file, the name of a packaged recipe, or a trainer's plan"
    )
    parser.add_argument("--out", metavar="DIR", help="the output whose finished work counts")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a value")
    parser.add_argument("--sample", type=float, metavar="FRAC", help="as in run")
    parser.add_argument("--measures", choices=("sample", "all"), default="sample", help="as in run")
    parser.add_argument("--resolved", action="store_true", help="print the recipe with all defaults, as YAML")
    parser.add_argument("--plots", metavar="DIR", help="of a trainer's plan: draw shares, epochs and exposure there")
    parser.add_argument(
        "--global-batch",
        type=int,
        metavar="ROWS",
        help="of a trainer's plan: rows of a batch, to count them (1)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """Print the plan."""
    from gristmill.pipeline.cli.output import emit_json, print_text
    from gristmill.pipeline.plan import make_plan
    from gristmill.pipeline.recipe import load_recipe
    from gristmill.pipeline.run import load

    if is_remote(args.recipe) or is_trainer_plan(Path(args.recipe)):
        return _trainer_plan(args)
    _refuse(
        ("--plots", args.plots), ("--global-batch", args.global_batch), remedy="name a trainer's plan", of="a recipe"
    )
    loaded = load(load_recipe(Path(args.recipe), args.set))
    options: dict[str, Any] = {"sample": args.sample, "measures_all": args.measures == "all"}
    if args.out and is_remote(args.out):
        with told_of_url(args.out) as copy:
            plan = make_plan(loaded, copy, options) | {"out": args.out}
    else:
        plan = make_plan(loaded, Path(args.out).resolve() if args.out else None, options)
    if args.json:
        emit_json(plan if args.resolved else {k: v for k, v in plan.items() if k != "resolved"})
    elif args.resolved:
        import yaml

        print_text(yaml.safe_dump(plan["resolved"], sort_keys=False, allow_unicode=True).rstrip())
    else:
        _show(plan)
    return EXIT_DONE


def _refuse(*given: tuple[str, Any], remedy: str, of: str) -> None:
    """Raises UsageError for an option that says nothing of what is planned."""
    for option, value in given:
        if value not in (None, False, []):
            raise UsageError(f"says nothing of {of}", f"plan {option}", value, remedy)


def _trainer_plan(args: argparse.Namespace) -> int:
    from gristmill.pipeline.cli.output import emit_json, say

    given = (("--out", args.out), ("--set", args.set), ("--sample", args.sample), ("--resolved", args.resolved))
    measures = None if args.measures == "sample" else args.measures
    _refuse(*given, ("--measures", measures), remedy="leave it out, or name a recipe", of="a trainer's plan")
    batch = 1 if args.global_batch is None else args.global_batch
    if batch < 1:
        raise UsageError("is no number of rows", "plan --global-batch", batch, "give 1 or more")
    told = described(args.recipe, batch)
    for path in draw(told, Path(args.plots)) if args.plots else ():
        say(f"wrote {path}")
    emit_json(told) if args.json else show(told)
    return EXIT_DONE


def _show(plan: dict[str, Any]) -> None:
    from gristmill.pipeline.cli.output import print_line, print_table

    recipe = plan["recipe"]
    print_line(f"recipe {recipe['name']} ({recipe['path']}), seed {plan['seed']}, {recipe['digest'][:19]}")
    rows: list[tuple[object, ...]] = []
    for dataset in plan["datasets"]:
        steps = " > ".join(s["step"] for s in dataset["steps"])
        size = "" if dataset["bytes"] is None else f"{dataset['bytes'] / 1e6:.1f}"
        to_do = "" if dataset["to_do"] is None else dataset["to_do"]
        why = f"{dataset['state']}: {dataset['why']}" if dataset["why"] else dataset["state"]
        rows.append(
            (
                dataset["name"],
                dataset["origin"],
                "" if dataset["inputs"] is None else dataset["inputs"],
                size,
                steps,
                dataset["hash"][:12],
                dataset["reused"],
                to_do,
                why,
            )
        )
    print_table(("dataset", "origin", "files", "MB", "steps", "hash", "found", "to do", "state"), rows)
    for line in (*_abouts(plan["datasets"]), *_alarms(plan["datasets"]), *_resources(plan["datasets"])):
        print_line(line)


def _abouts(datasets: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What stages tell of themselves: the S-curve of minhash_dedup, for instance."""
    for dataset in datasets:
        for step in dataset["steps"]:
            if "about" in step:
                yield f"{dataset['name']}.{step['step']}: {step['about']['summary']}"


def _alarms(datasets: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each alarm: a run stops when a source of that size loses more."""
    for dataset in datasets:
        for step in dataset["steps"]:
            alarm = step.get("alarm")
            if alarm:
                limits = ", ".join(f"{k} {v:g}" for k, v in alarm.items() if k != "min_records" and v is not None)
                yield f"alarm: {dataset['name']}.{step['step']}: {limits}, from {alarm['min_records']} records a source"


def _resources(datasets: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each step that says what each of its tasks takes."""
    from gristmill.pipeline.resources import shown_memory

    for dataset in datasets:
        for step in dataset["steps"]:
            taken = step.get("resources")
            if taken:
                mem = f", mem {shown_memory(taken['mem'])}" if taken["mem"] else ""
                gpus = f", gpus {taken['gpus']}" if taken["gpus"] else ""
                yield f"resources: {dataset['name']}.{step['step']}: cpus {taken['cpus']}{mem}{gpus} a task"

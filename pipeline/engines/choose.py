"""Which engine a run asks for, by its options and its profile, and the engine made; what it needs is told before it is.

In: `--engine`, `--master`, `--executor`, `--workers` and a Profile; what was asked for goes before the profile. Engines
beside the local one are extras: nothing of them is imported before it is chosen.
"""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from gristmill.manifests.errors import EngineMissingError, UsageError
from gristmill.pipeline.engines import needs
from gristmill.pipeline.engines.protocol import Engine
from gristmill.pipeline.profile import Engine as EngineName
from gristmill.pipeline.profile import Executor, Profile
from gristmill.pipeline.recipe_files import RecipeFiles
from gristmill.pipeline.suggest import did_you_mean


@dataclass(frozen=True)
class Choice:
    """An engine and what it is made with. `asked` is the number of workers that somebody named, of which None says that
    a cluster may use what it has; `workers` is a number for this machine in any case."""

    engine: str
    workers: int
    master: str | None
    executor: str
    profile: Profile
    asked: int | None = None


def choice_of(args: argparse.Namespace, profile: Profile) -> Choice:
    """The choice of a command's options. Raises UsageError on names that are none, and options of another engine."""
    engine = _one_of("--engine", args.engine or profile.engine or "local", get_args(EngineName))
    master, executor = args.master or profile.master, args.executor or profile.executor
    if args.master and engine != "spark":
        raise UsageError(f"the engine {engine} has no master", "--master", args.master, "add --engine spark")
    if args.executor and engine != "datatrove":
        remedy = "add --engine datatrove"
        raise UsageError(f"the engine {engine} has no executors", "--executor", args.executor, remedy)
    executor = _one_of("--executor", executor or "local", get_args(Executor))
    asked = args.workers if args.workers is not None else profile.workers
    return Choice(engine, workers_for(args.workers, profile.workers), master, executor, profile, asked)


def _one_of(option: str, name: str, known: tuple[str, ...]) -> str:
    if name not in known:
        raise UsageError("no such choice", option, name, did_you_mean(name, known))
    return name


def workers_for(asked: int | None, of_profile: int | None) -> int:
    """Worker processes: as asked, by the profile, or one a core. Raises UsageError on nonsense."""
    count = asked if asked is not None else of_profile
    if count is None:
        return len(os.sched_getaffinity(0))
    if not 0 <= count <= 4096:
        raise UsageError("not a number of workers", "--workers", count, "give 0 to 4096")
    return count


def engine_for(choice: Choice, out: Path, shipped: RecipeFiles) -> Engine:
    """The engine; `shipped` are files that its machines may not see. Raises UsageError where what it needs is not
    installed."""
    if choice.engine == "spark":
        require("spark")
        from gristmill.pipeline.engines.spark.engine import spark_engine

        return spark_engine(choice, out, shipped)
    if choice.engine == "datatrove":
        require("datatrove")
        from gristmill.pipeline.engines.datatrove import datatrove_engine

        return datatrove_engine(choice, out)
    from gristmill.pipeline.engines.local import LocalEngine

    return LocalEngine(out, choice.workers)


def require(name: str) -> None:
    """Raise EngineMissingError when what an engine or executor needs is not installed, or in another version."""
    option = "--executor" if name == "ray" else "--engine"
    for package in needs.PACKAGES[name]:
        wanted, found = needs.lacking(package), needs.installed(package)
        if wanted:
            told = f"of which {found} is installed" if found else "which is not installed"
            remedy = f"pip install 'gristmill[{name}]', or leave the option out: results do not depend on the engine"
            raise EngineMissingError(f"{name} needs the package {wanted}, {told}", option, name, remedy)

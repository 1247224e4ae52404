"""`gristmill submit`: the `spark-submit` command that runs a recipe on a cluster; `--yes` runs it."""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from gristmill.manifests.errors import UsageError
from gristmill.manifests.remote_access import is_remote

INSIDE = "gristmill_package"
"""The folder of an executor that holds the package."""
_DRIVER_ENV = {"yarn": "spark.yarn.appMasterEnv", "k8s": "spark.kubernetes.driverEnv"}

HELP = """submit a recipe to a Spark cluster

Prints the spark-submit command that runs a recipe, with this package as an archive for the executors; with --yes it
runs it. What stands behind -- goes to `gristmill run` as it is. Settings come from the table `spark` of the profile.

Executors need Python 3.11 or later with this package's dependencies (not itself), under the path of this Python or
the one that "spark.pyspark.python" of the profile names. The output, the inputs and the recipe's folder must lie under
the same paths everywhere, on storage that all hosts share. Files that steps name beside the recipe are shipped to
executors that do not see it. Settings of the profile go into a file that you alone may read.

for instance:
  gristmill submit recipe.yaml --out /shared/out --master spark://host:7077
  gristmill submit recipe.yaml --out /shared/out --master yarn --deploy-mode cluster --profile big --yes
  gristmill submit recipe.yaml --out /shared/out --master spark://host:7077 -- --until web.language

exit codes: 0 printed, or the run's own (see gristmill run --help); 2 wrong usage, or no spark-submit
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `submit`."""
    parser.add_argument("recipe", metavar="RECIPE", help="a YAML file, or the name of a packaged recipe")
    parser.add_argument("--out", required=True, metavar="DIR", help="where results go, on storage that all hosts share")
    parser.add_argument("--master", metavar="URL", help="spark://HOST:PORT, yarn or k8s://URL (default: the profile's)")
    parser.add_argument("--deploy-mode", choices=("client", "cluster"), default="client", help="where the driver runs")
    parser.add_argument("--profile", metavar="P", help="a table of profiles.toml: master, spark, scratch")
    parser.add_argument("--package", metavar="DIR", help="where archive and settings go (default: the user's cache)")
    parser.add_argument("--yes", action="store_true", help="run the command")
    parser.add_argument("rest", nargs="*", metavar="-- OPTION", help="options of gristmill run")


def run(args: argparse.Namespace) -> int:
    """Print, and perhaps run, the command."""
    from gristmill.manifests.user_cache import user_cache
    from gristmill.pipeline.cli.output import print_text
    from gristmill.pipeline.engines.spark.package import package_archive, settings_file
    from gristmill.pipeline.engines.spark.session import as_text, master_of
    from gristmill.pipeline.profile import load_profile, profiles_path
    from gristmill.pipeline.recipe import load_recipe
    from gristmill.pipeline.run import load

    profile = load_profile(args.profile)
    asked = args.master or profile.master
    if asked is None:
        raise UsageError("no cluster", "--master", None, "give spark://HOST:PORT, yarn or k8s://URL")
    master = master_of(asked, 1)
    if master.startswith("spark://") and args.deploy_mode == "cluster":
        remedy = "use --deploy-mode client on a host of the cluster"
        raise UsageError("a standalone cluster runs no Python driver", "--deploy-mode", "cluster", remedy)
    recipe = load_recipe(Path(args.recipe))
    load(recipe)
    folder = Path(args.package).resolve() if args.package else user_cache() / "packages"
    archive = package_archive(folder)
    profiles = profiles_path() if args.deploy_mode == "cluster" else None
    settings = settings_file(folder, as_text(profile.spark) | dict(_paths(master, args.deploy_mode, profiles)))
    out = args.out if is_remote(args.out) else str(Path(args.out).resolve())
    words = [
        *(_spark_submit(), "--master", master, "--deploy-mode", args.deploy_mode, "--name", f"gristmill-{recipe.name}"),
        *("--load-spark-defaults", "--properties-file", str(settings), "--archives", f"{archive}#{INSIDE}"),
        *(("--files", str(profiles.resolve())) if profiles else ()),
        str(Path(__file__).parents[1] / "engines" / "spark" / "driver.py"),
        *("run", str(recipe.path.resolve()), "--out", out, "--engine", "spark"),
        *("--master", master, *(["--profile", args.profile] if args.profile else []), *args.rest),
    ]
    environment = {name: os.environ.get(name, sys.executable) for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")}
    print_text(shown([*(f"{name}={value}" for name, value in environment.items()), *words]))
    if not args.yes:
        return 0
    return subprocess.run(words, env={**os.environ, **environment}, check=False).returncode


def _paths(master: str, deploy_mode: str, profiles: Path | None) -> Iterator[tuple[str, str]]:
    """Where executors, and a driver that runs on the cluster, find the package, and that driver its profile."""
    yield "spark.executorEnv.PYTHONPATH", f"./{INSIDE}"
    of_driver = _DRIVER_ENV.get(master.partition(":")[0]) if deploy_mode == "cluster" else None
    if of_driver is not None:
        yield f"{of_driver}.PYTHONPATH", f"./{INSIDE}"
        if profiles is not None:
            yield f"{of_driver}.GRISTMILL_PROFILES", profiles.name


def _spark_submit() -> str:
    home = os.environ.get("SPARK_HOME")
    spec = find_spec("pyspark")
    bundled = Path(spec.origin).parent / "bin" / "spark-submit" if spec is not None and spec.origin else None
    candidates = [Path(home) / "bin" / "spark-submit"] if home else [p for p in (bundled,) if p is not None]
    found = next((str(path) for path in candidates if path.is_file()), None) or shutil.which("spark-submit")
    if found is None:
        remedy = "pip install 'gristmill[spark]', or set SPARK_HOME"
        raise UsageError("there is no spark-submit", "$SPARK_HOME" if home else "PATH", home, remedy)
    return found


def shown(words: list[str]) -> str:
    """A command as a person pastes it: an option with its value a line."""
    lines: list[str] = []
    for word in words:
        quoted = shlex.quote(word)
        if lines and (word.startswith("-") or not lines[-1].startswith("-") or " " in lines[-1]):
            lines.append(quoted)
        elif lines:
            lines[-1] += f" {quoted}"
        else:
            lines.append(quoted)
    return " \\\n  ".join(lines)

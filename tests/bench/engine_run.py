"""One run of a recipe on an engine that is up already, timed: a process of its own for `bench_engines`.

`python -m tests.bench.engine_run FOLDER ENGINE [EXECUTOR]`: the recipe of FOLDER is run up to its dataset `warm` first,
which starts the engine's processes and loads kernels, and then as a whole. Prints `{"start_s", "run_s", "digest"}`.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from gristmill.pipeline.engines.choose import choice_of, engine_for
from gristmill.pipeline.engines.protocol import Engine, EngineEvent
from gristmill.pipeline.profile import Profile
from gristmill.pipeline.recipe import load_recipe
from gristmill.pipeline.recipe_files import RecipeFiles
from gristmill.pipeline.run import Run, RunOptions, load
from gristmill.pipeline.selection import Selection

WORKERS = 2


def _silent(_: EngineEvent) -> None:
    return


def timed(engine: Engine, recipe: Path, out: Path, until: str) -> tuple[float, str]:
    """Wall seconds of a run up to a dataset, and that dataset's digest."""
    started_s = time.perf_counter()
    options = RunOptions(selection=Selection("until", until))
    manifests = Run(load(load_recipe(recipe)), out, engine, options, _silent).execute()
    return time.perf_counter() - started_s, manifests[until]["digest"]


def main(folder: Path, name: str, executor: str | None) -> None:
    """See the module."""
    args = argparse.Namespace(engine=name, master=None, executor=executor, workers=WORKERS)
    with tempfile.TemporaryDirectory(dir=folder) as made:
        out = Path(made).resolve()
        engine = engine_for(choice_of(args, Profile()), out, RecipeFiles(folder))
        try:
            start_s, _ = timed(engine, folder / "recipe.yaml", out, "warm")
            run_s, digest = timed(engine, folder / "recipe.yaml", out, "docs")
        finally:
            engine.close()
    print(json.dumps({"start_s": start_s, "run_s": run_s, "digest": digest}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)

"""The demo where apt and npm are absent: its recipe runs on the code of the standard library alone."""

import sysconfig
from pathlib import Path
from typing import Any

import pytest

from gristmill.manifests.verify import verify
from gristmill.pipeline.cli.run import warnings
from gristmill.pipeline.demo_classifiers import make
from gristmill.pipeline.demo_data import FINISHED_MARKER
from tests.laws.running import run_inline
from tests.pipeline.test_demo_data import silent

SMALL_BYTES = 12_000


@pytest.fixture(scope="module")
def code_alone(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> tuple[Path, dict[str, Any]]:
    """Output and manifests of the demo where apt and npm are absent; a part of the standard library is all there is.

    A fixture, since the 20 s of a test would count kernels that are compiled for the first time.
    """
    tmp_path = tmp_path_factory.mktemp("code-alone")
    recipe = tmp_path / "pipeline/recipes/demo.yaml"
    recipe.parent.mkdir(parents=True)
    recipe.write_bytes((repo / "pipeline/recipes/demo.yaml").read_bytes())
    code = tmp_path / "demo/input/code/cpython"
    code.mkdir(parents=True)
    modules = sorted(Path(sysconfig.get_path("stdlib")).glob("[a-z]*/[a-z]*.py"))
    for path in [p for p in modules if p.stat().st_size < SMALL_BYTES and "packages" not in p.parts[-2]][:300]:
        (code / f"{path.parent.name}_{path.name}").write_bytes(path.read_bytes())
    (tmp_path / "demo/input" / FINISHED_MARKER).write_text("{}")
    with pytest.MonkeyPatch.context() as without_npm:
        without_npm.setenv("PATH", str(tmp_path))
        make(tmp_path / "demo/input", tmp_path / "demo/models", tmp_path / "cache", silent)
    out = tmp_path / "demo/out"
    return out, run_inline(recipe, out)


def test_recipe_runs_on_code_alone(code_alone: tuple[Path, dict[str, Any]]) -> None:
    out, manifests = code_alone
    empty = [name for name, manifest in manifests.items() if not manifest["totals"]["records"] and name != "holdout"]
    assert empty == ["web", "math", "metamath", "knowledge_text", "knowledge_jsonl", "knowledge_parquet"]
    told = [line.split()[1] for line in warnings(manifests)]
    assert told == empty
    kept = manifests["corpus"]["totals"]["records"]
    assert kept > 100
    assert manifests["train_8k"]["totals"]["rows"] > 0
    assert manifests["train_8k"]["totals"]["records"] + manifests["holdout"]["totals"]["records"] == kept
    assert verify(out, deep=True).faults == []

"""Law 4, all or nothing: killed at any point, a run shows no partial dataset, and resumed it equals an unbroken one."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gristmill.manifests.verify import verify
from tests.laws.corpora import RECIPES, write_corpus
from tests.laws.running import command, fingerprint, run_inline, write_recipe

POINTS = 20
REPO = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module", params=sorted(RECIPES))
def calm(request: pytest.FixtureRequest, folder: Path) -> tuple[Path, dict[str, str], int]:
    """A recipe, the fingerprint of its unbroken run, and how often that touches the disk."""
    recipe = write_recipe(folder, RECIPES[request.param], f"{request.param}.yaml")
    out = folder / f"calm-{request.param}"
    done = killed(recipe, out, 0)
    assert done.returncode == 0, done.stderr
    return recipe, fingerprint(out), int(done.stdout)


def killed(recipe: Path, out: Path, at: int) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "tests.laws.killed_run", str(recipe), str(out), str(at)]
    return subprocess.run(words, cwd=REPO, capture_output=True, text=True, check=False, timeout=120)


def nothing_partial_is_visible(out: Path) -> None:
    if (out / "run.json").exists():
        assert verify(out).faults == []


@pytest.mark.parametrize("point", range(POINTS // 2))
def test_killed_at_any_touch_of_the_disk(calm: tuple[Path, dict[str, str], int], point: int, tmp_path: Path) -> None:
    recipe, expected, touches = calm
    at = 1 + (touches - 1) * (2 * point + 1) // POINTS
    assert killed(recipe, tmp_path, at).returncode == -signal.SIGKILL
    nothing_partial_is_visible(tmp_path)
    run_inline(recipe, tmp_path)
    assert fingerprint(tmp_path) == expected
    assert verify(tmp_path).faults == []


@pytest.mark.slow
def test_killed_again_and_again_while_workers_run(calm: tuple[Path, dict[str, str], int], tmp_path: Path) -> None:
    recipe, expected, _ = calm
    chance = random.Random(recipe.name)
    for _ in range(POINTS):
        process = subprocess.Popen(
            command("run", recipe, "--out", tmp_path, "--workers", "2"), start_new_session=True, cwd=REPO
        )
        time.sleep(chance.uniform(0.2, 3.0))
        process.kill()
        process.wait()
        nothing_partial_is_visible(tmp_path)
    run_inline(recipe, tmp_path, workers=2)
    assert fingerprint(tmp_path) == expected

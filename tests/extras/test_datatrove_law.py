"""Law 2 on the engine datatrove: its local executor gives the bytes of the local engine, exchanges included."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gristmill.pipeline.engines.datatrove import DatatroveEngine
from gristmill.pipeline.engines.trove.local import LocalLauncher
from tests.laws.corpora import RECIPES, write_corpus
from tests.laws.running import fingerprint, run_inline, run_on, write_recipe
from tests.laws.test_corpus_wide import CORPUS_WIDE, run_stage, write_layout
from tests.pipeline.kept_launcher import KeptLauncher


@pytest.fixture(scope="module")
def launcher() -> Iterator[KeptLauncher]:
    made = KeptLauncher(2)
    yield made
    made.end()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module", params=sorted(RECIPES))
def both(request: pytest.FixtureRequest, folder: Path, launcher: KeptLauncher) -> tuple[Path, Path]:
    """Outputs of a recipe: that of the local engine, and that of datatrove."""
    recipe = write_recipe(folder, RECIPES[request.param], f"{request.param}.yaml")
    calm, out = folder / f"calm-{request.param}", folder / f"out-{request.param}"
    run_inline(recipe, calm)
    run_on(launcher.engine(out), recipe, out)
    return calm, out


def test_a_recipe_gives_the_bytes_of_the_local_engine(both: tuple[Path, Path]) -> None:
    calm, out = both
    assert fingerprint(out) == fingerprint(calm)
    assert not (out / ".jobs").exists()


@pytest.fixture(params=CORPUS_WIDE)
def stage_outputs(request: pytest.FixtureRequest, tmp_path: Path, launcher: KeptLauncher) -> tuple[Path, Path]:
    write_layout(tmp_path / "docs", 3, 4)
    calm = run_stage(request.param, tmp_path / "docs").rename(tmp_path / "calm")
    out = tmp_path / "docs" / "out"
    run_on(launcher.engine(out), tmp_path / "docs" / "recipe.yaml", out)
    return calm, out


@pytest.mark.slow
def test_a_corpus_wide_stage_gives_the_bytes_of_the_local_engine(stage_outputs: tuple[Path, Path]) -> None:
    calm, out = stage_outputs
    assert fingerprint(out) == fingerprint(calm)


def test_a_second_run_finds_everything_and_starts_nothing(both: tuple[Path, Path], folder: Path) -> None:
    calm, out = both
    recipe = folder / f"{out.name.removeprefix('out-')}.yaml"
    shutil.rmtree(out / "train", ignore_errors=True)
    engine = DatatroveEngine(out, LocalLauncher(2))
    started: list[str] = []
    run_on(engine, recipe, out, notify=lambda event: started.append(event.label) if event.what == "start" else None)
    assert started == []
    assert fingerprint(out) == fingerprint(calm)

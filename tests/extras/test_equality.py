"""Law 2: every engine gives the same bytes, for each recipe of the laws.

What is compared is every file that a manifest names (shards, ledgers, cuts, measures, samples), and the digests of the
manifests, which leave out when and where the work was done.
"""

from pathlib import Path

import pytest

from tests.extras.spark_cluster import Cluster
from tests.laws.corpora import RECIPES, write_corpus
from tests.laws.moody import reasons, seconds_that_part
from tests.laws.running import call, fingerprint, run_inline, write_recipe
from tests.laws.wide import wide_recipe, write_layout

ENGINES = ["spark cluster", "spark local", "datatrove", "datatrove on ray"]
QUICK = {("spark cluster", "text"), ("datatrove", "wide")}
RAY = [pytest.mark.slow, pytest.mark.timeout(1200)]
"""Its ranks are processes of their own that take seconds to start, for each step of a recipe anew."""


def _marks(engine: str, recipe: str) -> list[pytest.MarkDecorator]:
    if engine.endswith("ray"):
        return RAY
    return [] if (engine, recipe) in QUICK else [pytest.mark.slow]


CASES = [
    pytest.param(engine, recipe, marks=_marks(engine, recipe)) for engine in ENGINES for recipe in (*RECIPES, "wide")
]


@pytest.fixture(scope="module")
def recipes(module_folder: Path) -> dict[str, Path]:
    """The recipes of the laws, with their inputs."""
    write_corpus(module_folder)
    write_layout(module_folder / "docs", 5, 2)
    texts = {**RECIPES, "wide": wide_recipe("docs")}
    return {name: write_recipe(module_folder, text, f"{name}.yaml") for name, text in texts.items()}


@pytest.fixture
def expected(recipe: str, recipes: dict[str, Path], module_folder: Path) -> dict[str, str]:
    """What a recipe gives in one process, without any engine's help."""
    run_inline(recipes[recipe], module_folder / f"inline-{recipe}")
    return fingerprint(module_folder / f"inline-{recipe}")


@pytest.fixture
def options(request: pytest.FixtureRequest) -> list[str]:
    """The options of an engine; a cluster is started where one is asked for."""
    if request.param == "spark cluster":
        cluster: Cluster = request.getfixturevalue("spark_cluster")
        return ["--engine", "spark", "--master", cluster.url]
    return {
        "spark local": ["--engine", "spark", "--workers", "2"],
        "datatrove": ["--engine", "datatrove", "--workers", "2"],
        "datatrove on ray": ["--engine", "datatrove", "--executor", "ray", "--workers", "2"],
    }[request.param]


@pytest.mark.parametrize(("options", "recipe"), CASES, indirect=["options"])
def test_an_engine_gives_the_same_bytes(
    options: list[str],
    recipe: str,
    recipes: dict[str, Path],
    expected: dict[str, str],
    tmp_path: Path,
) -> None:
    done = call("run", recipes[recipe], "--out", tmp_path, *options)
    assert done.returncode == 0, done.stderr
    assert fingerprint(tmp_path) == expected
    assert call("verify", tmp_path, "--deep").returncode == 0


@pytest.fixture(scope="module")
def moody(module_folder: Path) -> tuple[Path, Path]:
    """A recipe with external effects, and the output that has their record."""
    return seconds_that_part(module_folder / "moody")


@pytest.mark.parametrize("options", ["spark local", "datatrove"], indirect=True)
def test_an_engine_replays_external_effects(options: list[str], moody: tuple[Path, Path], tmp_path: Path) -> None:
    recipe, first = moody
    done = call("run", recipe, "--out", tmp_path, *options, "--replay", first)
    assert done.returncode == 0, done.stderr
    assert fingerprint(tmp_path) == fingerprint(first)
    assert "html_timeout" in reasons(tmp_path)

"""`gristmill submit`: the command that it prints is the one that it runs; the archive holds the package as it is."""

import json
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from gristmill.manifests.errors import EXIT_USAGE
from gristmill.pipeline.cli import submit
from gristmill.pipeline.engines.spark.package import package_archive
from tests.laws.running import call, write_recipe

SECRET = "planted = 7c1f"
RECIPE = 'name: s\ndatasets:\n  d:\n    read: {text: "*.txt"}\n'
FAKE = """#!{python}
import json, os, sys
json.dump([sys.argv[1:], os.environ["PYSPARK_PYTHON"]], open({told!r}, "w"))
sys.exit(6)
"""


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recipe, a profile, and a spark-submit that tells what it was given and ends as a lost engine does."""
    program = tmp_path / "home" / "bin" / "spark-submit"
    program.parent.mkdir(parents=True)
    program.write_text(FAKE.format(python=sys.executable, told=str(tmp_path / "told.json")))
    program.chmod(0o755)
    (tmp_path / "profiles.toml").write_text(f'[big.spark]\n"spark.executor.memory" = "8g"\n"spark.x" = "{SECRET}"\n')
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GRISTMILL_PROFILES", str(tmp_path / "profiles.toml"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return write_recipe(tmp_path, RECIPE, "my recipe.yaml")


def test_what_is_printed_is_what_runs(recipe: Path, tmp_path: Path) -> None:
    words = ["submit", recipe, "--out", tmp_path / "out", "--master", "yarn", "--deploy-mode", "cluster"]
    done = call(*words, "--profile", "big", "--yes", "--", "--sample", "0.5")
    assert done.returncode == 6, done.stderr
    given, python = json.loads((tmp_path / "told.json").read_text())
    printed = [word for word in shlex.split(done.stdout) if word != "\n"]
    assert printed[2:] == [str(tmp_path / "home" / "bin" / "spark-submit"), *given]
    assert printed[0] == f"PYSPARK_PYTHON={python}"
    at = given.index("run")
    assert given[at + 1 :] == [
        *(str(recipe), "--out", str(tmp_path / "out"), "--engine", "spark", "--master", "yarn"),
        *("--profile", "big", "--sample", "0.5"),
    ]
    settings = Path(given[given.index("--properties-file") + 1])
    assert settings.stat().st_mode & 0o777 == 0o600
    assert settings.read_text().encode().decode("unicode_escape").splitlines() == [
        "spark.executor.memory=8g",
        f"spark.x={SECRET}",
        f"spark.executorEnv.PYTHONPATH=./{submit.INSIDE}",
        f"spark.yarn.appMasterEnv.PYTHONPATH=./{submit.INSIDE}",
        "spark.yarn.appMasterEnv.GRISTMILL_PROFILES=profiles.toml",
    ]
    assert SECRET not in done.stdout
    assert given[given.index("--files") + 1] == str(tmp_path / "profiles.toml")
    assert not (tmp_path / "out").exists()


def test_without_yes_nothing_runs(recipe: Path, tmp_path: Path) -> None:
    done = call("submit", recipe, "--out", tmp_path / "out", "--master", "spark://h:1,i:2")
    assert done.returncode == 0
    assert "--master spark://h:1,i:2" in done.stdout
    assert "--out s3://bucket/x" in call("submit", recipe, "--out", "s3://bucket/x", "--master", "yarn").stdout
    assert not (tmp_path / "told.json").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "no cluster"),
        (["--master", "http://h"], "no Spark master"),
        (["--master", "spark://h:1", "--deploy-mode", "cluster"], "a standalone cluster runs no Python driver"),
        (["--master", "yarn", "--package", "/proc/none"], "the package cannot be written"),
    ],
)
def test_what_cannot_be_submitted(options: list[str], told: str, recipe: Path, tmp_path: Path) -> None:
    done = call("submit", recipe, "--out", tmp_path / "out", *options)
    assert done.returncode == EXIT_USAGE
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_the_archive_is_imported_in_place_of_the_package(tmp_path: Path) -> None:
    archive = package_archive(tmp_path)
    assert package_archive(tmp_path) == archive
    with zipfile.ZipFile(archive) as opened:
        assert not [name for name in opened.namelist() if "__pycache__" in name or ".." in name]
        opened.extractall(tmp_path / "inside")
    code = (
        "import gristmill.pipeline.task as t; from gristmill.stages import catalogue as c; print(t.__file__, c.names())"
    )
    words = [sys.executable, "-c", code]
    told = subprocess.run(
        words, env={"PYTHONPATH": str(tmp_path / "inside")}, capture_output=True, text=True, check=True
    )
    assert told.stdout.startswith(str(tmp_path / "inside"))
    assert "'emit'" in told.stdout

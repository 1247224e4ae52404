"""Profiles: which file counts, and what a wrong one is told."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import EXIT_USAGE, UsageError
from gristmill.pipeline import profile as profile_module
from gristmill.pipeline.cli.run import use_scratch
from gristmill.pipeline.profile import Profile, load_profile
from tests.laws.running import call

GOOD = """\
# where things run
[default]
workers = 3

[cluster]
engine = "spark"
master = "spark://head:7077"
scratch = "tmp/scratch"
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory and an empty home."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.delenv("GRISTMILL_PROFILES", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def test_without_a_file_there_is_an_empty_profile() -> None:
    assert load_profile() == Profile()
    with pytest.raises(UsageError, match=r"--profile: no profiles.toml .*'x'; write one, with a table \[x\]"):
        load_profile("x")


def test_tables_are_read(home: Path) -> None:
    Path("profiles.toml").write_text(GOOD)
    assert load_profile() == Profile(workers=3)
    cluster = load_profile("cluster")
    assert (cluster.engine, cluster.master, cluster.workers) == ("spark", "spark://head:7077", None)
    assert cluster.scratch == str(home / "work/tmp/scratch"), "relative to the file"


def test_settings_of_spark_may_be_fractions() -> None:
    Path("profiles.toml").write_text('[default.spark]\n"spark.memory.fraction" = 0.6\n"spark.speculation" = true\n')
    assert load_profile().spark == {"spark.memory.fraction": "0.6", "spark.speculation": True}


def test_without_a_default_there_is_an_empty_profile() -> None:
    Path("profiles.toml").write_text("[a]\nworkers = 1\n")
    assert load_profile() == Profile()


def test_the_nearest_file_counts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = home / "named.toml"
    of_user = home / "config" / "gristmill" / "profiles.toml"
    of_user.parent.mkdir(parents=True)
    for path, workers in ((of_user, 1), (Path("profiles.toml"), 2), (named, 3)):
        path.write_text(f"[default]\nworkers = {workers}\n")
    assert load_profile().workers == 2
    Path("profiles.toml").unlink()
    assert load_profile().workers == 1
    monkeypatch.setenv("GRISTMILL_PROFILES", str(named))
    assert load_profile().workers == 3
    named.unlink()
    with pytest.raises(UsageError, match=r"\$GRISTMILL_PROFILES: no such file"):
        load_profile()


SPARK = """\
[default]
workers = 1
[default.spark]
"spark.memory.fraction" = 0.6
"spark.executor.cores" = [1]
"""
WRONG = [
    (GOOD.replace("workers", "worker"), "default", "profiles.toml:3", "worker", "did you mean workers"),
    (GOOD.replace("= 3", "= '3'"), "default", "profiles.toml:3", "valid integer", ""),
    (GOOD.replace("= 3", "= 0"), "default", "profiles.toml:3", "greater than", ""),
    (GOOD.replace("= 3", "= true"), "default", "profiles.toml:3", "valid integer", ""),
    (GOOD.replace("spark", "sparc", 1), "cluster", "profiles.toml:6", "sparc", ""),
    (GOOD.replace('"tmp/', '"~nobody-of-this-name/'), "cluster", "profiles.toml:8", "scratch", "folder"),
    (GOOD, "clustre", "profiles.toml", "no such profile", "did you mean cluster"),
    ("[default.slurm]\n\npartiton = 'a'\n", "default", ":3", "[default.slurm]: unknown key: 'partiton'", "partition"),
    ("[default]\nslurm = {partiton = 'a'}\n", "default", ":2", "[default.slurm]: unknown key", "partition"),
    ("[default]\n[default.slurm]\ntime = '4h'\n", "default", ":3", "[default.slurm] time: string should", ""),
    ("[default]\nslurm.sbatch.a = [1]\n", "default", ":2", "[default.slurm.sbatch] a: neither text", ""),
    (SPARK, "default", ":5", "[default.spark] spark.executor.cores: neither text nor a number", ""),
    ("[other.ray]\nadress = 'a'\n[default . 'ray']\n# adress\nadress = 'a'\n", "default", ":5", "key", "address"),
    ("[default]\nray = 1\n", "default", ":2", "[default] ray: input should be", ""),
    ("default = 1\n", "default", "profiles.toml", "not a table", "[default]"),
    ("[default\n", "default", "profiles.toml", "not TOML", "line 1"),
    ("a = " + "[" * 5000, "default", "profiles.toml", "not TOML", ""),
    ("a = 1" + "0" * 5000, "default", "profiles.toml", "not TOML", ""),
]


@pytest.mark.parametrize(("text", "name", "where", "what", "remedy"), WRONG)
def test_a_wrong_file_is_told(text: str, name: str, where: str, what: str, remedy: str) -> None:
    Path("profiles.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        load_profile(name)
    assert caught.value.where == (f"profiles.toml{where}" if where.startswith(":") else where)
    assert what in str(caught.value)
    assert remedy in str(caught.value)


def test_bytes_that_are_not_text_are_told() -> None:
    Path("profiles.toml").write_bytes(b"[a]\nx = '\xff'\n")
    with pytest.raises(UsageError, match="not UTF-8"):
        load_profile()


SEES = '''\
import os
import subprocess
import tempfile

from gristmill.stages import doc_filter


@doc_filter(drop_above={"n": 1e9})
def sees(text):
    """Leaves a temporary file behind, and has a child leave one."""
    tempfile.NamedTemporaryFile(prefix=f"of-{'worker' if os.getppid() != PARENT else 'driver'}-", delete=False).close()
    subprocess.run(["mktemp", "-t", "of-child-XXXXXX"], check=True, stdout=subprocess.DEVNULL)
    return {"n": 0}
'''


@pytest.mark.parametrize("workers", [0, 1])
def test_scratch_takes_the_temporary_files_of_a_run_and_its_workers(home: Path, workers: int) -> None:
    Path("profiles.toml").write_text('[default]\nscratch = "new/scratch"\n')
    Path("a.txt").write_text("some words")
    Path("sees.py").write_text(SEES.replace("PARENT", str(os.getpid())))
    Path("r.yaml").write_text('name: x\ndatasets:\n  d:\n    read: {text: a.txt}\n    steps: ["./sees.py:sees"]\n')
    done = call("run", "r.yaml", "--out", "out", "--workers", str(workers), "--quiet")
    assert done.returncode == 0, done.stderr
    made = {path.name.split("-")[1] for path in (home / "work/new/scratch").glob("of-*")}
    assert made == {"worker" if workers else "driver", "child"}


def test_scratch_that_can_be_no_folder_is_told() -> None:
    Path("profiles.toml").write_text('[default]\nscratch = "a.txt/scratch"\n')
    Path("a.txt").write_text("some words")
    Path("r.yaml").write_text("name: x\ndatasets:\n  d:\n    read: {text: a.txt}\n")
    done = call("run", "r.yaml", "--out", "out", "--workers", "0")
    assert done.returncode == EXIT_USAGE
    assert "scratch: no folder can be made there" in done.stderr


def test_scratch_counts_where_temporary_files_were_asked_for_before(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(home))
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    use_scratch(None)
    assert tempfile.gettempdir() == str(home)
    use_scratch(str(home / "s"))
    assert tempfile.gettempdir() == os.environ["TMPDIR"] == str(home / "s")


@given(st.binary(max_size=100) | st.text(max_size=100).map(str.encode))
def test_no_bytes_break_the_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "hostile-profiles.toml"
    path.write_bytes(data)
    try:
        text, tables = profile_module.read_tables(path)
    except UsageError:
        return
    for name, table in tables.items():
        try:
            profile_module.checked(table, name, path, text)
        except UsageError as error:
            assert "\n" not in str(error)

"""Whatever dies under the engine spark, the run ends with the bytes of a calm one, or can be resumed to them."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from gristmill.manifests.errors import EXIT_BUG, EXIT_ENGINE, EXIT_INTERRUPTED, EXIT_USAGE
from gristmill.pipeline.engines.spark.session import MAX_FAILURES
from tests.extras.spark_cluster import HOSTS, Cluster, free_port
from tests.laws.corpora import prose
from tests.laws.running import call, command, fingerprint, run_inline, write_recipe
from tests.pipeline.test_engine_local import DIE_ALWAYS, DIE_ONCE, MINE, SLOW, project
from tests.processes import matching, parent_of, wait_until

CALM = "HERE"
EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
DIE_BEHIND_COMMIT = """flag = HERE / 'died'
    if 'doc 3' in text and not flag.exists():
        flag.touch()
        from gristmill.manifests.commit import ObjectWriter
        real = ObjectWriter.commit
        ObjectWriter.commit = lambda *given: (real(*given), os.kill(os.getpid(), 9))"""
NO_MEMORY_ONCE = """flag = HERE / 'died'
    if 'doc 3' in text and not flag.exists():
        flag.touch()
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, -1))
        bytearray(1 << 40)"""
NO_LUCK = """\
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class mine:
    name: ClassVar[str] = "mine"
    version: ClassVar[int] = 1

    def reasons(self):
        return ()

    def transform(self, batch):
        raise RuntimeError("no luck")
"""
STRAGGLE_ONCE = """if 'doc 3' in text:
        try:
            (HERE / 'straggler').touch(exist_ok=False)
        except FileExistsError:
            (HERE / 'copy').touch()
        else:
            time.sleep(200)"""


def project_in(tmp_path: Path, body: str) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return project(folder, body)


def spark(cluster: Cluster) -> list[str]:
    return ["--engine", "spark", "--master", cluster.url]


def events(out: Path) -> list[str]:
    """What happened, in order."""
    return [json.loads(line)["what"] for line in (out / "events.jsonl").read_text().splitlines()]


def whole(recipe: Path, out: Path) -> None:
    """No shard is doubled, lost or partial: the output is that of a calm run of the same files, in one process. What
    happens once has happened by now."""
    run_inline(recipe, recipe.parent / "calm")
    assert fingerprint(out) == fingerprint(recipe.parent / "calm")
    assert call("verify", out, "--deep").returncode == 0


@pytest.mark.parametrize("body", [DIE_ONCE, DIE_BEHIND_COMMIT, NO_MEMORY_ONCE])
def test_a_python_worker_that_dies_costs_a_retry(body: str, tmp_path: Path, spark_cluster: Cluster) -> None:
    recipe = project_in(tmp_path, body)
    out = recipe.parent / "out"
    done = call("run", recipe, "--out", out, *spark(spark_cluster))
    assert done.returncode == 0, done.stderr
    assert (recipe.parent / "died").exists()
    assert "retry" in events(out)
    whole(recipe, out)


def test_a_worker_that_always_dies_ends_the_run_and_it_resumes(tmp_path: Path, spark_cluster: Cluster) -> None:
    recipe = project_in(tmp_path, DIE_ALWAYS)
    out = recipe.parent / "out"
    done = call("run", recipe, "--out", out, *spark(spark_cluster))
    assert done.returncode == EXIT_ENGINE
    assert f"failed {MAX_FAILURES} times" in done.stderr
    assert "run the same command to resume" in done.stderr
    (recipe.parent / "mine.py").write_text(MINE.replace("BODY", CALM))
    assert call("run", recipe, "--out", out, *spark(spark_cluster)).returncode == 0
    whole(recipe, out)


def test_an_error_of_a_task_is_told_as_the_local_engine_tells_it(tmp_path: Path, spark_cluster: Cluster) -> None:
    recipe = project_in(tmp_path, CALM)
    (recipe.parent / "mine.py").write_text(NO_LUCK)
    told = [
        call("run", recipe, "--out", tmp_path / name, "--quiet", *options)
        for name, options in (("a", ["--workers", "1"]), ("b", spark(spark_cluster)))
    ]
    assert [done.returncode for done in told] == [EXIT_BUG, EXIT_BUG]
    said = [re.sub(r"read \d/2", "read", done.stderr) for done in told]  # whichever split was first
    assert said[0] == said[1] != ""
    assert "retry" not in events(tmp_path / "b")


def test_a_worker_killed_with_its_executor(tmp_path: Path, spark_cluster: Cluster) -> None:
    recipe = project_in(tmp_path, SLOW)
    out = recipe.parent / "out"
    with subprocess.Popen(command("run", recipe, "--out", out, *spark(spark_cluster)), stderr=subprocess.PIPE) as run:
        wait_until((recipe.parent / "started").exists, 200, "a task that works")
        worker = spark_cluster.workers[-1]
        executors = [pid for pid in matching(EXECUTOR) if parent_of(pid) == worker.pid]
        assert executors
        os.killpg(worker.pid, signal.SIGKILL)
        for pid in executors:
            os.kill(pid, signal.SIGKILL)
        _, told = run.communicate(timeout=200)
    worker.wait()
    spark_cluster.workers.remove(worker)
    spark_cluster.start_worker(HOSTS[-1])
    assert run.returncode == 0, told
    whole(recipe, out)


def test_an_executor_killed_alone(tmp_path: Path, spark_cluster: Cluster) -> None:
    """As the kernel kills one that takes more memory than there is; its worker starts another."""
    recipe = project_in(tmp_path, SLOW)
    out = recipe.parent / "out"
    with subprocess.Popen(command("run", recipe, "--out", out, *spark(spark_cluster)), stderr=subprocess.PIPE) as run:
        wait_until((recipe.parent / "started").exists, 200, "a task that works")
        executors = [pid for pid in matching(EXECUTOR) if parent_of(pid) in {w.pid for w in spark_cluster.workers}]
        os.kill(executors[0], signal.SIGKILL)
        _, told = run.communicate(timeout=200)
    assert run.returncode == 0, told
    whole(recipe, out)


def test_tasks_that_no_executor_has_room_for_are_told(tmp_path: Path, spark_cluster: Cluster) -> None:
    """Spark would wait for ever, without a word."""
    recipe = project_in(tmp_path, CALM)
    wanted = recipe.read_text().replace("read: {", "read: {resources: {cpus: 2}, ")
    recipe.write_text(wanted)
    done = call("run", recipe, "--out", tmp_path / "out", *spark(spark_cluster), "--quiet")
    assert done.returncode == EXIT_ENGINE
    assert "no executor has room for a task: 'cpus: 2'; lower `resources`, or give executors more" in done.stderr


def test_accelerators_that_executors_do_not_have_are_refused(tmp_path: Path, spark_cluster: Cluster) -> None:
    recipe = project_in(tmp_path, CALM)
    recipe.write_text(recipe.read_text().replace("read: {", "read: {resources: {gpus: 1}, "))
    done = call("run", recipe, "--out", tmp_path / "out", *spark(spark_cluster), "--quiet")
    assert done.returncode == EXIT_USAGE
    assert 'executors have no accelerators; set "spark.executor.resource.gpu.amount"' in done.stderr


def test_a_copy_of_a_straggler_wins(tmp_path: Path, spark_cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    profiles = tmp_path / "profiles.toml"
    settings = {
        "speculation": True,
        "speculation.quantile": "0.3",
        "speculation.multiplier": "1.2",
        "speculation.efficiency.enabled": False,
    }
    lines = [f'"spark.{name}" = {json.dumps(value)}' for name, value in settings.items()]
    profiles.write_text("\n".join(["[default.spark]", *lines]))
    monkeypatch.setenv("GRISTMILL_PROFILES", str(profiles))
    recipe = project_in(tmp_path, STRAGGLE_ONCE)
    out = recipe.parent / "out"
    done = call("run", recipe, "--out", out, *spark(spark_cluster))  # a straggler alone takes longer than this may
    assert done.returncode == 0, done.stderr
    assert (recipe.parent / "copy").exists()
    whole(recipe, out)


@pytest.fixture
def options(request: pytest.FixtureRequest) -> list[str]:
    """The options of a master; a cluster is started for a test that asks for one."""
    if request.param == "local":
        return ["--engine", "spark", "--workers", "2"]
    return spark(request.getfixturevalue("spark_cluster"))


@pytest.mark.parametrize(
    ("options", "number", "code"),
    [
        ("local", signal.SIGKILL, -signal.SIGKILL),
        ("local", signal.SIGINT, EXIT_INTERRUPTED),
        ("cluster", signal.SIGKILL, -signal.SIGKILL),
    ],
    indirect=["options"],
)
def test_a_driver_that_ends_leaves_nothing_running_and_resumes(
    options: list[str], number: signal.Signals, code: int, tmp_path: Path
) -> None:
    recipe = project_in(tmp_path, SLOW)
    out = recipe.parent / "out"
    with subprocess.Popen(command("run", recipe, "--out", out, *options), stderr=subprocess.PIPE) as run:
        wait_until((recipe.parent / "started").exists, 200, "a task that works")
        java = [pid for pid in matching("SparkSubmit") if parent_of(pid) == run.pid]
        assert java
        run.send_signal(number)
        run.communicate(timeout=60)
    assert run.returncode == code
    daemons = set(matching("gristmill.pipeline.engines.spark.daemon"))
    wait_until(lambda: not set(java) & set(matching("SparkSubmit")), 30, "the end of the JVM")
    wait_until(lambda: not daemons & set(matching("engines.spark.daemon")), 30, "the end of Python workers")
    assert call("run", recipe, "--out", out, *options).returncode == 0
    whole(recipe, out)


def test_a_killed_jvm_of_the_driver_is_told_and_the_run_resumes(tmp_path: Path) -> None:
    recipe = project_in(tmp_path, SLOW)
    words = ["run", recipe, "--out", recipe.parent / "out", "--engine", "spark", "--workers", "2", "--quiet"]
    with subprocess.Popen(command(*words), stderr=subprocess.PIPE, text=True) as run:
        wait_until((recipe.parent / "started").exists, 200, "a task that works")
        for pid in matching("SparkSubmit"):
            if parent_of(pid) == run.pid:
                os.kill(pid, signal.SIGKILL)
        _, told = run.communicate(timeout=60)
    assert run.returncode == EXIT_ENGINE
    committed, resume, error = told.splitlines()
    assert committed.startswith("committed: ") and "run the same command to resume" in error
    assert resume.startswith("resume with: gristmill run ")
    assert call(*words).returncode == 0
    whole(recipe, recipe.parent / "out")


def test_a_key_that_a_third_of_all_rows_have(tmp_path: Path, spark_cluster: Cluster) -> None:
    common = prose(1, 120)
    lines = [json.dumps({"text": f"{common} {n}" if n % 10 < 3 else prose(n + 2, 60)}) for n in range(1000)]
    for part in range(4):
        (tmp_path / f"{part}.jsonl").write_text("\n".join(lines[part::4]))
    steps = "[minhash_dedup]"
    recipe = write_recipe(tmp_path, f'name: s\ndatasets:\n  d:\n    read: {{jsonl: "*.jsonl"}}\n    steps: {steps}\n')
    assert call("run", recipe, "--out", tmp_path / "out", *spark(spark_cluster)).returncode == 0
    whole(recipe, tmp_path / "out")


def test_a_second_run_starts_no_spark(tmp_path: Path) -> None:
    recipe = project_in(tmp_path, CALM)
    out = recipe.parent / "out"
    run_inline(recipe, out)
    done = call("run", recipe, "--out", out, "--engine", "spark")
    assert done.returncode == 0, done.stderr
    assert not (out / "spark.log").exists()


def test_a_master_that_is_not_there(tmp_path: Path) -> None:
    recipe = project_in(tmp_path, CALM)
    master = f"spark://127.0.0.1:{free_port()}"
    done = call("run", recipe, "--out", tmp_path / "out", "--engine", "spark", "--master", master)
    assert done.returncode == EXIT_ENGINE
    assert "the Spark master cannot be reached" in done.stderr
    assert "Connection refused" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out" / "inputs.json").exists()


def test_a_cluster_that_is_nowhere_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    recipe = project_in(tmp_path, CALM)
    run_inline(recipe, tmp_path / "out")
    (tmp_path / "out" / "d" / "manifest.json").unlink()
    for master, code, told in (
        ("yarn", EXIT_USAGE, "nothing says where the cluster is; set HADOOP_CONF_DIR"),
        (f"k8s://https://127.0.0.1:{free_port()}", EXIT_ENGINE, "the Spark master cannot be reached: '127.0.0.1:"),
    ):
        done = call("run", recipe, "--out", tmp_path / "out", "--engine", "spark", "--master", master)
        *left, error = done.stderr.splitlines()
        assert (done.returncode, told in error) == (code, True), done.stderr
        assert left[0].startswith("committed: ") and not left[0].startswith("committed: 0")
        assert left[1].startswith("resume with: gristmill run")


def test_no_secret_of_the_environment_is_written(
    tmp_path: Path, spark_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = "planted-7c1f0a9e"
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", planted)
    recipe = project_in(tmp_path, CALM)
    assert call("run", recipe, "--out", tmp_path / "out", *spark(spark_cluster)).returncode == 0
    written = [p for folder in (tmp_path / "out", spark_cluster.folder) for p in folder.rglob("*") if p.is_file()]
    assert len(written) > 20
    assert [path for path in written if planted.encode() in path.read_bytes()] == []


def test_the_interpreter_of_workers_is_the_drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another `python3` stands first on PATH, which lacks everything."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "bin" / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    recipe = project_in(tmp_path, CALM)
    assert call("run", recipe, "--out", tmp_path / "out", "--engine", "spark").returncode == 0


def test_a_submitted_recipe_runs_from_the_archive(
    tmp_path: Path, spark_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What executors import is what was shipped to them, although the package is installed here."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    recipe = project_in(tmp_path, "(HERE / 'where').write_text(str(__import__('gristmill.stages').stages.__path__))")
    out = recipe.parent / "out"
    done = call("submit", recipe, "--out", out, "--master", spark_cluster.url, "--yes", "--", "--quiet")
    assert done.returncode == 0, done.stderr
    assert str(spark_cluster.folder) in (recipe.parent / "where").read_text()
    whole(recipe, out)

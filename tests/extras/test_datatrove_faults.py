"""The engine datatrove with its local executor: dead workers, errors, Ctrl-C, a dead driver, secrets, bad input."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gristmill.manifests.errors import EXIT_INPUT, EXIT_INTERRUPTED, EXIT_USAGE, EngineLostError, UsageError
from gristmill.pipeline.engines.answer import TaskError
from gristmill.pipeline.engines.datatrove import DatatroveEngine, deal
from gristmill.pipeline.engines.machine import Machine, this_machine
from gristmill.pipeline.engines.protocol import EngineEvent, in_order
from gristmill.pipeline.engines.trove.job import Job, write_job
from gristmill.pipeline.engines.trove.local import LocalLauncher
from gristmill.pipeline.own_files import JOBS
from gristmill.pipeline.task import Resources, make_task
from tests.laws.running import call, command, fingerprint, json_of, run_inline, run_on
from tests.pipeline.kept_launcher import KeptLauncher
from tests.pipeline.test_engine_local import DIE_ALWAYS, DIE_ONCE, EXIT_WHEN_MADE, RECIPE, SLOW, class_project, project
from tests.processes import wait_for

EXIT_IN_TASK = "if 'doc 3' in text:\n        os._exit(3)"
SECRET = "hunter2-7f3a9c"


@pytest.fixture(scope="module")
def launcher() -> Iterator[KeptLauncher]:
    made = KeptLauncher(2)
    yield made
    made.end()


def processes_of(marker: str) -> list[int]:
    """Processes, living, that have these words in their environment."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and marker.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if b") Z" not in Path(f"/proc/{pid}/stat").read_bytes()]


def wait_until_gone(marker: str) -> None:
    deadline = time.monotonic() + 20
    while left := processes_of(marker):
        if time.monotonic() > deadline:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            pytest.fail(f"processes outlived their driver: {left}")
        time.sleep(0.1)


@pytest.fixture
def marked(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment that tells the processes of a test from others."""
    yield {**os.environ, "GRISTMILL_TEST": str(tmp_path)}


def test_a_killed_worker_costs_a_retry(tmp_path: Path, launcher: KeptLauncher) -> None:
    recipe = project(tmp_path, DIE_ONCE)
    events: list[EngineEvent] = []
    run_on(launcher.engine(tmp_path / "out"), recipe, tmp_path / "out", notify=events.append)
    assert [e.what for e in events if e.what in ("retry", "lost")] == ["retry"]
    run_inline(recipe, tmp_path / "calm")
    assert fingerprint(tmp_path / "out") == fingerprint(tmp_path / "calm")
    assert not (tmp_path / "out" / JOBS).exists()


@pytest.mark.parametrize("body", [DIE_ALWAYS, EXIT_IN_TASK])
def test_a_split_that_takes_every_worker_along_stops_the_run(tmp_path: Path, body: str, launcher: KeptLauncher) -> None:
    recipe = project(tmp_path, body)
    with pytest.raises(EngineLostError, match=r"lost 3 times .* of \d+ tasks of this step are committed; run the same"):
        run_on(launcher.engine(tmp_path / "out"), recipe, tmp_path / "out")
    assert not (tmp_path / "out" / "d" / "manifest.json").exists()
    assert list((tmp_path / "out" / "objects").glob("*/receipt.json"))
    assert not (tmp_path / "out" / JOBS).exists()


def test_datatrove_339_a_stage_that_ends_its_process_when_it_is_made_ends_the_run(
    tmp_path: Path, launcher: KeptLauncher
) -> None:
    recipe = class_project(tmp_path, made=EXIT_WHEN_MADE)
    with pytest.raises(EngineLostError, match=r"d\.read .*lost 3 times at the same split: .*; run the same"):
        run_on(launcher.engine(tmp_path / "out"), recipe, tmp_path / "out")


def test_a_bug_in_a_task_is_raised_with_its_traceback(tmp_path: Path, launcher: KeptLauncher) -> None:
    with pytest.raises(TaskError, match="KeyError") as caught:
        in_order(launcher.engine(tmp_path).map([make_task("decide", {}, {}, "t 1/1")], lambda event: None))
    assert "in the worker:\nTraceback" in caught.value.__notes__[0]


@pytest.fixture
def errors_told(tmp_path: Path) -> list[dict[str, Any]]:
    """What the command says on either engine of a task's error: the stage of the first dataset changes the input of
    the second, which is listed by then."""
    recipe = project(tmp_path, "(HERE / 'later' / 'a.txt').write_text('other')")
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "a.txt").write_text("as listed")
    recipe.write_text(RECIPE + '  e:\n    read: {text: "later/*.txt"}\n')
    words = ("run", recipe, "--workers", "2", "--json", "--quiet")
    told: list[dict[str, Any]] = []
    for name in ("local", "datatrove"):
        (tmp_path / "later" / "a.txt").write_text("as listed")
        told.append(json_of(call(*words, "--out", tmp_path / name, "--engine", name))["error"])
    return told


def test_what_a_task_raises_ends_the_command_as_on_the_local_engine(errors_told: list[dict[str, Any]]) -> None:
    assert errors_told[0]["exit_code"] == EXIT_INPUT
    assert errors_told[0] == errors_told[1]


def test_ctrl_c_ends_all_processes_and_the_run_resumes(tmp_path: Path, marked: dict[str, str]) -> None:
    recipe = project(tmp_path, SLOW)
    words = command("run", recipe, "--out", tmp_path / "out", "--workers", "2", "--engine", "datatrove")
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True, env=marked)
    wait_for(tmp_path / "started")
    interrupted_s = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - interrupted_s < 10
    assert process.returncode == EXIT_INTERRUPTED
    assert "run the same command again to resume" in errors
    assert "Traceback" not in errors
    wait_until_gone(str(tmp_path))
    assert not (tmp_path / "out" / JOBS).exists()


@pytest.fixture
def killed_driver(tmp_path: Path, marked: dict[str, str]) -> Path:
    """A recipe whose driver was killed at work."""
    recipe = project(tmp_path, SLOW)
    words = command("run", recipe, "--out", tmp_path / "out", "--workers", "2", "--engine", "datatrove", "--quiet")
    process = subprocess.Popen(words, env=marked)
    wait_for(tmp_path / "started")
    process.kill()
    process.wait()
    return recipe


def test_a_killed_driver_takes_its_workers_along_and_the_run_resumes(
    killed_driver: Path, tmp_path: Path, launcher: KeptLauncher
) -> None:
    recipe = killed_driver
    wait_until_gone(str(tmp_path))
    assert list((tmp_path / "out" / JOBS).iterdir())
    run_on(launcher.engine(tmp_path / "out"), recipe, tmp_path / "out")
    run_inline(recipe, tmp_path / "calm")
    assert fingerprint(tmp_path / "out") == fingerprint(tmp_path / "calm")
    assert not (tmp_path / "out" / JOBS).exists()


@pytest.fixture
def killed_host(tmp_path: Path) -> Path:
    """The output of a run whose host of workers was killed, once."""
    recipe = project(tmp_path, "time.sleep(0.1)")
    launcher = LocalLauncher(2)
    killed: list[int] = []

    def kill_once(event: EngineEvent) -> None:
        host = getattr(launcher, "_host")  # noqa: B009
        if event.what == "start" and not killed:
            killed.append(host.pid)
            host.kill()

    run_on(DatatroveEngine(tmp_path / "out", launcher), recipe, tmp_path / "out", notify=kill_once)
    assert killed
    run_inline(recipe, tmp_path / "calm")
    return tmp_path / "out"


def test_a_killed_host_is_replaced(killed_host: Path) -> None:
    assert fingerprint(killed_host) == fingerprint(killed_host.with_name("calm"))


def test_a_secret_of_the_environment_is_written_nowhere(tmp_path: Path, marked: dict[str, str]) -> None:
    recipe = project(tmp_path, SLOW)
    words = command("run", recipe, "--out", tmp_path / "out", "--workers", "2", "--engine", "datatrove")
    secret = {**marked, "AWS_SECRET_ACCESS_KEY": SECRET, "HF_TOKEN": SECRET}
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=secret)
    wait_for(tmp_path / "started")
    process.kill()
    _, errors = process.communicate()
    wait_until_gone(str(tmp_path))
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert {"ranks.jsonl", "executor.json"} <= {path.name for path in files}
    assert SECRET not in errors
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_the_command_takes_engine_and_executor(tmp_path: Path) -> None:
    recipe = project(tmp_path, "pass")
    words = ("run", recipe, "--out", tmp_path / "out", "--workers", "1", "--engine", "datatrove")
    assert call(*words, "--executor", "local").returncode == 0
    events = [json.loads(line) for line in (tmp_path / "out" / "events.jsonl").read_text().splitlines()]
    assert {"start", "commit"} == {e["what"] for e in events}
    assert all(e["pid"] for e in events if e["what"] == "start")


def test_slurm_without_its_programs_is_told_before_anything_starts(tmp_path: Path) -> None:
    recipe = project(tmp_path, "pass")
    done = call(
        *("run", recipe, "--out", tmp_path / "out", "--engine", "datatrove", "--executor", "slurm"),
        PATH=str(Path(command()[0]).parent),
    )
    assert done.returncode == EXIT_USAGE
    assert "Slurm's programs are not on PATH: 'sbatch'" in done.stderr


FULL = """\
import sys
from pathlib import Path
from gristmill.pipeline.engines.datatrove import DatatroveEngine
from gristmill.pipeline.engines.trove.local import LocalLauncher
from tests.laws.running import run_on
if __name__ == "__main__":
    recipe, out = map(Path, sys.argv[1:])
    try:
        run_on(DatatroveEngine(out, LocalLauncher(2)), recipe, out)
    except OSError as error:
        print(error.strerror)
"""
FILL = """with open(HERE / 'out' / 'fill', 'ab', 0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass"""


def test_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    """A disk of 4 MB in a namespace of the test's own; where it is full, no mark can be written either."""
    recipe, out, script = class_project(tmp_path, FILL), tmp_path / "out", tmp_path / "full.py"
    out.mkdir()
    script.write_text(FULL)
    mount = f"mount -t tmpfs -o size=4m none {shlex.quote(str(out))}"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mount], check=False, capture_output=True).returncode:
        pytest.skip("no namespaces here")
    run = shlex.join([sys.executable, str(script), str(recipe), str(out)])
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    words = ["unshare", "-rm", "sh", "-c", f"{mount} && {run}"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=100, check=False)
    assert done.stdout == "No space left on device\n", done.stderr


class Idle(LocalLauncher):
    """Launches nothing."""

    stuck_s = 0.1

    def start(self, job: Job, ranks: int, resources: Resources) -> None:
        return


def test_jobs_that_never_begin_a_task_are_given_up(tmp_path: Path) -> None:
    engine = DatatroveEngine(tmp_path, Idle(2))
    with pytest.raises(EngineLostError, match="3 jobs ended without beginning a task: 'no task was begun for"):
        in_order(engine.map([make_task("decide", {}, {}, "t 1/1")], lambda event: None))


def test_tasks_are_dealt_evenly_the_largest_first_and_the_deadly_alone() -> None:
    tasks = {i: make_task("decide", {"n": i}, {}, f"t {i}", size) for i, size in enumerate((1, 9, 5, 4, 2))}
    assert [list(rank) for rank in deal(tasks, 2, {})] == [[1, 4], [2, 3, 0]]
    assert [list(rank) for rank in deal(tasks, 2, {2: 1})] == [[1], [3, 4, 0], [2]]
    assert [list(rank) for rank in deal(tasks, 9, {})] == [[1], [2], [3], [4], [0]]


def test_a_job_gives_each_rank_its_own_tasks_back(tmp_path: Path) -> None:
    big = replace(make_task("decide", {"n": 1}, {"path": "é\n"}, "t 1", 7), resources=Resources(2, 3, 4))
    small = make_task("decide", {"n": 2}, {}, "t 2")
    job = write_job(tmp_path, [{5: big, 0: small}, {1: small}])
    assert list(job.tasks(0)) == [(5, big), (0, small)]
    assert list(job.tasks(1)) == [(1, small)]
    assert job.folder.stat().st_mode & 0o777 == 0o700


def test_tasks_that_take_more_run_fewer_at_once() -> None:
    machine = Machine(8, 90 << 30, ("0", "1", "2"))
    assert machine.at_once(Resources()) == 8
    assert machine.at_once(Resources(cpus=3)) == 2
    assert machine.at_once(Resources(cpus=99)) == 1
    assert machine.at_once(Resources(mem_bytes=30 << 30)) == 3
    assert machine.at_once(Resources(gpus=2)) == 1
    assert this_machine(0).at_once(Resources()) == 1


@pytest.mark.parametrize(("resources", "what"), [("gpus: 1", "resources.gpus"), ("mem: 900 TiB", "resources.mem")])
def test_what_the_machine_lacks_is_refused_before_any_work(tmp_path: Path, resources: str, what: str) -> None:
    recipe = project(tmp_path, "pass")
    recipe.write_text(RECIPE.replace('"./mine.py:mine"', f'"./mine.py:mine": {{resources: {{{resources}}}}}'))
    launcher = LocalLauncher(2, Machine(0, 10 << 30))
    with pytest.raises(UsageError, match=what):
        run_on(DatatroveEngine(tmp_path / "out", launcher), recipe, tmp_path / "out")
    assert not (tmp_path / "out" / "objects").exists()


def test_each_worker_sees_the_accelerators_that_are_its_own(tmp_path: Path) -> None:
    note = "(HERE / f'seen-{os.getpid()}').open('a').write(os.environ['CUDA_VISIBLE_DEVICES'] + ' '); time.sleep(0.2)"
    recipe = project(tmp_path, note)
    recipe.write_text(RECIPE.replace('"./mine.py:mine"', '"./mine.py:mine": {resources: {gpus: 1}}'))
    launcher = LocalLauncher(4, Machine(0, 10 << 30, ("5", "GPU-b")))
    run_on(DatatroveEngine(tmp_path / "out", launcher), recipe, tmp_path / "out")
    seen = [set(path.read_text().split()) for path in tmp_path.glob("seen-*")]
    assert sorted(name for names in seen for name in names) == ["5", "GPU-b"]

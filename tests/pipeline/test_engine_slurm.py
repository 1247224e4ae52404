"""The engine datatrove on Slurm, with programs of a fake one on PATH (`fake_slurm`); a real one: tests/extras."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gristmill.manifests.errors import EXIT_ENGINE, EngineLostError
from gristmill.pipeline.engines.datatrove import DatatroveEngine
from gristmill.pipeline.engines.protocol import EngineEvent
from gristmill.pipeline.engines.trove import slurm
from gristmill.pipeline.engines.trove.job import write_job
from gristmill.pipeline.engines.trove.slurm import SlurmLauncher, ids_of
from gristmill.pipeline.engines.trove.slurm_executor import SlurmJob, slurm_executor
from gristmill.pipeline.own_files import JOBS
from gristmill.pipeline.profile import SlurmProfile
from gristmill.pipeline.task import SMALL, Resources, make_task
from tests.laws.running import call, command, fingerprint, json_of, run_inline, run_on
from tests.pipeline import fake_slurm
from tests.pipeline.test_engine_local import project
from tests.processes import wait_for

SECRET = "hunter2-7f3a9c"
WAITS = "(HERE / 'started').touch()\n    while not (HERE / 'go').exists():\n        time.sleep(0.02)"
PROFILE = '[default]\nengine = "datatrove"\nexecutor = "slurm"\nworkers = 2\n[default.slurm]\ntime = "00:05:00"\n'


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state of a fake cluster that is on PATH; its jobs find this interpreter's environment."""
    for name, value in fake_slurm.install(tmp_path / "slurm").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(slurm, "FIRST_POLL_S", 0.1)
    monkeypatch.setattr(slurm, "LAST_POLL_S", 0.3)
    return tmp_path / "slurm" / "state"


def launcher(workers: int | None = 2, **settings: object) -> SlurmLauncher:
    made = SlurmLauncher(SlurmProfile.model_validate(settings), workers)
    made.pause_s = 0.1
    return made


def calls(cluster: Path) -> list[list[str]]:
    return [json.loads(line) for line in (cluster / "calls").read_text().splitlines()]


@pytest.fixture
def calm(tmp_path: Path, cluster: Path) -> tuple[Path, Path, list[EngineEvent]]:
    """The outputs of a run on Slurm and on the local engine, and the events of the former."""
    recipe = project(tmp_path, "pass")
    events: list[EngineEvent] = []
    out = tmp_path / "an out;put 100%"
    run_on(DatatroveEngine(out, launcher(partition="batch")), recipe, out, notify=events.append)
    run_inline(recipe, tmp_path / "calm")
    return out, tmp_path / "calm", events


def test_array_jobs_give_the_bytes_of_the_local_engine(
    calm: tuple[Path, Path, list[EngineEvent]], cluster: Path
) -> None:
    out, local, events = calm
    assert fingerprint(out) == fingerprint(local)
    assert {event.what for event in events} == {"start", "commit"}
    assert {job["state"] for job in fake_slurm.jobs(cluster)} == {"COMPLETED"}
    script = (cluster / "101.sh").read_text()
    wanted = ("--partition=batch", "--signal=B:USR1@120", "--time=24:00:00", "--mem-per-cpu=2048M", "--requeue")
    assert all(f"#SBATCH {line}" in script for line in wanted)
    assert not any(word in script for word in ("--qos", "--gres", "None"))
    assert not (out / JOBS).exists()


@pytest.fixture
def told(tmp_path: Path, cluster: Path, request: pytest.FixtureRequest) -> tuple[Path, Path, list[EngineEvent]]:
    """A run whose first task is told to stop, by the signal of the parameter, and its events."""
    recipe = project(tmp_path, WAITS)
    events: list[EngineEvent] = []
    sent: list[int] = []

    def tell(event: EngineEvent) -> None:
        events.append(event)
        if event.what == "start" and not sent:
            wait_for(tmp_path / "started")
            sent.append(int(str(event.facts["pid"])))
            os.kill(sent[0], request.param)
        elif event.what == "retry":
            (tmp_path / "go").touch()

    run_on(DatatroveEngine(tmp_path / "out", launcher()), recipe, tmp_path / "out", notify=tell)
    run_inline(recipe, tmp_path / "calm")
    return tmp_path / "out", tmp_path / "calm", events


@pytest.mark.parametrize("told", [signal.SIGUSR1, signal.SIGTERM], indirect=True)
def test_a_job_that_is_told_to_stop_queues_itself_again(
    told: tuple[Path, Path, list[EngineEvent]], cluster: Path
) -> None:
    out, local, events = told
    assert [event.facts["how"] for event in events if event.what == "retry"] == ["queued again"]
    assert sum(job["restarts"] for job in fake_slurm.jobs(cluster)) == 1
    assert fingerprint(out) == fingerprint(local)


def test_a_task_that_outlasts_every_job_is_given_up(tmp_path: Path, cluster: Path) -> None:
    recipe = project(tmp_path, WAITS)

    def tell(event: EngineEvent) -> None:
        if event.what in ("start", "retry") and event.label.endswith("1/2"):
            wait_for(tmp_path / "started")
            os.kill(int(str(event.facts["pid"])), signal.SIGUSR1)

    with pytest.raises(EngineLostError, match=r"ended 3 times in the middle of the same split.*more time"):
        run_on(DatatroveEngine(tmp_path / "out", launcher()), recipe, tmp_path / "out", notify=tell)
    assert (cluster / "cancelled").exists()


def test_a_cancelled_job_stays_so(tmp_path: Path, cluster: Path) -> None:
    recipe = project(tmp_path, WAITS)

    def cancel(event: EngineEvent) -> None:
        if event.what == "start":
            subprocess.run(["scancel", "101"], check=True)

    with pytest.raises(EngineLostError, match="the Slurm job was cancelled") as caught:
        run_on(DatatroveEngine(tmp_path / "out", launcher()), recipe, tmp_path / "out", notify=cancel)
    assert caught.value.exit_code == EXIT_ENGINE
    assert all(job["restarts"] == 0 for job in fake_slurm.jobs(cluster))


def test_a_job_that_will_never_start_is_told_and_taken_back(
    tmp_path: Path, cluster: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SLURM_HOLD", "PartitionTimeLimit")
    with pytest.raises(EngineLostError, match=r"will not start: 'PartitionTimeLimit'; .* run the same command"):
        run_on(DatatroveEngine(tmp_path / "out", launcher()), project(tmp_path, "pass"), tmp_path / "out")
    assert {job["state"] for job in fake_slurm.jobs(cluster)} == {"CANCELLED"}


def test_what_sbatch_refuses_is_told_with_its_reason(
    tmp_path: Path, cluster: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SLURM_REFUSE", "1")
    (tmp_path / "profiles.toml").write_text(PROFILE)
    recipe = project(tmp_path, "pass")
    profiles = {"GRISTMILL_PROFILES": str(tmp_path / "profiles.toml")}
    done = call("run", recipe, "--out", tmp_path / "out", "--json", "--quiet", **profiles)
    assert done.returncode == EXIT_ENGINE
    assert "sbatch refused the job: 'sbatch: error: invalid partition" in json_of(done)["error"]["message"]
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["committed", "resume with", "gristmill"]


@pytest.fixture
def given_up(tmp_path: Path, cluster: Path) -> str:
    """Why a run stopped whose stage kills whatever process it runs in."""
    recipe = project(tmp_path, "if 'doc 3' in text:\n        os.kill(os.getpid(), 9)")
    with pytest.raises(EngineLostError) as caught:
        run_on(DatatroveEngine(tmp_path / "out", launcher()), recipe, tmp_path / "out")
    return str(caught.value)


def test_a_job_that_dies_is_launched_anew_and_at_last_given_up(given_up: str, cluster: Path) -> None:
    assert "a worker was lost 3 times at the same split: 'the array jobs have ended (FAILED" in given_up
    assert "1 of 2 tasks of this step are committed" in given_up
    assert len({job["base"] for job in fake_slurm.jobs(cluster)}) == 3


@pytest.fixture
def killed(tmp_path: Path, cluster: Path) -> tuple[Path, list[Path], str]:
    """A recipe whose driver was killed while a job of its worked, what it left, and what it said."""
    recipe = project(tmp_path, WAITS)
    (tmp_path / "profiles.toml").write_text(PROFILE)
    environment = {**os.environ, "GRISTMILL_PROFILES": str(tmp_path / "profiles.toml"), "AWS_SECRET": SECRET}
    words = command("run", recipe, "--out", tmp_path / "out", "--quiet")
    process = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)
    wait_for(tmp_path / "started")
    process.kill()
    _, errors = process.communicate()
    return recipe, [path for path in (tmp_path / "out").rglob("*") if path.is_file()], errors


def test_a_secret_of_the_environment_is_written_nowhere(killed: tuple[Path, list[Path], str], cluster: Path) -> None:
    recipe, files, errors = killed
    (recipe.parent / "go").touch()
    assert {"executor.pik", "launch_script.slurm", "array_ids", "ranks.jsonl"} <= {path.name for path in files}
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert SECRET not in errors


@pytest.fixture
def resumed(killed: tuple[Path, list[Path], str], tmp_path: Path) -> None:
    """The run of a killed driver, ended by another."""
    (tmp_path / "go").touch()
    run_on(DatatroveEngine(tmp_path / "out", launcher()), killed[0], tmp_path / "out")
    run_inline(killed[0], tmp_path / "calm")


@pytest.mark.usefixtures("resumed")
def test_the_jobs_of_a_killed_driver_are_cancelled_by_the_next(tmp_path: Path, cluster: Path) -> None:
    assert (cluster / "cancelled").read_text().split()[0] == "101"
    assert fingerprint(tmp_path / "out") == fingerprint(tmp_path / "calm")
    assert not (tmp_path / "out" / JOBS).exists()


@pytest.mark.parametrize("tasks", [1000, 1001, 2002])
@pytest.mark.parametrize("a_job", [1, 3])
def test_any_number_of_tasks_is_run_once(
    tasks: int, a_job: int, tmp_path: Path, cluster: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every array element that is submitted, asked for its ranks: none is left out, none comes twice."""
    monkeypatch.setenv("FAKE_SLURM_HOLD", "Priority")
    task = make_task("decide", {}, {}, "t")
    job = write_job(tmp_path, [{n: task} for n in range(tasks)])
    made = launcher(None, tasks_per_job=a_job)
    made.start(job, tasks, SMALL)
    elements = fake_slurm.jobs(cluster)
    per_array = {n: sum(e["base"] == n for e in elements) for n in {e["base"] for e in elements}}
    assert max(per_array.values()) <= 1001
    assert [str(base) for base in sorted(per_array)] == ids_of(job)
    profile = SlurmProfile(tasks_per_job=a_job)
    executor = slurm_executor(SlurmJob(str(job.folder), tasks, -1, sys.prefix, SMALL, profile))
    ran: list[int] = []
    monkeypatch.setattr(executor, "_run_for_rank", lambda rank, node_rank: ran.append(rank))
    held = {name: signal.getsignal(name) for name in (signal.SIGUSR1, signal.SIGTERM)}
    for element in elements:
        monkeypatch.setenv("SLURM_ARRAY_TASK_ID", str(element["index"]))
        monkeypatch.setenv("RUN_OFFSET", element["offset"])
        executor.run()
    for name, handler in held.items():
        signal.signal(name, handler)
    assert sorted(ran) == list(range(tasks))
    made.stop(False)


def test_a_step_asks_for_what_its_tasks_take(tmp_path: Path, cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SLURM_HOLD", "Priority")
    job = write_job(tmp_path, [{0: make_task("decide", {}, {}, "t")}])
    made = launcher(None, qos="high", sbatch={"account": "physics"}, srun=True, time="01:00:00")
    made.start(job, 1, Resources(cpus=4, mem_bytes=6 << 30, gpus=2))
    script = (cluster / "101.sh").read_text()
    wanted = ("cpus-per-task=4", "mem-per-cpu=1536M", "gres=gpu:2", "qos=high", "account=physics", "signal=USR1@120")
    assert all(f"#SBATCH --{line}\n" in script for line in wanted)
    assert "--gpus" not in script
    assert "exec srun -l -n 1 launch_pickled_pipeline" in script
    made.stop(False)


def test_only_ids_are_cancelled_whatever_an_output_holds(tmp_path: Path, cluster: Path) -> None:
    """The folder of a job may have been written by somebody else."""
    job = write_job(tmp_path, [{0: make_task("decide", {}, {}, "t")}])
    job.array_ids.write_bytes("101\n--user=me\n-u me 102 1_2 \xb2 \u0663\n".encode() + b"\xff\n")
    slurm.cancel(job)
    assert (cluster / "cancelled").read_text() == "101 102\n"
    job.array_ids.write_bytes(b"--me\n")
    slurm.cancel(job)
    assert (cluster / "cancelled").read_text() == "101 102\n"


@pytest.mark.parametrize("scancel", [True, False])
def test_any_run_takes_away_what_a_dead_driver_left(
    tmp_path: Path, cluster: Path, scancel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = project(tmp_path, "pass")
    (tmp_path / "out").mkdir()
    task = make_task("decide", {}, {}, "t")
    plain, array = write_job(tmp_path / "out", [{0: task}]), write_job(tmp_path / "out", [{0: task}])
    array.array_ids.write_text("101\n")
    if not scancel:
        monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    run_inline(recipe, tmp_path / "out")
    assert not plain.folder.exists()
    assert array.folder.exists() is not scancel
    assert (cluster / "cancelled").exists() is scancel

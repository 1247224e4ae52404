"""The engine datatrove on a real Slurm: one node on the loopback (`slurm_cluster`)."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gristmill.manifests.errors import EngineLostError
from gristmill.pipeline.engines.datatrove import DatatroveEngine
from gristmill.pipeline.engines.protocol import EngineEvent
from gristmill.pipeline.engines.trove import slurm
from gristmill.pipeline.engines.trove.slurm import SlurmLauncher
from gristmill.pipeline.own_files import JOBS
from gristmill.pipeline.profile import SlurmProfile
from tests.extras import slurm_cluster
from tests.laws.corpora import write_corpus
from tests.laws.running import fingerprint, run_inline, run_on, write_recipe
from tests.pipeline.test_engine_local import project
from tests.pipeline.test_engine_slurm import WAITS
from tests.processes import wait_for

EXCHANGE = """\
name: exchange
datasets:
  lines:
    read: {jsonl: "jsonl/*.jsonl*"}
    steps: [minhash_dedup, gopher_quality]
"""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[slurm_cluster.Cluster]:
    try:
        made = slurm_cluster.start()
    except slurm_cluster.Unavailable as why:
        pytest.skip(str(why))
    yield made
    made.stop()


@pytest.fixture
def on_slurm(cluster: slurm_cluster.Cluster, monkeypatch: pytest.MonkeyPatch) -> slurm_cluster.Cluster:
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(slurm, "FIRST_POLL_S", 0.5)
    monkeypatch.setattr(slurm, "LAST_POLL_S", 2.0)
    return cluster


def launcher(**settings: object) -> SlurmLauncher:
    memory: dict[str, object] = {"mem-per-cpu": "400M"}
    made = SlurmLauncher(SlurmProfile.model_validate({"time": "00:10:00", "sbatch": memory, **settings}), None)
    made.pause_s = 0.5
    return made


def test_it_listens_on_the_loopback_only(on_slurm: slurm_cluster.Cluster) -> None:
    pids = {daemon.pid for daemon in on_slurm.daemons}
    told = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
    ours = [line.split()[3] for line in told.splitlines() if any(f"pid={pid}," in line for pid in pids)]
    assert ours
    assert all(address.startswith("127.") for address in ours)


@pytest.mark.parametrize("srun", [False, True])
def test_arrays_give_the_bytes_of_the_local_engine(on_slurm: slurm_cluster.Cluster, srun: bool, tmp_path: Path) -> None:
    recipe = project(tmp_path, "pass")
    out = tmp_path / "an out;put 100%"
    run_on(DatatroveEngine(out, launcher(srun=srun, partition="main")), recipe, out)
    run_inline(recipe, tmp_path / "calm")
    assert fingerprint(out) == fingerprint(tmp_path / "calm")
    assert not (out / JOBS).exists()


def test_a_recipe_with_exchanges(on_slurm: slurm_cluster.Cluster, tmp_path: Path) -> None:
    recipe = write_recipe(write_corpus(tmp_path / "corpus"), EXCHANGE)
    run_on(DatatroveEngine(tmp_path / "out", launcher(tasks_per_job=2)), recipe, tmp_path / "out")
    run_inline(recipe, tmp_path / "calm", 2)
    assert fingerprint(tmp_path / "out") == fingerprint(tmp_path / "calm")


def test_a_job_that_nears_its_limit_of_time_queues_itself_again(
    on_slurm: slurm_cluster.Cluster, tmp_path: Path
) -> None:
    """Two minutes for a task that waits for the second start: Slurm tells it between 30 and 60 s before."""
    recipe = project(tmp_path, WAITS)
    events: list[EngineEvent] = []

    def heed(event: EngineEvent) -> None:
        events.append(event)
        if event.what == "retry":
            (tmp_path / "go").touch()

    made = launcher(time="00:02:00", requeue_before_s=60)
    run_on(DatatroveEngine(tmp_path / "out", made), recipe, tmp_path / "out", notify=heed)
    assert {e.facts["how"] for e in events if e.what == "retry"} == {"queued again"}
    assert not [e for e in events if e.what == "lost"]
    run_inline(recipe, tmp_path / "calm")
    assert fingerprint(tmp_path / "out") == fingerprint(tmp_path / "calm")


def test_a_job_that_is_told_by_hand_queues_itself_again(on_slurm: slurm_cluster.Cluster, tmp_path: Path) -> None:
    recipe = project(tmp_path, WAITS)
    events: list[EngineEvent] = []

    def heed(event: EngineEvent) -> None:
        events.append(event)
        if event.what == "start" and not (tmp_path / "told").exists():
            wait_for(tmp_path / "started")
            (tmp_path / "told").touch()
            on_slurm.ask("scancel", "--signal=TERM", "--batch", "-u", "root")
        elif event.what == "retry":
            (tmp_path / "go").touch()

    run_on(DatatroveEngine(tmp_path / "out", launcher()), recipe, tmp_path / "out", notify=heed)
    assert [e for e in events if e.what == "retry"]
    run_inline(recipe, tmp_path / "calm")
    assert fingerprint(tmp_path / "out") == fingerprint(tmp_path / "calm")


def test_a_cancelled_job_stays_so(on_slurm: slurm_cluster.Cluster, tmp_path: Path) -> None:
    recipe = project(tmp_path, WAITS)

    def heed(event: EngineEvent) -> None:
        if event.what == "start":
            on_slurm.ask("scancel", "-u", "root")

    with pytest.raises(EngineLostError, match="the Slurm job was cancelled"):
        run_on(DatatroveEngine(tmp_path / "out", launcher()), recipe, tmp_path / "out", notify=heed)
    time.sleep(3)
    assert on_slurm.ask("squeue", "-h") == ""


def test_a_job_that_cannot_start_is_told(on_slurm: slurm_cluster.Cluster, tmp_path: Path) -> None:
    with pytest.raises(EngineLostError, match=r"sbatch refused the job: .*[Ii]nvalid partition"):
        run_on(
            DatatroveEngine(tmp_path / "out", launcher(partition="nowhere")),
            project(tmp_path, "pass"),
            tmp_path / "out",
        )
    held = launcher(sbatch={"mem-per-cpu": "100M", "hold": ""})
    with pytest.raises(EngineLostError, match="will not start: 'JobHeldUser'"):
        run_on(DatatroveEngine(tmp_path / "out", held), tmp_path / "recipe.yaml", tmp_path / "out")
    assert on_slurm.ask("squeue", "-h") == ""

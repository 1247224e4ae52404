"""The engine datatrove on Ray: a cluster of this machine, made for the run."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gristmill.manifests.errors import EXIT_ENGINE, EXIT_INTERRUPTED, EngineLostError
from gristmill.pipeline.engines.datatrove import DatatroveEngine
from gristmill.pipeline.engines.protocol import EngineEvent, in_order
from gristmill.pipeline.engines.trove.ray import RayLauncher
from gristmill.pipeline.own_files import JOBS
from gristmill.pipeline.profile import RayProfile
from gristmill.pipeline.task import Resources, make_task
from tests.extras.test_datatrove_faults import wait_until_gone
from tests.laws.corpora import write_corpus
from tests.laws.running import call, command, fingerprint, run_inline, run_on, write_recipe
from tests.pipeline.test_engine_local import DIE_ALWAYS, DIE_ONCE, SLOW, project
from tests.processes import wait_for

pytestmark = pytest.mark.timeout(600)

EXCHANGE = """\
name: exchange
datasets:
  lines:
    read: {jsonl: "jsonl/*.jsonl*"}
    steps: [exact_dedup]
"""
KILL_GUARD = DIE_ONCE.replace("os.getpid()", "os.getppid()")
"""Of a worker, its parent: it dies with it."""
KILL_ALL = KILL_GUARD.replace(
    "os.kill(",
    """for pid in map(int, Path(f'/proc/{os.getppid()}/task/{os.getppid()}/children').read_text().split()):
            if pid != os.getpid():
                os.kill(pid, 9)
        os.kill(""",
)
"""Who would tell of it as well."""
SECRET = "hunter2-7f3a9c"


class Kept(RayLauncher):
    """Outlives the engines that it is lent to: a cluster takes ten seconds to start."""

    def close(self) -> None:
        self.stop(False)

    def end(self) -> None:
        super().close()


@pytest.fixture(scope="module")
def launcher() -> Iterator[Kept]:
    made = Kept(RayProfile(), 2, None)
    yield made
    made.end()


@pytest.fixture(scope="module")
def outputs(launcher: Kept, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A recipe with exchanges: the output of Ray and that of the local engine."""
    folder = write_corpus(tmp_path_factory.mktemp("corpus"))
    recipe = write_recipe(folder, EXCHANGE)
    run_on(DatatroveEngine(folder / "out", launcher), recipe, folder / "out")
    run_inline(recipe, folder / "calm", 2)
    return folder / "out", folder / "calm"


def test_a_recipe_with_exchanges_gives_the_bytes_of_the_local_engine(outputs: tuple[Path, Path]) -> None:
    assert fingerprint(outputs[0]) == fingerprint(outputs[1])
    assert not (outputs[0] / JOBS).exists()


@pytest.mark.usefixtures("outputs")
def test_it_listens_on_the_loopback_only(launcher: Kept) -> None:
    host = getattr(launcher, "_host")  # noqa: B009
    told = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(pid): int(parent) for pid, parent in map(str.split, told.splitlines())}
    ours = {pid for pid in parents if host.pid in (pid, parents[pid], parents.get(parents[pid]))}
    told = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
    listening = [line.split()[3] for line in told.splitlines() if any(f"pid={pid}," in line for pid in ours)]
    assert listening
    assert all("127.0.0.1" in address for address in listening)


def test_what_no_node_has_is_told(tmp_path: Path, launcher: Kept) -> None:
    engine = DatatroveEngine(tmp_path, launcher)
    task = make_task("decide", {}, {}, "t 1/1")
    for resources in (Resources(cpus=99), Resources(mem_bytes=1 << 50), Resources(gpus=99)):
        sized = type(task)(**{**vars(task), "resources": resources})
        with pytest.raises(EngineLostError, match="no node of the Ray cluster has what a task takes"):
            in_order(engine.map([sized], lambda event: None))


@pytest.fixture
def survived(tmp_path: Path, launcher: Kept) -> tuple[Path, list[EngineEvent]]:
    """The output of a run one of whose workers killed itself, and its events."""
    recipe = project(tmp_path, DIE_ONCE)
    events: list[EngineEvent] = []
    run_on(DatatroveEngine(tmp_path / "out", launcher), recipe, tmp_path / "out", notify=events.append)
    run_inline(recipe, tmp_path / "calm")
    return tmp_path / "out", events


def test_a_killed_worker_costs_a_retry(survived: tuple[Path, list[EngineEvent]]) -> None:
    out, events = survived
    assert [e.facts["how"] for e in events if e.what in ("retry", "lost")] == ["exit code -9"]
    assert fingerprint(out) == fingerprint(out.with_name("calm"))


@pytest.fixture
def without_guard(tmp_path: Path, launcher: Kept, request: pytest.FixtureRequest) -> tuple[Path, list[object]]:
    """The output of a run in which a worker's guard was killed, and why the task was tried again."""
    recipe = project(tmp_path, request.param)
    events: list[EngineEvent] = []
    run_on(DatatroveEngine(tmp_path / "out", launcher), recipe, tmp_path / "out", notify=events.append)
    run_inline(recipe, tmp_path / "calm")
    return tmp_path / "out", [e.facts["how"] for e in events if e.what in ("retry", "lost")]


@pytest.mark.parametrize(
    ("without_guard", "why"),
    [(KILL_GUARD, "waits for the worker was killed"), (KILL_ALL, " is gone")],
    indirect=["without_guard"],
)
def test_a_killed_guard_costs_a_retry(without_guard: tuple[Path, list[object]], why: str) -> None:
    out, told = without_guard
    assert len(told) == 1 and why in str(told[0])
    assert fingerprint(out) == fingerprint(out.with_name("calm"))


@pytest.fixture
def given_up(tmp_path: Path, launcher: Kept) -> str:
    """Why a run stopped whose stage kills every worker."""
    recipe = project(tmp_path, DIE_ALWAYS)
    with pytest.raises(EngineLostError) as caught:
        run_on(DatatroveEngine(tmp_path / "out", launcher), recipe, tmp_path / "out")
    return str(caught.value)


def test_a_split_that_takes_every_worker_along_stops_the_run(given_up: str) -> None:
    assert "a worker was lost 3 times at the same split: 'exit code -9'; 1 of 2 tasks" in given_up


@pytest.fixture
def interrupted(tmp_path: Path) -> tuple[int, str, float]:
    """Exit code, standard error and the seconds that Ctrl-C took, with secrets in the environment."""
    recipe = project(tmp_path, SLOW)
    words = command("run", recipe, "--out", tmp_path / "out", "--workers", "2", "--engine", "datatrove")
    environment = {**os.environ, "GRISTMILL_TEST": str(tmp_path), "AWS_SECRET_ACCESS_KEY": SECRET}
    process = subprocess.Popen(
        [*words, "--executor", "ray"], stderr=subprocess.PIPE, text=True, start_new_session=True, env=environment
    )
    wait_for(tmp_path / "started")
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []
    begun_s = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors, time.monotonic() - begun_s


def test_ctrl_c_ends_the_cluster_too(interrupted: tuple[int, str, float], tmp_path: Path) -> None:
    code, errors, seconds = interrupted
    assert code == EXIT_INTERRUPTED
    assert seconds < 20
    assert "run the same command again to resume" in errors
    assert "Traceback" not in errors
    assert SECRET not in errors
    wait_until_gone(str(tmp_path))
    assert not (tmp_path / "out" / JOBS).exists()


def test_an_address_where_nobody_is_is_told(tmp_path: Path) -> None:
    recipe = project(tmp_path, "pass")
    (tmp_path / "profiles.toml").write_text('[default.ray]\naddress = "127.0.0.1:1"\n')
    words = ("run", recipe, "--out", tmp_path / "out", "--engine", "datatrove", "--executor", "ray")
    done = call(*words, GRISTMILL_PROFILES=str(tmp_path / "profiles.toml"))
    assert done.returncode == EXIT_ENGINE
    assert done.stderr.strip().splitlines()[-1].startswith("gristmill: 127.0.0.1:1: Ray cannot be reached")

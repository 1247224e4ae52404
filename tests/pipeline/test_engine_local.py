"""The local engine: dead workers, errors, Ctrl-C, two drivers."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from gristmill.manifests.errors import EXIT_ENGINE, EXIT_INTERRUPTED, EXIT_USAGE, EngineLostError
from gristmill.manifests.manifest import read_manifest
from tests.laws.running import call, command, fingerprint, json_of, run_inline, write_recipe

RECIPE = """\
name: e
seed: 1
datasets:
  d:
    read: {text: "in/*.txt"}
    steps: ["./mine.py:mine"]
"""

MINE = '''\
import os
import signal
import time
from pathlib import Path

from gristmill.stages import doc_filter

HERE = Path(__file__).parent


@doc_filter(drop_above={"n": 1e9})
def mine(text):
    """Does what its file says."""
    BODY
    return {"n": len(text)}
'''

DIE_ONCE = """flag = HERE / 'died'
    if 'doc 3' in text and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), 9)"""
DIE_ALWAYS = "if 'doc 3' in text:\n        os.kill(os.getpid(), 9)"
EXIT_WHEN_MADE = "if __import__('multiprocessing').parent_process():\n            os._exit(3)"
"""Of `class_project`: in every process but the driver."""
SLOW = "(HERE / 'started').touch()\n    time.sleep(0.3)"


CLASS = """\
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from gristmill.stages.protocol import Rule

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Mine:
    name: ClassVar[str] = "mine"
    version: ClassVar[int] = 1

    def __post_init__(self):
        MADE

    def rules(self):
        return (Rule("n", "above", 1e9, "long"),)

    def measure(self, batch):
        MEASURES
        return {"n": np.zeros(batch.num_rows)}
"""


def class_project(folder: Path, measures: str = "pass", made: str = "pass") -> Path:
    """A recipe whose stage is a class, which is not spared what it raises: what it does in `measure`, and when it is
    made, on the driver too."""
    recipe = project(folder, "pass")
    (folder / "mine.py").write_text(CLASS.replace("MADE", made).replace("MEASURES", measures))
    recipe.write_text(RECIPE.replace("py:mine", "py:Mine"))
    return recipe


def project(folder: Path, body: str) -> Path:
    (folder / "in").mkdir()
    for n in range(12):
        (folder / "in" / f"{n:02d}.txt").write_text(f"doc {n} " * 400_000 if n % 4 == 0 else f"doc {n}")
    (folder / "mine.py").write_text(MINE.replace("BODY", body))
    return write_recipe(folder, RECIPE)


def wait_for_end_of_group(group: int) -> None:
    """Until no process of the group is left; some inits take seconds to reap orphans."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(group, signal.SIGKILL)
    pytest.fail("processes outlived their driver")


def test_a_killed_worker_costs_a_retry(tmp_path: Path) -> None:
    recipe = project(tmp_path, DIE_ONCE)
    run_inline(recipe, tmp_path / "out", workers=2)
    assert read_manifest(tmp_path / "out" / "d")["totals"]["records"] == 12
    run_inline(recipe, tmp_path / "calm", workers=0)
    assert fingerprint(tmp_path / "out") == fingerprint(tmp_path / "calm")


def test_a_split_that_kills_every_worker_stops_the_run_and_leaves_the_rest(tmp_path: Path) -> None:
    recipe = project(tmp_path, DIE_ALWAYS)
    with pytest.raises(EngineLostError, match="died 3 times"):
        run_inline(recipe, tmp_path / "out", workers=2)
    assert not (tmp_path / "out" / "d" / "manifest.json").exists()
    done = call("run", recipe, "--out", tmp_path / "out", "--workers", "1", "--json", "--quiet")
    assert done.returncode == EXIT_ENGINE
    assert json_of(done)["error"]["exit_code"] == EXIT_ENGINE


def test_what_memory_a_machine_has_decides_no_records_fate(tmp_path: Path) -> None:
    """A user's filter that is refused memory ends the task, not the record."""
    recipe = project(tmp_path, "if 'doc 3' in text: bytearray(1 << 60)")
    done = call("run", recipe, "--out", tmp_path / "out", "--workers", "1")
    assert done.returncode == EXIT_ENGINE
    assert "a worker ran out of memory" in done.stderr
    assert "resume with: gristmill run" in done.stderr


def test_ctrl_c_ends_all_processes_and_the_run_resumes(tmp_path: Path) -> None:
    recipe = project(tmp_path, SLOW)
    words = command("run", recipe, "--out", tmp_path / "out", "--workers", "2")
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == EXIT_INTERRUPTED
    assert "run the same command again to resume" in errors
    assert "Traceback" not in errors
    wait_for_end_of_group(process.pid)
    (tmp_path / "started").unlink()
    assert call("run", recipe, "--out", tmp_path / "out").returncode == 0


def test_ctrl_c_does_not_reach_a_worker_that_is_still_starting(tmp_path: Path) -> None:
    recipe = project(tmp_path, "pass")
    process = subprocess.Popen(command("run", recipe, "--out", tmp_path / "out", "--workers", "1", "--quiet"))
    events = tmp_path / "out" / "events.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (events.exists() and "\n" in events.read_text()):
        time.sleep(0.001)
    start = json.loads(events.read_text().partition("\n")[0])
    assert start["what"] == "start"
    os.kill(start["pid"], signal.SIGINT)
    assert process.wait(timeout=60) == 0
    assert '"retry"' not in events.read_text()


def test_workers_end_when_the_driver_is_killed(tmp_path: Path) -> None:
    recipe = project(tmp_path, SLOW)
    words = command("run", recipe, "--out", tmp_path / "out", "--workers", "2", "--quiet")
    process = subprocess.Popen(words, start_new_session=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.wait()
    wait_for_end_of_group(process.pid)


def test_a_second_driver_on_the_same_output_is_refused(tmp_path: Path) -> None:
    recipe = project(tmp_path, SLOW)
    words = command("run", recipe, "--out", tmp_path / "out", "--workers", "1", "--quiet")
    first = subprocess.Popen(words)
    deadline = time.monotonic() + 60
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    second = call("run", recipe, "--out", tmp_path / "out")
    assert second.returncode == EXIT_USAGE
    assert "another run is writing to this output" in second.stderr
    assert str(first.pid) in second.stderr
    assert first.wait(timeout=120) == 0


def test_events_tell_of_starts_and_commits(tmp_path: Path) -> None:
    recipe = project(tmp_path, "pass")
    assert call("run", recipe, "--out", tmp_path / "out", "--workers", "1").returncode == 0
    events = [json.loads(line) for line in (tmp_path / "out" / "events.jsonl").read_text().splitlines()]
    assert {"start", "commit"} <= {e["what"] for e in events}
    assert all(e["label"] and e["t"] for e in events)

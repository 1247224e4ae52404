"""Public reports against engines of other projects, with the smallest input of each that this one can meet.

The rest of the list is covered where the thing itself is tested; docs/engines.md says where.
"""

import os
from pathlib import Path

import pytest

from gristmill.manifests.errors import EngineLostError
from gristmill.pipeline.engines.answer import TaskError
from gristmill.pipeline.engines.local import LocalEngine
from gristmill.pipeline.engines.protocol import EngineEvent
from gristmill.pipeline.task import make_task
from tests.laws.running import fingerprint, run_inline, write_recipe
from tests.pipeline.test_engine_local import EXIT_WHEN_MADE, class_project

RECIPE = """\
name: r
datasets:
  d:
    read: {text: "in/*.txt"}
    steps: [exact_dedup]
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    for number in range(6):
        (tmp_path / "in" / f"{number}.txt").write_text(f"document {number % 4}")
    return write_recipe(tmp_path, RECIPE)


def test_spark_27194_leftovers_of_a_dead_attempt_are_in_nobodys_way(recipe: Path, tmp_path: Path) -> None:
    """Temporary files, and a receipt that was torn, in every folder of work."""
    run_inline(recipe, tmp_path / "out")
    before = fingerprint(tmp_path / "out")
    for receipt in (tmp_path / "out" / "objects").glob("*/receipt.json"):
        (receipt.parent / ".tmp-dead").write_bytes(b"half a fi")
        receipt.write_bytes(receipt.read_bytes()[:-40])
    run_inline(recipe, tmp_path / "out", workers=2)
    assert fingerprint(tmp_path / "out") == before


def test_spark_54344_a_failed_task_leaves_its_worker_clean(tmp_path: Path) -> None:
    """The same process runs the next task."""
    engine = LocalEngine(tmp_path, 1)
    started: list[object] = []

    def note(event: EngineEvent) -> None:
        if event.what == "start":
            started.append(event.facts["pid"])

    try:
        bad = make_task("similar_key", {"n": 1}, {}, "bad 1/1")
        good = make_task("similar_key", {"n": 2}, {"digests": ["a"]}, "good 1/1")
        with pytest.raises(TaskError, match="KeyError"):
            list(engine.map([bad], note))
        ((index, receipt),) = engine.map([good], note)
    finally:
        engine.close()
    assert (index, receipt.key) == (0, good.key)
    assert started[0] == started[1] != os.getpid()


def test_datatrove_339_a_stage_that_ends_its_process_when_it_is_made_ends_the_run(tmp_path: Path) -> None:
    """In seconds, with a line that names the task."""
    recipe = class_project(tmp_path, made=EXIT_WHEN_MADE)
    with pytest.raises(EngineLostError, match=r"d\.read .*died 3 times at the same split: 'exit code 3'; run the same"):
        run_inline(recipe, tmp_path / "out", workers=2)


def test_ray_55043_a_second_run_deletes_nothing(recipe: Path, tmp_path: Path) -> None:
    """Into an output that holds other results: all files of the first are there afterwards."""
    run_inline(recipe, tmp_path / "out")
    kept = {path: path.read_bytes() for path in (tmp_path / "out" / "objects").rglob("*") if path.is_file()}
    (tmp_path / "in" / "9.txt").write_text("document 9")
    run_inline(recipe, tmp_path / "out")
    assert kept
    assert {path: path.read_bytes() for path in kept} == kept


def test_datatrove_316_a_kill_costs_the_split_in_hand_and_no_more(recipe: Path, tmp_path: Path) -> None:
    """Work that was committed is found, whatever of the rest is gone."""
    run_inline(recipe, tmp_path / "out")
    before = fingerprint(tmp_path / "out")
    lost, *kept = sorted((tmp_path / "out" / "objects").glob("*/receipt.json"))
    times = {path: path.stat().st_mtime_ns for path in kept}
    lost.unlink()
    run_inline(recipe, tmp_path / "out")
    assert fingerprint(tmp_path / "out") == before
    assert lost.exists()
    assert {path: path.stat().st_mtime_ns for path in kept} == times

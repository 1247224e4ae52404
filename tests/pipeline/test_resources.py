"""`resources:` of steps: where they may stand, what is wrong with them, that they change no byte and are obeyed."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from gristmill.manifests.errors import EXIT_DONE, EXIT_USAGE, RecipeError
from gristmill.manifests.manifest import read_run
from gristmill.pipeline import splits
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.engines.local import LocalEngine
from gristmill.pipeline.engines.machine import Machine
from gristmill.pipeline.engines.protocol import EngineEvent
from gristmill.pipeline.recipe import Recipe, load_recipe, resolved
from gristmill.pipeline.resources import Resources, memory_bytes, shown_memory
from gristmill.pipeline.run import Run, RunOptions, load, wanted
from gristmill.pipeline.selection import Share
from tests.laws.running import fingerprint

RECIPE = """\
name: resources
tokenizer: bytes
datasets:
  lines:
    read: {text: "in/*.txt", resources: {mem: 500 MB}}
    domain: web
    steps:
      - ./mine.py:mine: {resources: {cpus: 2}}
  rows:
    from: lines
    steps:
      - emit: {context: 256, resources: {cpus: 3, mem: 8 GiB}}
"""
PLAIN = RECIPE.replace(", resources: {mem: 500 MB}", "").replace(": {resources: {cpus: 2}}", "")
PLAIN = PLAIN.replace(", resources: {cpus: 3, mem: 8 GiB}", "")

MINE = """
import os
import time
from pathlib import Path

from gristmill.stages import doc_filter

HERE = Path(__file__).parent


@doc_filter(drop_above={"n": 1e9})
def mine(text):
    \"\"\"Notes when it ran, and what it saw.\"\"\"
    began = time.monotonic()
    time.sleep(0.3)
    note = f"{began} {time.monotonic()} {os.getpid()} {os.environ.get('CUDA_VISIBLE_DEVICES', 'unset')}\\n"
    with open(HERE / "notes", "a") as notes:
        notes.write(note)
    return {"n": len(text)}
"""

MB = 10**6
GiB = 1 << 30


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of six files, each read by a task of its own."""
    monkeypatch.setattr(splits, "LARGE_BYTES", 1000)
    (tmp_path / "in").mkdir()
    for n in range(6):
        (tmp_path / "in" / f"{n}.txt").write_text(f"doc {n} " * 500)
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def recipe_of(folder: Path, text: str = RECIPE, *overrides: str) -> Recipe:
    path = folder / "r.yaml"
    path.write_text(text)
    return load_recipe(path, overrides)


def declared(recipe: Recipe, dataset: str) -> dict[str, Resources]:
    return {label: found.resources for label, found in recipe.dataset(dataset).resources().items()}


def test_resources_are_no_parameter_and_have_a_place(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path)
    assert declared(recipe, "lines") == {"read": Resources(1, 500 * MB), "mine": Resources(2)}
    assert declared(recipe, "rows") == {"emit": Resources(3, 8 * GiB)}
    assert recipe.dataset("lines").steps[0].params == {} and recipe.dataset("rows").steps[0].params == {"context": 256}
    wheres = [found.where.rpartition(":")[2] for found in recipe.dataset("lines").resources().values()]
    assert wheres == ["5", "8"]
    assert declared(recipe_of(tmp_path, RECIPE.replace("{cpus: 2}", "null")), "lines").keys() == {"read"}


def test_overrides_bring_and_raise_resources(tmp_path: Path) -> None:
    words = ("datasets.lines.steps.mine.resources.cpus=4", "datasets.lines.read.resources.mem=1 GiB")
    for text in (RECIPE, PLAIN):
        assert declared(recipe_of(tmp_path, text, *words), "lines") == {"read": Resources(1, GiB), "mine": Resources(4)}
    recipe = recipe_of(tmp_path, RECIPE, "datasets.rows.steps.emit.resources=null")
    assert declared(recipe, "rows") == {}
    with pytest.raises(
        RecipeError, match=r"--set datasets.lines.steps.mine.resources.cpus: .*not a number of cpus: 'two'"
    ):
        recipe_of(tmp_path, PLAIN, "datasets.lines.steps.mine.resources.cpus=two")


def test_the_resolved_recipe_shows_them_and_no_digest_knows_them(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path)
    plain = resolved(recipe)["datasets"]
    assert plain["lines"]["read"]["resources"] == {"cpus": 1, "mem": 500 * MB, "gpus": 0}
    assert plain["rows"]["steps"][0]["emit"]["resources"] == {"cpus": 3, "mem": 8 * GiB, "gpus": 0}
    again = recipe_of(tmp_path, yaml.safe_dump(resolved(recipe), sort_keys=False))
    assert (declared(again, "lines"), declared(again, "rows")) == (declared(recipe, "lines"), declared(recipe, "rows"))
    assert recipe.digest == again.digest == recipe_of(tmp_path, PLAIN).digest


WRONG = [
    # resources, what (a part), value, remedy (a part)
    ("2", "resources: not a mapping", "2", "cpus: 2, mem: 8 GiB"),
    ("[2]", "resources: not a mapping", "[2]", "cpus: 2, mem: 8 GiB"),
    ("{}", "resources: says nothing", None, "cpus: 2, mem: 8 GiB"),
    ("{cpus: }", "resources: says nothing", None, "cpus: 2, mem: 8 GiB"),
    ("{cpu: 2}", "resources: unknown key", "cpu", "did you mean cpus"),
    ("{cpus: 0}", "resources.cpus: not a number of cpus", "0", "whole number, 1 or more"),
    ("{cpus: 1.5}", "resources.cpus: not a number of cpus", "1.5", "whole"),
    ("{cpus: true}", "resources.cpus: not a number of cpus", "true", "whole"),
    ("{cpus: 1000000}", "resources.cpus: not a number of cpus", "1000000", "whole"),
    ("{gpus: -1}", "resources.gpus: not a number of gpus", "-1", "whole number, 0 or more"),
    ("{gpus: [0]}", "resources.gpus: not a number of gpus", "[0]", "whole"),
    ("{mem: 0}", "resources.mem: not an amount of memory", "0", "8 GiB"),
    ("{mem: -5}", "resources.mem: not an amount of memory", "-5", "8 GiB"),
    ("{mem: 1.5}", "resources.mem: not an amount of memory", "1.5", "8 GiB"),
    ("{mem: true}", "resources.mem: not an amount of memory", "true", "8 GiB"),
    ("{mem: 8 gigs}", "resources.mem: not an amount of memory", "8 gigs", "8 GiB"),
    ("{mem: 8G}", "resources.mem: not an amount of memory", "8G", "8 GiB"),
    ("{mem: 0.1 B}", "resources.mem: not an amount of memory", "0.1 B", "8 GiB"),
    ("{mem: 99999 TiB}", "resources.mem: not an amount of memory", "99999 TiB", "8 GiB"),
]


@pytest.mark.parametrize(("given", "what", "value", "remedy"), WRONG)
def test_wrong_resources_are_told_where_and_how(
    tmp_path: Path, given: str, what: str, value: str | None, remedy: str
) -> None:
    at_step = RECIPE.replace("{cpus: 2}", given), 8, "datasets.lines.steps[0]."
    at_read = RECIPE.replace("{mem: 500 MB}", given), 5, "datasets.lines.read.resources"
    at_emit = RECIPE.replace("{cpus: 3, mem: 8 GiB}", given), 12, "datasets.rows.steps[0].emit.resources"
    for text, line, path in (at_step, at_read, at_emit):
        with pytest.raises(RecipeError) as caught:
            recipe_of(tmp_path, text)
        error = caught.value
        assert error.where == f"{tmp_path / 'r.yaml'}:{line}"
        assert error.what.startswith(path) and what in error.what and remedy in error.remedy
        assert (None if error.value is None else str(error.value)) == value


@pytest.mark.parametrize(
    ("text", "amount", "shown"),
    [
        ("8 GiB", 8 * GiB, "8 GiB"),
        ("500 MB", 500 * MB, "476.8 MiB"),
        ("1.5 GiB", 3 * GiB // 2, "1.5 GiB"),
        ("2kB", 2000, "2.0 KiB"),
        ("17 B", 17, "17 B"),
        ("1 TiB", 1 << 40, "1 TiB"),
        (4096, 4096, "4 KiB"),
    ],
)
def test_amounts_of_memory(text: object, amount: int, shown: str) -> None:
    assert memory_bytes(text) == amount and shown_memory(amount) == shown


@pytest.mark.parametrize("text", ["8  GiB", "1e3 MB", "٣ GB", "GiB", " 8 GiB", "8 GiB\n", "8 gib", "-1 GiB", None, 1.0])
def test_what_is_no_amount(text: object) -> None:
    assert memory_bytes(text) is None


def run(recipe: Recipe, out: Path, workers: int, machine: Machine | None = None) -> list[EngineEvent]:
    events: list[EngineEvent] = []
    engine = LocalEngine(out, workers, machine)
    try:
        Run(load(recipe), out, engine, RunOptions(), events.append).execute()
    finally:
        engine.close()
    return events


def notes(folder: Path) -> list[tuple[float, float, int, str]]:
    found = [line.split() for line in (folder / "notes").read_text().splitlines()]
    return sorted((float(began), float(ended), int(pid), gpus) for began, ended, pid, gpus in found)


def most_at_once(spans: Sequence[tuple[float, float, int, str]]) -> int:
    return max(sum(began <= moment < ended for began, ended, *_ in spans) for moment, *_ in spans)


def test_more_resources_do_nothing_anew_and_change_no_byte(folder: Path) -> None:
    roomy = Machine(0, 64 * GiB)
    for n in range(1, 6):
        (folder / "in" / f"{n}.txt").unlink()
    run(recipe_of(folder), folder / "out", 0, roomy)
    before = fingerprint(folder / "out")
    words = ("datasets.lines.steps.mine.resources.cpus=3", "datasets.rows.steps.emit.resources.mem=9 GiB")
    events = run(recipe_of(folder, RECIPE, *words), folder / "out", 2, roomy)
    assert {event.what for event in events} == {"reuse"}
    assert fingerprint(folder / "out") == before
    shown = read_run(folder / "out")["recipe"]["datasets"]["rows"]["steps"][0]["emit"]["resources"]
    assert shown["mem"] == 9 * GiB
    run(recipe_of(folder, PLAIN), folder / "plain", 0)
    for path in ("lines/manifest", "rows/manifest"):
        assert fingerprint(folder / "plain")[path] == before[path]


@pytest.mark.parametrize(
    ("resources", "at_once"),
    [("{cpus: 1}", 2), ("{cpus: 2}", 1), ("{cpus: 64}", 1), ("{mem: 6 GiB}", 1), ("{mem: 5 GiB}", 2)],
)
def test_tasks_at_once_are_as_many_as_fit(folder: Path, resources: str, at_once: int) -> None:
    text = PLAIN.replace("- ./mine.py:mine", f"- ./mine.py:mine: {{resources: {resources}}}").partition("  rows:")[0]
    run(recipe_of(folder, text), folder / "out", 2, Machine(0, 10 * GiB))
    spans = notes(folder)
    assert len(spans) == 6 and most_at_once(spans) == at_once


def test_what_the_machine_lacks_is_refused_before_any_work(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    out = folder / "out"
    for given, what in (("gpus: 1", "(this machine shows 0): '1'"), ("mem: 900 TiB", "'900 TiB'")):
        recipe_of(folder, RECIPE.replace("cpus: 3, mem: 8 GiB", given))
        words = ["run", str(folder / "r.yaml"), "--out", str(out), "--workers", "0", "--quiet"]
        assert main(words) == EXIT_USAGE
        told = capsys.readouterr().err
        assert f"{folder / 'r.yaml'}:12: resources." in told and what in told
        assert not (out / "objects").exists() and not (folder / "notes").exists()
        assert main([*words, "--only", "lines", "--sample", "0.0001"]) == EXIT_DONE, "what does not ask for it runs"
        capsys.readouterr()
        for path in (out / "events.jsonl", out / "objects"):
            path.rename(folder / f"{path.name}.{time.monotonic()}")


def test_each_task_sees_the_accelerators_that_are_its_own(folder: Path) -> None:
    text = PLAIN.replace("- ./mine.py:mine", "- ./mine.py:mine: {resources: {gpus: 1}}").partition("  rows:")[0]
    events = run(recipe_of(folder, text), folder / "out", 4, Machine(0, 10 * GiB, ("5", "GPU-b")))
    spans = notes(folder)
    assert most_at_once(spans) == 2
    assert {gpus for *_, gpus in spans} == {"5", "GPU-b"}
    by_process = {(pid, gpus) for _, _, pid, gpus in spans}
    assert len(by_process) == len({pid for pid, _ in by_process}), "a worker never sees others than it began with"
    told = [event.facts["gpus"] for event in events if event.what == "start" and "gpus" in event.facts]
    assert {"5", "GPU-b"} == {name for names in told for name in names}


def test_a_worker_without_accelerators_makes_room_for_one_with_them(folder: Path) -> None:
    text = PLAIN.replace("- emit: {context: 256}", "- ./mine.py:mine: {resources: {gpus: 2}}")
    events = run(recipe_of(folder, text), folder / "out", 1, Machine(0, 10 * GiB, ("0", "1")))
    starts = [event.facts for event in events if event.what == "start"]
    pids = {
        bool(facts.get("gpus")): {f["pid"] for f in starts if bool(f.get("gpus")) == bool(facts.get("gpus"))}
        for facts in starts
    }
    assert pids[True].isdisjoint(pids[False])


def test_a_plan_shows_them_where_they_are_set(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe_of(folder)
    assert main(["plan", str(folder / "r.yaml")]) == EXIT_DONE
    told = capsys.readouterr().out
    assert "resources: lines.read: cpus 1, mem 476.8 MiB a task" in told
    assert "resources: rows.emit: cpus 3, mem 8 GiB a task" in told
    assert main(["plan", str(folder / "r.yaml"), "--json"]) == EXIT_DONE
    steps = json.loads(capsys.readouterr().out)["datasets"][0]["steps"]
    assert steps[1]["resources"] == {"cpus": 2, "mem": None, "gpus": 0}
    recipe_of(folder, PLAIN)
    assert main(["plan", str(folder / "r.yaml"), "--json"]) == EXIT_DONE
    without = json.loads(capsys.readouterr().out)["datasets"][0]["steps"]
    assert [s["hash"] for s in without] == [s["hash"] for s in steps] and "resources" not in without[1]


RENDERED = """\
name: pairs
tokenizer: bytes
datasets:
  pairs:
    render: {svg: 4, resources: {cpus: 2, mem: 3 GiB}}
    steps:
      - picture_dedup: {resources: {mem: 1 GiB}}
  pages:
    render: {web: 4, svg: 2}
"""


def test_what_is_rendered_declares_them_and_a_browser_has_its_own(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, RENDERED)
    assert declared(recipe, "pairs") == {"render": Resources(2, 3 * GiB), "picture_dedup": Resources(1, GiB)}
    assert declared(recipe, "pages") == {"render": Resources(1, 1536 << 20)}
    assert [d.where.rpartition(":")[2] for d in recipe.dataset("pages").resources().values()] == ["9"]
    assert resolved(recipe)["datasets"]["pages"]["render"]["resources"] == {"cpus": 1, "mem": 1536 << 20, "gpus": 0}
    again = recipe_of(tmp_path, yaml.safe_dump(resolved(recipe), sort_keys=False))
    assert [declared(again, name) for name in ("pairs", "pages")] == [declared(recipe, n) for n in ("pairs", "pages")]
    assert again.digest == recipe.digest
    words = ("datasets.pages.render.resources.mem=5 GiB", "datasets.pairs.render.resources=null")
    raised = recipe_of(tmp_path, RENDERED, *words)
    assert declared(raised, "pages") == {"render": Resources(1, 5 * GiB)}
    assert "render" not in declared(raised, "pairs")
    assert raised.digest == recipe.digest
    assert [domain.domain for domain in raised.dataset("pages").origin.domains] == ["svg", "web"]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]


def test_wrong_resources_of_what_is_rendered_have_a_place(tmp_path: Path) -> None:
    for wrong, told in (("{mem: lots}", "not an amount of memory"), ("{}", "says nothing"), ("3", "not a mapping")):
        with pytest.raises(RecipeError, match=f"datasets.pairs.render.resources.*{told}"):
            recipe_of(tmp_path, RENDERED.replace("{cpus: 2, mem: 3 GiB}", wrong))
    with pytest.raises(RecipeError, match="names no domain"):
        recipe_of(tmp_path, RENDERED.replace("svg: 4, ", ""))


def test_tasks_that_render_carry_them(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, RENDERED)
    loaded = load(recipe)
    found = wanted(loaded, {name: Share("work") for name in ("pairs", "pages")})
    assert {r for _, r in found} == {Resources(2, 3 * GiB), Resources(1, GiB), Resources(1, 1536 << 20)}

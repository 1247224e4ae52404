"""Datasets that are rendered: books, sameness, growth, interruption, existing files, floors, other engines."""

import json
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from gristmill.manifests.errors import AlarmError, EngineMissingError, InputError
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.verify import verify
from gristmill.pipeline.build_render import SLOTS_A_TASK, file_groups, file_ids, slot_ranges
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.cli.render import HELP
from gristmill.pipeline.engines.local import LocalEngine
from gristmill.pipeline.engines.protocol import EngineEvent
from gristmill.pipeline.lock import driver_lock
from gristmill.pipeline.plan import make_plan
from gristmill.pipeline.recipe import load_recipe
from gristmill.pipeline.run import Run, RunOptions, load
from gristmill.pipeline.selection import Selection
from gristmill.pipeline.sources.protocol import InputFile
from gristmill.render.svg.catalogue import FAMILIES
from tests.conftest import REPO
from tests.laws.running import call, fingerprint, run_inline, write_recipe

DOODLE = REPO / "tests" / "render" / "doodle.py"
GOOD = "canvas 60 40 #ffffff\nrect 5 5 30 30 #aa3311\ndisc 40 20 9 #2255cc\n"


def recipe_of(count: int, more: str = "", steps: str = "[exact_dedup]", seed: int = 7) -> str:
    render = f'{{"./doodle.py:Doodle": {{count: {count}{more}}}}}'
    return f"name: x\nseed: {seed}\ndatasets:\n  pairs:\n    render: {render}\n    steps: {steps}\n"


@pytest.fixture(scope="module", autouse=True)
def _importable() -> Any:
    """Workers and children import the engine of doodles by its name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(REPO))
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "doodle.py").write_bytes(DOODLE.read_bytes())
    return tmp_path


def counted(recipe: Path, out: Path, options: RunOptions | None = None) -> tuple[dict[str, Any], int, int]:
    """Manifests, tasks found done, tasks done."""
    events: list[EngineEvent] = []
    engine = LocalEngine(out, 0)
    manifests = Run(load(load_recipe(recipe)), out, engine, options or RunOptions(), events.append).execute()
    return manifests, sum(e.what == "reuse" for e in events), sum(e.what == "commit" for e in events)


def rows(out: Path, role: str = "shards") -> list[dict[str, Any]]:
    manifest = read_manifest(out / "pairs")
    return [r for s in manifest[role] for r in pq.read_table(out / "pairs" / s["path"]).to_pylist()]


def test_the_books_balance_and_every_attempt_is_in_them(folder: Path) -> None:
    out = folder / "out"
    step = run_inline(write_recipe(folder, recipe_of(70)), out)["pairs"]["steps"][0]
    assert (step["step"], step["stage"]) == ("render", "render")
    assert step["records_in"] == step["kept"] + step["dropped"] and step["quarantined"] == 0
    assert step["records_in"] > 70 >= step["kept"] > 60
    kept, gone = rows(out), [r for r in rows(out, "ledger") if r["step"] == "render"]
    assert (len(kept), len(gone)) == (step["kept"], step["dropped"])
    assert len({r["id"] for r in kept} | {r["id"] for r in gone}) == step["records_in"]
    assert Counter(r["reason"] for r in gone) == step["reasons"]
    assert {r["source"] for r in [*kept, *gone]} == {"render/doodle"} == set(step["sources"])
    assert all(r["file"] in ("bars", "dots", "flags", "murky") for r in gone)
    hidden = next(r for r in gone if r["reason"] == "hidden")
    assert hidden["measure"] == "hidden_parts" and hidden["value"] > hidden["limit"] == 1
    facts = read_manifest(out / "pairs")["facts"]["render"]["render/doodle"]
    assert facts["slots"] == 70 and facts["slots"] - facts["empty_slots"] == step["kept"]
    params = step["params"]["./doodle.py:Doodle"]
    assert params["version"] == 1 and set(params["fingerprint"]) == {"pillow", "numpy", "font.none"}
    words = {w["reason"] for w in step["vocabulary"]}
    assert set(step["reasons"]) <= words and {"not_deterministic", "engine_lost"} <= words
    assert not verify(out, deep=True).faults


def test_any_number_of_workers_gives_the_same_bytes(folder: Path) -> None:
    recipe = write_recipe(folder, recipe_of(75))
    found: list[dict[str, str]] = []
    for workers in (0, 1, 3):
        run_inline(recipe, folder / f"out{workers}", workers)
        found.append(fingerprint(folder / f"out{workers}"))
    assert found[0] == found[1] == found[2] and len(found[0]) > 5


def test_another_seed_gives_other_pictures(folder: Path) -> None:
    ids: list[set[str]] = []
    for seed in (1, 2):
        out = folder / f"out{seed}"
        run_inline(write_recipe(folder, recipe_of(10, seed=seed)), out)
        ids.append({r["id"] for r in rows(out)} | {json.loads(r["meta"])["render"]["pixels"] for r in rows(out)})
    assert not ids[0] & ids[1]


def test_a_second_run_does_nothing_and_a_larger_count_makes_only_what_is_new(folder: Path) -> None:
    out = folder / "out"
    small, large = 2 * SLOTS_A_TASK, 3 * SLOTS_A_TASK
    recipe = write_recipe(folder, recipe_of(small, steps="[]"))
    _, _, done = counted(recipe, out)
    assert done == 2
    before = fingerprint(out)
    _, found, done = counted(recipe, out)
    assert (found, done) == (2, 0) and fingerprint(out) == before
    first = {r["id"]: r for r in rows(out)}
    _, found, done = counted(write_recipe(folder, recipe_of(large, steps="[]")), out)
    assert (found, done) == (2, 1)
    after = {r["id"]: r for r in rows(out)}
    assert len(after) > len(first) and first.items() <= after.items()


def test_slots_do_not_depend_on_the_count(folder: Path) -> None:
    made: list[dict[str, Any]] = []
    for count in (10, 20):
        out = folder / f"out{count}"
        run_inline(write_recipe(folder, recipe_of(count, steps="[]")), out)
        made.append({r["id"]: r for r in rows(out)})
    assert made[0].items() <= made[1].items() and len(made[1]) > len(made[0])


def test_ranges_of_slots_are_cut_where_no_count_moves_them() -> None:
    for count in (1, 31, 32, 33, 100):
        bounds = list(slot_ranges(count))
        assert [n for start, stop in bounds for n in range(start, stop)] == list(range(count))
        assert all(start % SLOTS_A_TASK == 0 for start, _ in bounds)


def test_a_run_that_is_killed_anywhere_goes_on_to_the_same_bytes(folder: Path) -> None:
    recipe = write_recipe(folder, recipe_of(40, steps="[]"))
    run_inline(recipe, folder / "whole")
    whole = fingerprint(folder / "whole")
    killed = 0
    for at in (3, 17, 29, 41):
        out = folder / f"killed{at}"
        words = [sys.executable, "-m", "tests.laws.killed_run", str(recipe), str(out), str(at)]
        ended = subprocess.run(words, cwd=REPO, check=False, capture_output=True)
        killed += ended.returncode == -signal.SIGKILL
        run_inline(recipe, out)
        assert fingerprint(out) == whole
    assert killed >= 3


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    for name, body in files.items():
        path = folder / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)


FROM = (
    'name: x\ndatasets:\n  pairs:\n    render: {"./doodle.py:Doodle": {from: [in/**]}}\n'
    "    license: MIT\n    steps: []\n"
)
FILES = {
    "a.doodle": GOOD.encode(),
    "sub/a.doodle": GOOD.replace("30", "31").encode(),
    "crash.doodle": (GOOD + "crash\n").encode(),
    "sleep.doodle": (GOOD + "sleep 60\n").encode(),
    "word.doodle": (GOOD + "spiral 1 2\n").encode(),
    "utf8.doodle": b"canvas 10 10 #ffffff\n\xff\xfe",
    "empty.doodle": b"",
    "blank.doodle": b"canvas 60 40 #ffffff\n",
    "z.doodle": GOOD.replace("disc 40", "disc 41").encode(),
}


def test_existing_files_are_taken_the_same_way_and_a_hostile_one_costs_itself(folder: Path) -> None:
    write_files(folder, FILES)
    out = folder / "out"
    step = run_inline(write_recipe(folder, FROM), out)["pairs"]["steps"][0]
    assert (step["records_in"], step["kept"], step["dropped"], step["quarantined"]) == (9, 3, 4, 2)
    assert step["reasons"] == {"bad_doodle": 2, "bad_utf8": 1, "blank": 1, "engine_lost": 2}
    assert {r["file"] for r in rows(out, "ledger")} == set(FILES) - {"a.doodle", "sub/a.doodle", "z.doodle"}
    kept = rows(out)
    assert sorted(json.loads(r["meta"])["render"]["file"] for r in kept) == ["a.doodle", "sub/a.doodle", "z.doodle"]
    assert {r["license"] for r in kept} == {"MIT"}
    manifest = read_manifest(out / "pairs")
    assert [i["rel"] for i in manifest["inputs"]] == sorted(FILES)
    assert all(i["digest"].startswith("blake3:") for i in manifest["inputs"])
    assert not verify(out, deep=True).faults


def test_a_moved_folder_gives_the_same_records_and_a_changed_file_only_itself(folder: Path) -> None:
    many = {f"n{n:03}.doodle": GOOD.replace("30", str(31 + n % 9)).encode() for n in range(70)}
    write_files(folder, many)
    recipe, out = write_recipe(folder, FROM), folder / "out"
    _, _, done = counted(recipe, out)
    assert done > 2
    first = {r["id"] for r in rows(out)}
    (folder / "in" / "n000.doodle").write_text(GOOD.replace("disc 40", "disc 42"))
    _, found, again = counted(recipe, out)
    assert (found, again) == (done - 1, 1)
    assert len({r["id"] for r in rows(out)} - first) == 1


def test_the_same_name_and_content_twice_have_ids_of_their_own() -> None:
    files = [InputFile(f"/{n}/a.svg", "a.svg", 1, "blake3:1") for n in "ab"] + [InputFile("/c", "c", 1, "blake3:1")]
    ids = file_ids("pairs", "svg", files)
    assert len(set(ids.values())) == 3
    assert file_ids("pairs", "svg", files[:1]) == {"/a/a.svg": ids["/a/a.svg"]}


def test_a_new_file_changes_its_own_group_alone() -> None:
    names = [f"icons/{n:04}.svg" for n in range(500)]
    files = [InputFile(name, name, 1, "blake3:1") for name in names]
    groups = {tuple(f.rel for f in group) for group in file_groups(files)}
    more = {
        tuple(f.rel for f in group)
        for group in file_groups(
            sorted([*files, InputFile("x", "icons/0250b.svg", 1, "blake3:1")], key=lambda f: f.rel)
        )
    }
    assert len(more - groups) <= 2 and max(map(len, groups)) <= SLOTS_A_TASK


def test_no_file_is_told_at_its_line(folder: Path) -> None:
    recipe = write_recipe(folder, FROM)
    with pytest.raises(InputError, match=r"recipe\.yaml:4: no file matches"):
        run_inline(recipe, folder / "out")


def test_too_few_let_through_stop_the_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe, out = write_recipe(folder, recipe_of(40, ", families: [murky], min_accept_frac: 0.9")), folder / "out"
    with pytest.raises(AlarmError, match=r"min_accept_frac is 0\.9\): hidden"):
        run_inline(recipe, out)
    assert main(["run", str(recipe), "--out", str(out), "--workers", "0", "--quiet", "--json"]) == 5
    told = json.loads(capsys.readouterr().out)["error"]
    assert told["alarms"][0]["reasons"]["hidden"] > 10 and told["alarms"][0]["limit_name"] == "min_accept_frac"
    report = read_manifest(out / "alarms" / "pairs")
    assert report["steps"][0]["reasons"]["hidden"] == told["alarms"][0]["reasons"]["hidden"]
    assert not (out / "pairs").exists()
    assert main(["plan", str(recipe), "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["datasets"][0]["state"] == "alarm"
    # A lower floor does no finished work anew, and what was reported goes.
    lower = write_recipe(folder, recipe_of(40, ", families: [murky], min_accept_frac: 0.1"))
    _, found, _ = counted(lower, out)
    assert found >= 2 and not (out / "alarms").exists()


def test_a_plan_shows_what_will_be_rendered(folder: Path) -> None:
    recipe, out = write_recipe(folder, recipe_of(40, steps="[]")), folder / "out"
    plan = make_plan(load(load_recipe(recipe)), out)["datasets"][0]
    assert (plan["origin"], plan["state"], plan["to_do"]) == ("render: doodle 40", "new", 2)
    assert [s["step"] for s in plan["steps"]] == ["render"]
    run_inline(recipe, out)
    done = make_plan(load(load_recipe(recipe)), out)["datasets"][0]
    assert (done["state"], done["to_do"], done["hash"]) == ("done", 0, plan["hash"])
    more = make_plan(load(load_recipe(write_recipe(folder, recipe_of(41, steps="[]")))), out)["datasets"][0]
    assert (more["state"], more["reused"], more["to_do"]) == ("partial", 1, 1) and more["hash"] != plan["hash"]


def test_an_engine_that_is_not_there_is_told_before_anything_runs(folder: Path) -> None:
    text = (folder / "doodle.py").read_text(encoding="utf-8")
    wrong = text.replace('"pillow", __version__, True, "draws and encodes"', '"pillow", "", False, "gone", "get it"')
    assert wrong != text
    (folder / "doodle.py").write_text(wrong, encoding="utf-8")
    recipe, out = write_recipe(folder, recipe_of(4)), folder / "out"
    with pytest.raises(EngineMissingError, match=r"recipe\.yaml:5: .*needs pillow.*get it"):
        run_inline(recipe, out)
    assert not list(out.glob("objects/*"))


def test_a_sample_is_a_share_of_the_slots(folder: Path) -> None:
    recipe = write_recipe(folder, recipe_of(64, steps="[]"))
    run_inline(recipe, folder / "whole")
    manifests, _, _ = counted(recipe, folder / "part", RunOptions(sample=0.25))
    whole, part = {r["id"] for r in rows(folder / "whole")}, {r["id"] for r in rows(folder / "part")}
    assert part < whole and 4 <= len(part) <= 32
    assert manifests["pairs"]["sample"] == 0.25


def test_a_run_may_stop_behind_rendering(folder: Path) -> None:
    recipe = write_recipe(folder, recipe_of(10))
    options = RunOptions(selection=Selection("until", "pairs", "render"))
    manifest = counted(recipe, folder / "out", options)[0]["pairs"]
    assert [s["step"] for s in manifest["steps"]] == ["render"] and manifest["until"] == "render"


def test_a_task_of_other_engines_is_refused(folder: Path) -> None:
    from gristmill.pipeline.tasks.render import loaded_domain
    from gristmill.render import domains

    domain = domains.load("./doodle.py:Doodle", folder)
    payload = {"domain": "./doodle.py:Doodle", "base_dir": str(folder), "identity": domains.identity(domain)}
    assert loaded_domain(payload) is domain
    with pytest.raises(InputError, match="others here than where the run was started"):
        loaded_domain({**payload, "identity": {**payload["identity"], "fingerprint": {"pillow": "1.0"}}})


def test_render_makes_a_dataset_that_every_command_knows(folder: Path) -> None:
    out = folder / "made"
    made = call("render", folder / "doodle.py:Doodle", "--count", "40", "--seed", "3", "--out", out, "--workers", "2")
    assert made.returncode == 0, made.stderr
    assert "accepted" in made.stdout and "rejected" in made.stdout and "gristmill ls" in made.stdout
    listed = json.loads(call("ls", out, "--json").stdout)
    assert [s["step"] for s in listed["datasets"][0]["steps"]] == ["render", "picture_dedup"]
    assert call("verify", "--deep", out).returncode == 0
    planned = json.loads(call("plan", out / "render.yaml", "--out", out, "--json").stdout)
    assert planned["datasets"][0]["state"] == "done"
    again = call("run", out / "render.yaml", "--out", out, "--json", "--quiet")
    assert json.loads(again.stdout)["datasets"][0]["digest"] == listed["datasets"][0]["digest"]
    report = json.loads((out / "render_report.json").read_bytes())
    assert report == json.loads(call("render", "report", out, "--json").stdout)["datasets"][0]
    record = next(iter(pq.read_table(out / "doodle" / next((out / "doodle").glob("part-*"))).to_pylist()))
    traced = call("trace", out, record["id"])
    assert traced.returncode == 0 and "render\tkeep" in traced.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["svg"], "give --count N, or --from"),
        (["svg", "--count", "3", "--from", "x"], "give --count N, or --from"),
        (["svgg", "--count", "3"], "did you mean svg"),
        (["./doodle.py:Doodle", "--count", "0"], "gristmill: --count: not a number of records"),
        (["./doodle.py:Doodle", "--count", "3", "--families", "dots,dotz"], "--families: no such family: 'dotz'; did"),
        (["./doodle.py:Doodle", "--count", "3", "--families", ","], "--families: no family"),
        (["./doodle.py:Doodle", "--count", "3", "--min-accept-frac", "3"], "--min-accept-frac: not a fraction"),
        (["./doodle.py:Doodle", "--count", "3", "--workers", "-1"], "0 to 4096"),
        (["./doodle.py:Doodle", "--count", "3", "--seed", "-1"], "--seed: "),
        (["./doodle.py:Doodle", "--from", "nowhere"], "--from: no file matches: '"),
        (["./doodle.py:Doodle", "--from", "nowhere", ""], "--from: names nothing"),
    ],
)
def test_a_wrong_call_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    monkeypatch.chdir(folder)
    assert main(["render", *words, "--out", str(folder / "out"), "--quiet"]) in (2, 3)
    assert told in capsys.readouterr().err
    late = {"--from", "--workers"} & set(words)
    assert late or not (folder / "out" / "render.yaml").exists()


def test_the_families_of_the_help_are_there() -> None:
    asked = re.search(r"--families ([a-z_,]+)", HELP)
    assert asked and set(asked[1].split(",")) <= set(FAMILIES)


def test_an_output_keeps_its_recipe(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    recipe = folder / "out" / "render.yaml"

    def render(*words: str) -> int:
        return main(["render", "./doodle.py:Doodle", *words, "--out", "out", "--workers", "0", "--quiet"])

    assert render("--count", "4", "--seed", "3") == 0
    first = recipe.read_bytes()
    assert render("--count", "4", "--seed", "5") == 2
    told = capsys.readouterr().err
    assert "seed: 3, now 5" in told and "give another --out" in told
    assert render("--count", "4", "--seed", "3", "--families", "dots") == 2
    capsys.readouterr()
    assert render("--count", "3", "--seed", "3") == 2
    assert "count: 4, now 3" in capsys.readouterr().err
    assert render("--count", "0", "--seed", "3") == 2
    assert render("--count", "4", "--seed", "3", "--families", "dotz") == 2
    assert recipe.read_bytes() == first
    assert render("--count", "6", "--seed", "3", "--min-accept-frac", "0.1") == 0
    assert b"count: 6" in recipe.read_bytes()
    with driver_lock(folder / "out"):
        assert render("--count", "8", "--seed", "3") == 2
    assert "another run is writing" in capsys.readouterr().err
    assert b"count: 6" in recipe.read_bytes()

"""`stage try`, `tune` and `check` on a run whose every number is known by construction."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gristmill.pipeline.cli.main import main
from gristmill.pipeline.run import RunOptions
from gristmill.pipeline.trial.tune_plot import is_long_tailed
from tests.laws.running import run_inline, write_recipe
from tests.laws.samples import TINY_MODEL
from tests.pipeline.trial.corpus import FILTERS, RECIPE, make_inputs, make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("trial"))


def told(capfd: pytest.CaptureFixture[str], *words: str | Path, code: int = 0) -> dict[str, Any]:
    """The JSON object of a command that ends with this code."""
    assert main([*map(str, words), "--json"]) == code
    return json.loads(capfd.readouterr().out)


def test_try_counts_by_reason_and_source(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    stage = f"{run.parent}/filters.py:shouting"
    report = told(capfd, "stage", "try", stage, run / "raw")
    assert (report["documents"], report["kept"], report["changed"]) == (100, 31, 0)
    assert report["reasons"] == [{"verdict": "drop", "reason": "upper_frac_above", "count": 69}]
    assert report["sources"] == {"raw": {"records": 100, "reasons": {"upper_frac_above": 69}}}
    assert report["mb_a_second"] > 0


def test_try_shows_the_nearest_and_the_most_extreme(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    report = told(capfd, "stage", "try", f"{run.parent}/filters.py:shouting", run / "raw")
    shown: dict[str, list[float]] = {}
    for example in report["examples"]:
        shown.setdefault(example["shows"], []).append(round(example["value"], 2))
    assert shown == {
        "dropped near the limit": [0.31, 0.32, 0.33, 0.34, 0.35, 0.36, 0.37],
        "kept near the limit": [0.3, 0.29, 0.28, 0.27, 0.26, 0.25, 0.24],
        "extreme": [0.99, 0.98, 0.97, 0.96, 0.95, 0.94],
    }
    assert len({e["id"] for e in report["examples"]}) == 20
    assert all(e["text"] and e["limit"] == 0.3 for e in report["examples"])


@pytest.mark.parametrize(("limit", "kinds"), [(0.97, [2, 18, 0]), (1.0, [0, 20, 0]), (0.02, [11, 3, 6])])
def test_try_shows_twenty_where_one_kind_has_fewer(
    limit: float, kinds: list[int], run: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    stage = f"{run.parent}/filters.py:shouting"
    report = told(capfd, "stage", "try", stage, run / "raw", "--set", f"upper_frac={limit}")
    shown = [example["shows"] for example in report["examples"]]
    assert [shown.count(kind) for kind in ("dropped near the limit", "kept near the limit", "extreme")] == kinds
    assert len({example["id"] for example in report["examples"]}) == 20


def test_try_takes_parameters_and_the_first_documents_only(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ("stage", "try", f"{run.parent}/filters.py:shouting", run.parent / "docs.jsonl")
    assert told(capfd, *words, "--set", "upper_frac=0.9")["kept"] == 91
    assert told(capfd, *words, "--documents", "20")["documents"] == 20


def test_try_tells_what_other_filters_dropped_already(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    stage = f"{run.parent}/filters.py:short"
    report = told(capfd, "stage", "try", stage, run / "raw", "--against", run)
    # Ten documents are one word long; shouting took 6 of them, short the others.
    assert report["against"]["rows"] == [
        {"step": "web.short", "reason": "words_below", "both": 4, "only_run": 0},
        {"step": "web.shouting", "reason": "upper_frac_above", "both": 6, "only_run": 63},
    ]
    assert report["against"]["only_stage"] == 0


def test_try_of_documents_that_no_filter_dropped_says_so(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["stage", "try", "gopher_quality", str(run / "web"), "--against", str(run)]) == 0
    assert "the run dropped none of these documents" in capfd.readouterr().out


def test_try_reads_any_file_that_judge_reads(run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.html").write_text("<html><body><p>words on a page</p></body></html>")
    (tmp_path / "note.txt").write_text("SHOUTED LOUDLY")
    report = told(capfd, "stage", "try", f"{run.parent}/filters.py:shouting", tmp_path)
    assert (report["documents"], report["kept"]) == (2, 1)


ODD = '''\
from gristmill.stages import doc_filter


@doc_filter(drop_above={"share": 0.5})
def raises(text):
    """Raises on texts of one word."""
    if " " not in text:
        raise KeyError("one word")
    return {"share": 0.0}


@doc_filter(drop_above={"share": 0.5})
def unsure(text):
    """Never knows."""
    return {"share": float("nan")}
'''


def test_try_shows_what_a_filter_raised(run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "odd.py").write_text(ODD, encoding="utf-8")
    report = told(capfd, "stage", "try", f"{tmp_path}/odd.py:raises", run / "raw")
    assert report["reasons"] == [{"verdict": "quarantine", "reason": "filter_error", "count": 10}]
    raised = [e for e in report["examples"] if e["reason"] == "filter_error"]
    assert {(e["shows"], e["verdict"], e["detail"]) for e in raised} == {
        ("gone by no limit", "quarantine", "KeyError: 'one word'")
    }
    assert len(report["examples"]) == 20
    assert main(["stage", "try", f"{tmp_path}/odd.py:raises", str(run / "raw")]) == 0
    assert "filter_error: KeyError: 'one word'" in capfd.readouterr().out


def test_try_says_that_a_measure_is_never_a_number(
    run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd.py").write_text(ODD, encoding="utf-8")
    assert main(["stage", "try", f"{tmp_path}/odd.py:unsure", str(run / "raw")]) == 0
    assert "share is a number in none of the 100 documents" in capfd.readouterr().err


def test_try_tells_what_it_could_not_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "docs.jsonl").write_text('{"text": "some words"}\nnot json\n', encoding="utf-8")
    (tmp_path / "b.parquet").write_bytes(b"no parquet at all")
    report = told(capfd, "stage", "try", "gopher_quality", tmp_path)
    assert report["lost"] == {"bad_json": 1, "corrupt": 1}
    assert list(report["sources"]) == ["a"]
    assert main(["stage", "try", "gopher_quality", str(tmp_path / "b.parquet")]) == 3
    assert "holds no documents: 'corrupt 1'" in capfd.readouterr().err


def test_try_shows_a_mapper_near_its_limit(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ("stage", "try", "quality", run / "raw", "--set", f"model={TINY_MODEL}")
    report = told(capfd, *words, "--set", "threshold=0.0")
    kept = [e for e in report["examples"] if e["shows"] == "kept near the limit"]
    assert len(kept) == 20 and all(e["reason"] == "low_quality" for e in kept)


def test_try_shows_what_a_mapper_cuts(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.html").write_text("<html><body><p>words on a page</p></body></html>")
    report = told(capfd, "stage", "try", "extract_html", tmp_path)
    assert (report["changed"], report["kept"]) == (1, 1)
    assert report["chars_in"] == report["chars_kept"] + sum(report["chars_cut"].values())


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["no_such_stage", "{raw}"], 2),
        (["gopher_quality", "{out}"], 2),
        (["gopher_quality", "{out}/absent"], 3),
        (["gopher_quality", "{raw}", "--documents", "0"], 2),
        (["gopher_quality", "{raw}", "--set", "nonsense=1"], 2),
        (["gopher_quality", "{raw}", "--set", "min_doc_words"], 2),
        (["gopher_quality", "{raw}", "--chars", "-1"], 2),
        (["exact_dedup", "{raw}"], 2),
        (["gopher_quality", "{raw}", "--against", "{out}/absent"], 3),
    ],
)
def test_try_says_what_is_wrong(run: Path, words: list[str], code: int, capfd: pytest.CaptureFixture[str]) -> None:
    filled = [word.format(raw=run / "raw", out=run) for word in words]
    assert main(["stage", "try", *filled]) == code
    assert capfd.readouterr().err.startswith("gristmill")


def test_tune_tells_the_share_kept_at_other_limits(
    run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = told(capfd, "stage", "tune", "shouting", run, "--set", "upper_frac_above=0.5")["steps"][0]
    assert (report["dataset"], report["measured"], report["records"], report["kept_frac"]) == ("web", 100, 100, 0.31)
    points = {round(p["limit"], 2): p["alone"] for p in report["rules"][0]["points"]}
    assert points[0.3] == 0.31
    assert points[0.49] == 0.5
    assert report["if"] == {"limits": {"upper_frac_above": 0.5}, "kept_frac": 0.51, "go": 0, "come_back": 20}
    assert (tmp_path / report["plot"]).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "told_why"),
    [
        (["--plot", "absent/tune.png"], "cannot be written"),
        (["--plot", "tune"], "no such kind of picture"),
        (["--plot", "tune.gif"], "no such kind of picture"),
        (["--set", "upper_frac_above=nan"], "not a number"),
        (["--set", "upper_frac_above"], "not a reason"),
    ],
)
def test_tune_says_what_is_wrong(
    run: Path, words: list[str], told_why: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.parent)
    assert main(["stage", "tune", "shouting", str(run / "web"), *words]) == 2
    assert told_why in capfd.readouterr().err
    assert not list(run.parent.glob("tune*"))


def test_the_threshold_of_a_classifier_is_tuned(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make_inputs(tmp_path)
    steps = f"      - quality: {{model: {TINY_MODEL}, threshold: 0.4}}\n      - encoding_repair\n"
    recipe = write_recipe(tmp_path, RECIPE.partition("    steps:")[0] + "    steps:\n" + steps)
    run_inline(recipe, tmp_path / "out", options=RunOptions(measures_all=True))
    report = told(capfd, "stage", "tune", "quality", tmp_path / "out", "--no-plot")["steps"][0]
    (rule,) = report["rules"]
    assert (rule["reason"], rule["measure"], rule["limit"]) == ("low_quality", "quality_score", 0.4)
    assert main(["stage", "tune", "encoding_repair", str(tmp_path / "out")]) == 2
    assert "no limit on a measure" in capfd.readouterr().err


def test_an_axis_is_logarithmic_where_limits_have_a_long_tail() -> None:
    assert is_long_tailed([5.0, 50.0, 900.0, 17_000.0], 50.0)
    assert not is_long_tailed([0.0, 0.1, 0.3], 0.1)
    assert not is_long_tailed([-1.0, 50.0, 17_000.0], 50.0)


def test_tune_of_a_later_step_speaks_of_what_came_to_it(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    report = told(capfd, "stage", "tune", "short", run / "web", "--no-plot")["steps"][0]
    assert (report["measured"], report["records"], report["plot"]) == (31, 31, None)
    assert report["kept_frac"] == pytest.approx(27 / 31)


def test_tune_says_when_nothing_was_measured(tmp_path: Path, run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["stage", "tune", "shoutin", str(run)]) == 2
    assert "shouting" in capfd.readouterr().err
    assert main(["stage", "tune", "shouting", str(run), "--set", "x=1"]) == 2
    bare = make_run(tmp_path, measures_all=False)
    assert main(["stage", "tune", "short", str(bare), "--no-plot"]) in (0, 3)


def test_check_passes_what_changes_nothing(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ("stage", "check", run.parent / "recipe.yaml", "--baseline", run, "--workers", "0", "--quiet")
    report = told(capfd, *words)
    assert report["ok"] and [d["changed_frac"] for d in report["datasets"]] == [0.0, 0.0]


def test_check_stops_a_filter_that_changes_too_much(
    run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    recipe = make_inputs(tmp_path)
    (tmp_path / "filters.py").write_text(FILTERS.replace("0.3}", "0.25}"), encoding="utf-8")
    words = ("stage", "check", recipe, "--baseline", run, "--workers", "0", "--quiet", "--out", tmp_path / "new")
    report = told(capfd, *words, code=4)
    web = report["datasets"][1]
    # 26 to 30 capitals of 100 letters were kept; the one-word document 30 was dropped by the next step.
    assert (web["records"], web["kept_to_dropped"], web["dropped_to_kept"]) == (100, 4, 0)
    assert web["changed_frac"] == pytest.approx(0.04)
    example = web["examples"][0]
    assert example["after"] == {"verdict": "drop", "step": "shouting", "reason": "upper_frac_above"}
    assert example["text"].startswith("AAAA")
    assert told(capfd, *words, "--max-change", "4%")["ok"]


def test_check_of_a_sample_counts_the_sample_only(run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    recipe = make_inputs(tmp_path)
    words = ("stage", "check", recipe, "--baseline", run, "--workers", "0", "--quiet", "--sample", "0.5")
    report = told(capfd, *words)
    raw = report["datasets"][0]
    assert 20 < raw["records"] < 80 and raw["changed_frac"] == 0.0


def test_check_leaves_its_baseline_alone(run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = {path.name: path.read_bytes() for path in run.rglob("manifest.json")}
    recipe = make_inputs(tmp_path)
    (tmp_path / "filters.py").write_text(FILTERS.replace("0.3}", "0.25}"), encoding="utf-8")
    words = ["stage", "check", str(recipe), "--baseline", str(run), "--out", f"{run}/../{run.name}"]
    assert main([*words, "--workers", "0", "--quiet"]) == 2
    assert "is the baseline itself" in capfd.readouterr().err
    assert before == {path.name: path.read_bytes() for path in run.rglob("manifest.json")}


def test_check_stops_a_recipe_that_makes_a_dataset_no_more(
    run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    make_inputs(tmp_path)
    recipe = write_recipe(tmp_path, RECIPE.replace("  web:", "  web_2:"))
    words = ("stage", "check", recipe, "--baseline", run, "--workers", "0", "--quiet")
    report = told(capfd, *words, code=4)
    assert (report["ok"], report["missing"], [d["dataset"] for d in report["datasets"]]) == (False, ["web"], ["raw"])


def test_check_refuses_a_baseline_that_is_not_finished(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path)
    shutil.rmtree(run / "web")
    words = ["stage", "check", str(tmp_path / "recipe.yaml"), "--baseline", str(run), "--workers", "0", "--quiet"]
    assert main(words) == 3
    assert "is not finished: 'web'" in capfd.readouterr().err
    assert main([*words[:4], str(run / "raw")]) == 3


def test_check_pairs_by_name(run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make_inputs(tmp_path)
    raw = RECIPE.partition("  web:")[0]
    run_inline(write_recipe(tmp_path, raw), tmp_path / "out")
    recipe = write_recipe(tmp_path, raw.replace("  raw:", "  other:"))
    words = ["stage", "check", str(recipe), "--baseline", str(tmp_path / "out"), "--workers", "0", "--quiet"]
    assert main(words) == 3
    assert "has no dataset of this recipe" in capfd.readouterr().err


def test_check_shows_only_what_changes_side(run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make_inputs(tmp_path)
    # The other way round: many records go for the other reason, none changes side.
    steps = RECIPE.partition("      - ./filters.py:shouting")[0]
    recipe = write_recipe(tmp_path, steps + "      - ./filters.py:short\n      - ./filters.py:shouting\n")
    words = ("stage", "check", recipe, "--baseline", run, "--workers", "0", "--quiet")
    web = told(capfd, *words)["datasets"][1]
    assert (web["changed_frac"], web["moves"], web["examples"]) == (0.0, [], [])


@pytest.mark.parametrize("share", ["", "x", "101%", "-1", "1.5"])
def test_check_refuses_what_is_no_share(run: Path, share: str, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["stage", "check", str(run.parent / "recipe.yaml"), "--baseline", str(run), f"--max-change={share}"]
    assert main(words) == 2
    assert "not a share" in capfd.readouterr().err

"""Alarms: which losses stop a run, what a person is told and can look at, and how the run goes on."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from gristmill.manifests.errors import EXIT_ALARM, EXIT_DONE, EXIT_INPUT, RecipeError
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.tally import Tally, tally_to_json
from gristmill.manifests.verify import verify
from gristmill.pipeline.alarms import spared_lines
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.recipe import Recipe, load_recipe, resolved
from gristmill.pipeline.recipe_alarm import MIN_RECORDS, Alarm
from tests.laws.running import fingerprint

FILTER = '''
from gristmill.stages import doc_filter


@doc_filter(drop_below={"n_words": 10})
def long_enough(text):
    """Documents of ten words."""
    return {"n_words": len(text.split())}
'''

RECIPE = """\
name: alarms
tokenizer: bytes
datasets:
  lines:
    read: {jsonl: "a.jsonl"}
    domain: web
    steps:
      - ./my.py:long_enough: {alarm: {max_drop_frac: 0.3}}
"""


def write(folder: Path, name: str, texts: list[str], bad: int = 0) -> None:
    lines = [json.dumps({"id": f"{name}{i}", "text": text}) for i, text in enumerate(texts)]
    (folder / f"{name}.jsonl").write_text("\n".join([*lines, *["{broken"] * bad]) + "\n")


def texts(short: int, long: int) -> list[str]:
    return [f"only {i} words" for i in range(short)] + [f"long {i} " + "word " * 20 for i in range(long)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my.py").write_text(FILTER)
    write(tmp_path, "a", texts(40, 60))
    return tmp_path


def recipe(folder: Path, text: str = RECIPE) -> Path:
    path = folder / "r.yaml"
    path.write_text(text)
    return path


def run(path: Path, *words: str) -> int:
    return main(["run", str(path), "--out", str(path.parent / "out"), "--workers", "0", "--quiet", *words])


def failure(capsys: pytest.CaptureFixture[str], path: Path, *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run(path, "--json", *words) == EXIT_ALARM
    return json.loads(capsys.readouterr().out)["error"]


def test_a_source_that_loses_too_much_stops_the_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recipe(folder)
    assert run(path) == EXIT_ALARM
    said = capsys.readouterr().err
    assert "r.yaml:8: an alarm stopped the run: lines.long_enough lost 40 of 100 records of source lines" in said
    assert "(0.4, max_drop_frac is 0.3): n_words_below 40" in said
    assert f"gristmill show {folder / 'out' / 'alarms' / 'lines'} --step long_enough" in said
    assert "--set datasets.lines.steps.long_enough.alarm.max_drop_frac=0.41" in said
    assert not (folder / "out" / "lines").exists() and not (folder / "out" / "run.json").exists()


def test_json_and_events_hold_the_figures(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = failure(capsys, recipe(folder))
    assert (error["kind"], error["exit_code"]) == ("AlarmError", 5)
    assert error["report"] == str(folder / "out" / "alarms" / "lines")
    figures = {"limit_name": "max_drop_frac", "limit": 0.3, "frac": 0.4, "gone": 40, "of": 100, "unit": "records"}
    names = {"dataset": "lines", "step": "long_enough", "source": "lines"}
    assert error["alarms"] == [{**names, **figures, "reasons": {"n_words_below": 40}}]
    events = [json.loads(line) for line in (folder / "out" / "events.jsonl").read_text().splitlines()]
    alarm = next(e for e in events if e["what"] == "alarm")
    assert alarm["label"] == "lines.long_enough" and alarm["frac"] == 0.4 and alarm["source"] == "lines"


def test_what_went_can_be_looked_at_without_a_manifest_of_the_dataset(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recipe(folder)
    run(path)
    report = folder / "out" / "alarms" / "lines"
    capsys.readouterr()
    assert main(["show", str(report), "--step", "long_enough", "--json"]) == EXIT_DONE
    dropped = [s for s in json.loads(capsys.readouterr().out)["samples"] if s["verdict"] == "drop"]
    assert dropped and all("only" in s["text"] and s["reason"] == "n_words_below" for s in dropped)
    assert main(["trace", str(report), "--grep", "only 7 words", "--json"]) == EXIT_DONE
    assert json.loads(capsys.readouterr().out)["events"][-1]["reason"] == "n_words_below"
    assert main(["ls", str(report)]) == EXIT_DONE
    assert "STOPPED BY AN ALARM" in capsys.readouterr().out
    assert verify(report).faults == []
    manifest = read_manifest(report)
    assert manifest["until"] == "long_enough" and manifest["alarms"][0]["gone"] == 40


def test_a_second_run_stops_again_and_a_raised_alarm_goes_on_at_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recipe(folder)
    first = failure(capsys, path)
    objects = sorted((folder / "out" / "objects").iterdir())
    assert failure(capsys, path) == first
    assert run(path, "--set", "datasets.lines.steps.long_enough.alarm.max_drop_frac=0.4") == EXIT_DONE
    assert sorted((folder / "out" / "objects").iterdir()) == objects, "no work is done anew"
    assert not (folder / "out" / "alarms").exists(), "a finished dataset has no report"
    assert verify(folder / "out").faults == []
    step = read_manifest(folder / "out" / "lines")["steps"][-1]
    assert step["alarm"] == {"max_drop_frac": 0.4, "max_cut_frac": None, "min_records": MIN_RECORDS}
    assert "alarm" not in step["params"] and "alarm" not in read_manifest(folder / "out" / "lines")["steps"][0]


def test_an_alarm_changes_no_file(folder: Path, tmp_path: Path) -> None:
    run(recipe(folder, RECIPE.replace("0.3}", "1}")))
    with_alarm = {name: digest for name, digest in fingerprint(folder / "out").items() if "manifest" not in name}
    keys = sorted(p.name for p in (folder / "out" / "objects").iterdir())
    plain = recipe(folder, RECIPE.replace(": {alarm: {max_drop_frac: 0.3}}", ""))
    assert main(["run", str(plain), "--out", str(folder / "plain"), "--workers", "0", "--quiet"]) == EXIT_DONE
    without = {name: digest for name, digest in fingerprint(folder / "plain").items() if "manifest" not in name}
    assert with_alarm == without
    assert keys == sorted(p.name for p in (folder / "plain" / "objects").iterdir())


@pytest.mark.parametrize(
    ("alarm", "code"),
    [
        ("max_drop_frac: 0.4", EXIT_DONE),  # at the limit, not above
        ("max_drop_frac: 0.39", EXIT_ALARM),
        ("max_drop_frac: 0", EXIT_ALARM),
        ("max_drop_frac: 1", EXIT_DONE),
        ("max_drop_frac: 0, min_records: 101", EXIT_DONE),  # one record short of the least
        ("max_drop_frac: 0, min_records: 100", EXIT_ALARM),
        ("max_cut_frac: 0", EXIT_DONE),  # a filter cuts nothing inside records
    ],
)
def test_where_the_limits_lie(folder: Path, alarm: str, code: int) -> None:
    assert run(recipe(folder, RECIPE.replace("max_drop_frac: 0.3", alarm))) == code


def test_a_small_source_stops_nothing_unless_asked_and_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "a", texts(1, 1))
    assert run(recipe(folder)) == EXIT_DONE
    assert "lines.long_enough is over its alarm for source lines (1 of 2 records" in capsys.readouterr().out
    assert run(recipe(folder, RECIPE.replace("0.3}", "0.3, min_records: 0}"))) == EXIT_ALARM
    assert (folder / "out" / "lines" / "manifest.json").exists(), "what was published before stays"
    capsys.readouterr()
    assert main(["ls", str(folder / "out")]) == EXIT_DONE
    assert f"stopped by an alarm: lines; see: gristmill ls {folder / 'out' / 'alarms'}" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["ls"], ["verify"], ["show"], ["trace", "--grep", "text"]])
def test_after_a_first_run_that_was_stopped_commands_say_where_to_look(
    folder: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert run(recipe(folder)) == EXIT_ALARM
    capsys.readouterr()
    assert main([command[0], str(folder / "out"), *command[1:]]) == EXIT_INPUT
    assert f"gristmill ls {folder / 'out' / 'alarms' / 'lines'}" in capsys.readouterr().err


def test_each_source_is_judged_alone_and_all_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three sources joined: of all 600 records a sixth goes, of two sources more than 30 %."""
    write(folder, "b", [f"{text} b" for text in texts(60, 40)])
    write(folder, "c", [f"{text} c" for text in texts(0, 400)])
    read = "".join(f'  {n}:\n    read: {{jsonl: "{n}.jsonl"}}\n    domain: web\n' for n in "abc")
    step = "    steps:\n      - exact_dedup\n      - ./my.py:long_enough: {alarm: {max_drop_frac: 0.3}}\n"
    error = failure(
        capsys, recipe(folder, f"name: x\ndatasets:\n{read}  all:\n    from: [a, b, c]\n{step}  after: {{from: all}}\n")
    )
    assert [(a["source"], a["frac"]) for a in error["alarms"]] == [("b", 0.6), ("a", 0.4)]
    assert error["what"].endswith("(+1 more)") and error["where"].endswith("r.yaml:16")
    out = folder / "out"
    assert (out / "a" / "manifest.json").exists() and not (out / "all").exists() and not (out / "after").exists()
    assert verify(out / "alarms" / "all").faults == []
    assert [s["step"] for s in read_manifest(out / "alarms" / "all")["steps"]] == ["from", "exact_dedup", "long_enough"]


def test_an_alarm_of_an_exchange(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run stops behind the phase: the steps of a later exchange are not begun."""
    write(folder, "a", ["the same text"] * 120)
    steps = "      - exact_dedup: {alarm: {max_drop_frac: 0.5}}\n      - exact_dedup\n"
    text = RECIPE.replace("      - ./my.py:long_enough: {alarm: {max_drop_frac: 0.3}}\n", steps)
    error = failure(capsys, recipe(folder, text))
    assert [(a["step"], a["gone"], a["of"]) for a in error["alarms"]] == [("exact_dedup", 119, 120)]
    assert read_manifest(folder / "out" / "alarms" / "lines")["until"] == "exact_dedup"


def test_an_alarm_of_emit_counts_no_holdout(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, "a", [""] * 50 + texts(0, 150))
    head = RECIPE.replace("datasets:", "holdout: {frac: 0.5}\ndatasets:").partition("    steps:")[0]
    emit = "    steps:\n      - emit: {context: 64, alarm: {max_drop_frac: %s}}\n"
    error = failure(capsys, recipe(folder, head + emit % 0.1))
    loss = error["alarms"][0]
    assert set(loss["reasons"]) == {"no_tokens"} and loss["gone"] == loss["reasons"]["no_tokens"]
    assert loss["of"] < 150, "half of the 200 are held out, which is no loss"
    assert verify(folder / "out" / "alarms" / "lines").faults == []
    assert not (folder / "out" / "lines").exists() and not (folder / "out" / "holdout").exists()
    assert run(recipe(folder, head + emit % 0.6)) == EXIT_DONE


def test_an_alarm_of_reading_counts_what_is_quarantined_and_no_sample(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "a", texts(0, 400), bad=30)
    read = RECIPE.partition("    steps:")[0].replace('"a.jsonl"', '"a.jsonl", alarm: {max_drop_frac: 0.05}')
    error = failure(capsys, recipe(folder, read))
    assert [(a["step"], a["gone"], a["of"]) for a in error["alarms"]] == [("read", 30, 430)]
    assert "datasets.lines.read.alarm.max_drop_frac=" in error["remedy"]
    sampled = failure(capsys, recipe(folder, read), "--sample", "0.5")["alarms"][0]
    assert sampled["gone"] == 30 and 150 < sampled["of"] < 300 and "not_sampled" not in sampled["reasons"]
    write(folder, "a", texts(0, 400))
    assert run(recipe(folder, read), "--sample", "0.5") == EXIT_DONE


def test_characters_cut_inside_records(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        folder, "a", [f"<html><body><p>Page number {i} of a book that is long.</p></body></html>" for i in range(120)]
    )
    steps = "      - extract_html: {alarm: {max_cut_frac: 0.2}}\n"
    text = RECIPE.partition("      - ./my")[0] + steps
    error = failure(capsys, recipe(folder, text))
    loss = error["alarms"][0]
    assert (loss["limit_name"], loss["unit"]) == ("max_cut_frac", "characters")
    assert 0.2 < loss["frac"] < 1 and loss["gone"] == sum(loss["reasons"].values())
    assert "cut" in error["what"] and "characters of source lines" in error["what"]


def test_parts_of_a_recipe_are_judged_as_the_whole(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What an alarm stopped is no ground to build on."""
    text = RECIPE + "  after:\n    from: lines\n    steps: [exact_dedup]\n"
    run(recipe(folder, text))
    assert failure(capsys, recipe(folder, text), "--from", "after.exact_dedup")["alarms"]
    assert failure(capsys, recipe(folder, text), "--until", "lines.long_enough")["alarms"]
    assert run(recipe(folder, text), "--until", "lines.read") == EXIT_DONE


def test_plan_shows_alarms_and_those_that_would_stop(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recipe(folder)
    assert main(["plan", str(path)]) == EXIT_DONE
    assert "alarm: lines.long_enough: max_drop_frac 0.3, from 100 records a source" in capsys.readouterr().out
    run(path)
    capsys.readouterr()
    before = sorted((folder / "out").rglob("*"))
    assert main(["plan", str(path), "--out", str(folder / "out"), "--json"]) == EXIT_DONE
    planned = json.loads(capsys.readouterr().out)["datasets"][0]
    assert planned["state"] == "alarm" and "lost 40 of 100" in planned["why"]
    assert planned["steps"][1]["alarm"]["max_drop_frac"] == 0.3
    assert sorted((folder / "out").rglob("*")) == before, "a plan writes no report"


def test_a_report_takes_nobodys_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    foreign = folder / "out" / "alarms" / "lines" / "notes.txt"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("mine")
    assert run(recipe(folder)) == 2 and foreign.read_text() == "mine"
    assert "holds files that no run wrote" in capsys.readouterr().err
    assert run(recipe(folder, RECIPE.replace(": {alarm: {max_drop_frac: 0.3}}", ""))) == EXIT_DONE


def test_a_report_is_no_input(folder: Path) -> None:
    """An output among what a pattern matches: the report of the run before is not read."""
    text = RECIPE.replace('"a.jsonl"', '"**/*.jsonl"')
    run(recipe(folder, text))
    assert list((folder / "out" / "alarms").rglob("*.jsonl"))
    assert run(recipe(folder, text), "--set", "datasets.lines.steps.long_enough.alarm=null") == EXIT_DONE
    assert [i["rel"] for i in read_manifest(folder / "out" / "lines")["inputs"]] == ["a.jsonl"]


def test_a_gate_is_not_stopped_by_an_alarm(folder: Path) -> None:
    assert run(recipe(folder, RECIPE.replace("0.3}", "1}"))) == EXIT_DONE
    words = ["stage", "check", str(recipe(folder)), "--baseline", str(folder / "out"), "--workers", "0", "--quiet"]
    assert main(words) == EXIT_DONE


def test_help_tells_of_alarms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--help"]) == EXIT_DONE
    assert "5 an alarm stopped the run" in capsys.readouterr().out


def spared(tally: Tally, alarm: Alarm, stage: str = "c4") -> list[str]:
    step = {"step": stage, "stage": stage, "alarm": alarm.plain(), "sources": {"s": tally_to_json(tally)}}
    return list(spared_lines("d", {"steps": [step]}))


def test_fractions_are_sound_where_nothing_came_in_or_more_came_out() -> None:
    least = Alarm(0.0, 0.0)
    assert spared(Tally(), least) == []
    assert spared(Tally(records_in=1, kept=1, chars_in=5, chars_kept=8, chars_cut={"repaired": -3}), least) == []
    split = Tally(records_in=1, derived=3, kept=2, dropped=2, reasons={"short": 2})
    assert "(2 of 4 records" in spared(split, least)[0], "of what was derived, too"
    assert spared(split, Alarm(0.5)) == []
    assert spared(Tally(records_in=2, dropped=2, reasons={"not_sampled": 2}), least, "read") == []
    assert spared(Tally(records_in=2, dropped=2, reasons={"not_sampled": 2}), least, "./my.py:read") != []


def alarms(tmp_path: Path, text: str, *overrides: str) -> Recipe:
    path = tmp_path / "r.yaml"
    path.write_text(text)
    return load_recipe(path, overrides)


def test_an_alarm_is_no_parameter_and_has_a_place(tmp_path: Path) -> None:
    found = alarms(tmp_path, RECIPE).dataset("lines")
    assert found.steps[0].params == {} and found.alarms() == {"long_enough": Alarm(0.3)}
    assert found.alarms()["long_enough"].where.endswith("r.yaml:8")
    assert alarms(tmp_path, RECIPE.replace("{max_drop_frac: 0.3}", "null")).dataset("lines").alarms() == {}


def test_the_resolved_recipe_holds_the_alarm(tmp_path: Path) -> None:
    text = RECIPE.replace('"a.jsonl"', '"a.jsonl", alarm: {max_cut_frac: 1}')
    recipe = alarms(tmp_path, text)
    plain = resolved(recipe)["datasets"]["lines"]
    assert plain["read"]["alarm"] == {"max_drop_frac": None, "max_cut_frac": 1.0, "min_records": MIN_RECORDS}
    assert plain["steps"][0]["./my.py:long_enough"]["alarm"]["max_drop_frac"] == 0.3
    assert alarms(tmp_path, yaml.safe_dump(resolved(recipe))).digest == recipe.digest
    assert alarms(tmp_path, RECIPE).digest != recipe.digest


def test_an_override_may_bring_an_alarm(tmp_path: Path) -> None:
    plain = RECIPE.replace(": {alarm: {max_drop_frac: 0.3}}", "")
    step = "datasets.lines.steps.long_enough.alarm.max_drop_frac=0.2"
    found = alarms(
        tmp_path, plain, step, "datasets.lines.read.alarm.min_records=5", "datasets.lines.read.alarm.max_drop_frac=0"
    )
    assert found.dataset("lines").alarms() == {"read": Alarm(0.0, None, 5), "long_enough": Alarm(0.2)}
    with pytest.raises(RecipeError, match="nothing of this name in datasets"):
        alarms(tmp_path, plain, "datasets.alarm.domain=web")


WRONG = [
    # alarm, what (a part), value, remedy (a part)
    ("0.3", "alarm: not a mapping", "0.3", "max_drop_frac: 0.3"),
    ("[0.3]", "alarm: not a mapping", "[0.3]", "max_drop_frac: 0.3"),
    ("true", "alarm: not a mapping", "true", "max_drop_frac: 0.3"),
    ("{}", "alarm: sets no limit", None, "max_drop_frac: 0.3"),
    ("{min_records: 5}", "alarm: sets no limit", None, "max_drop_frac: 0.3"),
    ("{max_drop_frac: }", "alarm: sets no limit", None, "max_drop_frac: 0.3"),
    ("{max_dorp_frac: 0.3}", "alarm: unknown key", "max_dorp_frac", "did you mean max_drop_frac"),
    ("{max_drop_frac: 1.5}", "alarm.max_drop_frac: not a fraction", "1.5", "0 to 1"),
    ("{max_drop_frac: -0.1}", "alarm.max_drop_frac: not a fraction", "-0.1", "0 to 1"),
    ("{max_drop_frac: true}", "alarm.max_drop_frac: not a fraction", "true", "0 to 1"),
    ("{max_drop_frac: 30%}", "alarm.max_drop_frac: not a fraction", "30%", "0 to 1"),
    ("{max_cut_frac: [0.1]}", "alarm.max_cut_frac: not a fraction", "[0.1]", "0 to 1"),
    ("{max_drop_frac: 0.3, min_records: 1.5}", "alarm.min_records: not a number of records", "1.5", "whole"),
    ("{max_drop_frac: 0.3, min_records: -1}", "alarm.min_records: not a number of records", "-1", "whole"),
    ("{max_drop_frac: 0.3, min_records: }", "alarm.min_records: not a number of records", "null", "whole"),
    ("{max_drop_frac: 0.3, min_records: true}", "alarm.min_records: not a number of records", "true", "whole"),
]


@pytest.mark.parametrize(("alarm", "what", "value", "remedy"), WRONG)
def test_a_wrong_alarm_is_told_where_and_how(
    tmp_path: Path, alarm: str, what: str, value: str | None, remedy: str
) -> None:
    at_step = RECIPE.replace("{max_drop_frac: 0.3}", alarm), 8, "datasets.lines.steps[0]."
    at_read = RECIPE.replace('"a.jsonl"', f'"a.jsonl", alarm: {alarm}'), 5, "datasets.lines.read.alarm"
    for text, line, path in (at_step, at_read):
        with pytest.raises(RecipeError) as caught:
            alarms(tmp_path, text)
        error = caught.value
        assert error.where == f"{tmp_path / 'r.yaml'}:{line}"
        assert error.what.startswith(path) and what in error.what and remedy in error.remedy
        assert (None if error.value is None else str(error.value)) == value

"""The front of the command line, in real processes: help, exit codes, one line an error, one object with --json."""

import json
import os
import signal
import subprocess
import sys
import types
from pathlib import Path

import pytest

from gristmill.manifests import errors
from gristmill.pipeline.cli import main as front
from gristmill.pipeline.cli import output

HEAVY = ("numpy", "pyarrow", "numba", "pydantic", "rich", "yaml")


def gristmill(*words: str, text: str | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own; without `text` its standard input is empty."""
    command = [sys.executable, "-m", "gristmill.pipeline.cli.main", *words]
    return subprocess.run(command, input=text or "", capture_output=True, text=True, cwd=cwd, timeout=120, check=False)


def test_help_teaches() -> None:
    done = gristmill("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    for name in front.COMMANDS:
        assert f"\n  {name} " in done.stdout
    for code in (0, 1, 2, 3, 4, 5, 6, 7, 130):
        assert f"  {code} " in done.stdout, "exit codes are documented"
    assert "gristmill run recipe.yaml --out out" in done.stdout
    assert gristmill().stdout == done.stdout, "without a command there is help, too"


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from gristmill.pipeline.cli.main import main; code = main(['--help']); "
        f"print(code, [name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "0 []\n"


@pytest.mark.parametrize("name", sorted(front.COMMANDS))
def test_each_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert front.main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"usage: gristmill {name}" in shown
    for sub in ("list", "judge", "try", "tune", "check") if name == "stage" else ():
        assert front.main([name, sub, "--help"]) == 0
        assert f"usage: gristmill {name} {sub}" in capsys.readouterr().out


def test_version() -> None:
    done = gristmill("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("gristmill 0.")


WRONG_USAGE = [
    (("rnu",), "no such command: 'rnu'; did you mean run"),
    (("--jsn", "run"), "an option before the command: '--jsn'"),
    (("stage", "jugde"), "gristmill stage: no such command: 'jugde'; did you mean judge"),
    (("plan",), "gristmill plan: the following arguments are required: RECIPE; see gristmill plan --help"),
    (("doctor", "--jsn"), "gristmill doctor: unrecognized arguments: --jsn"),
    (("plan", "nowhere.yaml"), "no such recipe: 'nowhere.yaml'; check the path; packaged: demo"),
    (("stage", "judge", "c5"), "unknown stage: 'c5'"),
    (("stage", "judge", "exact_dedup"), "looks at a whole dataset"),
    (("stage", "judge", "exact_dedup", "--set", "x"), "--set: not STAGE.KEY=VALUE: 'x'"),
    (("stage", "judge", "exact_dedup", "--set", "exact_deup.a=1"), "did you mean exact_dedup"),
]


@pytest.mark.parametrize(("words", "line"), WRONG_USAGE)
def test_wrong_usage_is_one_line_and_2(words: tuple[str, ...], line: str) -> None:
    done = gristmill(*words)
    assert done.returncode == errors.EXIT_USAGE
    assert done.stdout == ""
    assert done.stderr.startswith("gristmill: ")
    assert done.stderr.count("\n") == 1
    assert line in done.stderr


def test_a_wrong_recipe_is_one_object_with_json(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("name: x\nsede: 1\ndatasets: {a: {from: a}}\n")
    done = gristmill("plan", "r.yaml", "--json", cwd=tmp_path)
    assert done.returncode == errors.EXIT_USAGE
    assert json.loads(done.stdout) == {
        "error": {
            "kind": "RecipeError",
            "what": "sede: unknown key",
            "where": "r.yaml:2",
            "value": "sede",
            "remedy": "did you mean seed",
            "message": "r.yaml:2: sede: unknown key: 'sede'; did you mean seed",
            "exit_code": 2,
        }
    }
    assert done.stderr == "gristmill: r.yaml:2: sede: unknown key: 'sede'; did you mean seed\n"


def raising(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command `boom` that raises `error`."""
    module = types.ModuleType("boom")

    def run(_: object) -> int:
        raise error

    vars(module).update(HELP="go off", add_arguments=lambda parser: parser.add_argument("--json"), run=run)
    monkeypatch.setitem(sys.modules, "gristmill.pipeline.cli.boom", module)
    monkeypatch.setattr(front, "COMMANDS", {**front.COMMANDS, "boom": "go off"})


RAISED = [
    (errors.RecipeError("bad", "r.yaml:3"), 2, "r.yaml:3: bad"),
    (errors.InputError("bad"), 3, "bad"),
    (errors.VerifyError("bad"), 4, "bad"),
    (errors.AlarmError("bad"), 5, "bad"),
    (errors.EngineLostError("bad"), 6, "bad"),
    (errors.NoVerdictError("bad"), 7, "bad"),
    (KeyboardInterrupt(), 130, "interrupted; run the same command again to resume"),
    (ValueError("two\nlines"), 1, "bug: ValueError: two lines; run again with --debug"),
    (BrokenPipeError(32, "a worker's"), 1, "bug: BrokenPipeError"),
    (OSError(28, "No space left on device", "out/x"), 6, "out/x: no space left on the device; make room"),
    (PermissionError(13, "Permission denied", "out/x"), 2, "out/x: not permitted: 'Permission denied'"),
    (ValueError("\x1b[2J\u202eevil"), 1, r"bug: ValueError: \x1b[2J\u202eevil"),
]


@pytest.mark.parametrize(("error", "code", "line"), RAISED, ids=lambda value: type(value).__name__)
def test_each_error_has_its_code_and_one_line(
    error: BaseException,
    code: int,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    raising(error, monkeypatch)
    assert front.main(["boom"]) == code
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"gristmill: {line}")
    assert shown.err.count("\n") == 1
    assert front.main(["boom", "--json", "x"]) == code
    assert json.loads(capfd.readouterr().out)["error"]["exit_code"] == code


@pytest.mark.parametrize("words", [["--debug", "boom"], ["boom", "--debug"]])
def test_debug_shows_the_traceback(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raising(errors.InputError("bad"), monkeypatch)
    assert front.main(words) == errors.EXIT_INPUT
    shown = capsys.readouterr().err
    assert "Traceback (most recent call last)" in shown
    assert shown.endswith("\ngristmill: bad\n")


def test_a_reader_that_leaves_is_no_error() -> None:
    command = [sys.executable, "-m", "gristmill.pipeline.cli.main", "doctor"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == errors.EXIT_INTERRUPTED


def test_interrupt_in_the_middle(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text(FILTER)
    command = [sys.executable, "-m", "gristmill.pipeline.cli.main", "stage", "judge", "./f.py:shouting"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        # More than a pipe holds: when this returns, the command is reading.
        process.stdin.write(b"x" * (1 << 20))
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b"gristmill: interrupted; run the same command again to resume\n"
    assert process.returncode == errors.EXIT_INTERRUPTED


def test_doctor_reports_and_exits_0(tmp_path: Path) -> None:
    done = gristmill("doctor", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["engines"][0]["engine"] == "local" and report["engines"][0]["works"]
    assert report["versions"]["pyarrow"]
    checks = {check["check"]: check for check in report["checks"]}
    assert checks["python"]["ok"]
    assert str(tmp_path) in checks["working directory"]["detail"]
    assert report["ok"] == all(check["ok"] for check in report["checks"])
    assert not any(tmp_path.iterdir()), "looking changes nothing"


def test_doctor_names_what_is_lacking(tmp_path: Path) -> None:
    environment = {**os.environ, "GRISTMILL_LID176": str(tmp_path / "none"), "PATH": "/nowhere"}
    command = [sys.executable, "-m", "gristmill.pipeline.cli.main", "doctor", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    checks = {check["check"]: check for check in json.loads(done.stdout)["checks"]}
    for lacking in ("lid.176.ftz", "apt-get"):
        assert not checks[lacking]["ok"]
        assert checks[lacking]["remedy"]


def test_plain_output_is_tabs_and_safe(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table(("a", "b"), [(1, "x\ty\n\x1b[31m"), (None, "é\ud800\u202e")])
    assert capsys.readouterr().out == "a\tb\n1\tx\\ty\\n\\x1b[31m\n\té\\ud800\\u202e\n"


def test_json_takes_what_commands_have(capfd: pytest.CaptureFixture[str]) -> None:
    import numpy as np

    value = {
        "nan": float("nan"),
        "numpy": [np.float64("inf"), np.int64(3), np.array([1.5])],
        "path": Path("a/b"),
        "bytes": b"\x01\xff",
        "surrogate": "\udc80é",
        "set": (1, True, None),
    }
    output.emit_json(value)
    assert json.loads(capfd.readouterr().out) == {
        "nan": None,
        "numpy": [None, 3, [1.5]],
        "path": "a/b",
        "bytes": "01ff",
        "surrogate": "\udc80é",
        "set": [1, True, None],
    }
    with pytest.raises(TypeError):
        output.emit_json(object())


FILTER = '''
from gristmill.stages.doc_filter import doc_filter

@doc_filter(drop_above={"upper_frac": 0.3})
def shouting(text):
    """Documents written mostly in capitals."""
    letters = [c for c in text if c.isalpha()]
    return {"upper_frac": sum(c.isupper() for c in letters) / max(len(letters), 1)}
'''

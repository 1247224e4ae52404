"""What a driver is told of whatever a task raises: the same on every engine, and always something it can read."""

import errno
import pickle
import threading
from pathlib import Path

import pytest

from gristmill.manifests.errors import EXIT_BUG, EngineLostError, GristmillError, InputError, UsageError
from gristmill.pipeline.engines.answer import TaskError, answer_to
from tests.laws.running import call, json_of, run_inline
from tests.pipeline.test_engine_local import class_project

BAD_VALUE = """import threading
        from gristmill.manifests.errors import InputError
        raise InputError('odd', 'here', threading.Lock(), 'mend it')"""
OWN_ERROR = """class Odd(OSError):
            pass
        raise Odd(5, 'mine')"""


class Mine(UsageError):
    """An error that a user's file may define."""


class Silent:
    """Says nothing of itself."""

    def __str__(self) -> str:
        raise ValueError


def sent(error: BaseException) -> GristmillError | OSError:
    return pickle.loads(pickle.dumps(answer_to(error, "t 1/1")))


def test_expected_errors_are_told_as_they_are() -> None:
    error = InputError("cannot be read", "a.txt", 3, "mend it")
    error.add_note("by the way")
    told = sent(error)
    assert (type(told), told.args, told.__notes__) == (InputError, error.args, ["by the way"])
    full = sent(OSError(errno.ENOSPC, "No space left", Path("a")))
    assert isinstance(full, OSError) and (full.errno, str(full.filename)) == (errno.ENOSPC, "a")


def test_what_cannot_be_sent_is_told_in_words() -> None:
    told = sent(InputError("odd", "here", threading.Lock(), "mend it"))
    assert isinstance(told, InputError) and "here: odd: '<unlocked _thread.lock" in str(told)
    told = sent(InputError("odd", "here", Silent()))
    assert isinstance(told, InputError) and told.value == "a Silent"
    told = sent(Mine("wrong", "here", 1, "mend it"))
    assert type(told) is UsageError and str(told) == "here: wrong: '1'; mend it"
    odd = OSError(errno.EIO, "odd")
    odd.filename = threading.Lock()
    told = sent(odd)
    assert isinstance(told, OSError) and told.errno == errno.EIO and "lock" in told.filename


@pytest.mark.parametrize("error", [KeyError("a"), SystemExit(0), KeyboardInterrupt(), ValueError(Silent())])
def test_everything_else_is_a_bug_with_its_traceback(error: BaseException) -> None:
    told = sent(error)
    assert isinstance(told, TaskError) and told.exit_code == EXIT_BUG
    assert f"t 1/1: {type(error).__name__}" in str(told)
    assert told.__notes__[0].startswith("in the worker:\n")


def test_no_memory_is_a_lost_worker() -> None:
    assert isinstance(sent(MemoryError()), EngineLostError)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_stage_that_would_leave_the_program_ends_the_run_as_a_bug(tmp_path: Path, workers: int) -> None:
    recipe = class_project(tmp_path, "raise SystemExit(0)")
    with pytest.raises(TaskError, match="SystemExit: 0"):
        run_inline(recipe, tmp_path / "out", workers)


@pytest.mark.parametrize(("body", "told"), [(BAD_VALUE, "odd"), (OWN_ERROR, "mine")])
def test_an_error_that_cannot_be_sent_ends_the_run_and_not_the_worker(tmp_path: Path, body: str, told: str) -> None:
    recipe = class_project(tmp_path, body)
    done = call("run", recipe, "--out", tmp_path / "out", "--workers", "1", "--json", "--quiet")
    assert told in json_of(done)["error"]["message"]
    assert "died" not in done.stderr

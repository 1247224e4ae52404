"""Errors that a person can act on, and the exit codes they carry.

An error names what went wrong, where (file, line, row, key), the offending value and the remedy; its
text is one line. Exit codes (every command): 0 done, 1 a bug, 2 wrong recipe or usage, 3 input cannot
be read, 4 verification failed, 5 an alarm stopped the run, 6 an engine or server was lost (resumable),
7 no firm verdict, 130 interrupted.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

EXIT_DONE = 0
EXIT_BUG = 1
EXIT_USAGE = 2
EXIT_INPUT = 3
EXIT_VERIFY = 4
EXIT_ALARM = 5
EXIT_ENGINE = 6
EXIT_NO_VERDICT = 7
EXIT_INTERRUPTED = 130

_VALUE_CHARS_SHOWN = 120


class GristmillError(Exception):
    """Base of all expected errors. `what` is a clause, `remedy` an instruction; both without full stop."""

    exit_code: ClassVar[int] = EXIT_BUG

    def __init__(self, what: str, where: str = "", value: object = None, remedy: str = "") -> None:
        super().__init__(what, where, value, remedy)
        self.what = what
        self.where = where
        self.value = value
        self.remedy = remedy

    def __str__(self) -> str:
        """One line: `where: what: value; remedy`."""
        text = f"{self.where}: {self.what}" if self.where else self.what
        if self.value is not None:
            text += f": {str(self.value)[:_VALUE_CHARS_SHOWN]!r}"
        if self.remedy:
            text += f"; {self.remedy}"
        return " ".join(text.split())


class RecipeError(GristmillError):
    """The recipe is wrong: unknown key, wrong type, dangling name."""

    exit_code = EXIT_USAGE


class UsageError(GristmillError):
    """The command was called wrongly, or the output is in use by another driver."""

    exit_code = EXIT_USAGE


class InputError(GristmillError):
    """An input cannot be read at all (one bad record is quarantined instead, and is no error)."""

    exit_code = EXIT_INPUT


class VerifyError(GristmillError):
    """Something on disk is not what its manifest says, or the books do not balance."""

    exit_code = EXIT_VERIFY


class AlarmError(GristmillError):
    """A declared alarm or expectation stopped the run.

    `alarms` are the limits that were exceeded, as plain data; `report` is the folder that tells more.
    """

    exit_code = EXIT_ALARM
    alarms: Sequence[Mapping[str, Any]] = ()
    report: str = ""


class EngineMissingError(UsageError):
    """An engine cannot start here: a package, a Java or a program that it needs is not there, or is another."""


class EngineLostError(GristmillError):
    """An engine, worker or server was lost; what is committed stays, and the run can be resumed."""

    exit_code = EXIT_ENGINE


class StorageLostError(EngineLostError):
    """Object storage does not answer, so that nobody can say what stands there."""


class NoVerdictError(GristmillError):
    """A question could not be decided firmly."""

    exit_code = EXIT_NO_VERDICT


def attempts_differ(where: str, standing: str, other: str) -> VerifyError:
    """Two attempts at one piece of work left results of other digests."""
    return VerifyError(
        "two attempts at the same work differ: a stage is not deterministic",
        where=where,
        value=f"{standing} and {other}",
        remedy="report the stage; remove the folder to start the work anew",
    )

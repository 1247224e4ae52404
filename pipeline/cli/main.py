"""The front of the command line: finds the command, runs it, turns what goes wrong into one line and a code.

A command's module is imported only when it is called. Every expected error is a `GristmillError`; its line
goes to standard error and, with `--json`, an object `{"error": ...}` to standard output. A command prints
its own JSON last, so that there is one object in either case.
"""

import argparse
import os
import select
import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import NoReturn

from gristmill.manifests.errors import (
    EXIT_BUG,
    EXIT_DONE,
    EXIT_INTERRUPTED,
    GristmillError,
    UsageError,
)
from gristmill.pipeline.cli.command import Command
from gristmill.pipeline.cli.output import emit_json, error_json, print_line, print_text, say
from gristmill.pipeline.cli.refused import expected
from gristmill.pipeline.suggest import did_you_mean

COMMANDS: Mapping[str, str] = {
    "run": "make the datasets of a recipe",
    "submit": "submit a recipe to a Spark cluster",
    "render": "make pairs of code and picture, verified (experimental)",
    "plan": "show steps and inputs of a recipe, and what a run would reuse",
    "ls": "list the datasets of a run with the books of each step",
    "show": "show records of a dataset",
    "verify": "check every byte that a run's manifests name",
    "trace": "tell what became of a record, and why",
    "diff": "compare two runs",
    "stage": "list stages; ask what one says of a document",
    "export": "write a dataset in the format of another trainer's reader",
    "classifier": "train a quality classifier; judge one",
    "pair": "tell how similar two documents are",
    "doctor": "check this machine",
    "demo-data": "gather a real corpus to try things on",
}
"""Command -> what it does. The module is the name, with _ for -."""

DESCRIPTION = "Turns raw documents into verified, packed shards for training."

EPILOG = """\
for instance:
  gristmill plan recipe.yaml                        what would be done
  gristmill run recipe.yaml --out out --workers 2   do it; interrupted, the same command goes on
  gristmill ls out                                  what each step kept and dropped
  gristmill trace out --grep "some words"           why a document went
  gristmill stage judge gopher_quality page.txt     what a stage says of a file
  gristmill COMMAND --help                          more about a command

everywhere:
  --json      one JSON object on standard output, logs on standard error
  --debug     show the traceback of an error
  --version   show the version

exit codes:
  0 done   1 a bug   2 wrong recipe or usage   3 input cannot be read   4 verification failed
  5 an alarm stopped the run   6 an engine or server was lost (resumable)   7 no firm verdict
  130 interrupted
"""

_STOPPED_BY_PERSON = "interrupted; run the same command again to resume"


class _Parser(argparse.ArgumentParser):
    """An ArgumentParser whose complaint is a UsageError, told in one line like any other."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self.prog, None, f"see {self.prog} --help")


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. `words` are the arguments, by default the process's own."""
    given = list(sys.argv[1:] if words is None else words)
    try:
        code = _run(given)
        sys.stdout.flush()
        return code
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else EXIT_DONE
    except KeyboardInterrupt:
        return _fail(_interrupted(), given)
    except BrokenPipeError as error:
        if not _stdout_is_gone():
            return _fail(_bug(error), given)
        _mute_stdout()
        return EXIT_INTERRUPTED
    except GristmillError as error:
        return _fail(error, given)
    except OSError as error:
        return _fail(expected(error) or _bug(error), given)
    except Exception as error:
        return _fail(_bug(error), given)


def _run(words: list[str]) -> int:
    name, rest = _split(words)
    if name is None:
        return EXIT_DONE
    if name not in COMMANDS:
        raise UsageError("no such command", "", name, did_you_mean(name, COMMANDS))
    module = import_module(f"gristmill.pipeline.cli.{name.replace('-', '_')}")
    prog = f"gristmill {name}"
    commands: Mapping[str, Command] | None = getattr(module, "COMMANDS", None)
    if commands is None or (hasattr(module, "run") and rest[:1] not in [[key] for key in commands]):
        return _call(prog, Command(module.HELP, module.add_arguments, module.run), rest, words)
    if not rest or rest[0] in ("-h", "--help"):
        print_text(_overview(prog, COMMANDS[name], {key: _first_line(commands[key]) for key in commands}))
        return EXIT_DONE
    if rest[0] not in commands:
        raise UsageError("no such command", prog, rest[0], did_you_mean(rest[0], commands))
    return _call(f"{prog} {rest[0]}", commands[rest[0]], rest[1:], words)


def _split(words: list[str]) -> tuple[str | None, list[str]]:
    """The command and its arguments; None when an option before it was answered already."""
    head = [word for word in words if word != "--debug"]
    if not head or head[0] in ("-h", "--help", "help"):
        print_text(_overview("gristmill", DESCRIPTION, COMMANDS) + "\n\n" + EPILOG.rstrip())
        return None, []
    if head[0] in ("-V", "--version"):
        print_line(f"gristmill {installed_version()}")
        return None, []
    if head[0].startswith("-"):
        raise UsageError("an option before the command", "", head[0], "write the command first")
    index = words.index(head[0])
    return head[0], words[:index] + words[index + 1 :]


def _call(prog: str, command: Command, words: list[str], called_with: list[str]) -> int:
    parser = _Parser(prog=prog, description=command.help, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_arguments(parser)
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    # Intermixed: an option may stand among the files.
    args = parser.parse_intermixed_args(words, argparse.Namespace(called_with=called_with))
    try:
        return command.run(args)
    except SystemExit as stop:
        # Only the parser may end a command early: code of a user's stage that does would look like success.
        raise RuntimeError(f"code that was called asked to exit ({stop.code})") from stop


def _overview(prog: str, description: str, commands: Mapping[str, str]) -> str:
    width = max(map(len, commands)) + 2
    lines = [f"  {name:<{width}}{commands[name]}" for name in commands]
    return "\n".join((f"usage: {prog} COMMAND ...", "", description, "", "commands:", *lines))


def _first_line(command: Command) -> str:
    return command.help.strip().partition("\n")[0]


def installed_version() -> str:
    """The version of the installed package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("gristmill")
    except PackageNotFoundError:
        return "unknown (not installed)"


def _fail(error: GristmillError, words: Sequence[str]) -> int:
    if "--debug" in words:
        traceback.print_exc()
    try:
        say(f"gristmill: {error}")
        if "--json" in words:
            emit_json(error_json(error))
    except BrokenPipeError:
        _mute_stdout()
    return error.exit_code


class _Interrupted(GristmillError):
    exit_code = EXIT_INTERRUPTED


class _Bug(GristmillError):
    exit_code = EXIT_BUG


def _interrupted() -> GristmillError:
    return _Interrupted(_STOPPED_BY_PERSON)


def _bug(error: BaseException) -> GristmillError:
    what = f"bug: {type(error).__name__}: {str(error)[:300]}".rstrip(": ")
    return _Bug(what, remedy="run again with --debug")


def _stdout_is_gone() -> bool:
    """Whether nobody reads standard output any more (a broken pipe may also be a worker's)."""
    poll = select.poll()
    try:
        poll.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):
        return False
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def _mute_stdout() -> None:
    """Spare the interpreter's last flush of standard output a second BrokenPipeError."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())

"""What a command is: its help, its arguments, what it does.

A module of this folder holds either `HELP`, `add_arguments` and `run` (one command) or `COMMANDS`, its
subcommands by name (a group); one that holds both is a command whose first word may be that of a subcommand. It
imports heavy packages inside `run` alone, so that help is instant.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """`help` begins with one line that says what the command does; `run` returns the exit code."""

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]

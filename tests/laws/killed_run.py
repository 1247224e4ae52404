"""Runs a recipe in this process and dies by SIGKILL at the n-th step that touches the disk.

`python -m tests.laws.killed_run RECIPE OUT N`: counts calls of os.link, os.replace, os.fsync, os.unlink and of
HashingFile.write, and kills the process just before the N-th (N = 0: never; the count is printed at the end).
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gristmill.manifests import commit
from tests.laws.running import run_inline

_count = 0


def counted(function: Callable[..., Any], at: int) -> Callable[..., Any]:
    """The function, with the fatal count in front."""

    def call(*args: Any) -> Any:
        global _count  # noqa: PLW0603
        _count += 1
        if _count == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args)

    return call


def main(recipe: str, out: str, at: str) -> None:
    """See the module."""
    number = int(at)
    for name in ("link", "replace", "fsync", "unlink"):
        setattr(os, name, counted(getattr(os, name), number))
    commit.HashingFile.write = counted(commit.HashingFile.write, number)  # type: ignore[method-assign]
    run_inline(Path(recipe), Path(out))
    print(_count)


if __name__ == "__main__":
    main(*sys.argv[1:4])

"""How far a command is: a bar on a terminal, elsewhere a line for each tenth of what takes more than QUIET_SECONDS."""

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from gristmill.pipeline.cli.output import say

QUIET_SECONDS = 5.0

Told = Callable[[int, int], None]
"""Called with what is done and what there is in all."""


@contextmanager
def told_progress(verb: str, line: Callable[[int, int], str | None], quiet: bool) -> Generator[Told | None]:
    """What to tell how far the work is; None where nobody wants to hear. `line` is None for what is done at once."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield _Lines(line)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(verb),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[said]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", said="")
        yield lambda done, total: bar.update(task, completed=done, total=total, said=line(done, total) or "")


class _Lines:
    """Says how far it is each time that another tenth is done, but for the first seconds."""

    def __init__(self, line: Callable[[int, int], str | None]) -> None:
        self._line = line
        self._tenths = 0
        self._silent_until_s = time.monotonic() + QUIET_SECONDS

    def __call__(self, done: int, total: int) -> None:
        tenths = 10 * done // total if total else 0
        if self._tenths < tenths < 10 and time.monotonic() > self._silent_until_s and (said := self._line(done, total)):
            say(said)
        self._tenths = max(self._tenths, tenths)

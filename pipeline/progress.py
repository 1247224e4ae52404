"""What a person sees while a run works, and what `events.jsonl` keeps of it.

On a terminal a bar of the current step; elsewhere a plain line at most every `LINE_SECONDS`, on standard
error. Each event is also appended to `OUT/events.jsonl` (`t`, `what`, `label`, facts), which nothing ever reads
for correctness.
"""

import json
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from gristmill.pipeline.engines.protocol import EngineEvent

EVENTS = "events.jsonl"
LINE_SECONDS = 5.0


class Progress:
    """Receives engine events; see the module."""

    def __init__(self, events: IO[str] | None, bar: Any = None, quiet: bool = False) -> None:
        self._events = events
        self._bar = bar
        self._bar_task: Any = None
        self._quiet = quiet
        self._group = ""
        self._done = 0
        self._reused = 0
        self._last_line_s = 0.0

    def __call__(self, event: EngineEvent) -> None:
        """One event."""
        if self._events is not None:
            facts = {k: v for k, v in event.facts.items() if isinstance(v, str | int | float)}
            line = {"t": round(time.time(), 3), "what": event.what, "label": event.label, **facts}
            self._events.write(json.dumps(line) + "\n")
            self._events.flush()
        group, _, of = event.label.rpartition(" ")
        if group != self._group:
            self._finish_group()
            self._group, self._done, self._reused = group, 0, 0
        if event.what in ("commit", "reuse"):
            self._done += 1
            self._reused += event.what == "reuse"
        if not self._quiet:
            self._show(event, of)

    def _show(self, event: EngineEvent, of: str) -> None:
        if event.what == "alarm":
            return  # the command says it last of all
        if event.what in ("retry", "lost", "waiting"):
            self._print(f"{event.label}: {event.what} ({event.facts.get('how', '')})")
        total = int(of.partition("/")[2] or 0)
        if self._bar is not None:
            if self._bar_task is None:
                self._bar_task = self._bar.add_task(self._group, total=total or None)
            self._bar.update(self._bar_task, completed=self._done, total=total or None)
        elif time.monotonic() - self._last_line_s >= LINE_SECONDS and event.what != "reuse":
            self._last_line_s = time.monotonic()
            self._print(f"{self._group} {self._done}/{total}")

    def _finish_group(self) -> None:
        if not self._group or self._quiet:
            return
        if self._bar is not None and self._bar_task is not None:
            self._bar.remove_task(self._bar_task)
            self._bar_task = None
        reused = f", {self._reused} found done" if self._reused else ""
        self._print(f"{self._group}: {self._done} done{reused}")

    def close(self) -> None:
        """Say the last line."""
        self._finish_group()
        self._group = ""

    def _print(self, line: str) -> None:
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False)
        else:
            print(line, file=sys.stderr, flush=True)


@contextmanager
def progress(out: Path, quiet: bool = False) -> Generator[Progress]:
    """A Progress for one run into `out`."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / EVENTS).open("a", encoding="utf-8") as events:
        if quiet or not sys.stderr.isatty():
            shown = Progress(events, quiet=quiet)
            yield shown
            shown.close()
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
            shown = Progress(events, bar)
            yield shown
            shown.close()

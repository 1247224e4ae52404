"""`gristmill trace`: what became of a record, and why.

Exits 0 told, 3 no such record, 7 what was given fits the beginning of several ids.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gristmill.manifests.errors import EXIT_DONE, InputError, UsageError
from gristmill.manifests.manifest import FILE_LISTS
from gristmill.pipeline.cli.output import emit_json, print_line, print_table
from gristmill.pipeline.cli.reading import folder_of

if TYPE_CHECKING:
    from gristmill.manifests.trace import Event, Trace

HELP = """tell what became of a record, and why

WHAT is an id, the beginning of one (4 digits or more), a URL, or the key or path that the record was read
under. Where several records have the URL or hold the TEXT, the first is told and the others named. A text that a
step dropped is found where a sample or an earlier shard still holds it.

exit codes: 3 no such record, 7 the beginning of an id fits several.

for instance:
  gristmill trace out 3f9a1c
  gristmill trace out https://example.org/page.html
  gristmill trace out --grep "some words of it" --json"""

ROWS_SHOWN = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `trace`."""
    parser.add_argument("dir", metavar="DIR", help="an output, or a dataset in it")
    parser.add_argument("what", metavar="WHAT", nargs="?", help="id, beginning of one, URL, key or path")
    parser.add_argument("--grep", metavar="TEXT", help="a record whose text holds these characters")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """Find the record and print its events."""
    from gristmill.manifests.trace import trace

    if (args.what is None) == (args.grep is None):
        raise UsageError("needs one of WHAT and --grep TEXT", "gristmill trace", None, "give one")
    if not (args.what or args.grep):
        raise UsageError("nothing to look for", "gristmill trace", None, "give some characters")
    with folder_of(args.dir, FILE_LISTS) as folder:
        traced = trace(folder, args.what, args.grep)
        if args.json:
            emit_json(traced)
        else:
            _print(args.dir, folder, traced)
    return EXIT_DONE


def _print(out: str, folder: Path, traced: "Trace") -> None:
    print_line(f"id      {traced.id}")
    for name, value in (("url", traced.url), ("source", traced.source)):
        if value:
            print_line(f"{name:<8}{value}")
    for parent in traced.parents:
        print_line(f"parent  {parent}")
    print_line()
    rows = [(e.dataset, e.step, e.verdict, _why(e)) for e in traced.events]
    print_table(("dataset", "step", "verdict", "why"), rows)
    for keeper in dict.fromkeys(e.keeper for e in traced.events if e.keeper):
        if keeper != traced.id and _is_here(folder, keeper):
            print_line(f"the kept one: gristmill trace {out} {keeper}")
        else:
            print_line(f"the kept one, {keeper}, stands in an index that was queried, not in this output")
    if traced.others:
        print_line(f"further records that fit: {', '.join(traced.others)}")


def _is_here(out: Path, record: str) -> bool:
    from gristmill.manifests.trace import trace

    try:
        trace(out, record)
    except InputError:
        return False
    return True


def _why(event: "Event") -> str:
    parts: list[str] = []
    if event.reason:
        parts.append(event.reason)
    if event.value is not None:
        limit = f", limit {event.limit:g}" if event.limit is not None else ""
        parts.append(f"{event.measure or 'value'} {event.value:g}{limit}")
    if event.keeper:
        parts.append(f"kept: {event.keeper}")
    if event.detail:
        parts.append(event.detail)
    if event.file:
        at = f" at {event.offset}" if event.offset is not None else ""
        parts.append(f"read from {event.file}{at}")
    parts += [f"row {row['row_id']} tokens {_spans(row['segments'])}" for row in event.rows[:ROWS_SHOWN]]
    if len(event.rows) > ROWS_SHOWN:
        parts.append(f"and {len(event.rows) - ROWS_SHOWN} more rows")
    return "; ".join(parts)


def _spans(segments: list[dict[str, int]]) -> str:
    return " ".join(f"[{s['start']}, {s['end']})" for s in segments)

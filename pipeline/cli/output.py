"""What commands print: results on standard output, everything else on standard error.

With `--json` standard output is one JSON object and nothing else. Text from data is hostile: control
characters and those that reorder a line are shown as escapes, never sent to a terminal.
"""

import dataclasses
import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import AlarmError, GristmillError

_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def printable(text: object) -> str:
    """`text` in one line that cannot drive a terminal: control, bidi and surrogate code points escaped."""
    return _CONTROL.sub(lambda found: ascii(found.group())[1:-1], str(text))


def say(line: object) -> None:
    """One line on standard error."""
    print(_encodable(printable(line), sys.stderr.encoding), file=sys.stderr, flush=True)


def print_line(line: object = "") -> None:
    """One line of a result for people, on standard output."""
    print(_encodable(printable(line), sys.stdout.encoding))


def print_text(text: str) -> None:
    """Text of several lines for people, on standard output."""
    for line in text.split("\n"):
        print_line(line)


def _encodable(text: str, encoding: str | None) -> str:
    name = encoding or "utf-8"
    return text.encode(name, "backslashreplace").decode(name)


def plain(value: object) -> Any:
    """`value` as JSON data: dataclasses become objects, NaN and infinities null, paths text, bytes hex.

    Raises TypeError for anything else that JSON does not know.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    item = getattr(value, "item", None)
    if callable(item):
        return plain(item())
    raise TypeError(f"{type(value).__name__} is not JSON")


def emit_json(value: object) -> None:
    """The one JSON object of a command, last of all it prints. Lone surrogates are written as escapes."""
    indent = 2 if sys.stdout.isatty() else None
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=indent) + "\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def error_json(error: GristmillError) -> dict[str, Any]:
    """The object that a failed command prints with `--json`; that of an alarm has `alarms` and `report`, too."""
    fields: dict[str, Any] = {
        "kind": type(error).__name__,
        "what": error.what,
        "where": error.where,
        "value": None if error.value is None else str(error.value),
        "remedy": error.remedy,
        "message": str(error),
        "exit_code": error.exit_code,
    }
    if isinstance(error, AlarmError):
        fields |= {"alarms": list(error.alarms), "report": error.report or None}
    return {"error": fields}


def print_table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table on a terminal; elsewhere one line a row, fields parted by tabs, the headers first."""
    cells = [[printable("" if cell is None else cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in (list(headers), *cells):
            print(_encodable("\t".join(row), sys.stdout.encoding))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, header in enumerate(headers):
        numeric = bool(cells) and all(re.fullmatch(r"[\d.,%-]*", row[index]) for row in cells)
        # Only the last column may wrap: a name broken in two cannot be read, nor copied.
        table.add_column(
            header, justify="right" if numeric else "left", overflow="fold", no_wrap=index < len(headers) - 1
        )
    for row in cells:
        table.add_row(*map(Text, row))
    Console(highlight=False).print(table)

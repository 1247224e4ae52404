"""Faults of rows, gathered over one file, and what both kinds of shards are checked for first."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.verify_files import Fault, Named

Bools = npt.NDArray[np.bool_]


@dataclass
class FileFaults:
    """The faults of one file: for each kind and text how often, and the first row."""

    named: Named
    _found: dict[tuple[str, str], list[int]] = field(default_factory=dict[tuple[str, str], list[int]])
    first: int = 0

    def rows(self, kind: str, wrong: Bools, what: str) -> None:
        """Enter the rows of the present batch that are wrong."""
        at = np.flatnonzero(wrong)
        if len(at):
            self._enter(kind, what, len(at), self.first + int(at[0]))

    def whole(self, kind: str, what: str) -> None:
        """Enter something that is wrong with the present batch as a whole."""
        self._enter(kind, what, 1, self.first)

    def _enter(self, kind: str, what: str, count: int, row: int) -> None:
        self._found.setdefault((kind, what), [0, row])[0] += count

    def any(self) -> bool:
        """Whether something was found."""
        return bool(self._found)

    def faults(self) -> Iterator[Fault]:
        """What was found."""
        for (kind, what), (count, row) in self._found.items():
            yield Fault(self.named.shown, kind, f"{what}: {count} times, first in row {row}")


def is_valid(batch: pa.RecordBatch, found: FileFaults) -> bool:
    """Whether a batch holds only what its types allow (UTF-8, offsets); a fault when not."""
    try:
        batch.validate(full=True)
    except pa.ArrowException as error:
        found.whole("schema", " ".join(str(error).split())[:200])
        return False
    return True


def schema_difference(found: pa.Schema, expected: pa.Schema) -> str:
    """The first column in which two schemas differ."""
    if found.names != expected.names:
        return f"columns {found.names}, not {expected.names}"
    for name in expected.names:
        if not found.field(name).equals(expected.field(name)):
            return f"column {name} is {found.field(name).type}, not {expected.field(name).type}"
    return "order or nullability"

"""Reads one file or URL through a source, and checks what must hold for every source."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.pipeline.sources import catalogue
from gristmill.pipeline.sources.protocol import InputFile, Loss
from tests.pipeline.sources.checked import OPTIONS, ReadOptions, check_batch, check_losses


@dataclass
class Read:
    """What came of an input, in order."""

    batches: list[pa.RecordBatch] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All rows."""
        return [row for batch in self.batches for row in batch.to_pylist()]

    @property
    def texts(self) -> list[str]:
        """The text of each row."""
        return [text for batch in self.batches for text in batch.column("text").to_pylist()]

    @property
    def reasons(self) -> list[str]:
        """The reason of each loss."""
        return [loss.reason for loss in self.losses]


def read(source: str, path: Path | str, options: ReadOptions = OPTIONS) -> Read:
    """All that a source makes of a local file or URL."""
    local = isinstance(path, Path)
    size = path.stat().st_size if isinstance(path, Path) else 0
    found = Read()
    file = InputFile(str(path), path.name if local else str(path).rpartition("/")[2], size, "")
    for one in catalogue.load(source).read_file(file, options):
        check_batch(one.batch, options)
        if one.batch.num_rows:
            found.batches.append(one.batch)
        found.losses += one.losses
    check_losses(found.losses)
    return found

"""Reads inputs through a source and checks what must hold for every source: schema, bounds, order of offsets."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.manifests.schema import DOCUMENT, content_hash
from gristmill.pipeline.sources import catalogue
from gristmill.pipeline.sources.digests import DigestCache
from gristmill.pipeline.sources.files import list_inputs
from gristmill.pipeline.sources.protocol import REASONS, InputFile, Loss, ReadOptions

OPTIONS = ReadOptions("d", domain="web")
Row = dict[str, Any]


def read_file(source: str, file: InputFile, options: ReadOptions = OPTIONS) -> tuple[list[Row], list[Loss]]:
    """All rows and losses of one input."""
    rows: list[Row] = []
    losses: list[Loss] = []
    for read in catalogue.load(source).read_file(file, options):
        check_batch(read.batch, options)
        rows += read.batch.to_pylist()
        losses += read.losses
    check_losses(losses)
    return rows, losses


def check_losses(losses: Sequence[Loss]) -> None:
    """What holds for every loss of every source."""
    assert all(loss.reason in REASONS and REASONS[loss.reason].startswith(loss.verdict) for loss in losses)
    assert all(len(loss.raw_hash) == 16 and len(loss.raw) <= 256 for loss in losses)


def read_glob(source: str, glob: str, base: Path, options: ReadOptions = OPTIONS) -> tuple[list[Row], list[Loss]]:
    """All rows and losses of a GLOB, listed as a run would."""
    rows: list[Row] = []
    losses: list[Loss] = []
    for file in list_inputs(glob, str(base), catalogue.selection(source, options.extra), DigestCache()):
        more_rows, more_losses = read_file(source, file, options)
        rows += more_rows
        losses += more_losses
    return rows, losses


def read_bytes(
    source: str, data: bytes, folder: Path, name: str, options: ReadOptions = OPTIONS
) -> tuple[list[Row], list[Loss]]:
    """All rows and losses of a file of the given name and content."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return read_file(source, input_file(path), options)


def input_file(path: Path) -> InputFile:
    """A local file as an input, without digest."""
    return InputFile(str(path), path.name, path.stat().st_size, "")


def check_batch(batch: pa.RecordBatch, options: ReadOptions) -> None:
    """What holds for every batch of every source."""
    assert batch.schema.equals(DOCUMENT)
    batch.validate(full=True)
    assert batch.num_rows <= options.batch_rows
    texts = batch.column("text").to_pylist()
    sizes = [len(text.encode()) for text in texts]
    assert sum(sizes) <= options.batch_bytes or len(sizes) == 1
    assert all(column.offset == 0 for column in batch.columns)
    if not any(batch.column("media").to_pylist()):
        assert batch.column("content_hash").to_pylist() == [content_hash(text.encode()) for text in texts]
        assert not any("\ufffc" in text for text in texts)


def texts(rows: Sequence[Row]) -> list[str]:
    """The column `text`."""
    return [row["text"] for row in rows]


def reasons(losses: Sequence[Loss]) -> list[str]:
    """The reason of each loss."""
    return [loss.reason for loss in losses]


def with_options(**changes: Any) -> ReadOptions:
    """OPTIONS with other values."""
    return replace(OPTIONS, **changes)

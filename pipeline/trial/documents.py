"""Documents to try a stage on: those of a published dataset, or of files as `stage judge` reads them.

Out: batches with the columns of `manifests.schema.DOCUMENT`, in the order of the shards or files. The `source` of a
file's documents is the first folder below the one that was named, or the name of that, or of the file.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from gristmill.manifests.errors import InputError, UsageError
from gristmill.manifests.find import places
from gristmill.manifests.manifest import MANIFEST, RUN
from gristmill.manifests.scan import named_paths
from gristmill.manifests.schema import BATCH_BYTES, BATCH_ROWS
from gristmill.manifests.shard import read_shard
from gristmill.pipeline.judge import KINDS, as_input, kind_of_file
from gristmill.pipeline.sources import catalogue as sources
from gristmill.pipeline.sources.protocol import ReadOptions


def documents(where: Path, lost: Counter[str]) -> Iterator[pa.RecordBatch]:
    """The documents of a dataset's folder, of a file, or of all files of a folder, in batches bounded by bytes.

    Records that cannot be read are counted in `lost`, by reason. Raises UsageError for an output of several datasets or
    one of trainer rows, InputError for what is not there.
    """
    if (where / MANIFEST).exists() or (where / RUN).exists():
        yield from _published(where)
        return
    if not where.exists():
        raise InputError(
            "no such file or dataset", str(where), None, "name a dataset of a run (OUT/DATASET), or a file"
        )
    files = sorted(path for path in where.rglob("*") if path.is_file()) if where.is_dir() else [where]
    for path in files:
        yield from _of_file(path, _source_of(path, where), lost)


def _source_of(path: Path, where: Path) -> str:
    below = path.relative_to(where).parts
    return below[0] if len(below) > 1 else where.resolve().name


def _published(where: Path) -> Iterator[pa.RecordBatch]:
    found = [place for place in places(where) if place.manifest["kind"] == "documents"]
    if len(found) != 1:
        known = ", ".join(place.name for place in found) or "none"
        raise UsageError("not one dataset of documents", str(where), None, f"name one of: {known}")
    for path in named_paths(found[0].folder, found[0].manifest, "shards"):
        for batch in read_shard(path):
            yield from _pieces(batch)


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Slices of about BATCH_BYTES, so that a row group of long texts does not pass as one batch."""
    rows = max(1, min(BATCH_ROWS, batch.num_rows * BATCH_BYTES // max(1, batch.nbytes)))
    for at in range(0, batch.num_rows, rows):
        yield batch.slice(at, rows)


def _of_file(path: Path, name: str, lost: Counter[str]) -> Iterator[pa.RecordBatch]:
    kind = KINDS[kind_of_file(path)]
    source = sources.load(kind.source)
    options = ReadOptions(name, kind.domain, extra=dict(source.OPTIONS))
    for read in source.read_file(as_input(path), options):
        lost.update(loss.reason for loss in read.losses)
        if read.batch.num_rows:
            yield read.batch

"""Task `read`: the files of one split -> source records -> fused row-local steps -> shards.

Payload: `source`, `files` (url, rel, bytes, digest), `options` (ReadOptions as data), `dataset`, `steps` (the
first is `read`), `chain` (stage, params), `base_dir`, `seed`, `measures_all`, `sample` (fraction or null).
Files left, beside RowPass's: `idkeys` (Arrow IPC, one row a record of the split in any fate): `id` and
`content_hash` (16 bytes each), `addr` (ordinal in the split; losses have bit 31 set) and `out_row` (row among
the kept ones, -1 for the others).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, ObjectWriter
from gristmill.manifests.errors import InputError
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.remote_file import etag_now
from gristmill.manifests.samples import priorities, threshold
from gristmill.manifests.schema import BATCH_BYTES, BATCH_ROWS, id_bytes
from gristmill.pipeline.account import AccountSpec, Rows
from gristmill.pipeline.own_files import INPUTS
from gristmill.pipeline.row_pass import RowPass, load_stages
from gristmill.pipeline.sources import catalogue as sources
from gristmill.pipeline.sources.digests import digest_stream
from gristmill.pipeline.sources.files import is_url
from gristmill.pipeline.sources.protocol import InputFile, ReadBatch, ReadOptions
from gristmill.pipeline.spill import SpillWriter
from gristmill.pipeline.task import Task
from gristmill.stages.chain import Fate, Ints, StepTrace, count_chars

IDKEYS = pa.schema(
    [("id", pa.binary(16)), ("content_hash", pa.binary(16)), ("addr", pa.uint64()), ("out_row", pa.int64())]
)
LOSS_BIT = 1 << 31


class _Collector:
    """Joins small batches of several files, and numbers rows and losses over the split."""

    def __init__(self, files: list[str]) -> None:
        self.files = files
        self._batches: list[pa.RecordBatch] = []
        self._file_of: list[np.ndarray[Any, np.dtype[np.int32]]] = []
        self._rows = 0
        self._bytes = 0
        self.next_ordinal = 0

    def add(self, batch: pa.RecordBatch, file_index: int) -> Iterator[tuple[pa.RecordBatch, Rows]]:
        """Take a batch; yield what is full. A full batch passes through without being copied."""
        size = batch.get_total_buffer_size()
        if self._rows and (self._bytes + size > BATCH_BYTES or self._rows + batch.num_rows > BATCH_ROWS):
            yield from self.drain()
        self._batches.append(batch)
        self._file_of.append(np.full(batch.num_rows, file_index, dtype=np.int32))
        self._rows += batch.num_rows
        self._bytes += size

    def drain(self) -> Iterator[tuple[pa.RecordBatch, Rows]]:
        """Yield what is there."""
        if not self._rows:
            self._batches, self._file_of = [], []
            return
        batches, file_of = self._batches, np.concatenate(self._file_of)
        self._batches, self._file_of = [], []
        rows = np.arange(self.next_ordinal, self.next_ordinal + self._rows, dtype=np.int64)
        self.next_ordinal += self._rows
        self._rows = self._bytes = 0
        whole = batches[0] if len(batches) == 1 else pa.concat_batches(batches)
        batches.clear()
        yield whole, Rows(rows, self.files, file_of)


class _IdKeys:
    """Collects the key rows of a split."""

    def __init__(self, writer: ObjectWriter) -> None:
        self._spill = SpillWriter(writer, IDKEYS)
        self._batches: list[pa.RecordBatch] = []
        self._losses: list[dict[str, Any]] = []

    def rows(self, batch: pa.RecordBatch, ordinals: Ints, out_rows: Ints) -> None:
        """Add the rows of a batch with the place of each among the kept ones."""
        columns = [
            id_bytes(batch.column("id")),
            batch.column("content_hash"),
            pa.array(ordinals.astype(np.uint64)),
            pa.array(out_rows),
        ]
        self._batches.append(pa.RecordBatch.from_arrays(columns, schema=IDKEYS))

    def loss(self, raw_hash: bytes, number: int) -> None:
        """Add a record that never became a row."""
        row = {"id": raw_hash, "content_hash": raw_hash, "addr": LOSS_BIT | number, "out_row": -1}
        self._losses.append(row)

    def close(self) -> None:
        """Write the file."""
        self._spill.part([*self._batches, pa.RecordBatch.from_pylist(self._losses, schema=IDKEYS)])
        self._spill.close("idkeys")


class _Reader:
    """The state of one read task."""

    def __init__(self, task: Task, writer: ObjectWriter) -> None:
        payload = task.payload
        self.payload = payload
        spec = AccountSpec(payload["dataset"], tuple(payload["steps"]), payload["seed"], payload["measures_all"])
        self.row_pass = RowPass(writer, spec, load_stages(payload["chain"], payload["base_dir"]))
        self.idkeys = _IdKeys(writer)
        self.losses = 0

    def take_losses(self, read: ReadBatch, file: InputFile) -> None:
        """Account for the losses of one read batch."""
        step = self.payload["steps"][0]
        self.row_pass.account.losses(step, file.rel, read.losses, self.losses)
        for loss in read.losses:
            self.idkeys.loss(loss.raw_hash, self.losses)
            self.losses += 1

    def take_rows(self, batch: pa.RecordBatch, rows: Rows) -> None:
        """Sample, run the chain and note the keys of one batch."""
        chars = count_chars(batch)
        chosen = self._sample(batch, rows, chars)
        out_rows = np.full(batch.num_rows, -1, dtype=np.int64)
        first = self.row_pass.rows_kept
        if len(chosen) == batch.num_rows:
            result = self.row_pass.feed(batch, rows, chars)
        else:
            part = Rows(rows.ordinals[chosen], rows.files, _at(rows, chosen))
            result = self.row_pass.feed(batch.take(pa.array(chosen)), part, chars[chosen])
        out_rows[chosen[result.kept_rows]] = np.arange(first, self.row_pass.rows_kept)
        self.idkeys.rows(batch, rows.ordinals, out_rows)

    def _sample(self, batch: pa.RecordBatch, rows: Rows, chars: Ints) -> Ints:
        step = self.payload["steps"][0]
        everything = np.arange(batch.num_rows, dtype=np.int64)
        fraction = self.payload["sample"]
        if fraction is None:
            self.row_pass.account.read(step, batch, chars)
            return everything
        ranks = priorities(batch.column("content_hash"), self.payload["seed"], "run sample")
        kept = ranks < threshold(fraction)
        scaled = ranks.astype(np.float64) / 2.0**64
        fates = [
            Fate(row, 0, "drop", "not_sampled", "sample_rank", float(scaled[row]), fraction, "")
            for row in np.flatnonzero(~kept).tolist()
        ]
        trace = StepTrace(everything, kept, chars, chars, {}, {}, batch)
        self.row_pass.account.step(step, trace, fates, (), rows)
        return np.flatnonzero(kept).astype(np.int64)


def _at(rows: Rows, chosen: Ints) -> np.ndarray[Any, np.dtype[np.int32]] | None:
    return None if rows.file_of is None else rows.file_of[chosen]


def read_options(value: Mapping[str, Any]) -> ReadOptions:
    """ReadOptions from plain data."""
    return ReadOptions(
        dataset=value["dataset"],
        domain=value.get("domain"),
        license=value.get("license"),
        key=value.get("key"),
        extra=dict(value.get("extra", {})),
    )


def _digest_now(path: str) -> str:
    # Read, not mapped: the pages of a mapped file count as the worker's memory.
    with open(path, "rb", buffering=0) as stream:
        return digest_stream(stream)


def _is_changed(file: InputFile) -> bool:
    if file.url.endswith("/"):
        return False
    if file.etag:
        return etag_now(file.url) != file.etag
    return not is_url(file.url) and _digest_now(file.url) != file.digest


def refuse_changed(files: Sequence[InputFile], cache: Path) -> None:
    """Raise InputError when a local file is not what the key says: what was read may be something else.

    Whole folders are not read a second time for it, nor are remote files: of those in object storage the entity
    tag is asked for. The cache of digests goes: a file that was
    changed under its old size and time stands there with its old digest.
    """
    for file in files:
        if _is_changed(file):
            cache.unlink(missing_ok=True)
            raise InputError(
                "an input changed while the run was going on", where=file.url, remedy="run the same command again"
            )


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    with store.begin(task.key, task.what) as writer:
        state = _Reader(task, writer)
        files = [InputFile(**f) for f in task.payload["files"]]
        collector = _Collector([f.rel for f in files])
        read_file = sources.load(task.payload["source"]).read_file
        options = read_options(task.payload["options"])
        for index, file in enumerate(files):
            for read in read_file(file, options):
                state.take_losses(read, file)
                batch = read.batch
                del read
                if batch.num_rows:
                    for whole, rows in collector.add(batch, index):
                        state.take_rows(whole, rows)
                del batch
        for whole, rows in collector.drain():
            state.take_rows(whole, rows)
        state.idkeys.close()
        facts = state.row_pass.finish(task.label)
        refuse_changed(files, store.root / INPUTS)
        return writer.commit(facts)

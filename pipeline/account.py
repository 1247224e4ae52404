"""The account of one split: tallies, ledger, measures and samples while rows pass through its steps.

A split is processed once, in order; the account is a pure function of its rows, the steps and the seed.
Rows carry an ordinal (their number in the split) and, where they were read from files, the file's name.
Everything is committed beside the split's shards: ledger and measures as Parquet, samples as JSON lines.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.commit import ObjectWriter
from gristmill.manifests.ledger import CUT_CHARS, CUTS, LEDGER, MEASURES, columns_to_batch, rows_to_batch
from gristmill.manifests.samples import (
    SAMPLES_A_CELL,
    TEXT_CHARS,
    Reservoir,
    priorities,
    samples_to_bytes,
    threshold,
)
from gristmill.manifests.shard import ParquetShards
from gristmill.manifests.tally import StepTallies, Tally, check_balance
from gristmill.pipeline.sources.protocol import Loss
from gristmill.stages.chain import ChainResult, Fate, Ints, StepTrace, count_chars
from gristmill.stages.protocol import DERIVED

MEASURES_FRACTION = 0.01
_LEDGER_ROWS_A_BATCH = 4096
_OF_FATES = ("verdict", "reason", "measure", "value", "limit", "detail")
_SAMPLED = ["id", "measure", "value", "limit", "source", "url", "chars", "row"]


@dataclass(frozen=True)
class Rows:
    """Where the rows of a batch come from: ordinals in the split, and `files[file_of[i]]` of row i."""

    ordinals: Ints
    files: Sequence[str] = ()
    file_of: npt.NDArray[np.int32] | None = None

    def file(self, row: int) -> str | None:
        """Name of the file that row `row` was read from."""
        return self.files[int(self.file_of[row])] if self.file_of is not None else None


@dataclass(frozen=True)
class AccountSpec:
    """What an account is kept for. `steps` are the split's step names in order."""

    dataset: str
    steps: tuple[str, ...]
    seed: int
    measures_all: bool = False


class Account:
    """Collects the account of one split; see the module."""

    def __init__(self, spec: AccountSpec, writer: ObjectWriter) -> None:
        self.spec = spec
        self.tallies: StepTallies = {step: {} for step in spec.steps}
        self._writer = writer
        self._ledger: list[pa.RecordBatch] = []
        self._ledger_rows = 0
        self._ledger_shards = ParquetShards(writer, "ledger", LEDGER)
        self._measures_shards = ParquetShards(writer, "measures", MEASURES)
        self._cuts_shards = ParquetShards(writer, "cuts", CUTS)
        self._reservoir = Reservoir()

    def tally(self, step: str, source: str) -> Tally:
        """The tally of a step and source."""
        return self.tallies[step].setdefault(source, Tally())

    def losses(self, step: str, file: str, losses: Sequence[Loss], first: int, source: str = "") -> None:
        """Records that never became rows; `first` is the number of losses of the split before these, `source` their
        source where it is not the dataset."""
        source = source or self.spec.dataset
        tally = self.tally(step, source)
        entered: list[dict[str, object]] = []
        for number, loss in enumerate(losses, start=first):
            tally.records_in += 1
            tally.gone(loss.verdict, loss.reason)
            entry: dict[str, object] = {
                "id": loss.raw_hash.hex(),
                "value": loss.value,
                "limit": loss.limit,
                "source": source,
                "url": loss.url,
                "row": -1 - number,
            }
            text = loss.raw.decode("utf-8", "backslashreplace")
            rank = int.from_bytes(loss.raw_hash[:8], "big")
            shown = {**entry, "chars": 0} | ({"measure": loss.measure} if loss.measure else {})
            self._sample((step, loss.verdict, loss.reason), rank, shown, text)
            more = {"file": file, "offset": loss.offset, "detail": loss.detail, "content_hash": loss.raw_hash}
            told = {"dataset": self.spec.dataset, "step": step, "verdict": loss.verdict, "reason": loss.reason}
            entered.append({**told, **entry, **more, "measure": loss.measure})
        self._enter(rows_to_batch(entered, LEDGER))

    def _enter(self, entries: pa.RecordBatch) -> None:
        self._ledger.append(entries)
        self._ledger_rows += entries.num_rows
        if self._ledger_rows >= _LEDGER_ROWS_A_BATCH:
            self._flush_ledger(self._ledger_rows % _LEDGER_ROWS_A_BATCH)

    def _flush_ledger(self, rest: int) -> None:
        """Write all rows but the last `rest`. Where batches end decides where pages end: all have one length."""
        held = pa.Table.from_batches(self._ledger, LEDGER).combine_chunks()
        ready = held.num_rows - rest
        for entries in held.slice(0, ready).to_batches(max_chunksize=_LEDGER_ROWS_A_BATCH):
            self._ledger_shards.write(entries)
        self._ledger, self._ledger_rows = held.slice(ready).to_batches(), rest

    def _sample(self, cell: tuple[str, str, str], rank: int, entry: dict[str, object], text: str) -> None:
        if self._reservoir.admits(cell, rank):
            shown = {
                k: None if isinstance(v, float) and math.isnan(v) else v
                for k, v in entry.items()
                if k != "content_hash"
            }
            self._reservoir.put(cell, rank, {**shown, "text": text[:TEXT_CHARS]})

    def read(self, step: str, batch: pa.RecordBatch, chars: Ints | None = None) -> None:
        """Rows that came in and stayed at an origin step (reading, `from`); `chars` of their texts, where known."""
        chars = count_chars(batch) if chars is None else chars
        for source, rows in rows_by_source(batch):
            tally = self.tally(step, source)
            tally.records_in += len(rows)
            tally.kept += len(rows)
            total = int(chars[rows].sum())
            tally.chars_in += total
            tally.chars_kept += total

    def step(
        self, step: str, trace: StepTrace, fates: Sequence[Fate], keepers: Sequence[str | None], rows: Rows
    ) -> None:
        """One step over one batch: `fates[i].row` counts in the chain's batch, `rows` belongs to that."""
        batch = trace.before
        for source, at in rows_by_source(batch):
            self._add_counts(self.tally(step, source), trace, at)
        self._add_derived(step, trace)
        if not fates:
            return
        gone = np.array([fate.row for fate in fates], np.int64)
        known = np.array([fate.at for fate in fates], np.int64)
        places = np.where(known >= 0, known, np.searchsorted(trace.rows, gone))
        of_gone = batch.select(["source", "id", "url", "content_hash"]).take(pa.array(places))
        told: dict[str, Any] = {
            "keeper": keepers or None,
            "file": [rows.file(fate.row) for fate in fates],
            "chars": trace.chars_in[places],
            "row": rows.ordinals[gone],
        }
        entries = self._entries(step, of_gone, fates, told)
        self._enter(entries)
        self._count_fates(step, of_gone, fates)
        self._sample_fates(step, batch, entries, (fates, places))

    def _sample_fates(
        self, step: str, batch: pa.RecordBatch, entries: pa.RecordBatch, gone: tuple[Sequence[Fate], Ints]
    ) -> None:
        fates, places = gone
        ranks = priorities(entries.column("content_hash"), self.spec.seed, "samples")
        by_cell: dict[tuple[str, str, str], list[int]] = {}
        for number, fate in enumerate(fates):
            by_cell.setdefault((step, fate.verdict, fate.reason), []).append(number)
        for cell, numbers in by_cell.items():
            able = self._reservoir.candidates(cell, ranks[numbers])
            chosen = np.array(numbers, np.int64)[able]
            rows = entries.select(_SAMPLED).take(pa.array(chosen)).to_pylist()
            for number, row in zip(chosen.tolist(), rows, strict=True):
                self._sample(cell, int(ranks[number]), row, text_head(batch, int(places[number])))

    def _entries(
        self, step: str, of_gone: pa.RecordBatch, fates: Sequence[Fate], told: dict[str, Any]
    ) -> pa.RecordBatch:
        columns = {
            **{name: of_gone.column(name) for name in of_gone.schema.names},
            **{name: [getattr(fate, name) for fate in fates] for name in _OF_FATES},
            "dataset": [self.spec.dataset] * len(fates),
            "step": [step] * len(fates),
            **told,
        }
        return columns_to_batch(columns, len(fates), LEDGER)

    def _count_fates(self, step: str, of_gone: pa.RecordBatch, fates: Sequence[Fate]) -> None:
        sources = of_gone.column("source").to_pylist()
        why = Counter((s or "", f.verdict, f.reason) for s, f in zip(sources, fates, strict=True))
        for (source, verdict, reason), count in why.items():
            self.tally(step, source).gone(verdict, reason, count)

    @staticmethod
    def _add_counts(tally: Tally, trace: StepTrace, at: Ints) -> None:
        kept = at[trace.kept[at]]
        tally.records_in += len(at)
        tally.kept += len(kept)
        tally.chars_in += int(trace.chars_in[at].sum())
        tally.chars_kept += int(trace.chars_out[kept].sum())
        tally.chars_gone += int(trace.chars_in[at].sum() - trace.chars_in[kept].sum())
        for reason, chars in trace.cut_chars.items():
            tally.cut(reason, int(chars[kept].sum()))

    def _add_derived(self, step: str, trace: StepTrace) -> None:
        if trace.derived is None:
            return
        for source, at in rows_by_source(trace.derived):
            tally, chars = self.tally(step, source), int(trace.derived_chars[at].sum())
            tally.derived += len(at)
            tally.kept += len(at)
            tally.chars_kept += chars
            tally.cut(DERIVED, -chars)

    def chain(self, result: ChainResult, steps: Sequence[str], rows: Rows) -> None:
        """The account of a chain whose steps bear these names."""
        by_step: list[list[Fate]] = [[] for _ in steps]
        for fate in result.fates:
            by_step[fate.step_index].append(fate)
        for name, trace, fates in zip(steps, result.steps, by_step, strict=True):
            self.step(name, trace, fates, (), rows)
            self._measures(name, trace, rows)

    def _measures(self, step: str, trace: StepTrace, rows: Rows) -> None:
        if not trace.measures or not len(trace.rows):
            return
        batch = trace.before
        chosen = np.arange(batch.num_rows)
        if not self.spec.measures_all:
            ranks = priorities(batch.column("content_hash"), self.spec.seed, "measures")
            chosen = np.flatnonzero(ranks < threshold(MEASURES_FRACTION))
        if not len(chosen):
            return
        at = pa.array(chosen)
        ids, sources = batch.column("id").take(at), batch.column("source").take(at)
        ordinals = rows.ordinals[trace.rows[chosen]]
        profiles = [trace.profiles[row] if trace.profiles else None for row in chosen.tolist()]
        for name, values in trace.measures.items():
            columns: list[Any] = [
                ids,
                sources,
                pa.array([step] * len(chosen)),
                pa.array([name] * len(chosen)),
                pa.array(values[chosen], pa.float64()),
                pa.array(ordinals, pa.int64()),
                pa.array(profiles, pa.string()),
            ]
            self._measures_shards.write(pa.RecordBatch.from_arrays(columns, schema=MEASURES))

    def cuts(self, step: str, batch: pa.RecordBatch, columns: Mapping[str, Any], rows: Rows) -> None:
        """Passages taken out of records, those that were emptied too: columns `row` (of the batch), `start`, `stop`,
        `reason`, `keeper`, `value` and `text` (whole)."""
        at = pa.array(columns["row"])
        text: pa.LargeStringArray = columns["text"]
        if not len(at):
            return
        given: dict[str, Any] = {
            "id": batch.column("id").take(at),
            "source": batch.column("source").take(at),
            "dataset": [self.spec.dataset] * len(at),
            "step": [step] * len(at),
            "chars": pc.utf8_length(text),
            "text": pc.utf8_slice_codeunits(text, 0, CUT_CHARS),
            "row": rows.ordinals[columns["row"]],
            **{name: columns[name] for name in ("start", "stop", "reason", "keeper", "value")},
        }
        self._cuts_shards.write(columns_to_batch(given, len(at), CUTS))

    def kept(self, batch: pa.RecordBatch, ordinals: Ints, chars: Ints) -> None:
        """Rows that stayed to the end, and the characters of their texts: candidates for its samples."""
        if not batch.num_rows:
            return
        cell = (self.spec.steps[-1], "keep", "")
        ranks = priorities(batch.column("content_hash"), self.spec.seed, "samples")
        first = np.argsort(ranks, kind="stable")[:SAMPLES_A_CELL]
        chosen = first[self._reservoir.candidates(cell, ranks[first])]
        rows = batch.select(["id", "url", "source"]).take(pa.array(chosen)).to_pylist()
        for at, row in zip(chosen.tolist(), rows, strict=True):
            more = {"chars": int(chars[at]), "row": int(ordinals[at]), "value": None, "limit": None}
            self._sample(cell, int(ranks[at]), {**row, **more}, text_head(batch, at))

    def close(self, where: str) -> StepTallies:
        """Write ledger, measures and samples; balance the books (VerifyError when they do not)."""
        self._flush_ledger(0)
        self._ledger_shards.close()
        self._measures_shards.close()
        self._cuts_shards.close()
        samples = self._reservoir.lines()
        if samples:
            file = self._writer.create()
            file.write(samples_to_bytes(samples))
            self._writer.add(file, "samples", "samples.jsonl", len(samples))
        check_balance(self.tallies, where)
        return self.tallies


def text_head(batch: pa.RecordBatch, row: int) -> str:
    """The first characters of a text, without making a Python string of a long one."""
    value = batch.column("text")[row]
    if not value.is_valid:
        return ""
    utf8 = value.as_buffer().slice(0, min(value.as_buffer().size, 4 * TEXT_CHARS)).to_pybytes()
    return utf8.decode("utf-8", "ignore")[:TEXT_CHARS]


def rows_by_source(batch: pa.RecordBatch) -> list[tuple[str, Ints]]:
    """Row indices of each source of the batch, sources sorted; one source is the common case."""
    column = batch.column("source")
    names = column.unique().to_pylist()
    if len(names) <= 1:
        return [(names[0] or "", np.arange(batch.num_rows, dtype=np.int64))] if names else []
    values = np.array(["" if v is None else v for v in column.to_pylist()], dtype=object)
    return [(name, np.flatnonzero(values == name).astype(np.int64)) for name in sorted({n or "" for n in names})]

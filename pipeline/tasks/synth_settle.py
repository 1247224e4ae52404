"""Task `synth_settle`: one shard of documents -> its account, once it is known what became of each document.

Payload: `shard` (path), `dataset`, `steps` (`from` where it is the dataset's first phase, then synth and emit),
`origin`, `holdout`, `seed`, `prepared` (`[path, number]` of the files made of this shard), `refused` (`[path, part]`),
`placed` (`[path, part]` of every `synth_rows`). Leaves what is held out (`held_documents`), ledger and samples; facts
as RowPass's, and `heldout`. A document is kept where it stands in a row.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, ObjectWriter
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.shard import read_numbered
from gristmill.manifests.tally import step_tallies_to_json
from gristmill.pipeline.account import Account, AccountSpec, Rows, rows_by_source
from gristmill.pipeline.held_documents import NAN, HeldDocuments
from gristmill.pipeline.row_pass import Stats
from gristmill.pipeline.spill import read_part
from gristmill.pipeline.synth_stage import QUARANTINED
from gristmill.pipeline.task import Task
from gristmill.stages.chain import Fate, Ints, StepTrace, count_chars
from gristmill.synth.stored import rows_and_tokens


class _Settle:
    """The state of one task."""

    def __init__(self, payload: Mapping[str, Any], writer: ObjectWriter) -> None:
        self.payload = payload
        self.account = Account(AccountSpec(payload["dataset"], tuple(payload["steps"]), payload["seed"]), writer)
        self.heldout = HeldDocuments(payload["holdout"], writer)
        self.stats = Stats()
        self.rows = 0
        self._why = _refused(payload["refused"])
        self._tokens, self._made = _placed(payload)

    def settle(self, batch: pa.RecordBatch, numbers: Ints) -> None:
        """Account for one batch, whose rows have these numbers in the shard."""
        rows, chars = Rows(numbers), count_chars(batch)
        synth, emit = self.payload["steps"][-2:]
        if self.payload["origin"]:
            self.account.read(self.payload["steps"][0], batch, chars)
        fates: dict[int, Fate] = {}
        held = self.heldout.take(batch, fates, chars)
        for at in np.flatnonzero(~held).tolist():
            if reason := self._reason(int(numbers[at])):
                verdict = "quarantine" if reason in QUARANTINED else "drop"
                fates[at] = Fate(at, 0, verdict, reason, "", NAN, NAN, "")
        kept = np.ones(batch.num_rows, dtype=np.bool_)
        kept[list(fates)] = False
        self.account.step(synth, _trace(batch, kept, chars), [fates[r] for r in sorted(fates)], (), rows)
        stay = np.flatnonzero(kept)
        placed, of_placed = batch.take(pa.array(stay)), chars[stay]
        self.account.step(emit, _trace(placed, np.ones(len(stay), np.bool_), of_placed), (), (), Rows(numbers[stay]))
        self._count(emit, placed, numbers[stay])
        self.stats.add(placed, of_placed)
        self.account.kept(placed, numbers[stay], of_placed)

    def _reason(self, number: int) -> str:
        """Why a row of the shard stands in no sequence, "" where it does."""
        if number in self._why:
            return self._why[number]
        made = self._made.get(number)
        return "" if made else "not_drawn" if made is None else "sequence_discarded"

    def _count(self, step: str, placed: pa.RecordBatch, numbers: Ints) -> None:
        for source, at in rows_by_source(placed):
            self.account.tally(step, source).tokens += sum(self._tokens[n] for n in numbers[at].tolist())
        self.rows += placed.num_rows

    def finish(self, where: str) -> dict[str, Any]:
        """Close the files; the facts of the receipt."""
        heldout = self.heldout.close()
        tallies = self.account.close(where)
        return {
            "tallies": step_tallies_to_json(tallies),
            "rows": self.rows,
            "stats": self.stats.to_json(),
            "heldout": heldout,
        }


def _trace(batch: pa.RecordBatch, kept: np.ndarray, chars: Ints) -> StepTrace:
    return StepTrace(np.arange(batch.num_rows, dtype=np.int64), kept, chars, chars, {}, {}, batch)


def _refused(part: tuple[str, Any]) -> dict[int, str]:
    """Row of the shard -> why it was not prepared."""
    path, where = part
    return {r: why for b in read_part(Path(path), where) for r, why in zip(*map(pa.Array.to_pylist, b), strict=True)}


def _placed(payload: Mapping[str, Any]) -> tuple[dict[int, int], dict[int, bool]]:
    """Row of the shard -> tokens of its document; -> whether it stands in a row, of those that were drawn."""
    mine = {number: rows_and_tokens(Path(path)) for path, number in payload["prepared"]}
    tokens = {row: n for found in mine.values() for row, n in zip(*(c.tolist() for c in found), strict=True)}
    made: dict[int, bool] = {}
    for path, part in payload["placed"]:
        for batch in read_part(Path(path), part):
            file, row, stands = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("file", "row", "made"))
            for number, (rows, _) in mine.items():
                here = file == number
                for at, yes in zip(rows[row[here]].tolist(), stands[here].tolist(), strict=True):
                    made[at] = made.get(at, False) or yes
    return tokens, made


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    with store.begin(task.key, task.what) as writer:
        state = _Settle(task.payload, writer)
        for batch, numbers in read_numbered(Path(task.payload["shard"])):
            state.settle(batch, numbers.astype(np.int64))
        return writer.commit(state.finish(task.label))

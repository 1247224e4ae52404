"""Task `map`: one committed shard of documents -> verdicts of an exchange -> fused row-local steps -> shards.

Payload: `shard` (path), `dataset`, `steps` (in order: `from` where this is the dataset's first phase, the
exchange where there is one, the chain), `chain`, `base_dir`, `seed`, `measures_all`; `origin` (whether the
first step is `from`), `exchange` (null, or `step`, `reason`, `measure` and `drops`: `[path, first, stop]` ranges
of reduced rows sorted by address, and `base`, the address of the shard's row 0).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, Receipt
from gristmill.manifests.shard import read_shard
from gristmill.pipeline.account import AccountSpec, Rows
from gristmill.pipeline.row_pass import RowPass, load_stages
from gristmill.pipeline.task import Task
from gristmill.stages.chain import Fate, Ints, StepTrace, count_chars


def read_drops(drops: list[Any], base: int) -> pa.Table:
    """Rows of REDUCED that concern one shard, with `addr` counted from its row 0, sorted."""
    tables: list[pa.Table] = []
    for path, first, stop in drops:
        with pa.memory_map(str(path)) as source:
            tables.append(pa.ipc.open_file(source).read_all().slice(first, stop - first).combine_chunks())
    table = pa.concat_tables(tables)
    local = pa.array(table.column("addr").to_numpy() - np.uint64(base))
    return table.set_column(0, "addr", local).sort_by("addr").combine_chunks()


class _Verdicts:
    """Applies the verdicts of an exchange to the batches of one shard in order."""

    def __init__(self, exchange: Mapping[str, Any]) -> None:
        self._exchange = exchange
        table = read_drops(exchange["drops"], exchange["base"]) if exchange["drops"] else None
        self._addr = np.zeros(0, np.int64) if table is None else table.column("addr").to_numpy().astype(np.int64)
        self._keepers: list[bytes] = [] if table is None else table.column("keeper").to_pylist()
        self._values = None if table is None else table.column("value").to_numpy()
        self._limits = None if table is None else table.column("limit").to_numpy()

    def apply(self, batch: pa.RecordBatch, first: int, row_pass: RowPass, rows: Rows) -> Ints:
        """Account for the rows that go; return the indices of those that stay."""
        low, high = np.searchsorted(self._addr, [first, first + batch.num_rows])
        fates: list[Fate] = []
        keepers: list[str] = []
        for at in range(int(low), int(high)):
            value, limit = float(self._values[at]), float(self._limits[at])  # type: ignore[index]
            row = int(self._addr[at]) - first
            ex = self._exchange
            fates.append(Fate(row, 0, "drop", ex["reason"], ex["measure"], value, limit, ""))
            keepers.append(self._keepers[at].hex())
        kept = np.ones(batch.num_rows, dtype=np.bool_)
        kept[[f.row for f in fates]] = False
        chars = count_chars(batch)
        everything = np.arange(batch.num_rows, dtype=np.int64)
        trace = StepTrace(everything, kept, chars, chars, {}, {}, batch)
        row_pass.account.step(self._exchange["step"], trace, fates, keepers, rows)
        return np.flatnonzero(kept).astype(np.int64)


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    writer = store.begin(task.key, task.what)
    try:
        spec = AccountSpec(payload["dataset"], tuple(payload["steps"]), payload["seed"], payload["measures_all"])
        row_pass = RowPass(writer, spec, load_stages(payload["chain"], payload["base_dir"]))
        verdicts = _Verdicts(payload["exchange"]) if payload["exchange"] else None
        first = 0
        for batch in read_shard(Path(payload["shard"])):
            rows = Rows(np.arange(first, first + batch.num_rows, dtype=np.int64))
            if payload["origin"]:
                row_pass.account.read(payload["steps"][0], batch)
            if verdicts is not None:
                stay = verdicts.apply(batch, first, row_pass, rows)
                first += batch.num_rows
                whole = len(stay) == batch.num_rows
                staying = batch if whole else batch.take(pa.array(stay))
                row_pass.feed(staying, rows if whole else Rows(rows.ordinals[stay]))
            else:
                first += batch.num_rows
                row_pass.feed(batch, rows)
        return writer.commit(row_pass.finish(task.label))
    except BaseException:
        writer.abandon()
        raise

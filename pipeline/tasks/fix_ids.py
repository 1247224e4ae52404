"""Task `fix_ids`: the result of a `read` task again, with new ids for the records whose key was repeated.

Payload: `folder` (of the read object), `files` (its file entries), `drops` (`[path, first, stop]` ranges of the
`repeated_ids` exchange), `base`. Only ids change: rows, their order, decisions and tallies stay, since nothing
but identity depends on an id. Leaves the same roles but `idkeys`.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from gristmill.manifests.commit import ObjectStore, ObjectWriter, refuse_damaged
from gristmill.manifests.ledger import LEDGER, MEASURES
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.samples import samples_from_bytes, samples_to_bytes
from gristmill.manifests.schema import DOCUMENT, repeated_id
from gristmill.manifests.shard import ParquetShards, read_shard
from gristmill.pipeline.task import Task
from gristmill.pipeline.tasks.read_map import LOSS_BIT
from gristmill.pipeline.verdicts import read_verdicts

NewIds = dict[int, str]


def _new_ids(task: Task) -> NewIds:
    """Local address -> new id."""
    table = read_verdicts(task.payload["drops"], task.payload["base"])
    addr, first, ordinal = (table.column(n).to_pylist() for n in ("addr", "keeper", "value"))
    return {a: repeated_id(k.hex(), int(n)) for a, k, n in zip(addr, first, ordinal, strict=True)}


def _out_rows(path: Path, new_ids: NewIds) -> NewIds:
    """Row among the kept ones -> new id."""
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    addr, out_row = table.column("addr").to_numpy(), table.column("out_row").to_numpy()
    renamed = np.isin(addr, np.fromiter(new_ids, np.uint64, len(new_ids))) & (out_row >= 0)
    return {int(o): new_ids[int(a)] for a, o in zip(addr[renamed], out_row[renamed], strict=True)}


def _renamed(batch: pa.RecordBatch, choose: Callable[[int, str], str]) -> pa.RecordBatch:
    ids = [choose(i, old) for i, old in enumerate(batch.column("id").to_pylist())]
    index = batch.schema.get_field_index("id")
    return batch.set_column(index, batch.schema.field(index), pa.array(ids, pa.string()))


def _ordinal_addr(row: int) -> int:
    return row if row >= 0 else LOSS_BIT | (-1 - row)


class _Fixer:
    def __init__(self, task: Task, writer: ObjectWriter) -> None:
        self.folder = Path(task.payload["folder"])
        self.files = task.payload["files"]
        self.writer = writer
        self.new_ids = _new_ids(task)

    def paths(self, role: str) -> list[Path]:
        files = [f for f in self.files if f["role"] == role]
        for file in files:
            if not file["path"].endswith(".parquet"):  # those have checksums in their pages
                refuse_damaged(self.folder / file["path"], file["digest"])
        return [self.folder / f["path"] for f in files]

    def documents(self) -> None:
        out_rows = _out_rows(self.paths("idkeys")[0], self.new_ids)
        shards = ParquetShards(self.writer, "data", DOCUMENT)
        first = 0
        for path in self.paths("data"):
            for batch in read_shard(path):
                start = first
                shards.write(_renamed(batch, lambda i, old, s=start: out_rows.get(s + i, old)))
                first += batch.num_rows
        shards.close()

    def by_ordinal(self, role: str, schema: pa.Schema) -> None:
        shards = ParquetShards(self.writer, role, schema)
        for path in self.paths(role):
            for batch in read_shard(path):
                rows = batch.column("row").to_pylist()
                shards.write(_renamed(batch, lambda i, old, r=rows: self.new_ids.get(_ordinal_addr(r[i]), old)))
        shards.close()

    def samples(self) -> None:
        for path in self.paths("samples"):
            samples = samples_from_bytes(path.read_bytes())
            for sample in samples:
                sample["id"] = self.new_ids.get(_ordinal_addr(sample["row"]), sample["id"])
            file = self.writer.create()
            file.write(samples_to_bytes(samples))
            self.writer.add(file, "samples", "samples.jsonl", len(samples))


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    with store.begin(task.key, task.what) as writer:
        fixer = _Fixer(task, writer)
        fixer.documents()
        fixer.by_ordinal("ledger", LEDGER)
        fixer.by_ordinal("measures", MEASURES)
        fixer.samples()
        return writer.commit(task.payload["facts"])

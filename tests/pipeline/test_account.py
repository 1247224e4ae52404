"""A ledger has the same bytes however its rows came."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import FileEntry
from gristmill.manifests.schema import DOCUMENT
from gristmill.pipeline.account import Account, AccountSpec, Rows
from gristmill.stages.chain import Fate, StepTrace

ROWS = 10_000


def _documents(first: int, stop: int) -> pa.RecordBatch:
    numbers = range(first, stop)
    given = {
        "id": pa.array([f"{n:032x}" for n in numbers]),
        "content_hash": pa.array([n.to_bytes(16, "big") for n in numbers], pa.binary(16)),
        "source": pa.array(["some" if n % 3 else None for n in numbers]),
        "text": pa.array(["x"] * (stop - first), pa.large_string()),
    }
    columns = [given[f.name].cast(f.type) if f.name in given else pa.nulls(stop - first, f.type) for f in DOCUMENT]
    return pa.RecordBatch.from_arrays(columns, schema=DOCUMENT)


def _ledger(root: Path, rows_a_batch: int) -> list[FileEntry]:
    """Of documents of which all went, each with a detail of some 600 bytes: a page ends within a row group."""
    with ObjectStore(root).begin("0" * 32, {}) as writer:
        account = Account(AccountSpec("docs", ("near",), 1), writer)
        for first in range(0, ROWS, rows_a_batch):
            batch = _documents(first, min(ROWS, first + rows_a_batch))
            at, one = np.arange(batch.num_rows), np.ones(batch.num_rows, np.int64)
            trace = StepTrace(at, np.zeros(batch.num_rows, np.bool_), one, one, {}, {}, batch)
            fates = [Fate(row, 0, "drop", "near", "jaccard", 0.9, 0.7, f"{first + row} " * 100) for row in at.tolist()]
            account.step("near", trace, fates, ["k"] * len(fates), Rows(at + first))
        account.close("here")
        return [file for file in writer.commit({}).files if file.role != "samples"]


@pytest.mark.parametrize("rows_a_batch", [ROWS, 4096, 333])
def test_a_ledger_s_bytes_do_not_depend_on_batches(tmp_path: Path, rows_a_batch: int) -> None:
    (one,) = _ledger(tmp_path / "one", 1000)
    (other,) = _ledger(tmp_path / "other", rows_a_batch)
    assert (other.rows, other.digest) == (one.rows, one.digest) == (ROWS, one.digest)

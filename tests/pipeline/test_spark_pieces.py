"""How the engine spark moves parts of spill files: read block by block, laid out anew, read as what they were."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.errors import VerifyError
from gristmill.pipeline.engines.spark import worker
from gristmill.pipeline.spill import SpillWriter, read_part
from gristmill.pipeline.task import Task, make_task

SCHEMA = pa.schema([("key", pa.binary(8)), ("addr", pa.uint64())])
ROWS = (0, 3000, 0, 1, 70_000)


def rows_of(part: int, count: int) -> pa.RecordBatch:
    keys = [((part << 40) + n).to_bytes(8, "big") for n in range(count)]
    return pa.RecordBatch.from_arrays([pa.array(keys, pa.binary(8)), np.arange(count, dtype=np.uint64)], schema=SCHEMA)


@pytest.fixture(scope="module")
def spilled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[Any]]]:
    """A spill file with a part of each of ROWS, and these parts."""
    store = ObjectStore(tmp_path_factory.mktemp("store"))
    with store.begin("k" * 32, {}) as writer:
        spill = SpillWriter(writer, SCHEMA)
        for part, count in enumerate(ROWS):
            spill.part([rows_of(part, count)] if count else [])
        spill.close("spill")
        receipt = writer.commit({})
    (file,) = receipt.role("spill")
    return store.path(receipt.key, file), file.extra["parts"]


def listed(path: Path, parts: list[list[Any]]) -> list[tuple[Any, bytes]]:
    """What the engine asks for: part p as spill p of task 0, and the task."""
    asked = [(0, number, *part[3:5]) for number, part in enumerate(parts) if part[4] > part[3]]
    return [(None, pickle.dumps((str(path), asked))), (0, pickle.dumps((5, task_of(path, parts))))]


def task_of(path: Path, parts: list[list[Any]]) -> Task:
    spills = [[str(path), part, number << 32] for number, part in enumerate(parts)]
    return make_task("reduce", {}, {"spills": spills}, "a 1/1")


@given(order=st.randoms(use_true_random=False), block=st.sampled_from([1000, 4096, 1 << 18]))
def test_parts_arrive_whole_in_any_order(
    order: Any, block: int, spilled: tuple[Path, list[list[Any]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path, parts = spilled
    folder = tmp_path_factory.mktemp("laid")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "BLOCK_BYTES", block)
        pieces = list(worker.read_pieces(str(folder), listed(path, parts)))
    order.shuffle(pieces)
    found, why = worker.lay_out(folder, [*pieces, pieces[0]])
    assert why is None
    assert found is not None
    index, task = found
    assert index == 5
    spills = worker.brought(task, folder).payload["spills"]
    assert [base >> 32 for _, _, base in spills] == [number for number, count in enumerate(ROWS) if count]
    for copy, part, base in spills:
        assert Path(copy).parent == folder
        found = pa.Table.from_batches(read_part(Path(copy), part))
        assert found.equals(pa.Table.from_batches([rows_of(base >> 32, ROWS[base >> 32])]))


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_damage_is_told_by_the_file_that_was_read(
    damage: str, spilled: tuple[Path, list[list[Any]]], tmp_path: Path
) -> None:
    path, parts = spilled
    bad = tmp_path / "object" / "spill.arrow"
    bad.parent.mkdir()
    data = bytearray(path.read_bytes())
    _, _, _, start, stop, _ = parts[4]
    data[stop - 100] ^= 1
    bad.write_bytes(data[: start + 1000] if damage == "cut" else data)
    folder = tmp_path / "laid"
    folder.mkdir()
    found, _ = worker.lay_out(folder, worker.read_pieces(str(folder), listed(bad, parts)))
    assert found is not None
    task = found[1]
    copy, part, _ = worker.brought(task, folder).payload["spills"][-1]
    with pytest.raises(VerifyError) as caught:
        list(read_part(Path(copy), part))
    _, _, told, _ = worker.named((0, "failed", caught.value, 0), task, folder)
    assert told.where == str(bad)
    assert str(folder) not in str(told)
    assert str(bad.parent) in told.remedy


@pytest.mark.parametrize("damage", ["gone", "head"])
def test_a_file_that_cannot_be_read_is_told_to_each_task_of_it(
    damage: str, spilled: tuple[Path, list[list[Any]]], tmp_path: Path
) -> None:
    path, parts = spilled
    bad = tmp_path / "spill.arrow"
    if damage == "head":
        bad.write_bytes(b"\0" * 64 + path.read_bytes()[64:])
    found, why = worker.lay_out(tmp_path, worker.read_pieces(str(tmp_path), listed(bad, parts)))
    assert found is not None
    assert isinstance(why, VerifyError)
    assert why.where == str(bad)

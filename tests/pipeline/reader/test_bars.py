"""The bars of the reader: 1,000 ways to stop and go on, 1,000 flipped bits, all of them seen."""

import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.row_index import ROW_TABLE
from gristmill.pipeline.reader import ReadOptions, TokenStream, load_plan
from gristmill.pipeline.reader.plan import Plan
from gristmill.pipeline.reader.rows_dataset import CorruptRowError, RowsDataset
from tests.pipeline.reader.test_stream import copied, out, plan_file, rows_of

__all__ = ["out"]
UNHURRIED = ReadOptions(torch=False, tail="short", prefetch=0)


def turn(plan: Plan, state: Any, world: int, batch: int, batches: int) -> tuple[list[int], dict[str, Any]]:
    """The indices that all ranks read in so many batches, and the state that they agree on."""
    found: list[int] = []
    states: list[dict[str, Any]] = []
    for rank in range(world):
        stream = TokenStream(plan, rank, world, batch, verify="off", options=UNHURRIED)
        if state is not None:
            stream.load_state_dict(json.loads(json.dumps(state)))
        made = iter(stream)
        for _ in range(batches):
            if (got := next(made, None)) is None:
                break
            found += got.indices.tolist()
        states.append(stream.state_dict())
    assert all(s == states[0] for s in states)
    return found, states[0]


def check_case(plan: Plan, seed: int) -> None:
    """Four turns, each with other ranks and another batch, the last to the end: nothing lost, nothing twice."""
    draw = random.Random(seed)
    state: dict[str, Any] | None = None
    found: list[int] = []
    for number in range(4):
        world = draw.choice([1, 2, 3, 4, 8])
        batches = plan.rows if number == 3 else draw.randrange(8)
        read, state = turn(plan, state, world, world * draw.randrange(1, 9), batches)
        found += read
    assert sorted(found) == list(range(plan.rows))


@pytest.mark.parametrize("block", range(10))
def test_nothing_is_lost_or_twice_wherever_a_run_stops(out: Path, block: int) -> None:
    """1,000 cases of stop, world size and batch size, three stops each."""
    plan = load_plan(plan_file(out))
    for seed in range(100 * block, 100 * block + 100):
        check_case(plan, seed)


def flip(path: Path, bit: int) -> None:
    """Turn one bit of a file round, in its place."""
    with path.open("r+b") as file:
        file.seek(bit // 8)
        byte = file.read(1)[0]
        file.seek(bit // 8)
        file.write(bytes([byte ^ 1 << bit % 8]))


def test_each_of_a_thousand_flipped_bits_is_seen(out: Path, tmp_path: Path) -> None:
    """500 in ids, 500 in segments, loss spans and media and what says where they stand."""
    folder = copied(out, tmp_path / "d")
    manifest, draw, dataset = read_manifest(folder), random.Random(7), RowsDataset.open(folder)
    rows, tokens = np.arange(dataset.rows), np.empty((dataset.rows, dataset.context), dtype=np.int32)
    files = [[folder / entry["path"] for entry in manifest[k]] for k in ("shards", "row_indexes")]
    for path in (*files[0], *files[1]):
        os.chmod(path, 0o644)
    heads = [dataset.open_shards().open(i) for i in range(len(files[0]))]
    for case in range(1000):
        shard = draw.randrange(len(heads))
        head, row = heads[shard], int(dataset.first[shard]) + draw.randrange(heads[shard].rows)
        if case % 2:
            at = [(int(b["ids_at"]), int(b["first"])) for b in head.batches]
            base, first = max(b for b in at if b[1] <= row - dataset.first[shard])
            low = base + 4 * dataset.context * (row - int(dataset.first[shard]) - first)
            path, bit = files[0][shard], 8 * low + draw.randrange(32 * dataset.context)
        else:
            tables = (head.rows_at, head.sides_at + head.sides_bytes)
            path, bit = files[1][shard], draw.randrange(8 * tables[0], 8 * tables[1])
        flip(path, bit)
        unread = path == files[1][shard] and _never_read(head, bit // 8)
        if not unread:
            with pytest.raises(VerifyError):
                dataset.copy().read(rows, tokens)
        flip(path, bit)
    dataset.read(rows, tokens)


def _never_read(head: Any, byte: int) -> bool:
    """Hashes behind the last row are those of no row."""
    entry, within = divmod(byte - head.rows_at, ROW_TABLE.itemsize)
    return entry == head.rows and not 8 <= within < 12


def test_an_index_whose_head_is_damaged_is_not_believed(out: Path, tmp_path: Path) -> None:
    folder = copied(out, tmp_path / "d")
    index = folder / read_manifest(folder)["row_indexes"][0]["path"]
    os.chmod(index, 0o644)
    clean = rows_of(folder)
    for bit in range(0, 8 * 64, 7):
        flip(index, bit)
        with pytest.raises(VerifyError):
            rows_of(folder)
        flip(index, bit)
    assert rows_of(folder) == clean


def test_a_damaged_row_is_named(out: Path, tmp_path: Path) -> None:
    folder = copied(out, tmp_path / "d")
    dataset = RowsDataset.open(folder)
    shard = dataset.shards[1].path
    os.chmod(shard, 0o644)
    flip(shard, 8 * (int(dataset.open_shards().open(1).batches[0]["ids_at"]) + 4 * dataset.context * 2 + 3))
    with pytest.raises(CorruptRowError) as told:
        dataset.read(np.arange(dataset.rows), np.empty((dataset.rows, dataset.context), dtype=np.int32))
    assert told.value.row == int(dataset.first[1]) + 2 and shard.name in str(told.value) and "row 2" in str(told.value)

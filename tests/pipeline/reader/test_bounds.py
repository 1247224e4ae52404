"""What a reader takes does not grow with its data: memory, files, and the time to open shards and to go on."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gristmill.pipeline.reader import ReadOptions, TokenStream
from gristmill.pipeline.reader.open_shards import MAX_OPEN
from gristmill.pipeline.reader.rows_dataset import RowsDataset
from gristmill.pipeline.reader.state import sealed_state
from tests.pipeline.reader.sparse_rows import sparse_dataset

QUIET = ReadOptions(torch=False, prefetch=0)


def test_the_tables_of_thousands_of_shards_grow_by_doubling(tmp_path: Path) -> None:
    """Each shard that was opened once copied the tables of all before it."""
    dataset = RowsDataset.open(sparse_dataset(tmp_path / "d", 5000, 2, 64))
    opened, out = dataset.open_shards(), np.empty((1, 64), dtype=np.int32)
    assert not isinstance(opened.batches.base, type(None))
    rooms = set[int]()
    for row in range(0, dataset.rows, 2):
        dataset.read(np.array([row]), out)
        rooms.add(opened.batches.ctypes.data)
    assert len(opened.batches) == 5000 and len(rooms) <= 10
    assert len(os.listdir("/proc/self/fd")) < 2 * MAX_OPEN + 200


READ_ALL = """
import sys
from gristmill.pipeline.reader import ReadOptions, TokenStream

for folder in sys.argv[1:]:
    stream = TokenStream(folder, global_batch=8, options=ReadOptions(torch=False))
    rows = sum(len(batch.n_tokens) for batch in stream)
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(rows, int(peak.split()[1]) // 1024)
"""


@pytest.mark.parametrize("shards", [64, pytest.param(640, marks=pytest.mark.slow)])
def test_memory_does_not_grow_with_the_data(tmp_path: Path, shards: int) -> None:
    """huggingface/datasets#4883, #4528, #7269: resident memory grew with what was read through a map."""
    folders = [str(sparse_dataset(tmp_path / str(n), n, 512, 8192)) for n in (1, shards)]
    done = subprocess.run([sys.executable, "-c", READ_ALL, *folders], capture_output=True, text=True, check=True)
    few, base, rows, peak = map(int, done.stdout.split())
    assert (few, rows) == (512, shards * 512), "16 MB, and 1 or 10 GB"
    assert peak < base + 20, "a few batches of 256 KiB are read ahead"


def test_going_on_takes_no_longer_from_the_end(tmp_path: Path) -> None:
    stream = TokenStream(sparse_dataset(tmp_path / "d", 200, 100, 64), options=QUIET)
    stream[0]

    def first_s(at: int) -> float:
        state = sealed_state(stream.state_dict() | {"next": at})
        other = TokenStream(stream.plan, options=QUIET)
        start = time.process_time()
        other.load_state_dict(state)
        next(iter(other))
        return time.process_time() - start

    best = [min(first_s(at + i) for i in range(5)) for at in (0, stream.plan.rows - 10)]
    assert max(best) < 0.05

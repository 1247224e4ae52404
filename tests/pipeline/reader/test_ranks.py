"""Ranks and workers: what each reads of a mixture, the order behind workers, what is skipped while a stream is read."""

import json
import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.reader import ReadOptions, TokenStream, load_plan
from gristmill.pipeline.reader import stream as stream_module
from gristmill.pipeline.reader.batch import Batch
from gristmill.pipeline.reader.open_shards import most_open
from gristmill.pipeline.reader.sides import RawSides
from tests.pipeline.reader.sparse_rows import sparse_dataset
from tests.pipeline.reader.test_rebase import one_stage, read
from tests.pipeline.reader.test_stream import QUIET, out, plan_file

__all__ = ["out"]


@pytest.mark.parametrize("world", [2, 4])
def test_no_rank_reads_one_source_for_ever(out: Path, world: int) -> None:
    plan = load_plan(plan_file(out, **one_stage(0.5, 64 * 160)))
    for rank in range(world):
        stream = TokenStream(plan, rank, world, world, options=QUIET)
        drawn = Counter(batch.source[0] for batch in stream)
        assert min(drawn["a64"], drawn["b64"]) > sum(drawn.values()) / 5


@pytest.mark.parametrize("tail", ["drop", "short"])
@pytest.mark.parametrize("workers", [2, 3])
def test_workers_take_turns_across_stages_that_fill_no_batch(
    out: Path, tail: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loader asks its workers in turn: batch k must be that of worker k modulo their number."""
    parts = [("a64", 10, 64), ("a64", 7, 64), ("b64", 9, 64), ("b256", 10, 256)]
    stages = [{"context": c, "tokens": c * rows, "mix": {name: 1.0}} for name, rows, c in parts]
    plan = load_plan(plan_file(out, stages=stages))
    options = ReadOptions(torch=False, prefetch=0, tail=tail)  # pyright: ignore[reportArgumentType]
    whole = [b.first for b in TokenStream(plan, global_batch=4, options=options)]
    mine: list[list[int]] = []
    for worker in range(workers):
        monkeypatch.setattr(stream_module, "_dataloader_worker", lambda w=worker: (w, workers))
        mine.append([b.first for b in TokenStream(plan, global_batch=4, options=options)])
    assert [mine[k % workers][k // workers] for k in range(len(whole))] == whole


def test_what_is_skipped_while_a_stream_is_read_is_not_handed_out(out: Path) -> None:
    stream = TokenStream(out / "a64", global_batch=4, options=ReadOptions(torch=False, prefetch=0))
    made = iter(stream)
    assert next(made).indices.tolist() == [0, 1, 2, 3]
    stream.skip([(4, 12)])
    assert next(made).indices.tolist() == [12, 13, 14, 15]


def test_a_stage_that_fills_no_batch_is_refused(out: Path) -> None:
    stages = [
        {"context": 64, "tokens": 64 * 20, "mix": {"a64": 1.0}},
        {"context": 64, "tokens": 192, "mix": {"b64": 1.0}},
    ]
    plan = load_plan(plan_file(out, stages=stages))
    with pytest.raises(UsageError, match="stage 1 has 3 rows, fewer than a batch"):
        TokenStream(plan, global_batch=4, options=QUIET)
    short = TokenStream(plan, global_batch=4, options=ReadOptions(torch=False, tail="short"))
    assert sum(len(batch) for batch in short) == 23


def test_what_was_dropped_is_in_the_state(out: Path) -> None:
    stream = TokenStream(plan_file(out), global_batch=16, options=QUIET)
    read(stream, 13)
    again = TokenStream(plan_file(out), global_batch=16, options=QUIET)
    again.load_state_dict(json.loads(json.dumps(stream.state_dict())))
    read(again, 100)
    whole = TokenStream(plan_file(out), global_batch=16, options=QUIET)
    read(whole, 100)
    assert again.dropped == whole.dropped > 0


def test_bounds_of_more_than_two_billion_tokens_do_not_wrap() -> None:
    side = bytes([1, 0, *[128, 128, 64], 1, 0, 0])  # a segment of 2^20 tokens of group 0, nothing else
    rows = 2049
    raw = RawSides(np.frombuffer(side * rows, np.uint8), np.arange(rows + 1, dtype=np.int64) * len(side))
    shape = np.lib.stride_tricks.as_strided(np.zeros(1, np.int32), (rows, 1 << 20), (0, 0))
    whole = np.arange(rows, dtype=np.int64)
    batch = Batch(shape, 0, 0, whole, ("a",) * rows, whole, ((whole, raw),))
    assert batch.cu_seqlens[-1] == rows << 20 and batch.cu_seqlens.dtype == np.int64
    few = Batch(shape[:2], 0, 0, whole[:2], ("a",) * 2, whole[:2], ((whole[:2], RawSides(raw.data, raw.bounds[:3])),))
    assert few.cu_seqlens.tolist() == [0, 1 << 20, 2 << 20] and few.cu_seqlens.dtype == np.int32


CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
from gristmill.pipeline.reader import ReadOptions, TokenStream
stream = TokenStream(sys.argv[1], global_batch=8, threads=3, options=ReadOptions(torch=False))
print(sum(len(batch) for batch in stream))
"""


def test_more_shards_than_files_may_be_open_are_read(tmp_path: Path) -> None:
    """NVIDIA/Megatron-Energon#81: each thread had its own files, and together they were too many."""
    folder = sparse_dataset(tmp_path / "d", 200, 8, 64)
    done = subprocess.run([sys.executable, "-c", CHILD, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert int(done.stdout) == 1600


def test_readers_share_half_of_the_files_that_a_process_may_open() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert 2 <= most_open() <= max(2, soft // 4)

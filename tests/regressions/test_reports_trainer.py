"""Public reports about readers of training data (reference, section 6), each with its smallest input.

Reports whose kind is met elsewhere: 3, 5, 17, 18, 25 under torch in extras/test_reader_torch.py and
test_tiny_trainer.py; 7, 8 of packing in pipeline/test_buckets.py; 9, 10, 15 in pipeline/reader/test_buckets.py and
test_rebase.py; 13, 19, 22 in test_block_cache.py and test_bounds.py; 14 in test_bars.py; 17, 20, 28 in test_stream.py;
24 in pipeline/test_pack.py (`max_segments`); 26, 27 in manifests/test_tokenizer.py; 30: `gristmill ls` and `show`.
"""

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xxhash

from gristmill.manifests.errors import GristmillError, UsageError
from gristmill.manifests.row_index import BATCH_TABLE, HEAD, MAGIC, ROW_TABLE
from gristmill.manifests.trainer_schema import TokenizerIdentity
from gristmill.pipeline.reader import ReadOptions, TokenStream, load_plan
from gristmill.pipeline.reader.mixture import Mixture
from gristmill.pipeline.reader.order import places
from gristmill.pipeline.reader.plan import Plan, Stage
from gristmill.pipeline.reader.rows_dataset import RowsDataset
from gristmill.pipeline.reader.shard_source import Shard
from gristmill.pipeline.reader.sources import whole
from gristmill.pipeline.reader.state import sealed_state
from tests.laws.running import run_inline, write_recipe
from tests.pipeline.reader.test_stream import QUIET, SHORT, out, plan_file, seen, table

__all__ = ["out"]

EMPTY_SIDE = b"\0\0\0"


def test_1_2_a_run_stopped_after_any_row_goes_on_with_the_next(out: Path) -> None:
    """datasets#7901, #8408, #7056, #7385: stopped behind each k, and compared with the run that nothing stopped."""
    plan = load_plan(plan_file(out))
    whole = seen(TokenStream(plan, options=QUIET))
    for stop in range(len(whole)):
        stream = TokenStream(plan, options=ReadOptions(torch=False, prefetch=stop % 3))
        stream.load_state_dict(sealed_state(TokenStream(plan, options=QUIET).state_dict() | {"next": stop}))
        made = iter(stream)
        assert next(made).indices.tolist() == [whole[stop]]
        assert stream.state_dict()["next"] == stop + 1


def test_4_5_ranks_part_what_is_left_and_take_the_same_number_of_steps(out: Path) -> None:
    """datasets#8568: skip() after a split by node gave every rank everything; #5360, #6437, #5961: unequal steps."""
    for options in (QUIET, SHORT):
        ranks: list[list[int]] = []
        steps: list[int] = []
        for rank in range(4):
            stream = TokenStream(plan_file(out), rank, 4, 12, options=options)
            stream.skip([(3, 50), (77, 78)])
            batches = [b.indices.tolist() for b in stream]
            steps.append(len(batches))
            ranks.append([i for b in batches for i in b])
        together = [i for part in ranks for i in part]
        assert len(set(steps)) == 1 and len(set(together)) == len(together)
        left = {*range(232)} - {*range(3, 50), 77}
        assert set(together) == left if options is SHORT else set(together) < left


def test_6_a_column_that_begins_with_nulls_keeps_what_comes_later(tmp_path: Path) -> None:
    """datasets#7222, arrow#40107, marin#5142: a schema taken from the first rows; later values were lost."""
    lines = [{"id": f"d{i}", "text": f"text {i}", "license": None if i < 1000 else "MIT"} for i in range(1002)]
    lines[1001]["surplus"] = {"a": 1}
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    recipe = (
        'name: nulls\ntokenizer: bytes\ndatasets:\n  a: {read: {jsonl: "a.jsonl", key: id}, domain: web}\n'
        "  rows: {from: [a], steps: [emit: {context: 64}]}\n"
    )
    run_inline(write_recipe(tmp_path, recipe), tmp_path / "out")
    found = Counter(doc["license"] for row in table(tmp_path / "out" / "rows") for doc in row["docs"])
    assert found == {None: 1000, "MIT": 2}


def sparse_dataset(folder: Path, context: int, rows: int, written: dict[int, int]) -> RowsDataset:
    """A dataset of one shard that is all zeros but for a word at the beginning of some rows; its file has holes."""
    digest = "blake3:" + "ab" * 32
    shard, index = folder / "s.arrow", folder / "s.idx"
    with shard.open("wb") as file:
        file.truncate(4 * context * rows)
        for row, word in written.items():
            file.seek(4 * context * row)
            file.write(np.uint32(word).tobytes())
    table = np.zeros(rows + 1, dtype=ROW_TABLE)
    zeros = np.zeros(context, dtype=np.uint32)
    table["ids"] = xxhash.xxh3_64_intdigest(zeros)
    for row, word in written.items():
        zeros[0] = word
        table["ids"][row] = xxhash.xxh3_64_intdigest(zeros)
    table["side_at"] = np.arange(rows + 1) * len(EMPTY_SIDE)
    table["side"] = xxhash.xxh3_64_intdigest(EMPTY_SIDE) & 0xFFFFFFFF
    batches = np.array(
        [(4 * context * r, 4 * context * r, 4 * context * (r + 1), r, 0) for r in range(rows)], BATCH_TABLE
    )
    sides_at = HEAD.size + batches.nbytes + table.nbytes
    fields = (MAGIC, context, rows, rows, 0, sides_at, rows * len(EMPTY_SIDE), bytes.fromhex("ab" * 16))
    bare = HEAD.pack(*fields, 0)[:-8]
    head = bare + np.uint64(xxhash.xxh3_64_intdigest(bare + batches.tobytes())).tobytes()
    index.write_bytes(head + batches.tobytes() + table.tobytes() + EMPTY_SIDE * rows)
    identity = TokenizerIdentity("t", "sha256:00", "0" * 32, 300, 1, 2)
    first = np.array([0, rows], dtype=np.int64)
    bytes_of = shard.stat().st_size, index.stat().st_size
    one = Shard(shard, index, digest, rows, bytes_of[0], digest, bytes_of[1], "none")
    return RowsDataset(folder, "d", context, identity, [one], first, {"media_shards": []})


def test_7_rows_behind_two_and_eight_gigabytes_are_read(tmp_path: Path) -> None:
    """arrow#44164, ray#29492: 2,048 rows of 2^20 ids are one more than an int32 offset counts."""
    written = {0: 11, 511: 12, 512: 13, 2047: 14, 2048: 15, 2099: 16}
    dataset = sparse_dataset(tmp_path, 1 << 20, 2100, written)
    ids = np.empty((1, 1 << 20), dtype=np.int32)
    for row, word in written.items():
        dataset.read(np.array([row]), ids)
        assert ids[0, 0] == word and not ids[0, 1:].any()


def fake(rows: int, context: int = 8) -> RowsDataset:
    """A dataset of so many rows that nobody reads."""
    identity = TokenizerIdentity("t", "sha256:00", "0" * 32, 300, 1, 2)
    return RowsDataset(Path("none"), f"d{rows}", context, identity, [], np.array([0, rows], np.int64), {"facts": {}})


@pytest.mark.parametrize("edge", [1 << 31, 1 << 32, 1 << 40])
def test_8_indices_beyond_32_bits_name_rows_once_each(edge: int) -> None:
    """Megatron-LM#1672, #1056, #598, marin#1970: indices of datasets and mixtures that wrapped round."""
    datasets = {"a": fake(edge + 5), "b": fake(edge // 3)}
    stage = Stage(8, 2 * edge, Mixture.of({"a": 0.7, "b": 0.3}), {"a": 0, "b": 0})
    sources = {name: whole(name, dataset) for name, dataset in datasets.items()}
    plan = Plan(1, [stage], datasets, sources, [0, stage.rows], "p")
    for first in (edge - 3000, edge, 2 * edge - 3000):
        found = places(plan, np.arange(first, first + 3000, dtype=np.int64))
        for source, name in enumerate(stage.mixture.names):
            mine = found.source == source
            rows, epochs = found.row[mine], found.epoch[mine]
            assert ((rows >= 0) & (rows < datasets[name].rows)).all() and epochs.min() >= 0
            assert len({*zip(rows.tolist(), epochs.tolist(), strict=True)}) == len(rows)
        share = float((found.source == 0).mean())
        assert abs(share - 0.7) < 1e-3
    counted = stage.mixture.before(2 * edge)
    assert sum(counted) == 2 * edge and abs(counted[0] - 1.4 * edge) <= 2 * edge / 4096


def test_11_a_state_says_something_and_one_that_does_not_is_refused(out: Path) -> None:
    """Megatron-Bridge#3993, #5245, #4601: a state that was silently not saved, or not restored."""
    stream = TokenStream(plan_file(out), global_batch=4, options=QUIET)
    assert stream.state_dict()["next"] == 0 and stream.state_dict()["plan"] and stream.state_dict()["manifests"]
    whole = stream.state_dict()
    for wrong in (
        {},
        {"v": 1},
        {"v": 1, "next": "7"},
        sealed_state(stream.state_dict() | {"next": 10**9}),
        whole | {"skipped": [[1]]},
    ):
        with pytest.raises(UsageError):
            stream.load_state_dict(wrong)
    for missing in ("plan", "manifests", "skipped"):
        state = stream.state_dict()
        del state[missing]
        with pytest.raises(UsageError, match="state"):
            stream.load_state_dict(state)


def test_12_16_several_epochs_with_stops_hold_each_row_as_often(out: Path) -> None:
    """streaming#437, #880, #869; litData#263, #316, #331, #363, #694, #770: resuming past the first epoch."""
    rows = RowsDataset.open(out / "b64").rows
    stages = [{"context": 64, "tokens": 64 * 3 * rows, "mix": {"b64": 1.0}}]
    plan = load_plan(plan_file(out, stages=stages))
    draw = random.Random(2)
    for _ in range(20):
        stream, taken = TokenStream(plan, options=QUIET), list[int]()
        while stream.next < plan.rows:
            for batch in stream:
                taken += batch.row.tolist()
                if draw.random() < 0.05:
                    break
            if draw.random() < 0.5:  # a loader that is made anew, or the same again
                state, stream = stream.state_dict(), TokenStream(plan, options=QUIET)
                stream.load_state_dict(json.loads(json.dumps(state)))
        epochs = [taken[rows * e : rows * (e + 1)] for e in range(3)]
        assert [sorted(epoch) for epoch in epochs] == [list(range(rows))] * 3
        assert epochs[0] != epochs[1] != epochs[2], "each epoch has an order of its own"


def test_23_a_dataset_that_is_not_there_is_no_smaller_mixture(out: Path) -> None:
    """marin#1753: a component without its cache was left out of the mixture in silence."""
    stages = [{"context": 64, "tokens": 6400, "mix": {"a64": 0.7, "gone": 0.3}}]
    with pytest.raises(GristmillError, match="gone"):
        load_plan(plan_file(out, stages=stages))


def test_29_a_state_is_bound_to_the_rows_that_it_counts(out: Path, tmp_path: Path) -> None:
    """flaxchat#4: a run that goes on over other data of the same name and size."""
    plan = load_plan(plan_file(out))
    state = TokenStream(plan, options=QUIET).state_dict()
    changed = {name: replace(d, digest="other") if name == "b64" else d for name, d in plan.datasets.items()}
    with pytest.raises(UsageError, match="manifests"):
        TokenStream(replace(plan, datasets=changed), options=QUIET).load_state_dict(state)


def test_the_fakes_are_read_like_any_dataset(tmp_path: Path) -> None:
    """What the tests above stand on: a wrong word in the sparse file is damage."""
    dataset = sparse_dataset(tmp_path, 16, 3, {1: 5})
    ids: Any = np.empty((3, 16), dtype=np.int32)
    dataset.read(np.arange(3), ids)
    assert ids[:, 0].tolist() == [0, 5, 0]
    with dataset.shards[0].path.open("r+b") as file:
        file.write(b"\1")
    with pytest.raises(GristmillError, match="damaged"):
        dataset.copy().read(np.arange(3), ids)

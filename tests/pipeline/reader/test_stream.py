"""The stream: nothing lost, nothing twice, from any index on, for any ranks and batches; damage is seen."""

import json
import os
import pickle
import random
import shutil
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gristmill.manifests import ipc
from gristmill.manifests.errors import RecipeError, UsageError, VerifyError
from gristmill.manifests.ipc import read_ipc
from gristmill.manifests.manifest import read_manifest
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.reader import ReadOptions, TokenStream, load_plan
from gristmill.pipeline.reader.rows_dataset import CorruptRowError, RowsDataset
from gristmill.pipeline.reader.state import sealed_state
from tests.laws.running import run_inline, write_recipe

RECIPE = """
name: trainer
seed: 1
tokenizer: bytes
datasets:
  a: {read: {jsonl: "a.jsonl", key: id}, domain: web}
  b: {read: {jsonl: "b.jsonl", key: id}, domain: code}
  a64: {from: [a], steps: [emit: {context: 64}]}
  b64: {from: [b], steps: [emit: {context: 64}]}
  b256: {from: [b], steps: [emit: {context: 256}]}
"""
QUIET = ReadOptions(torch=False)
SHORT = ReadOptions(torch=False, tail="short")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Datasets of rows of 64 and 256 tokens, in several shards of several batches."""
    folder = tmp_path_factory.mktemp("trainer")
    draw = random.Random(5)
    for name, count in (("a", 160), ("b", 90)):
        texts = [" ".join(str(draw.randrange(1000)) for _ in range(draw.randrange(1, 60))) for _ in range(count)]
        lines = [json.dumps({"id": f"{name}{i}", "text": text}) for i, text in enumerate(texts)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ipc, "BATCH_BYTES", 4000)
        patch.setattr(ipc, "SHARD_BYTES", 20_000)
        run_inline(write_recipe(folder, RECIPE), folder / "out")
    assert len(read_manifest(folder / "out" / "a64")["shards"]) > 1
    return folder / "out"


def plan_file(out: Path, **changed: Any) -> Path:
    """A plan of two stages."""
    stages = [
        {"context": 64, "tokens": 64 * 200, "mix": {"a64": 0.7, "b64": 0.3}},
        {"context": 256, "tokens": 8192, "mix": {"b256": 1.0}},
    ]
    path = out / "plan.yaml"
    path.write_text(json.dumps({"seed": 3, "vision": "none", "stages": stages} | changed))
    return path


def table(folder: Path) -> list[dict[str, Any]]:
    """All rows of a dataset, by plain pyarrow, in their order."""
    shards = [folder / entry["path"] for entry in read_manifest(folder)["shards"]]
    return [row for path in shards for batch in read_ipc(path) for row in batch.to_pylist()]


def seen(stream: TokenStream) -> list[int]:
    return [int(i) for batch in stream for i in batch.indices]


def test_each_row_comes_once_with_what_was_written(out: Path) -> None:
    rows = table(out / "a64")
    found = {}
    for batch in TokenStream(out / "a64", global_batch=7, options=SHORT):
        assert batch.tokens.dtype == np.int32 and batch.source == ("a64",) * len(batch)
        for i, row in enumerate(batch.row.tolist()):
            found[row] = batch.tokens[i].tolist()
    assert found == {i: row["input_ids"] for i, row in enumerate(rows)}
    order = [int(r) for b in TokenStream(out / "a64", options=QUIET) for r in b.row]
    assert order != sorted(order), "rows are shuffled"


def test_masks_follow_from_the_segments(out: Path) -> None:
    rows = table(out / "a64")
    for batch in TokenStream(out / "a64", global_batch=5, options=SHORT):
        bounds = [0]
        for i, number in enumerate(batch.row.tolist()):
            row = rows[number]
            groups, positions, weights = [-1] * 64, [0] * 64, [0.0] * 64
            seen_of: dict[int, int] = {}
            for segment in row["segments"]:
                for at in range(segment["start"], segment["end"]):
                    group = segment["attn_group"]
                    groups[at], positions[at] = group, seen_of.get(group, 0)
                    weights[at] = float(group in seen_of)
                    seen_of[group] = positions[at] + 1
            assert batch.segment_ids[i].tolist() == groups
            assert batch.positions[i].tolist() == positions
            assert batch.loss_mask[i].tolist() == weights
            assert batch.n_tokens[i] == row["n_tokens"]
            ends = {at + 1 for at in range(64) if at == 63 or groups[at] != groups[at + 1]}
            bounds += sorted(64 * i + end for end in ends)
        assert batch.cu_seqlens.tolist() == bounds


@pytest.mark.parametrize("case", range(40))
def test_any_ranks_and_batches_go_on_from_any_index(out: Path, case: int) -> None:
    """Stop anywhere, and go on with other ranks and another batch, three times: 0 lost, 0 twice."""
    draw = random.Random(case)
    plan = load_plan(plan_file(out))
    state: dict[str, Any] | None = None
    found: list[int] = []
    for turn in range(4):
        world = draw.choice([1, 2, 3, 4])
        batch = world * draw.randrange(1, 9)
        batches = 10**9 if turn == 3 else draw.randrange(1, 8)
        states = []
        for rank in range(world):
            options = ReadOptions(torch=False, tail="short", prefetch=draw.choice([0, 1, 3]))
            stream = TokenStream(plan, rank, world, batch, draw.choice([1, 2, 3]), options=options)
            if state is not None:
                stream.load_state_dict(json.loads(json.dumps(state)))
            for number, made in enumerate(stream, 1):
                found += made.indices.tolist()
                if number == batches:
                    break
            states.append(stream.state_dict())
        assert all(s == states[0] for s in states)
        state = states[0]
    assert sorted(found) == list(range(plan.rows))


def test_stages_of_other_lengths_share_no_batch_and_the_tail_is_told(out: Path) -> None:
    stream = TokenStream(plan_file(out), global_batch=16, options=QUIET)
    shapes = [(b.stage, b.tokens.shape) for b in stream]
    assert shapes == [(0, (16, 64))] * 12 + [(1, (16, 256))] * 2
    assert stream.dropped == 200 % 16 and stream.next == stream.plan.rows


def test_the_mixture_holds_at_every_prefix_and_sources_go_on(out: Path) -> None:
    plan = load_plan(plan_file(out))
    given = {"a64": 0, "b64": 0}
    drawn: dict[str, list[int]] = {"a64": [], "b64": []}
    for number, batch in enumerate(TokenStream(plan, options=QUIET), 1):
        if batch.stage:
            break
        given[batch.source[0]] += 1
        drawn[batch.source[0]].append(int(batch.row[0]))
        assert abs(given["a64"] - plan.stages[0].mixture.parts[0] / 4096 * number) <= 1
    for name, rows in drawn.items():
        per_epoch = plan.datasets[name].rows
        for first in range(0, len(rows), per_epoch):
            assert len(set(rows[first : first + per_epoch])) == len(rows[first : first + per_epoch])
    assert TokenStream(plan, options=QUIET).report(200)["a64"]["rows"] == given["a64"]


def test_random_access_is_what_the_stream_gave(out: Path) -> None:
    stream = TokenStream(plan_file(out), options=QUIET)
    batches = {int(b.indices[0]): b for b in stream}
    for index in (0, 7, 199, 200, stream.plan.rows - 1):
        assert (stream[index].tokens == batches[index].tokens).all()
        told = stream.documents(index)
        assert told["source"] == batches[index].source[0] and told["docs"]
    assert (stream[-1].tokens == batches[stream.plan.rows - 1].tokens).all()
    with pytest.raises(IndexError):
        stream[stream.plan.rows]


def test_skipped_indices_stay_away_after_a_resume(out: Path) -> None:
    stream = TokenStream(plan_file(out), global_batch=6, options=SHORT)
    stream.skip([(3, 5), (10, 40), (4, 7), (230, 231)])
    assert stream.state_dict()["skipped"] == [[3, 7], [10, 40], [230, 231]]
    first = next(iter(stream))
    assert first.indices.tolist() == [0, 1, 2, 7, 8, 9]
    again = TokenStream(plan_file(out), global_batch=4, options=SHORT)
    again.load_state_dict(stream.state_dict())
    gone = {*range(3, 7), *range(10, 40), 230}
    assert first.indices.tolist() + seen(again) == [i for i in range(stream.plan.rows) if i not in gone]


def test_a_state_of_another_plan_is_refused(out: Path) -> None:
    state = TokenStream(plan_file(out), options=QUIET).state_dict()
    assert len(json.dumps(state)) < 1000
    other = TokenStream(plan_file(out, seed=4), options=QUIET)
    with pytest.raises(UsageError, match="another plan"):
        other.load_state_dict(state)
    for wrong in ({}, {"v": 1}, state | {"v": 2}, sealed_state(state | {"next": 10**9})):
        with pytest.raises(UsageError):
            TokenStream(plan_file(out), options=QUIET).load_state_dict(wrong)


def test_the_state_right_after_loading_is_the_loaded_one(out: Path) -> None:
    """meta-pytorch/data#1251 and its like; accelerate#3034: what was read ahead counted as given."""
    stream = TokenStream(plan_file(out), global_batch=4, options=ReadOptions(torch=False, prefetch=8))
    batches = iter(stream)
    for _ in range(3):
        next(batches)
    state = stream.state_dict()
    assert state["next"] == 12
    again = TokenStream(plan_file(out), global_batch=4, options=QUIET)
    again.load_state_dict(state)
    assert again.state_dict() == state


def flipped(path: Path, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    os.chmod(path, 0o644)
    path.unlink()
    path.write_bytes(data)


def rows_of(folder: Path) -> list[Any]:
    stream = TokenStream(folder, global_batch=8, options=SHORT)
    return [(b.indices.tolist(), b.tokens.tolist(), b.loss_mask.tolist(), b.segment_ids.tolist()) for b in stream]


def copied(out: Path, target: Path) -> Path:
    return Path(shutil.copytree(out / "a64", target))


def test_every_flipped_bit_of_ids_and_sides_is_seen(out: Path, tmp_path: Path) -> None:
    draw = random.Random(11)
    folder = copied(out, tmp_path / "d")
    entry = read_manifest(folder)["shards"][0]
    index_entry = read_manifest(folder)["row_indexes"][0]
    shard, index = folder / entry["path"], folder / index_entry["path"]
    head = RowsDataset.open(folder).open_shards().open(0)
    whole, whole_index = shard.read_bytes(), index.read_bytes()
    ids = [(int(b["ids_at"]), int(b["ids_at"]) + 64 * 4 * 2) for b in head.batches]
    for _ in range(60):
        low, high = draw.choice(ids)
        flipped(shard, 8 * draw.randrange(low, high) + draw.randrange(8))
        with pytest.raises(CorruptRowError):
            seen(TokenStream(folder, global_batch=8, options=SHORT))
        shard.write_bytes(whole)
    clean, seen_flips = rows_of(folder), 0
    for _ in range(60):
        flipped(index, draw.randrange(8 * len(whole_index)))
        try:
            assert rows_of(folder) == clean, "a bit that nobody reads may be any"
        except VerifyError:
            seen_flips += 1
        index.write_bytes(whole_index)
    assert seen_flips > 50


def test_damaged_documents_are_seen_when_they_are_asked_for(out: Path, tmp_path: Path) -> None:
    folder = copied(out, tmp_path / "d")
    dataset = RowsDataset.open(folder)
    place = dataset.open_shards().open(0).batches[0]
    rows = int(dataset.open_shards().open(0).batches[1]["first"])
    behind_ids = int(place["ids_at"]) + 256 * rows
    assert dataset.documents(0)["docs"]
    flipped(folder / read_manifest(folder)["shards"][0]["path"], 8 * (behind_ids + 100))
    with pytest.raises(CorruptRowError, match="documents"):
        RowsDataset.open(folder).documents(0)


def test_a_damaged_row_is_padding_without_loss_where_that_is_asked_for(out: Path, tmp_path: Path) -> None:
    folder = copied(out, tmp_path / "d")
    clean = {int(b.row[0]): b.tokens[0].tolist() for b in TokenStream(folder, options=QUIET)}
    head = RowsDataset.open(folder).open_shards().open(0)
    flipped(folder / read_manifest(folder)["shards"][0]["path"], 8 * (int(head.batches[0]["ids_at"]) + 256 * 1 + 7))
    stream = TokenStream(folder, global_batch=4, on_corrupt="skip", options=SHORT)
    damaged = 0
    for batch in stream:
        for i, row in enumerate(batch.row.tolist()):
            if row == 1:
                damaged += 1
                assert set(batch.tokens[i].tolist()) == {stream.plan.datasets["d"].tokenizer.pad_id}
                assert not batch.loss_mask[i].any() and int(batch.indices[i]) in stream.corrupt
            else:
                assert batch.tokens[i].tolist() == clean[row]
    assert damaged == len(stream.corrupt) == 1


def test_cut_files_are_told(out: Path, tmp_path: Path) -> None:
    for name, listed in (("s", "shards"), ("i", "row_indexes")):
        folder = copied(out, tmp_path / name)
        path = folder / read_manifest(folder)[listed][0]["path"]
        os.truncate(path, path.stat().st_size // 2)
        with pytest.raises(VerifyError, match=r"cut short|damaged"):
            seen(TokenStream(folder, options=QUIET))


def test_files_are_closed_with_the_stream(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NVIDIA/Megatron-Energon#81, and a process that cannot open any more."""
    monkeypatch.setattr("gristmill.pipeline.reader.open_shards.MAX_OPEN", 2)
    before = len(os.listdir("/proc/self/fd"))
    stream = TokenStream(out / "a64", options=QUIET)
    assert len(seen(stream)) == stream.plan.rows
    assert len(stream.plan.datasets["a64"].shards) > 2
    assert len(os.listdir("/proc/self/fd")) <= before + 4
    del stream
    assert len(os.listdir("/proc/self/fd")) <= before


def _in_child(stream: TokenStream, pipe: Any) -> None:
    pipe.send(seen(stream))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_stream_crosses_a_fork_and_a_spawn(out: Path, method: str) -> None:
    """lance#3727."""
    stream = TokenStream(out / "a64", global_batch=4, options=SHORT)
    ours = seen(stream)
    stream.next = 0
    context = get_context(method)
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_in_child, args=(stream, sender))
    child.start()
    assert receiver.recv() == ours
    child.join()
    assert pickle.loads(pickle.dumps(stream)).plan.digest == stream.plan.digest


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"stages": []}, "stages"),
        ({"stagez": 1}, "stagez"),
        ({"vision": None}, "has no share of vision"),
        ({"stages": [{"context": 64, "tokens": "many", "mix": {"a64": 1.0}}]}, "no number of tokens"),
        ({"stages": [{"context": 64, "tokens": 63, "mix": {"a64": 1.0}}]}, "less than a row"),
        ({"stages": [{"context": 64, "tokens": "1M", "mix": {"a64": 1.0}}]}, "would be gone through"),
        ({"stages": [{"context": 64, "tokens": "1K", "mix": {"a64": 0.4}}]}, "add up to 1"),
        ({"stages": [{"context": 128, "tokens": "1K", "mix": {"a64": 1.0}}]}, "its rows are of 64 tokens"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused(out: Path, changed: dict[str, Any], told: str) -> None:
    with pytest.raises(RecipeError, match=told):
        load_plan(plan_file(out, **changed))


def test_what_is_no_dataset_of_rows_is_refused(out: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="documents, not trainer rows"):
        TokenStream(out / "a")
    with pytest.raises(Exception, match="manifest"):
        TokenStream(tmp_path)
    for rank, world, batch in ((1, 1, 1), (0, 2, 3), (0, 1, 0)):
        with pytest.raises(UsageError):
            TokenStream(out / "a64", rank, world, batch)


def test_the_command_prints_a_plan(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(plan_file(out)), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    plan = load_plan(plan_file(out))
    assert told["digest"] == plan.digest
    assert [(s["context"], s["first_index"], s["rows"], s["tokens"]) for s in told["stages"]] == [
        (64, 0, 200, 12_800),
        (256, 200, 32, 8192),
    ]
    assert sum(s["rows"] for s in told["stages"][0]["sources"]) == 200
    assert {d["name"]: d["rows_read"] for d in told["datasets"]}["b256"] == 32
    assert main(["plan", str(out / "a64")]) == 0
    assert "a64" in capsys.readouterr().out
    assert main(["plan", str(plan_file(out, stages=[]))]) == 2
    assert capsys.readouterr().err.count("\n") == 1

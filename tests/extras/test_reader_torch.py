"""The stream under PyTorch: loaders with and without workers, several ranks, states that are saved in the middle."""

import os
from pathlib import Path
from typing import Any

import pytest

from gristmill.pipeline.reader import ReadOptions, TokenStream
from tests.pipeline.reader.test_stream import out, plan_file, seen

torch: Any = pytest.importorskip("torch", reason="torch is one of the extras")

__all__ = ["out"]
SHORT = ReadOptions(tail="short")


def test_it_is_an_iterable_dataset_of_tensors(out: Path) -> None:
    stream = TokenStream(out / "a64", global_batch=4, options=SHORT)
    assert isinstance(stream, torch.utils.data.IterableDataset)
    batch = next(iter(stream))
    assert batch.tokens.dtype == torch.int32 and tuple(batch.tokens.shape) == (4, 64)


@pytest.mark.parametrize("workers", [0, 2, 3])
def test_a_loader_gives_every_row_once(out: Path, workers: int) -> None:
    stream = TokenStream(plan_file(out), global_batch=6, options=SHORT)
    loader = torch.utils.data.DataLoader(stream, batch_size=None, num_workers=workers)
    found = [int(i) for batch in loader for i in batch.indices]
    assert sorted(found) == list(range(stream.plan.rows))
    assert workers or found == sorted(found)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_stateful_loader_goes_on_where_it_was(out: Path, workers: int) -> None:
    """datasets#7447, meta-pytorch/data#1251: shortened epochs, dropped and replayed batches."""
    loaders = pytest.importorskip("torchdata.stateful_dataloader")

    def loader() -> Any:
        stream = TokenStream(plan_file(out), global_batch=6, options=SHORT)
        return loaders.StatefulDataLoader(stream, batch_size=None, num_workers=workers)

    whole = [b.indices.tolist() for b in loader()]
    for stop in (1, 2, 5, 9):
        first, found = loader(), list[Any]()
        for batch in first:
            found.append(batch.indices.tolist())
            if len(found) == stop:
                break
        state = first.state_dict()
        again = loader()
        again.load_state_dict(state)
        found += [b.indices.tolist() for b in again]
        assert sorted(found) == sorted(whole)


def _rank(rank: int, world: int, folder: str, plan: str) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "GLOO_SOCKET_IFNAME": "lo"}
    store = torch.distributed.FileStore(f"{folder}/store", world)
    torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=world)
    first = TokenStream(plan, rank, world, 12, options=SHORT)
    mine, batches = list[int](), iter(first)
    for _ in range(4):
        mine += next(batches).indices.tolist()
    state = [first.state_dict()]
    torch.distributed.broadcast_object_list(state, src=0)
    assert state[0] == first.state_dict(), "the state is the same on every rank"
    again = TokenStream(plan, rank, world, 4 * world, options=SHORT)
    again.load_state_dict(state[0])
    steps = 0
    for batch in again:
        mine += batch.indices.tolist()
        steps += 1
    everybody: list[Any] = [None] * world
    torch.distributed.all_gather_object(everybody, (mine, steps))
    assert len({n for _, n in everybody}) == 1, "every rank has the same number of steps"
    assert sorted(i for part, _ in everybody for i in part) == list(range(first.plan.rows))
    torch.distributed.destroy_process_group()


@pytest.mark.parametrize("world", [2, 4])
def test_ranks_share_every_row_and_go_on_together(out: Path, tmp_path: Path, world: int) -> None:
    torch.multiprocessing.spawn(_rank, (world, str(tmp_path), str(plan_file(out))), nprocs=world)
    assert len(seen(TokenStream(plan_file(out), options=SHORT))) == 232

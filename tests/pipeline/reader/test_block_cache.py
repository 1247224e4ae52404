"""The cache of blocks: a file is there when it is whole; killed writers, damage, other processes and room."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.reader import block_cache
from gristmill.pipeline.reader.block_cache import BlockCache, default_folder
from gristmill.pipeline.reader.fetcher import Fetcher
from gristmill.pipeline.reader.rows_dataset import RowsDataset
from tests.pipeline.reader.test_cold import made, rows_of

__all__ = ["made"]
SIZE = 1000


def written(fd: int) -> None:
    os.write(fd, bytes(SIZE))


def make(cache: BlockCache, name: str) -> None:
    os.close(cache.get(name, SIZE, b"", written))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_made_once_and_found_whole(tmp_path: Path) -> None:
    cache, calls = BlockCache(tmp_path), list[int]()
    for _ in range(2):
        os.close(cache.get("a", SIZE, bytes(8), lambda fd: (calls.append(1), written(fd))[1]))
    fd = cache.open("a", SIZE, bytes(8))
    assert fd is not None and len(calls) == 1 and names(tmp_path) == ["a"]
    os.close(fd)
    assert cache.open("b", SIZE) is None


@pytest.mark.parametrize("content", [b"", bytes(SIZE - 1), bytes(SIZE + 1), b"x" * SIZE])
def test_an_empty_or_torn_file_is_not_taken_for_one(tmp_path: Path, content: bytes) -> None:
    """mosaicml/streaming#566: a failed download left an empty file, which the retry took as present."""
    cache = BlockCache(tmp_path)
    (tmp_path / "a").write_bytes(content)
    assert cache.open("a", SIZE, bytes(8)) is None
    make(cache, "a")
    assert (tmp_path / "a").read_bytes() == bytes(SIZE)


KILLED = """
import os, sys, time
from pathlib import Path
from gristmill.pipeline.reader.block_cache import BlockCache

def write(fd):
    os.write(fd, b"torn")
    print("writing", flush=True)
    time.sleep(600)

BlockCache(Path(sys.argv[1])).get("a", 1000, b"", write)
"""


def test_a_killed_writer_leaves_no_file_and_no_lock(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == b"writing\n"
        made_here = list[float]()
        waiting = threading.Thread(target=lambda: (make(BlockCache(tmp_path), "a"), made_here.append(time.monotonic())))
        waiting.start()
        time.sleep(0.2)
        assert not made_here and names(tmp_path) == ["a.part"], "the other is waited for"
        writer.send_signal(signal.SIGKILL)
        waiting.join(20)
    assert made_here and names(tmp_path) == ["a"] and (tmp_path / "a").read_bytes() == bytes(SIZE)


def test_a_writer_that_stands_still_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Megatron-Energon#119: a hung worker blocked everything."""
    monkeypatch.setattr(block_cache, "_WAIT_S", 0.1)
    with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == b"writing\n"
        writer.send_signal(signal.SIGSTOP)
        make(BlockCache(tmp_path), "a")
        assert (tmp_path / "a").read_bytes() == bytes(SIZE)
        writer.kill()
    BlockCache(tmp_path).trim()
    assert names(tmp_path) == ["a"], "what the killed one left is swept"


def test_what_was_used_longest_ago_goes_and_never_what_is_in_use(tmp_path: Path) -> None:
    cache = BlockCache(tmp_path, limit_bytes=4 * SIZE)
    for number in range(4):
        make(cache, f"b{number}")
        os.utime(tmp_path / f"b{number}", (number, number))
    held = cache.open("b0", SIZE)
    assert held is not None
    os.utime(tmp_path / "b0", (0, 0))
    touched = cache.open("b1", SIZE)
    assert touched is not None
    os.close(touched)
    for number in (4, 5):
        make(cache, f"b{number}")
    cache.trim()
    assert names(tmp_path) == ["b0", "b1", "b4", "b5"]
    os.close(held)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"cache cannot be written.*cache_dir"):
        make(BlockCache(tmp_path / "file"), "a")


def test_the_folder_is_the_environments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("GRISTMILL_CACHE", raising=False)
    assert default_folder() == tmp_path / "gristmill" / "reader"
    monkeypatch.setenv("GRISTMILL_CACHE", str(tmp_path / "x"))
    assert default_folder() == tmp_path / "x"


def cached(made: Path, folder: Path, limit_bytes: int = 1 << 30) -> RowsDataset:
    dataset = RowsDataset.open(made / "cold")
    dataset.keep_in(BlockCache(folder, limit_bytes), fetch_rows=5)
    return dataset


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-30] ^= 4
    path.write_bytes(data)


def cut(path: Path) -> None:
    os.truncate(path, 100)


def blank(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("harm", [flip, cut, blank, Path.unlink])
@pytest.mark.parametrize("reopened", [False, True])
def test_damage_in_the_cache_is_mended(made: Path, tmp_path: Path, harm: Callable[[Path], Any], reopened: bool) -> None:
    dataset = cached(made, tmp_path)
    wanted = rows_of(dataset)
    whole = {path: path.read_bytes() for path in tmp_path.glob("*.rows")}
    for path in whole:
        harm(path)
    if reopened:
        dataset = cached(made, tmp_path)
    assert (rows_of(dataset) == wanted).all()
    if reopened:
        assert {path: path.read_bytes() for path in tmp_path.glob("*.rows")} == whole


def _reads(made: Path, folder: Path, seed: int, pipe: Any) -> None:
    dataset = cached(made, folder, limit_bytes=20_000)
    order = np.random.default_rng(seed).permutation(dataset.rows)
    out = np.empty((len(order), 64), dtype=np.int32)
    for i in range(0, len(order), 8):
        dataset.read(order[i : i + 8], out[i : i + 8])
    back = np.empty_like(out)
    back[order] = out
    pipe.send(back)


def test_many_processes_share_a_cache_that_is_too_small(made: Path, tmp_path: Path) -> None:
    context = get_context("fork")
    pipes, children = [], []
    for seed in range(4):
        receiver, sender = context.Pipe(duplex=False)
        children.append(context.Process(target=_reads, args=(made, tmp_path, seed, sender)))
        children[-1].start()
        pipes.append(receiver)
    found = [pipe.recv() for pipe in pipes]
    for child in children:
        child.join()
    wanted = rows_of(RowsDataset.open(made / "plain"))
    assert all((one == wanted).all() for one in found)
    BlockCache(tmp_path, 20_000).trim()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 20_000
    assert not list(tmp_path.glob("*.part"))


def test_files_of_blocks_are_bounded_and_closed(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gristmill.pipeline.reader.block_files.MAX_OPEN", 3)
    before = len(os.listdir("/proc/self/fd"))
    dataset = cached(made, tmp_path)
    assert (rows_of(dataset) == rows_of(RowsDataset.open(made / "plain"))).all()
    assert len(os.listdir("/proc/self/fd")) <= before + 6
    del dataset
    assert len(os.listdir("/proc/self/fd")) <= before


def test_what_is_waited_for_goes_first() -> None:
    order, gate = list[int](), threading.Event()

    def make(key: int) -> None:
        if key == 0:
            gate.wait(20)
        order.append(key)
        if key == 7:
            raise ValueError("seven")

    fetcher = Fetcher(make, 1)
    fetcher.ahead([0, 1, 2, 3])
    needed = threading.Thread(target=lambda: order.append(len(fetcher.need([3, 7, 5]))))
    needed.start()
    time.sleep(0.1)
    gate.set()
    needed.join(20)
    assert order[:4] == [0, 3, 7, 5] and 1 in order, "one failed, and what was wanted ahead comes after"
    assert str(fetcher.need([7])[7]) == "seven" and fetcher.need([2]) == {}

"""The shards of a dataset that are open in this process, as tables that a kernel reads rows by.

Files are opened when a row of theirs is first asked for, MAX_OPEN shards at most: the one that was asked for first goes
then. Heads and batch tables stay once they were read, 16 bytes a record batch. A process that was forked off opens its
own: descriptors may be closed by the other.
"""

import os
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.row_index import HEAD, RowIndex, head_bytes
from gristmill.pipeline.reader.fetch_kernel import (
    FD,
    FIRST_BATCH,
    FIRST_ROW,
    INDEX_FD,
    ROWS_AT,
    SIDES_AT,
    SIDES_BYTES,
    STOP_BATCH,
)

MAX_OPEN = 256
"""Shards, each with two files."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Shard:
    """A shard and its index, by the manifest."""

    path: Path
    index: Path
    digest: str
    rows: int


class OpenShards:
    """See the module."""

    def __init__(self, shards: Sequence[Shard], first: Ints, context: int) -> None:
        """`first`: int64[shards + 1], the rows before each and of all."""
        self._shards = shards
        self._context = context
        self._pid = os.getpid()
        self._open: OrderedDict[int, tuple[int, int]] = OrderedDict()
        self.heads: dict[int, RowIndex] = {}
        self.table: Ints = np.full((len(shards), 8), -1, dtype=np.int64)
        self.table[:, FIRST_ROW] = first[:-1]
        self.batches: Ints = np.empty((0, 2), dtype=np.int64)

    def is_of_this_process(self) -> bool:
        """Whether the files were opened here."""
        return self._pid == os.getpid()

    def open(self, number: int) -> RowIndex:
        """Have a shard open; its head. Raises VerifyError where its files are not those of the manifest."""
        if number in self._open:
            self._open.move_to_end(number)
            return self.heads[number]
        while len(self._open) >= MAX_OPEN:
            oldest, files = self._open.popitem(last=False)
            self.table[oldest, [FD, INDEX_FD]] = -1
            _close(files)
        shard = self._shards[number]
        fd, index_fd = _open_file(shard.path), -1
        try:
            index_fd = _open_file(shard.index)
            if number not in self.heads:
                self._learn(number, self._head(shard, index_fd))
        except BaseException:
            _close((fd, index_fd))
            raise
        self._open[number] = fd, index_fd
        self.table[number, [FD, INDEX_FD]] = fd, index_fd
        return self.heads[number]

    def open_all(self, numbers: Iterable[int]) -> None:
        """Have shards open, the first MAX_OPEN of them. Raises VerifyError as `open`."""
        for number in list(dict.fromkeys(numbers))[:MAX_OPEN]:
            self.open(number)

    def _head(self, shard: Shard, index_fd: int) -> RowIndex:
        first = os.pread(index_fd, HEAD.size, 0)
        head = RowIndex.parse(os.pread(index_fd, max(head_bytes(first), HEAD.size), 0), str(shard.index))
        same = head.shard_digest.hex() == shard.digest.rpartition(":")[2][:32]
        if not same or head.rows != shard.rows or head.context != self._context:
            raise VerifyError("an index of another shard", str(shard.index), None, "see `gristmill verify`")
        return head

    def _learn(self, number: int, head: RowIndex) -> None:
        self.heads[number] = head
        first = len(self.batches)
        mine = np.column_stack([head.batches["first"].astype(np.int64), head.batches["ids_at"].astype(np.int64)])
        self.batches = np.ascontiguousarray(np.concatenate([self.batches, mine]))
        places = (head.rows_at, head.sides_at, head.sides_bytes, first, len(self.batches))
        self.table[number, [ROWS_AT, SIDES_AT, SIDES_BYTES, FIRST_BATCH, STOP_BATCH]] = places

    def close(self) -> None:
        """Close all files; a shard that is asked for again is opened again."""
        while self._open:
            number, files = self._open.popitem()
            self.table[number, [FD, INDEX_FD]] = -1
            _close(files)

    __del__ = close


def _open_file(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        remedy = "see `gristmill verify`"
        raise VerifyError("a file of the dataset cannot be opened", str(path), error.strerror, remedy) from None


def _close(files: tuple[int, int]) -> None:
    for fd in files:
        if fd >= 0:
            os.close(fd)

"""The shards of a dataset that are open in this process, as tables that a kernel reads rows by.

Files are opened when a row of theirs is first asked for, `most_open()` shards at most: the one that was asked for
first goes then. What a kernel needs of heads and batch tables stays once it was read: 24 bytes a record batch, and
nothing of a compressed shard, whose batches are rows. A process that was forked off opens its own: descriptors may be
closed by the other.
"""

import os
import resource
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.row_index import COLD_BATCH_TABLE, HEAD, RowIndex, head_bytes
from gristmill.pipeline.reader.fetch_kernel import (
    APART,
    FD,
    FIRST_BATCH,
    FIRST_ROW,
    INDEX_FD,
    ROWS_AT,
    SIDES_AT,
    SIDES_BYTES,
    STOP_BATCH,
)
from gristmill.pipeline.reader.shard_source import Layout, Shard, open_file

MAX_OPEN = 16_384
"""Shards of a reader, each with two files, where the process may have that many: opening one costs what reading ten
rows of 8,192 tokens does."""
_LIVE: "weakref.WeakSet[OpenShards]" = weakref.WeakSet()

Ints = npt.NDArray[np.int64]


def most_open() -> int:
    """Shards that each reader of this process may have open: together half of the files that it may open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = (1 << 20 if soft == resource.RLIM_INFINITY else soft) // 2
    return max(2, min(MAX_OPEN, files // (2 * max(len(_LIVE), 1))))


class OpenShards:
    """See the module."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._shards = layout.shards
        self.some_apart = any(shard.codec != "none" for shard in layout.shards)
        self._pid = os.getpid()
        self.lock = threading.RLock()
        self._open: OrderedDict[int, tuple[int, int]] = OrderedDict()
        self.heads: dict[int, RowIndex] = {}
        self.table: Ints = np.full((len(layout.shards), 8), -1, dtype=np.int64)
        self.table[:, FIRST_ROW] = layout.first[:-1]
        self._room: Ints = np.empty((64, 3), dtype=np.int64)
        self.batches: Ints = self._room[:0]
        _LIVE.add(self)

    def is_of_this_process(self) -> bool:
        """Whether the files were opened here."""
        return self._pid == os.getpid()

    def open(self, number: int) -> RowIndex:
        """Have a shard open; its head. Raises VerifyError where its files are not those of the manifest."""
        if number in self._open:
            self._open.move_to_end(number)
            return self.heads[number]
        while len(self._open) >= most_open():
            oldest, files = self._open.popitem(last=False)
            self.table[oldest, [FD, INDEX_FD]] = -1
            _close(files)
        shard = self._shards[number]
        fd, index_fd = open_file(shard.path), -1
        try:
            index_fd = open_file(shard.index)
            if number not in self.heads:
                self._learn(number, read_head(shard, index_fd, self._layout.context))
        except BaseException:
            _close((fd, index_fd))
            raise
        self._open[number] = fd, index_fd
        self.table[number, [FD, INDEX_FD]] = fd, index_fd
        return self.heads[number]

    def need(self, rows: Ints) -> int:
        """Have the shards of rows open, the first `most_open()` of them; all rows may then be asked for, the kernel
        telling where it ends. Raises VerifyError as `open`."""
        self.open_all(self._layout.shard_of(rows).tolist())
        return len(rows)

    def open_all(self, numbers: Iterable[int]) -> None:
        """Have shards open, the first `most_open()` of them. Raises VerifyError as `open`."""
        for number in list(dict.fromkeys(numbers))[: most_open()]:
            self.open(number)

    def apart(self, rows: Ints) -> list[int]:
        """Which of the rows, by their place in `rows`, the kernel leaves to others: all of compressed shards. There are
        none where `some_apart` is false."""
        numbers = self._layout.shard_of(rows).tolist()
        return [i for i, number in enumerate(numbers) if self._shards[number].codec != "none"]

    def ids_of(self, number: int, row: int) -> bytes:
        """The bytes of a compressed row's ids, `row` counted in its shard, as they stand in the file."""
        self.open(number)
        fd, index_fd = self._open[number]
        size = COLD_BATCH_TABLE.itemsize
        place = np.frombuffer(os.pread(index_fd, size, HEAD.size + size * row), dtype=COLD_BATCH_TABLE)[0]
        return os.pread(fd, int(place["ids_bytes"]), int(place["ids_at"]))

    def whole_head(self, number: int) -> RowIndex:
        """The head of a shard's index with its batch table. Raises VerifyError as `open`."""
        self.open(number)
        return read_head(self._shards[number], self._open[number][1], self._layout.context)

    def forget(self, row: int) -> bool:
        """Nothing here can be fetched again."""
        return False

    def _learn(self, number: int, head: RowIndex) -> None:
        first = len(self.batches)
        if head.codec == "none":
            places = head.batches["first"].astype(np.int64), head.batches["ids_at"].astype(np.int64)
            mine = np.column_stack([*places, np.zeros_like(places[0])])
        else:
            mine = np.array([[0, 0, APART]], dtype=np.int64)
        self.heads[number] = head if head.codec == "none" else replace(head, batches=head.batches[:0])
        stop = first + len(mine)
        if stop > len(self._room):
            room = np.empty((2 * stop, 3), dtype=np.int64)
            room[:first] = self.batches
            self._room = room
        self._room[first:stop] = mine
        self.batches = self._room[:stop]
        at = (head.rows_at, head.sides_at, head.sides_bytes, first, stop)
        self.table[number, [ROWS_AT, SIDES_AT, SIDES_BYTES, FIRST_BATCH, STOP_BATCH]] = at

    def close(self) -> None:
        """Close all files; a shard that is asked for again is opened again."""
        while self._open:
            number, files = self._open.popitem()
            self.table[number, [FD, INDEX_FD]] = -1
            _close(files)

    __del__ = close


def read_head(shard: Shard, index_fd: int, context: int) -> RowIndex:
    """The head and batch table of a shard's index. Raises VerifyError where it is damaged, or another's."""
    first = os.pread(index_fd, HEAD.size, 0)
    head = RowIndex.parse(os.pread(index_fd, max(head_bytes(first), HEAD.size), 0), str(shard.index))
    same = head.shard_digest.hex() == shard.digest32 and head.codec == shard.codec
    if not same or head.rows != shard.rows or head.context != context:
        raise VerifyError("an index of another shard", str(shard.index), None, "see `gristmill verify`")
    return head


def _close(files: tuple[int, int]) -> None:
    for fd in files:
        if fd >= 0:
            os.close(fd)

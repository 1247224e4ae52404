"""Rows of a dataset through the cache of blocks, as tables that a kernel reads rows by (`fetch_kernel`).

Rows are fetched, or decompressed, a block at a time (`block_maker`). AT_ONCE threads fetch; what is waited for goes
before what is wanted soon. Blocks stay open, MAX_OPEN of them at most, and their index with each. A block that holds a
damaged row is not kept: its other rows are then read one by one, each for itself.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from gristmill.manifests.row_index import ROW_TABLE, RowIndex
from gristmill.pipeline.reader.block_cache import HEADER, BlockCache
from gristmill.pipeline.reader.block_maker import BlockMaker
from gristmill.pipeline.reader.fetch_kernel import APART
from gristmill.pipeline.reader.fetcher import Fetcher
from gristmill.pipeline.reader.make_block import DamagedRowError, places_of
from gristmill.pipeline.reader.shard_source import Layout, read_span

AT_ONCE = 8
MAX_OPEN = 256
"""Blocks, each with two files."""

Ints = npt.NDArray[np.int64]


class BlockFiles:
    """See the module."""

    def __init__(self, layout: Layout, cache: BlockCache, block_rows: int) -> None:
        self._layout = layout
        self._maker = BlockMaker(layout, cache, block_rows)
        self._pid = os.getpid()
        self.lock = threading.RLock()
        self._open: OrderedDict[int, tuple[int, int, Ints]] = OrderedDict()
        self._bad: set[int] = set()
        self._fetcher = Fetcher(self._maker.make, AT_ONCE)
        self.table: Ints = np.empty((0, 8), dtype=np.int64)
        self.batches: Ints = np.array([[0, HEADER.size, 0], [0, 0, APART]], dtype=np.int64)

    def is_of_this_process(self) -> bool:
        """Whether the files were opened here."""
        return self._pid == os.getpid()

    @property
    def some_apart(self) -> bool:
        """See `apart`."""
        return bool(self._bad)

    def need(self, rows: Ints) -> int:
        """Have the blocks of rows open, the first MAX_OPEN of them, and in `table`; how many rows, from the first on,
        stand in those.

        Raises VerifyError where a file is not the manifest's, StorageLostError where object storage does not answer.
        """
        blocks = self._maker.blocks_of(rows).tolist()
        wanted = list(dict.fromkeys(blocks))[:MAX_OPEN]
        missing = [block for block in wanted if block not in self._open]
        if missing:
            self._fetch(missing)
            for block in wanted:
                if block in self._open:
                    self._open.move_to_end(block)
            while len(self._open) + len(missing) > MAX_OPEN:
                self._close(next(iter(self._open)))
            for block in missing:
                self._open[block] = self._opened(block)
            self.table = np.ascontiguousarray(np.stack([self._open[block][2] for block in sorted(self._open)]))
        return next((i for i, block in enumerate(blocks) if block not in self._open), len(blocks))

    def _fetch(self, blocks: Sequence[int]) -> None:
        for block, error in self._fetcher.need(blocks).items():
            if not isinstance(error, DamagedRowError):
                raise error
            self._bad.add(block)

    def ahead(self, rows: Iterable[int]) -> None:
        """Fetch the blocks of these rows when nothing else is waited for."""
        blocks = self._maker.blocks_of(np.fromiter(rows, dtype=np.int64))
        self._fetcher.ahead(dict.fromkeys(blocks.tolist()))

    def apart(self, rows: Ints) -> list[int]:
        """Which of the rows, by their place in `rows`, the kernel leaves to others: those of blocks with a damaged
        row. There are none where `some_apart` is false."""
        return [i for i, block in enumerate(self._maker.blocks_of(rows).tolist()) if block in self._bad]

    def ids_of(self, number: int, row: int) -> bytes:
        """The bytes of a row's ids, `row` counted in its shard, as they stand in the shard."""
        shard = self._layout.shards[number]
        fd, head = self._maker.index(shard)
        try:
            places = places_of(head, fd, row, row + 1)
        finally:
            os.close(fd)
        start = int(places.at[0])
        return read_span(self._layout.root, shard, start, start + int(places.size[0]))

    def whole_head(self, number: int) -> RowIndex:
        """The head of a shard's index with its batch table. Raises VerifyError as `need`."""
        fd, head = self._maker.index(self._layout.shards[number])
        os.close(fd)
        return head

    def forget(self, row: int) -> bool:
        """Drop what the cache has of a row, so that it is fetched again: its block, and an index that is damaged."""
        block = int(self._maker.blocks_of(np.array([row]))[0])
        shard = self._maker.piece(block)[0]
        self._bad.discard(block)
        self._maker.drop(block)
        damaged = self._maker.drop_damaged_index(shard)
        for one in [b for b in self._open if b == block or (damaged and self._maker.piece(b)[0] is shard)]:
            self._close(one)
        return True

    def _opened(self, block: int) -> tuple[int, int, Ints]:
        """The files of a block, and its row of `table`; of one with a damaged row there is the index alone."""
        shard, first, _ = self._maker.piece(block)
        index_fd, head = self._maker.index(shard)
        apart = int(block in self._bad)
        try:
            fd = -1 if apart else self._maker.open(block, index_fd, head)
        except BaseException:
            os.close(index_fd)
            raise
        # The kernel takes a shard without a file for one that is not open: there the index stands for it.
        files = (index_fd if apart else fd, index_fd)
        rows_at = head.rows_at + ROW_TABLE.itemsize * first
        row = (*files, rows_at, head.sides_at, head.sides_bytes, apart, apart + 1, block)
        return fd, index_fd, np.array(row, dtype=np.int64)

    def _close(self, block: int) -> None:
        fd, index_fd, _ = self._open.pop(block)
        for one in (fd, index_fd):
            if one >= 0:
                os.close(one)

    def close(self) -> None:
        """Close all files, and fetch nothing more that nobody waits for."""
        if self.is_of_this_process():  # a lock may have been held when another was forked off
            self._fetcher.clear()
        while self._open:
            self._close(next(iter(self._open)))

    __del__ = close

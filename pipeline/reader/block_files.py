"""Rows of a dataset through the cache of blocks, as tables that a kernel reads rows by (`fetch_kernel`).

Rows are fetched, or decompressed, a block at a time: `block_rows` rows of the dataset, cut where a shard ends. AT_ONCE
threads fetch; what is waited for goes before what is wanted soon. Blocks stay open, MAX_OPEN of them at most, and their
index with each. A block that holds a damaged row is not kept: its other rows are then read one by one, each for itself.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from blake3 import blake3

from gristmill.manifests.canonical import DIGEST_PREFIX
from gristmill.manifests.errors import UsageError, VerifyError
from gristmill.manifests.remote_access import RemotePlace
from gristmill.manifests.row_index import ROW_TABLE, RowIndex
from gristmill.pipeline.reader.block_cache import HEADER, BlockCache, block_header, block_name
from gristmill.pipeline.reader.fetch_kernel import APART
from gristmill.pipeline.reader.fetcher import Fetcher
from gristmill.pipeline.reader.make_block import DamagedRowError, places_of, write_block
from gristmill.pipeline.reader.open_shards import read_head
from gristmill.pipeline.reader.shard_source import Layout, Shard, read_span

AT_ONCE = 8
MAX_OPEN = 256
"""Blocks, each with two files."""
_TRIES = 3

Ints = npt.NDArray[np.int64]
_Piece = tuple[int, int, int]
"""Shard, and the rows [first, stop) of it."""


class BlockFiles:
    """See the module."""

    def __init__(self, layout: Layout, cache: BlockCache, block_rows: int) -> None:
        self._layout, self._root, self._shards = layout, layout.root, layout.shards
        self._cache, self._block_rows = cache, block_rows
        self._pid = os.getpid()
        self.lock = threading.RLock()
        self._open: OrderedDict[int, tuple[int, int, Ints]] = OrderedDict()
        self._bad: dict[int, DamagedRowError] = {}
        self._fetcher = Fetcher(self._make, AT_ONCE)
        self.table: Ints = np.empty((0, 8), dtype=np.int64)
        self.batches: Ints = np.array([[0, HEADER.size, 0], [0, 0, APART]], dtype=np.int64)

    def is_of_this_process(self) -> bool:
        """Whether the files were opened here."""
        return self._pid == os.getpid()

    def need(self, rows: Ints) -> int:
        """Have the blocks of rows open, the first MAX_OPEN of them, and in `table`; how many rows, from the first on,
        stand in those.

        Raises VerifyError where a file is not the manifest's, StorageLostError where object storage does not answer.
        """
        blocks = self._blocks_of(rows).tolist()
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
            self._bad[block] = error

    def ahead(self, firsts: Iterable[int]) -> None:
        """Fetch the blocks of these rows when nothing else is waited for."""
        rows = np.fromiter(firsts, dtype=np.int64)
        self._fetcher.ahead(dict.fromkeys(self._blocks_of(rows).tolist()))

    def holds(self, bytes_: int) -> bool:
        """Whether the cache has room for so much."""
        return bytes_ <= self._cache.limit_bytes

    def apart(self, rows: Ints) -> list[int]:
        """Which of the rows, by their place in `rows`, the kernel leaves to others: those of blocks with a damaged
        row."""
        if not self._bad:
            return []
        return [i for i, block in enumerate(self._blocks_of(rows).tolist()) if block in self._bad]

    def ids_of(self, number: int, row: int) -> bytes:
        """The bytes of a row's ids, `row` counted in its shard, as they stand in the shard."""
        shard = self._shards[number]
        fd, head = self._index(shard)
        try:
            places = places_of(head, fd, row, row + 1)
        finally:
            os.close(fd)
        start = int(places.at[0])
        return read_span(self._root, shard, start, start + int(places.size[0]))

    def whole_head(self, number: int) -> RowIndex:
        """The head of a shard's index with its batch table. Raises VerifyError as `need`."""
        fd, head = self._index(self._shards[number])
        os.close(fd)
        return head

    def forget(self, row: int) -> bool:
        """Drop what the cache has of a row, so that it is fetched again: its block, and an index that is damaged."""
        block = int(self._blocks_of(np.array([row]))[0])
        shard, first, stop = self._piece(block)
        if block in self._open:
            self._close(block)
        self._bad.pop(block, None)
        self._cache.drop(block_name(self._shards[shard].digest32, first, stop - first))
        if isinstance(self._root, RemotePlace):
            self._drop_damaged_index(self._shards[shard])
        return True

    def _blocks_of(self, rows: Ints) -> Ints:
        """The block of each row, by its first row in the dataset."""
        first = self._layout.first[self._layout.shard_of(rows)]
        return np.maximum(rows // self._block_rows * self._block_rows, first)

    def _piece(self, block: int) -> _Piece:
        shard = int(self._layout.shard_of(block))
        before, end = self._layout.first[shard : shard + 2].tolist()
        stop = min((block // self._block_rows + 1) * self._block_rows, end)
        return shard, block - before, stop - before

    def _make(self, block: int) -> None:
        """Have a block in the cache."""
        number, first, stop = self._piece(block)
        shard = self._shards[number]
        fd, head = self._index(shard)
        try:
            size = HEADER.size + 4 * head.context * (stop - first)
            name = block_name(shard.digest32, first, stop - first)
            header = block_header(head.context, stop - first, first, shard.digest32)
            if (there := self._cache.open(name, size, header)) is not None:
                os.close(there)
                return

            def write(out: int) -> None:
                places = places_of(head, fd, first, stop)
                write_block(out, shard, head, places, lambda low, high: read_span(self._root, shard, low, high))

            self._cache.make(name, size, write)
        finally:
            os.close(fd)

    def _opened(self, block: int) -> tuple[int, int, Ints]:
        """The files of a block that is in the cache, and its row of `table`."""
        number, first, _ = self._piece(block)
        shard = self._shards[number]
        index_fd, head = self._index(shard)
        try:
            fd = -1 if block in self._bad else self._block_fd(block, shard, head)
        except BaseException:
            os.close(index_fd)
            raise
        batch = int(block in self._bad)
        rows_at = head.rows_at + ROW_TABLE.itemsize * first
        # The kernel takes a shard without a file for one that is not open: one whose ids are apart has its index.
        row = (index_fd if fd < 0 else fd, index_fd, rows_at, head.sides_at, head.sides_bytes, batch, batch + 1, block)
        return fd, index_fd, np.array(row, dtype=np.int64)

    def _block_fd(self, block: int, shard: Shard, head: RowIndex) -> int:
        _, first, stop = self._piece(block)
        size = HEADER.size + 4 * head.context * (stop - first)
        header = block_header(head.context, stop - first, first, shard.digest32)
        for _ in range(_TRIES):
            fd = self._cache.open(block_name(shard.digest32, first, stop - first), size, header)
            if fd is not None:
                return fd
            self._make(block)  # it was removed before it was opened
        raise self._too_small()

    def _index(self, shard: Shard) -> tuple[int, RowIndex]:
        """A descriptor of a shard's index, and its head; a damaged one of a remote shard is fetched again, once."""
        fd = self._index_fd(shard)
        try:
            return fd, read_head(shard, fd, self._layout.context)
        except VerifyError:
            os.close(fd)
            if not isinstance(self._root, RemotePlace):
                raise
            self._drop_damaged_index(shard)
        fd = self._index_fd(shard)
        try:
            return fd, read_head(shard, fd, self._layout.context)
        except VerifyError:
            os.close(fd)
            raise

    def _index_fd(self, shard: Shard) -> int:
        """Of the file itself, or of a remote one in the cache, which is there when it is whole and of its digest."""
        if not isinstance(self._root, RemotePlace):
            return os.open(shard.index, os.O_RDONLY | os.O_CLOEXEC)
        from gristmill.manifests.remote import fetch

        name = _index_name(shard)
        for _ in range(_TRIES):
            fd = self._cache.open(name, shard.index_bytes)
            if fd is not None:
                return fd
            self._cache.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self._cache.folder / name
            fetch(self._root, shard.index.as_posix(), path, shard.index_bytes, shard.index_digest)
            self._cache.wrote(shard.index_bytes)
        raise self._too_small()

    def _too_small(self) -> UsageError:
        remedy = "give it more room (cache_bytes)"
        return UsageError("the reader's cache is too small", str(self._cache.folder), self._cache.limit_bytes, remedy)

    def _drop_damaged_index(self, shard: Shard) -> None:
        fd = self._cache.open(_index_name(shard), shard.index_bytes)
        if fd is None:
            return
        with os.fdopen(fd, "rb") as file:
            digest = DIGEST_PREFIX + blake3(file.read()).hexdigest()
        if digest != shard.index_digest:
            self._cache.drop(_index_name(shard))
            for block in [b for b in self._open if self._shards[self._piece(b)[0]] is shard]:
                self._close(block)

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

    def __del__(self) -> None:
        self.close()


def _index_name(shard: Shard) -> str:
    return f"{shard.index_digest.removeprefix(DIGEST_PREFIX)}.idx"

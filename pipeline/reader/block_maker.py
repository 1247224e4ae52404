"""The blocks of a dataset, and the indexes of its shards, as files of the cache: made when they are first asked for.

A block is `block_rows` rows of the dataset, cut where a shard ends; it is named by its first row in the dataset. An
index of a folder is the file itself; one in object storage is fetched whole, and must be of the manifest's digest.
"""

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from blake3 import blake3

from gristmill.manifests.canonical import DIGEST_PREFIX
from gristmill.manifests.errors import VerifyError
from gristmill.manifests.remote_access import RemotePlace
from gristmill.manifests.row_index import RowIndex
from gristmill.pipeline.reader.block_cache import HEADER, BlockCache, block_header, block_name
from gristmill.pipeline.reader.make_block import places_of, write_block
from gristmill.pipeline.reader.open_shards import read_head
from gristmill.pipeline.reader.shard_source import Layout, Shard, open_file, read_span

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class BlockMaker:
    """See the module."""

    layout: Layout
    cache: BlockCache
    block_rows: int

    def blocks_of(self, rows: Ints) -> Ints:
        """The block of each row."""
        first = self.layout.first[self.layout.shard_of(rows)]
        return np.maximum(rows // self.block_rows * self.block_rows, first)

    def piece(self, block: int) -> tuple[Shard, int, int]:
        """The shard of a block, and the rows [first, stop) of it."""
        number = int(self.layout.shard_of(block))
        before, end = self.layout.first[number : number + 2].tolist()
        stop = min((block // self.block_rows + 1) * self.block_rows, end)
        return self.layout.shards[number], block - before, stop - before

    def make(self, block: int) -> None:
        """Have a block in the cache."""
        fd, head = self.index(self.piece(block)[0])
        try:
            os.close(self.open(block, fd, head))
        finally:
            os.close(fd)

    def open(self, block: int, index_fd: int, head: RowIndex) -> int:
        """A descriptor of a block. Raises DamagedRowError where a row of it is not what was written."""
        shard, first, stop = self.piece(block)
        size = HEADER.size + 4 * head.context * (stop - first)
        header = block_header(head.context, stop - first, first, shard.digest32)

        def write(out: int) -> None:
            places = places_of(head, index_fd, first, stop)
            write_block(out, shard, head, places, lambda low, high: read_span(self.layout.root, shard, low, high))

        return self.cache.get(block_name(shard.digest32, first, stop - first), size, header, write)

    def index(self, shard: Shard) -> tuple[int, RowIndex]:
        """A descriptor of a shard's index, and its head; a damaged one of the cache is fetched again, once."""
        try:
            return self._index(shard)
        except VerifyError:
            if not self.drop_damaged_index(shard):
                raise
        return self._index(shard)

    def _index(self, shard: Shard) -> tuple[int, RowIndex]:
        fd = self._index_fd(shard)
        try:
            return fd, read_head(shard, fd, self.layout.context)
        except BaseException:
            os.close(fd)
            raise

    def _index_fd(self, shard: Shard) -> int:
        place = self.layout.root
        if not isinstance(place, RemotePlace):
            return open_file(shard.index)
        return self.cache.get(_index_name(shard), shard.index_bytes, b"", lambda fd: _fetch_index(place, shard, fd))

    def drop(self, block: int) -> None:
        """Drop a block from the cache."""
        shard, first, stop = self.piece(block)
        self.cache.drop(block_name(shard.digest32, first, stop - first))

    def drop_damaged_index(self, shard: Shard) -> bool:
        """Drop an index from the cache where it is not of its digest; whether it was not."""
        if not isinstance(self.layout.root, RemotePlace):
            return False
        fd = self.cache.open(_index_name(shard), shard.index_bytes)
        if fd is None:
            return True
        with os.fdopen(fd, "rb") as file:
            digest = DIGEST_PREFIX + blake3(file.read()).hexdigest()
        if digest == shard.index_digest:
            return False
        self.cache.drop(_index_name(shard))
        return True


def _index_name(shard: Shard) -> str:
    return f"{shard.index_digest.removeprefix(DIGEST_PREFIX)}.idx"


def _fetch_index(place: RemotePlace, shard: Shard, fd: int) -> None:
    from gristmill.manifests.remote import damaged, read_whole

    hasher, name = blake3(), shard.index.as_posix()
    for data in read_whole(place, name, shard.index_bytes):
        hasher.update(data)
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
    if DIGEST_PREFIX + hasher.hexdigest() != shard.index_digest:
        raise damaged(place, name, "its bytes do not have the digest of the manifest")

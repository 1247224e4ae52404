"""The bytes of media by their sha256: one `pread` from a media shard, each held against its hash.

The manifest says with which sha256 each shard begins, so the shard of a medium is known without opening one. A shard
is opened, and its index read, when a medium of it is first asked for; MAX_OPEN at most are open, with one descriptor
each. A process that was forked off opens its own. Runs that ask for no medium open nothing.
"""

import os
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import xxhash

from gristmill.manifests.errors import UsageError, VerifyError
from gristmill.manifests.media_index import MediaIndex
from gristmill.pipeline.reader.media_files import LocalFile, MediaFile, open_media, read_index
from gristmill.pipeline.reader.shard_source import Root, check_inside, shown

MAX_OPEN = 256
"""Shards, some 64 GiB of media; the index of each takes 150 KB of memory."""


class CorruptMediumError(VerifyError):
    """A medium is not what was written, or is not there."""


@dataclass(frozen=True)
class MediaShard:
    """A media shard and its index, by the manifest: names below the dataset's root, and bytes."""

    path: str
    index: str
    digest: str
    media: int
    first: bytes
    bytes: int
    index_bytes: int


def media_shards(root: Root, manifest: Mapping[str, Any]) -> list[MediaShard]:
    """Those of a dataset, in order. Raises UsageError where they have no indexes, VerifyError where a path leaves the
    root."""
    shards, indexes = manifest["media_shards"], manifest.get("media_indexes", [])
    if len(shards) != len(indexes):
        raise UsageError("its media shards have no indexes", shown(root, ""), None, "run its recipe again")
    check_inside(root, (entry["path"] for entry in (*shards, *indexes)))
    try:
        return [
            MediaShard(
                *(s["path"], i["path"], s["digest"], s["rows"], bytes.fromhex(s["extra"]["first"])),
                *(s["bytes"], i["bytes"]),
            )
            for s, i in zip(shards, indexes, strict=True)
        ]
    except (KeyError, TypeError, ValueError) as error:
        where, remedy = shown(root, "manifest.json"), "see `gristmill verify`; do not use the dataset"
        raise VerifyError("a media shard without the sha256 it begins with", where, error, remedy) from None


class MediaStore:
    """See the module."""

    def __init__(self, root: Root, shards: Sequence[MediaShard]) -> None:
        self._root, self._shards = root, shards
        self._first = [shard.first for shard in shards]
        self._names = [shown(root, shard.path) for shard in shards]
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._open: OrderedDict[int, tuple[MediaFile, MediaIndex]] = OrderedDict()

    def is_of_this_process(self) -> bool:
        """Whether the files were opened here."""
        return self._pid == os.getpid()

    def read(self, sha: bytes, verify: bool = False) -> bytes:
        """The bytes of a medium, held against xxh3, with `verify` against its sha256, too. Raises CorruptMediumError,
        naming file and medium, where they are not what was written."""
        file, where, (at, size, hashed) = self._found(sha)
        data = file.read(size, at)
        if len(data) != size:
            raise _corrupt(where, sha, "it, or its index, is cut short")
        if xxhash.xxh3_64_intdigest(data) != hashed:
            raise _corrupt(where, sha, "its bytes are not what they hash to")
        if verify and sha256(data).digest() != sha:
            raise _corrupt(where, sha, "its bytes do not have its sha256")
        return data

    def place(self, sha: bytes) -> tuple[int, int, int]:
        """Descriptor, length and offset of a medium of a folder, as `os.pread` takes them; the descriptor is the
        store's. Raises UsageError for object storage."""
        file, where, (at, size, _) = self._found(sha)
        if not isinstance(file, LocalFile):
            raise UsageError("media of object storage have no descriptor", where, sha.hex(), "use read()")
        return file.fd, size, at

    def _found(self, sha: bytes) -> tuple[MediaFile, str, tuple[int, int, int]]:
        number = bisect_right(self._first, sha) - 1
        if number < 0:
            raise _corrupt("the media shards", sha, "is in none of them")
        file, index = self._opened(number)
        where = self._names[number]
        found = index.find(sha)
        if found is None:
            raise _corrupt(where, sha, "is not in it")
        return file, where, found

    def _opened(self, number: int) -> tuple[MediaFile, MediaIndex]:
        with self._lock:
            found = self._open.get(number)
            if found is None:
                found = self._open[number] = self._made(number)
            self._open.move_to_end(number)
            while len(self._open) > MAX_OPEN:
                self._open.popitem(last=False)
            return found

    def _made(self, number: int) -> tuple[MediaFile, MediaIndex]:
        shard = self._shards[number]
        where = shown(self._root, shard.index)
        index = MediaIndex.parse(read_index(self._root, shard.index, shard.index_bytes), where)
        if index.shard_digest.hex() != shard.digest.rpartition(":")[2][:32] or len(index.entries) != shard.media:
            raise VerifyError("an index of another shard", where, None, "see `gristmill verify`")
        return open_media(self._root, shard.path, shard.bytes), index


def _corrupt(where: str, sha: bytes, how: str) -> CorruptMediumError:
    return CorruptMediumError(f"a medium is damaged: {how}", where, sha.hex(), "see `gristmill verify`")

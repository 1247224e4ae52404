"""Where the bytes of media shards come from: files of a folder, or objects of a place in object storage.

A file is one descriptor and one `pread` a medium; an object one ranged GET, that goes on where its connection broke
off. Media of object storage are not kept on disk: each comes once an epoch, and rows do not say which is asked for.
"""

import os
from pathlib import Path
from typing import Protocol

from gristmill.manifests.remote_access import RemotePlace
from gristmill.pipeline.reader.shard_source import Root, open_file, read_object


class MediaFile(Protocol):
    """An open media shard."""

    def read(self, size: int, at: int) -> bytes:
        """`size` bytes from offset `at`, fewer where it ends before. VerifyError where it is gone, or changed."""
        ...


class LocalFile:
    """A file, closed when nobody reads it any more: threads may, while the store lets it go."""

    def __init__(self, path: Path) -> None:
        self.fd = open_file(path)

    def __del__(self) -> None:
        if hasattr(self, "fd"):
            os.close(self.fd)

    def read(self, size: int, at: int) -> bytes:
        """See MediaFile."""
        data = os.pread(self.fd, size, at)
        return data if len(data) == size else _rest(self.fd, data, size, at)


class RemoteFile:
    """An object of `size` bytes."""

    def __init__(self, place: RemotePlace, name: str, size: int) -> None:
        self._place, self._name, self._size = place, name, size

    def read(self, size: int, at: int) -> bytes:
        """See MediaFile. Raises StorageLostError where the storage does not answer."""
        return read_object(self._place, self._name, at, at + size, self._size)


def open_media(root: Root, path: str, size: int) -> MediaFile:
    """A media shard of `size` bytes below a dataset's root."""
    return LocalFile(root / path) if isinstance(root, Path) else RemoteFile(root, path, size)


def read_index(root: Root, path: str, size: int) -> bytes:
    """All of an index below a dataset's root."""
    if not isinstance(root, Path):
        return RemoteFile(root, path, size).read(size, 0)
    with os.fdopen(open_file(root / path), "rb") as file:
        return file.read()


def _rest(fd: int, data: bytes, size: int, at: int) -> bytes:
    """What one call left: Linux hands out 2 GiB at most."""
    parts = [data]
    done = len(data)
    while done < size and (part := os.pread(fd, size - done, at + done)):
        parts.append(part)
        done += len(part)
    return b"".join(parts)

"""An object in object storage as a seekable binary file, for readers of inputs.

It is read in blocks of 8 MiB, a request each, whatever the reader asks for: one that asks for its lines or its pages
alone costs no more requests. What is read is always one object: a request for another version is a ChangedError.
"""

import io

from gristmill.manifests.errors import InputError
from gristmill.manifests.remote import BLOCK_BYTES, Found, head, read_range
from gristmill.manifests.remote_access import RemotePlace, place_of


class RemoteFile(io.RawIOBase):
    """See the module. One HEAD when it is opened. Raises InputError when there is no such object."""

    def __init__(self, url: str) -> None:
        whole = place_of(url)
        self._place, self._name = RemotePlace(whole.bucket, ""), whole.prefix
        found = head(self._place, self._name)
        if found is None:
            raise InputError("no such object", whole.url, None, "check that it exists and may be read")
        self._found: Found = found
        self._at = 0
        self._block = (0, b"")

    @property
    def stamp(self) -> str:
        """What says that the object is still the same."""
        return self._found.etag

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """The offset of the next byte."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go elsewhere; costs nothing before something is read."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._found.size}[whence]
        if base + offset < 0:
            raise ValueError("a place before the beginning")
        self._at = base + offset
        return self._at

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        """The next bytes, 0 at the end."""
        view = memoryview(buffer).cast("B")
        start, block = self._block
        if not start <= self._at < start + len(block):
            stop = min(self._at + BLOCK_BYTES, self._found.size)
            if self._at >= stop or not len(view):
                return 0
            start, block = self._at, read_range(self._place, self._name, self._at, stop, self._found)
            self._block = (start, block)
        piece = block[self._at - start : self._at - start + len(view)]
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


def open_remote(url: str) -> io.BufferedReader:
    """The object as a file. Raises InputError when it cannot be opened."""
    return io.BufferedReader(RemoteFile(url), 1 << 20)


def stamp_now(url: str) -> tuple[int, str] | None:
    """Size and entity tag of an object now; None when it is gone."""
    whole = place_of(url)
    found = head(RemotePlace(whole.bucket, ""), whole.prefix)
    return None if found is None else (found.size, found.etag)

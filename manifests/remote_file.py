"""An object in object storage as a seekable binary file, for readers of inputs.

It is read in aligned blocks of 8 MiB, a request each, whatever the reader asks for, and the last four stay: one that
asks for lines or pages of few bytes, or goes to the end and back, costs no more requests. What is read is always one
object: a request for another version is a ChangedError. A failure is raised again when the file is closed: decoders
between it and a reader take any error for a damaged file.
"""

import io
from collections import OrderedDict

from gristmill.manifests.errors import GristmillError, InputError
from gristmill.manifests.remote import BLOCK_BYTES, Found, head, read_range
from gristmill.manifests.remote_access import RemotePlace, place_of

_BLOCKS_KEPT = 4


def gone(place: RemotePlace, name: str) -> InputError:
    """The error for an input that is not there."""
    return InputError("no such object", place.shown(name), None, "check that it exists and may be read")


class RemoteFile(io.RawIOBase):
    """See the module. One HEAD when it is opened. Raises InputError when there is no such object."""

    def __init__(self, url: str) -> None:
        whole = place_of(url)
        self._place, self._name = RemotePlace(whole.bucket, ""), whole.prefix
        found = head(self._place, self._name)
        if found is None:
            raise gone(self._place, self._name)
        self._found: Found = found
        self._at = 0
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        self._failed: GristmillError | None = None

    @property
    def etag(self) -> str:
        """What says that the object is still the same."""
        return self._found.etag

    def close(self) -> None:
        """Raises what reading failed at, if it did."""
        super().close()
        if self._failed is not None:
            raise self._failed

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
        if self._at >= self._found.size or not len(view):
            return 0
        number, inside = divmod(self._at, BLOCK_BYTES)
        piece = memoryview(self._block(number))[inside : inside + len(view)]
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def _block(self, number: int) -> bytes:
        if number not in self._blocks:
            self._blocks[number] = self._read(number * BLOCK_BYTES)
            if len(self._blocks) > _BLOCKS_KEPT:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end(number)
        return self._blocks[number]

    def _read(self, start: int) -> bytes:
        if self._failed is not None:
            raise self._failed
        try:
            stop = min(start + BLOCK_BYTES, self._found.size)
            return read_range(self._place, self._name, start, stop, self._found)
        except FileNotFoundError:
            self._failed = gone(self._place, self._name)
        except GristmillError as error:
            self._failed = error
        raise self._failed


def open_remote(url: str) -> io.BufferedReader:
    """The object as a file. Raises InputError when it cannot be opened."""
    return io.BufferedReader(RemoteFile(url), 1 << 20)


def etag_now(url: str) -> str | None:
    """The entity tag of an object now; None when it is gone."""
    whole = place_of(url)
    found = head(RemotePlace(whole.bucket, ""), whole.prefix)
    return None if found is None else found.etag

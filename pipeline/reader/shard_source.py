"""Where the bytes of a dataset's shards come from: files of a folder, or objects of a place in object storage.

A dataset's root is a Path or a RemotePlace; a shard names its files below it. From object storage a span is one ranged
GET, that goes on where its connection broke off (`manifests.remote`); nothing is listed.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.manifests.errors import UsageError, VerifyError
from gristmill.manifests.ipc_zstd import codec_said
from gristmill.manifests.remote_access import RemotePlace
from gristmill.manifests.row_index import CODECS
from gristmill.manifests.verify_files import is_inside

Root = Path | RemotePlace


@dataclass(frozen=True)
class Shard:
    """A shard and its index, by the manifest. `path` and `index` are whole paths, or names below a remote root."""

    path: Path
    index: Path
    digest: str
    rows: int
    bytes: int
    index_digest: str
    index_bytes: int
    codec: str

    @property
    def digest32(self) -> str:
        """The first 16 bytes of its digest in hex, as the index has them."""
        return self.digest.rpartition(":")[2][:32]


@dataclass(frozen=True)
class Layout:
    """The shards of a dataset below its root. `first`: int64[shards + 1], the rows before each and of all; rows of
    `context` tokens."""

    root: Root
    shards: Sequence[Shard]
    first: npt.NDArray[np.int64]
    context: int

    def shard_of(self, rows: Any) -> Any:
        """The number of the shard that each row stands in."""
        return np.searchsorted(self.first, rows, side="right") - 1


def shard_of(root: Root, entry: Mapping[str, Any], index: Mapping[str, Any]) -> Shard:
    """Of a manifest's entries. Raises UsageError where this version does not know the codec, VerifyError where a path
    leaves the root."""
    codec = codec_said(entry.get("extra", {}))
    if codec not in CODECS:
        raise UsageError(
            "shards of an unknown codec", shown(root, entry["path"]), codec, "read it with a later version"
        )
    check_inside(root, (entry["path"], index["path"]))
    base = root if isinstance(root, Path) else Path()
    files = (base / entry["path"], base / index["path"])
    return Shard(*files, entry["digest"], entry["rows"], entry["bytes"], index["digest"], index["bytes"], codec)


def check_inside(root: Root, paths: Iterable[str]) -> None:
    """Raises VerifyError where a path of a dataset's manifest leaves the root."""
    for path in paths:
        if not is_inside(path):
            remedy = "this manifest was tampered with: do not use the dataset"
            where = shown(root, "manifest.json")
            raise VerifyError("a path that leaves the folder of its manifest", where, path, remedy)


def shown(root: Root, path: str | Path) -> str:
    """A file below the root, as errors name it."""
    return root.shown(str(path)) if isinstance(root, RemotePlace) else str(root / path)


def read_span(root: Root, shard: Shard, start: int, stop: int) -> bytes:
    """The bytes [start, stop) of a shard's file. Raises VerifyError where it is gone or not as long as it was written,
    StorageLostError where object storage does not answer."""
    if isinstance(root, RemotePlace):
        return read_object(root, shard.path.as_posix(), start, stop, shard.bytes)
    try:
        with open(shard.path, "rb") as file:
            file.seek(start)
            return file.read(stop - start)
    except OSError as error:
        raise _not_opened(shard.path, error) from None


def open_file(path: str | Path) -> int:
    """A descriptor to read by. Raises VerifyError where it is gone, or cannot be opened."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _not_opened(path, error) from None


def _not_opened(path: str | Path, error: OSError) -> VerifyError:
    remedy = "see `gristmill verify`"
    return VerifyError("a file of the dataset cannot be opened", str(path), error.strerror, remedy)


def read_object(place: RemotePlace, name: str, start: int, stop: int, size: int) -> bytes:
    """The bytes [start, stop) of an object of `size` bytes, as far as it has them. Raises as `read_span`."""
    from gristmill.manifests.remote import ChangedError, Found, absent, damaged, read_range

    try:
        return read_range(place, name, start, min(stop, size), Found(place.key(name), size, "", 0.0))
    except FileNotFoundError:
        raise absent(place, name) from None
    except ChangedError:
        raise damaged(place, name, f"it has not the {size} bytes that were written") from None

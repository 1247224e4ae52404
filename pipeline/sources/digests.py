"""Digests of input files, and a cache of them by the file's stamp, so that a second plan is quick.

A digest is "blake3:<64 hex digits>" of the file's bytes. The cache is one JSON file
`{"format": 1, "digests": {url: [bytes, stamp, digest]}}`; a stamp is modification time (ns) and inode of a local file,
entity tag or the like of a remote one. An entry whose size or stamp differs is not used.
"""

import json
import os
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from blake3 import blake3

_FORMAT = 1
_READ_BYTES = 1 << 20
# Mapping a file and starting threads costs more than reading it, below this size.
_MMAP_BYTES = 1 << 20
# A file that was changed again within the clock tick of its stamp would go unnoticed: such are not cached.
_SETTLED_NS = 2_000_000_000

Entry = tuple[int, str, str]


class DigestCache:
    """Digests by url, size and stamp. `now_ns` stands for the clock in tests."""

    def __init__(self, entries: dict[str, Entry] | None = None, now_ns: int | None = None) -> None:
        self.entries = entries or {}
        self.changed = False
        self._now_ns = time.time_ns() if now_ns is None else now_ns

    def get(self, url: str, size: int, stamp: str | None) -> str | None:
        """The digest of a file that is unchanged since it was put, else None."""
        entry = self.entries.get(url)
        return entry[2] if entry and stamp is not None and entry[:2] == (size, stamp) else None

    def put(self, url: str, size: int, stamp: str | None, digest: str) -> None:
        """Keeps the digest of a file that has a stamp which is safely in the past."""
        mtime_ns = (stamp or "").partition("-")[0]
        fresh = mtime_ns.isdecimal() and self._now_ns - int(mtime_ns) < _SETTLED_NS
        if stamp is not None and not fresh:
            self.entries[url] = (size, stamp, digest)
            self.changed = True


@contextmanager
def cached_digests(path: Path | None) -> Generator[DigestCache]:
    """The cache in the file `path` (None: in memory only), written back at the end if it changed.

    A cache file that cannot be understood is made anew.
    """
    cache = DigestCache(_load(path) if path else None)
    yield cache
    if path and cache.changed:
        _save(path, cache.entries)


def digest_local(path: str) -> str:
    """Digest of a local file; large ones are mapped and hashed by several threads."""
    hasher = blake3(max_threads=blake3.AUTO)
    if os.path.getsize(path) >= _MMAP_BYTES:
        hasher.update_mmap(path)
    else:
        with open(path, "rb", buffering=0) as stream:
            hasher.update(stream.readall())
    return f"blake3:{hasher.hexdigest()}"


def digest_stream(stream: BinaryIO) -> str:
    """Digest of all bytes from where `stream` stands."""
    hasher = blake3()
    while data := stream.read(_READ_BYTES):
        hasher.update(data)
    return f"blake3:{hasher.hexdigest()}"


def _load(path: Path) -> dict[str, Entry]:
    try:
        stored = json.loads(path.read_bytes())
        if stored["format"] != _FORMAT:
            return {}
        return {str(k): (int(size), str(stamp), str(d)) for k, (size, stamp, d) in stored["digests"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _save(path: Path, entries: dict[str, Entry]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=path.name, delete=False) as stream:
        json.dump({"format": _FORMAT, "digests": entries}, stream)
    os.replace(stream.name, path)

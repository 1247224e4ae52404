"""Blocks of rows on the disk of this machine, shared by all its processes: ids as they are read, of compressed shards
and of shards in object storage.

`<shard's digest, 32 hex digits>-<first row>-<rows>.rows`: HEADER (magic "GMBLOCK1", u32 context, u32 rows, u64 first
row in the shard, 16 bytes of the shard's digest, zeros to 64 bytes), then uint32[rows, context], little endian. Names
are of content, so datasets share what they have in common. `<digest>.idx` are indexes of shards as they were written.

A file has its name when it is whole: it is written as `<name>.part` under an exclusive `flock`, synced, and renamed.
The lock of a process that was killed is gone with it, and the next one begins anew in the same file. Readers hold a
shared lock on what they have open; beyond `limit_bytes` the files that were opened longest ago go, and never one that
is locked. The folder may be removed at any time.
"""

import fcntl
import os
import struct
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gristmill.manifests.errors import UsageError
from gristmill.manifests.user_cache import user_cache

LIMIT_BYTES = 16 << 30
ENVIRONMENT = "GRISTMILL_CACHE"
HEADER = struct.Struct("<8sIIQ16s24x")
_MAGIC = b"GMBLOCK1"
_PART = ".part"
_WAIT_S = 120.0
"""So long another process is waited for that makes the same file; it may be stopped, not dead."""
_LOOKS_PER_LIMIT = 64
"""The folder is looked through whenever this share of the limit was written, so a process goes beyond it by that."""


def default_folder() -> Path:
    """`$GRISTMILL_CACHE`, by default `reader` in the user's cache. Not made."""
    given = os.environ.get(ENVIRONMENT)
    return Path(given) if given else user_cache() / "reader"


@dataclass
class BlockCache:
    """A folder of blocks; see the module."""

    folder: Path
    limit_bytes: int = LIMIT_BYTES
    _unseen: int | None = field(default=None, repr=False)
    """Bytes written since the folder was looked through; None: it never was."""

    def open(self, name: str, size: int, head: bytes = b"") -> int | None:
        """A descriptor of a file that is whole, of this size and with this head, held against removal; None where there
        is none. One of another size or head is removed."""
        path = self.folder / name
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        with suppress(BlockingIOError):  # whoever is about to remove it does so; what is open stays readable
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if os.fstat(fd).st_size != size or os.pread(fd, len(head), 0) != head:
            os.close(fd)
            self.drop(name)
            return None
        with suppress(OSError):
            os.utime(fd)
        return fd

    def drop(self, name: str) -> None:
        """Remove a file."""
        (self.folder / name).unlink(missing_ok=True)

    def get(self, name: str, size: int, head: bytes, write: Callable[[int], None]) -> int:
        """A descriptor of a file as `open` gives it; `write` fills it through a descriptor where no process has made it
        meanwhile.

        Raises UsageError where the folder cannot be written, and what `write` raises.
        """
        while True:
            fd = self.open(name, size, head)
            if fd is not None:
                return fd
            try:
                fd = self._made(name, size, write)
            except OSError as error:
                remedy = f"give another folder (cache_dir, ${ENVIRONMENT}), or more room"
                what = "the reader's cache cannot be written"
                raise UsageError(what, str(self.folder), error.strerror, remedy) from None
            if fd is not None:
                self._wrote(size)
                return fd

    def _made(self, name: str, size: int, write: Callable[[int], None]) -> int | None:
        """None where another process has made it."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd, path = self._claim(name)
        try:
            if self._is_there(name, size):
                path.unlink()
                os.close(fd)
                return None
            os.ftruncate(fd, 0)
            write(fd)
            os.fdatasync(fd)
            os.replace(path, self.folder / name)
            fcntl.flock(fd, fcntl.LOCK_SH)
        except BaseException:
            if _stands(path, fd):
                path.unlink()
            os.close(fd)
            raise
        return fd

    def _claim(self, name: str) -> tuple[int, Path]:
        """The part file of a name, locked, and its path; one of our own where another process holds that for long."""
        path, until = self.folder / (name + _PART), time.monotonic() + _WAIT_S
        while True:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if _locked(path, fd, until):
                return fd, path
            os.close(fd)
            if time.monotonic() > until:
                path = path.with_name(f"{name}.{uuid.uuid4().hex}{_PART}")

    def _is_there(self, name: str, size: int) -> bool:
        try:
            return (self.folder / name).stat().st_size == size
        except FileNotFoundError:
            return False

    def _wrote(self, size: int) -> None:
        """Count what was written, and look through the folder now and then."""
        self._unseen = None if self._unseen is None else self._unseen + size
        if self._unseen is None or self._unseen > self.limit_bytes // _LOOKS_PER_LIMIT:
            self._unseen = 0
            self.trim()

    def trim(self) -> None:
        """Remove what was used longest ago beyond the limit, and what killed processes left; never what is in use."""
        found: list[tuple[float, int, str]] = []
        for entry in os.scandir(self.folder):
            with suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                if entry.name.endswith(_PART):
                    _remove_unused(entry.path)
                else:
                    found.append((status.st_mtime, status.st_size, entry.path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self.limit_bytes:
                return
            if _remove_unused(path):
                total -= size


def block_header(context: int, rows: int, first: int, digest32: str) -> bytes:
    """The head of a block."""
    return HEADER.pack(_MAGIC, context, rows, first, bytes.fromhex(digest32))


def block_name(digest32: str, first: int, rows: int) -> str:
    """The name of a block; `first` counts in its shard."""
    return f"{digest32}-{first}-{rows}.rows"


def _locked(path: Path, fd: int, until: float) -> bool:
    """Whether a part file could be locked before that time, and is still the one of its name: who held it may have
    finished it, and keeps it locked under its final name."""
    while _stands(path, fd):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return _stands(path, fd)
        except BlockingIOError:
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
    return False


def _stands(path: Path, fd: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(fd))
    except FileNotFoundError:
        return False


def _remove_unused(path: str) -> bool:
    """Remove a file that no process has locked; whether it was."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
        return True
    except (BlockingIOError, FileNotFoundError):
        return False
    finally:
        os.close(fd)

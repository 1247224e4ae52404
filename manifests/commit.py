"""How files become visible: all or nothing, whoever is killed when (design section 7).

A piece of work has a key (32 hex digits over its canonical description) and one folder, `objects/<key>/`:

* a file is written under a unique temporary name, fsynced, hashed while it is written, and then linked
  exclusively under `<stem>.<first 8 hex digits of its digest>.<suffix>`: a rewrite can never overwrite;
* `receipt.json`, which names the files with rows, bytes and digest, is made last in the same way. Work
  without a receipt does not exist; readers open only what a receipt or a manifest names.

Two attempts at the same key must agree: the loser compares receipts and raises VerifyError when the stage
turns out not to be deterministic (attempts that met other external effects may differ: `effects`). Temporary
files of killed attempts are harmless and swept by age.
"""

import contextlib
import errno
import os
import shutil
import time
import uuid
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Self

from blake3 import blake3

from gristmill.manifests.canonical import DIGEST_PREFIX, VOLATILE, canonical_json, sealed
from gristmill.manifests.effects import differ_by_effects
from gristmill.manifests.errors import VerifyError, attempts_differ
from gristmill.manifests.receipt import RECEIPT, FileEntry, Receipt, read_receipt

OBJECTS = "objects"
TMP_PREFIX = ".tmp-"
DIGEST_CHARS_IN_NAME = 8
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EXDEV, errno.EMLINK)


class HashingFile:
    """A binary file opened exclusively for writing that hashes and counts what passes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] = open(path, "xb")  # noqa: SIM115
        self._hasher = blake3()
        self.bytes = 0

    def write(self, data: bytes | memoryview) -> int:
        """Append."""
        view = memoryview(data).cast("B")
        self._hasher.update(view)
        self.bytes += len(view)
        with self._named_errors():
            return self._file.write(view)

    def tell(self) -> int:
        """Bytes written so far."""
        return self.bytes

    @contextlib.contextmanager
    def _named_errors(self) -> Generator[None]:
        """A disk that is full is told by its folder: writing does not name the file as opening does."""
        try:
            yield
        except OSError as error:
            error.filename = error.filename or str(self._path.parent)
            raise

    def flush(self) -> None:
        """Pass buffered bytes to the operating system."""
        with self._named_errors():
            self._file.flush()

    def finish(self) -> str:
        """Flush to the disk, close, and return the digest."""
        with self._named_errors():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        return DIGEST_PREFIX + self._hasher.hexdigest()

    def close(self) -> None:
        """Close without promise (an abandoned attempt): what a full disk does not take is not wanted."""
        with contextlib.suppress(OSError):
            self._file.close()

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        return self._file.closed

    def readable(self) -> bool:
        """Never."""
        return False

    def writable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Never: the hash follows the order of writing."""
        return False


def fsync_dir(path: Path) -> None:
    """Make names inside a folder durable."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def link_exclusively(source: Path, target: Path) -> bool:
    """Give `source` the further name `target`; False when that name is taken. Both on one file system.

    Where hard links are refused (some network mounts) a copy is renamed after claiming the name.
    """
    try:
        os.link(source, target)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return _copy_exclusively(source, target)
    return True


def _copy_exclusively(source: Path, target: Path) -> bool:
    if target.exists():
        return False
    copy = target.with_name(f"{TMP_PREFIX}{uuid.uuid4().hex}")
    try:
        shutil.copyfile(source, copy)
        with copy.open("rb") as file:
            os.fsync(file.fileno())
        os.close(os.open(target, os.O_CREAT | os.O_EXCL))
        os.replace(copy, target)
    except FileExistsError:
        return False
    finally:
        copy.unlink(missing_ok=True)
    return True


def sweep_leftovers(root: Path, older_than_s: float) -> int:
    """Remove temporary files of killed attempts that nobody has written to for that long; how many."""
    removed = 0
    oldest = time.time() - older_than_s
    for folder in (root, root / OBJECTS, *_folders(root / OBJECTS)):
        for entry in os.scandir(folder) if folder.is_dir() else ():
            if entry.name.startswith(TMP_PREFIX) and entry.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(entry.path)
                removed += 1
    return removed


def _folders(root: Path) -> list[Path]:
    return [Path(e.path) for e in os.scandir(root) if e.is_dir()] if root.is_dir() else []


def replace_file(path: Path, data: bytes) -> None:
    """Write a small mutable file (a manifest, the run's index) so that a reader sees the old or the new one."""
    tmp = path.parent / f"{TMP_PREFIX}{uuid.uuid4().hex}"
    file = HashingFile(tmp)
    try:
        file.write(data)
        file.finish()
        os.replace(tmp, path)
    finally:
        file.close()
        tmp.unlink(missing_ok=True)
    fsync_dir(path.parent)


class ObjectWriter:
    """One attempt at one key: collects files, then commits them with a receipt."""

    def __init__(self, folder: Path, key: str, what: Mapping[str, Any]) -> None:
        self.folder = folder
        self.key = key
        self.what = what
        self.files: list[FileEntry] = []
        self._open: dict[int, tuple[HashingFile, Path]] = {}
        self._started_s = time.time()
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        if failed is not None:
            self.abandon()

    def create(self) -> HashingFile:
        """A new temporary file of this attempt; give it to `add` when it is complete."""
        tmp = self.folder / f"{TMP_PREFIX}{uuid.uuid4().hex}"
        file = HashingFile(tmp)
        self._open[id(file)] = (file, tmp)
        return file

    def add(self, file: HashingFile, role: str, name: str, rows: int, extra: Mapping[str, Any] | None = None) -> None:
        """Give a complete file its final name `stem.digest8.suffix`; `name` is `stem.suffix`."""
        digest = file.finish()
        _, tmp = self._open.pop(id(file))
        stem, _, suffix = name.partition(".")
        shown = digest.removeprefix(DIGEST_PREFIX)[:DIGEST_CHARS_IN_NAME]
        path = f"{stem}.{shown}.{suffix}"
        if not link_exclusively(tmp, self.folder / path) and not _same_bytes(tmp, self.folder / path):
            # The holder of the name is torn (a machine lost before its fsync): ours is complete.
            os.replace(tmp, self.folder / path)
        tmp.unlink(missing_ok=True)
        self.files.append(FileEntry(path, role, rows, file.bytes, digest, dict(extra or {})))

    def abandon(self) -> None:
        """Remove the temporary files of a failed attempt."""
        for file, tmp in self._open.values():
            file.close()
            tmp.unlink(missing_ok=True)
        self._open.clear()

    def commit(self, facts: Mapping[str, Any], volatile: Mapping[str, Any] | None = None) -> Receipt:
        """Make the work visible. Where another attempt left a different result it stands and is returned if the two met
        different external effects, else VerifyError is raised."""
        fsync_dir(self.folder)
        document = sealed(
            {
                "format": "gristmill-object",
                "format_version": 1,
                "key": self.key,
                "what": self.what,
                "files": [asdict(f) for f in self.files],
                "facts": facts,
                VOLATILE: {"seconds": round(time.time() - self._started_s, 3), **(volatile or {})},
            }
        )
        file = self.create()
        file.write(canonical_json(document))
        file.finish()
        _, tmp = self._open.pop(id(file))
        won = link_exclusively(tmp, self.folder / RECEIPT)
        tmp.unlink(missing_ok=True)
        fsync_dir(self.folder)
        receipt = read_receipt(self.folder)
        if receipt is None:
            os.unlink(self.folder / RECEIPT)
            raise VerifyError(
                "a torn receipt stood in the way and was removed", where=str(self.folder), remedy="run again"
            )
        if not won and receipt.digest != document["digest"]:
            if not differ_by_effects(receipt.facts, facts):
                raise attempts_differ(str(self.folder), receipt.digest, document["digest"])
            named = {file.path for file in receipt.files}
            for path in {file.path for file in self.files} - named:
                (self.folder / path).unlink(missing_ok=True)
        return receipt


def _same_bytes(a: Path, b: Path) -> bool:
    return a.stat().st_size == b.stat().st_size and a.read_bytes() == b.read_bytes()


@dataclass(frozen=True)
class ObjectStore:
    """The folder of finished work of one output."""

    root: Path

    def folder(self, key: str) -> Path:
        """Where the work of a key lies."""
        return self.root / OBJECTS / key

    def find(self, key: str) -> Receipt | None:
        """The receipt of finished work whose files are all there in full length, else None."""
        receipt = read_receipt(self.folder(key))
        if receipt is None:
            return None
        for file in receipt.files:
            path = self.folder(key) / file.path
            if not path.is_file() or path.stat().st_size != file.bytes:
                return None
        return receipt

    def find_all(self, keys: Iterable[str]) -> Iterator[Receipt | None]:
        """`find` of each key, in order."""
        return map(self.find, keys)

    def receipts(self, keys: Iterable[str]) -> Iterator[Receipt | None]:
        """The receipt alone of each key, in order, whatever became of its files. Nothing is changed."""
        return (read_receipt(self.folder(key)) for key in keys)

    def fetch(self, paths: Iterable[str | Path]) -> None:
        """Have files below the root on this machine's disk, before they are read under these paths: here they are."""

    def begin(self, key: str, what: Mapping[str, Any]) -> ObjectWriter:
        """Start an attempt. A receipt whose files are gone or short is removed, and made again."""
        folder = self.folder(key)
        if (folder / RECEIPT).exists() and self.find(key) is None:
            (folder / RECEIPT).unlink(missing_ok=True)
        return ObjectWriter(folder, key, what)

    def path(self, key: str, file: FileEntry) -> Path:
        """Full path of a file of an object."""
        return self.folder(key) / file.path

    def place(self, key: str, file: FileEntry, target: Path) -> None:
        """Give a file of an object the further name `target`, in a dataset's folder."""
        source = self.path(key, file)
        if not link_exclusively(source, target) and not target.samefile(source):
            # The name was there with other bytes: a copy, or a link from before damage was mended.
            fresh = target.with_name(f"{TMP_PREFIX}{uuid.uuid4().hex}")
            if not link_exclusively(source, fresh):
                raise VerifyError("cannot place a file", where=str(target))
            os.replace(fresh, target)

    def publish(self, folder: Path, manifest: Mapping[str, Any], origins: Mapping[str, str]) -> None:
        """What else a dataset takes whose manifest is written (`RemoteStore.publish`): here nothing, nor for these."""

    def publish_index(self, folder: Path) -> None:
        """What else an index takes that is saved."""

    def push(self, *paths: Path) -> None:
        """What else small files take that are written anew."""

    def withdraw(self, folder: Path) -> None:
        """What else a dataset takes that is taken away."""

    def sound_path(self, key: str, file: FileEntry) -> Path:
        """Full path of a file of an object whose bytes are what its entry says. Raises VerifyError when they are not.

        For files without checksums of their own, whose damage would decide what is made of them.
        """
        path = self.path(key, file)
        refuse_damaged(path, file.digest)
        return path


def refuse_damaged(path: Path, digest: str) -> None:
    """Raise VerifyError when the bytes of an object's file are not those of its digest."""
    hasher = blake3()
    if path.stat().st_size:
        hasher.update_mmap(path)
    found = DIGEST_PREFIX + hasher.hexdigest()
    if found != digest:
        raise VerifyError(
            "the file is damaged: its bytes do not have the digest of its receipt",
            where=str(path),
            value=found,
            remedy=f"remove the folder {path.parent} and run again",
        )

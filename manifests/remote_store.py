"""The store of an output in object storage: the same objects, with a working copy on this machine.

Keys below the output's prefix are the paths of an output in a folder. The working copy is a folder of the
scratch space whose name holds the output's URL, so that every process finds both from its root; tasks read
and write there, since kernels and memory maps want files.

* A commit is made in the working copy first, then its files are uploaded under their content's names, and
  `receipt.json` last, put if absent: of two attempts one wins, and the loser compares (VerifyError where they
  differ). What stands in the working copy alone does not exist.
* `find` is one GET. A receipt is believed: its files are looked at when they are read, by size and digest.
* `fetch` brings the files of objects and indexes that a task reads. Nothing is ever listed.
* A dataset's files are copied inside the bucket; its manifest is put last, and only then are files deleted that the
  manifest before named and this one does not.
"""

import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gristmill.manifests.canonical import is_sealed
from gristmill.manifests.commit import OBJECTS, ObjectStore, ObjectWriter, replace_file
from gristmill.manifests.effects import differ_by_effects
from gristmill.manifests.errors import GristmillError, VerifyError, attempts_differ
from gristmill.manifests.indexes import INDEX, INDEXES, index_files, read_index
from gristmill.manifests.manifest import ALARMS, MANIFEST, file_entries
from gristmill.manifests.receipt import RECEIPT, FileEntry, Receipt, parse_receipt, read_receipt
from gristmill.manifests.remote import absent, copy, damaged, delete, fetch, get, put, put_if_absent, upload
from gristmill.manifests.remote_access import RemotePlace
from gristmill.manifests.remote_lock import check_lock, locked
from gristmill.manifests.verify_files import is_inside
from gristmill.manifests.working_copy import remove_working_copy

AT_ONCE = 16
"""Small requests on the way at once."""
UPLOADS_AT_ONCE = 4


class RemoteWriter(ObjectWriter):
    """An attempt whose commit is an upload."""

    def __init__(self, store: "RemoteStore", key: str, what: Mapping[str, Any]) -> None:
        super().__init__(store.folder(key), key, what)
        self._store = store

    def commit(self, facts: Mapping[str, Any], volatile: Mapping[str, Any] | None = None) -> Receipt:
        """See ObjectWriter.commit; what it returns stands in object storage."""
        return self._store.send(super().commit(facts, volatile))


@dataclass(frozen=True)
class RemoteStore(ObjectStore):
    """See the module; `root` is the working copy."""

    remote: RemotePlace

    def name(self, path: Path) -> str:
        """The name below the output's prefix of a path in the working copy."""
        return path.relative_to(self.root).as_posix()

    def find(self, key: str) -> Receipt | None:
        """The receipt of finished work. Raises VerifyError on one that is damaged."""
        return self._adopt(key)

    def find_all(self, keys: Iterable[str]) -> Iterator[Receipt | None]:
        """`find` of each key, in order, many at once."""
        return self._at_once(self._adopt, list(keys))

    def begin(self, key: str, what: Mapping[str, Any]) -> ObjectWriter:
        """Start an attempt. A receipt in the working copy alone stays until the attempts agree, or do not, unless its
        files are gone or short."""
        folder = self.folder(key)
        alone = read_receipt(folder)
        if alone is not None and not all(_is_here(folder / file.path, file) for file in alone.files):
            (folder / RECEIPT).unlink(missing_ok=True)
        return RemoteWriter(self, key, what)

    def receipts(self, keys: Iterable[str]) -> Iterator[Receipt | None]:
        """See ObjectStore.receipts; the working copy is left as it is. Raises VerifyError on one that is damaged."""
        return self._at_once(lambda key: self._standing(key)[0], list(keys))

    def fetch(self, paths: Iterable[str | Path]) -> None:
        """Bring files of objects and of indexes, and all files of objects whose folder is named; pass over all else.

        Raises VerifyError, naming the object, when one is gone or is not what its receipt says.
        """
        below = f"{self.root}{os.sep}"
        names = {str(path).removeprefix(below) for path in paths if str(path).startswith(below)}
        wanted = [entry for name in sorted(names) for entry in self._entries(Path(name).parts)]
        missing = [(folder, entry) for folder, entry in wanted if not _is_here(folder / entry.path, entry)]
        for _ in self._at_once(self._bring, missing, UPLOADS_AT_ONCE):
            pass

    def sound_path(self, key: str, file: FileEntry) -> Path:
        """See ObjectStore.sound_path."""
        self.fetch([self.path(key, file)])
        return super().sound_path(key, file)

    def place(self, key: str, file: FileEntry, target: Path) -> None:
        """Nothing here: `publish` copies inside the bucket."""

    def send(self, receipt: Receipt) -> Receipt:
        """Upload the files of an object of the working copy, then its receipt. Raises VerifyError as a commit does."""
        folder = self.folder(receipt.key)
        names = [f"{OBJECTS}/{receipt.key}/{file.path}" for file in receipt.files]
        for _ in self._at_once(lambda name: upload(self.remote, name, self.root / name), names, UPLOADS_AT_ONCE):
            pass
        name = f"{OBJECTS}/{receipt.key}/{RECEIPT}"
        if put_if_absent(self.remote, name, (folder / RECEIPT).read_bytes()) is not None:
            return receipt
        standing = self._adopt(receipt.key)
        if standing is None:
            raise absent(self.remote, name)
        if standing.digest != receipt.digest:
            if not differ_by_effects(standing.facts, receipt.facts):
                raise attempts_differ(self.remote.shown(name), standing.digest, receipt.digest)
            kept = {f"{OBJECTS}/{receipt.key}/{file.path}" for file in standing.files}
            self._delete(uploaded for uploaded in names if uploaded not in kept)
        return standing

    def publish(self, folder: Path, manifest: Mapping[str, Any], origins: Mapping[str, str]) -> None:
        """Put a dataset in place: what its manifest names, then the manifest; then what the one before named goes.

        `origins`: path in the dataset's folder -> path of the object's file below the root; others are uploaded.
        """
        shown = self.name(folder)
        before = self._named(f"{shown}/{MANIFEST}")
        now = {entry.path: entry for entry in file_entries(manifest)}
        fresh = [entry for path, entry in now.items() if before.get(path) != entry.digest]
        for _ in self._at_once(lambda entry: self._place_one(shown, entry, origins.get(entry.path)), fresh):
            pass
        self.push(folder / MANIFEST)
        self._delete(f"{shown}/{path}" for path in before if path not in now)

    def publish_index(self, folder: Path) -> None:
        """Put an index in place that was saved in the working copy: its files, then `index.json`; one that lies
        elsewhere is none of this output."""
        if not folder.is_relative_to(self.root):
            return
        name = self.name(folder)
        before = {f.path: f.digest for f in _files_of_index(get(self.remote, f"{name}/{INDEX}"))}
        fresh = {f.path for f in index_files(read_index(folder)) if before.get(f.path) != f.digest}
        names = [f"{name}/{path}" for path in sorted(fresh)]
        for _ in self._at_once(lambda name: upload(self.remote, name, self.root / name), names, UPLOADS_AT_ONCE):
            pass
        self.push(folder / INDEX)

    def push(self, *paths: Path) -> None:
        """Upload small files of the working copy that may be replaced, in this order."""
        check_lock(self.remote)
        for path in paths:
            put(self.remote, self.name(path), path.read_bytes())

    def withdraw(self, folder: Path) -> None:
        """Take away a dataset that was published there (an alarm's report), its manifest first."""
        name = self.name(folder)
        named = self._named(f"{name}/{MANIFEST}")
        if named:
            self._delete([f"{name}/{MANIFEST}"])
            self._delete(f"{name}/{path}" for path in named)

    def prepare(self, datasets: Sequence[str], indexes: Sequence[str], inputs: str) -> None:
        """Have in the working copy what earlier runs left and a run looks at: the manifests of `datasets` and of their
        reports, the heads of `indexes`, and the file `inputs`."""
        names = [f"{name}/{MANIFEST}" for name in datasets]
        names += [f"{ALARMS}/{name}/{MANIFEST}" for name in datasets]
        names += [f"{INDEXES}/{name}/{INDEX}" for name in indexes]
        for _ in self._at_once(self._pull, [*names, inputs]):
            pass

    @contextmanager
    def session(
        self, datasets: Sequence[str], indexes: Sequence[str], inputs: str, events: str, keeps_copy: bool = True
    ) -> Generator[None]:
        """Hold the output's lock, prepared; `inputs` and `events` are put there at the end. Without `keeps_copy` the
        working copy goes when all went well, while the lock still keeps the next driver out."""
        with locked(self.remote):
            self.prepare(datasets, indexes, inputs)
            try:
                yield
            finally:
                with suppress(GristmillError):
                    self.push(*(path for path in (self.root / inputs, self.root / events) if path.is_file()))
            if not keeps_copy:
                remove_working_copy(self.root)

    def _at_once(self, do: Callable[[Any], Any], of: Sequence[Any], threads: int = AT_ONCE) -> Iterator[Any]:
        if not of:
            return
        pool = ThreadPoolExecutor(min(threads, len(of)))
        try:
            yield from pool.map(do, of)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _adopt(self, key: str) -> Receipt | None:
        """The receipt that stands in object storage, written into the working copy, too."""
        folder = self.folder(key)
        try:
            receipt, data = self._standing(key)
        except VerifyError:
            (folder / RECEIPT).unlink(missing_ok=True)
            raise
        if receipt is not None and _bytes_of(folder / RECEIPT) != data:
            folder.mkdir(parents=True, exist_ok=True)
            replace_file(folder / RECEIPT, data)
        return receipt

    def _standing(self, key: str) -> tuple[Receipt | None, bytes]:
        """The receipt that stands in object storage, and its bytes. Raises VerifyError on one that is damaged."""
        name = f"{OBJECTS}/{key}/{RECEIPT}"
        found = get(self.remote, name)
        if found is None:
            return None, b""
        receipt = parse_receipt(found[0])
        if receipt is None or receipt.key != key or not all(is_inside(f.path) for f in receipt.files):
            raise damaged(self.remote, name, "not a whole receipt")
        return receipt, found[0]

    def _entries(self, parts: Sequence[str]) -> Iterator[tuple[Path, FileEntry]]:
        """The folder and the entries of the files that a path below the root names."""
        if parts[0] == OBJECTS and len(parts) in (2, 3):
            receipt = read_receipt(self.folder(parts[1])) or self._adopt(parts[1])
            files = receipt.files if receipt is not None else ()
            yield from ((self.folder(parts[1]), f) for f in files if len(parts) == 2 or f.path == parts[2])
        elif parts[0] == INDEXES and len(parts) == 3 and parts[2] != INDEX:
            folder = self.root / INDEXES / parts[1]
            if not (folder / INDEX).exists():
                self._pull(f"{INDEXES}/{parts[1]}/{INDEX}")
            yield from ((folder, f) for f in index_files(read_index(folder)) if f.path == parts[2])

    def _bring(self, wanted: tuple[Path, FileEntry]) -> None:
        folder, entry = wanted
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / entry.path
        fetch(self.remote, self.name(path), path, entry.bytes, entry.digest)

    def _pull(self, name: str) -> None:
        """Have a small file in the working copy as it stands in object storage, or not at all."""
        path = self.root / name
        found = get(self.remote, name)
        if found is None:
            path.unlink(missing_ok=True)
        elif _bytes_of(path) != found[0]:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, found[0])

    def _named(self, name: str) -> dict[str, str]:
        """Path -> digest of what a manifest in object storage names; nothing where none stands, or a damaged one."""
        document = _document(get(self.remote, name))
        return {entry.path: entry.digest for entry in file_entries(document) if is_inside(entry.path)}

    def _place_one(self, folder: str, entry: FileEntry, origin: str | None) -> None:
        name = f"{folder}/{entry.path}"
        if origin is not None and copy(self.remote, origin, name, entry.bytes):
            return
        path = self.root / (origin or name)
        self.fetch([path])
        upload(self.remote, name, path)

    def _delete(self, names: Iterable[str]) -> None:
        for _ in self._at_once(lambda name: delete(self.remote, name), list(names)):
            pass


def _is_here(path: Path, entry: FileEntry) -> bool:
    """Whether the working copy holds a file: it gets its name, which is its content's, when it is whole."""
    try:
        return path.stat().st_size == entry.bytes
    except OSError:
        return False


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _document(found: tuple[bytes, str] | None) -> dict[str, Any]:
    """A sealed document as it came; an empty one where none stands, or a damaged one."""
    try:
        document = json.loads(found[0]) if found is not None else None
    except ValueError:
        return {}
    return document if isinstance(document, dict) and is_sealed(document) else {}


def _files_of_index(found: tuple[bytes, str] | None) -> list[FileEntry]:
    return list(index_files({"shards": [], **_document(found)}))

"""An output, or one dataset, in object storage as a folder of its documents, for the commands that read.

The folder is temporary. It holds `run.json`, the manifests (of alarms' reports, too), for a verification the receipts
and heads of indexes that these name, and those data files that are asked for. Names come from documents alone: nothing
is listed, so files that nobody names are not seen.
"""

import json
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blake3 import blake3

from gristmill.manifests.canonical import DIGEST_PREFIX
from gristmill.manifests.commit import OBJECTS
from gristmill.manifests.errors import GristmillError, InputError, VerifyError
from gristmill.manifests.indexes import INDEX, INDEXES
from gristmill.manifests.manifest import ALARMS, FILE_LISTS, MANIFEST, RUN
from gristmill.manifests.receipt import RECEIPT, FileEntry
from gristmill.manifests.remote import fetch, get, head, read_whole
from gristmill.manifests.remote_access import RemotePlace, place_of
from gristmill.manifests.verify_files import Fault, Hashed, Named, Progress, is_inside

AT_ONCE = 8


@dataclass(frozen=True)
class RemoteView:
    """The folder, and the place that it shows."""

    folder: Path
    place: RemotePlace

    def pull(self, names: Iterable[str]) -> dict[str, Any]:
        """Bring documents; those that are objects of JSON, by name. One that is not there is left out."""
        documents = {}
        for name, data in _at_once(lambda name: (name, get(self.place, name)), list(names)):
            if data is not None:
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data[0])
                documents[name] = _object(data[0])
        return documents

    def bring(self, files: Sequence[tuple[str, FileEntry]]) -> None:
        """Bring data files, by name. Raises VerifyError, which names the object, where one is not what is written."""

        def one(file: tuple[str, FileEntry]) -> None:
            path = self.folder / file[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            fetch(self.place, file[0], path, file[1].bytes, file[1].digest)

        for _ in _at_once(one, files):
            pass

    def hash(self, named: Sequence[Named], progress: Progress | None) -> Hashed:
        """See `verify_files.hash_files`: every file is read through, and none is kept."""
        faults: list[Fault] = []
        whole: set[str] = set()
        read = 0
        total = sum(one.entry.bytes for one in named)
        for one, fault in _at_once(lambda one: (one, self._fault(one)), named):
            if fault is None:
                whole.add(one.shown)
                read += one.entry.bytes
            else:
                faults.append(fault)
            if progress is not None:
                progress(read, total)
        return Hashed(faults, whole, len(whole), read)

    @contextmanager
    def here(self, files: Sequence[Named]) -> Generator[None]:
        """Have whole files of a dataset here for a while."""
        self.bring([(one.path.relative_to(self.folder).as_posix(), one.entry) for one in files])
        try:
            yield
        finally:
            for one in files:
                one.path.unlink(missing_ok=True)

    def _fault(self, one: Named) -> Fault | None:
        name = one.path.relative_to(self.folder).as_posix()
        found = head(self.place, name)
        if found is None:
            return Fault(one.shown, "missing", "no such object")
        if found.size != one.entry.bytes:
            return Fault(one.shown, "size", f"{found.size} bytes, not {one.entry.bytes}")
        hasher = blake3()
        try:
            for piece in read_whole(self.place, name, found.size):
                hasher.update(piece)
        except VerifyError as error:
            return Fault(one.shown, "unreadable", str(error.value or error.what))
        digest = DIGEST_PREFIX + hasher.hexdigest()
        return None if digest == one.entry.digest else Fault(one.shown, "digest", f"{digest}, not {one.entry.digest}")


@contextmanager
def remote_view(url: str, lists: Sequence[str] = (), receipts: bool = False) -> Generator[RemoteView]:
    """The documents of an output or a dataset, with the files of these lists of its manifests.

    Raises InputError when there is neither. Errors name places in object storage, not in the folder.
    """
    with tempfile.TemporaryDirectory(prefix="gristmill-view-") as folder:
        view = RemoteView(Path(folder), place_of(url))
        try:
            manifests = _manifests(view)
            if receipts:
                _pull_receipts(view, manifests)
            view.bring(list(_files(manifests, lists)))
            yield view
        except GristmillError as error:
            error.where = error.where.replace(folder, view.place.url)
            raise


def _manifests(view: RemoteView) -> dict[str, Any]:
    """The manifests of the published datasets by name of their document; those of reports are brought alone."""
    first = view.pull([RUN, MANIFEST])
    if RUN not in first:
        if not first:
            remedy = f"give the place that --out named, or a dataset's in it, that holds {RUN} or {MANIFEST}"
            raise InputError("neither an output nor a dataset", view.place.url, None, remedy)
        return first
    names = [name for name in first[RUN].get("datasets", []) if isinstance(name, str) and is_inside(name)]
    view.pull(f"{ALARMS}/{name}/{MANIFEST}" for name in names)
    return view.pull(f"{name}/{MANIFEST}" for name in names)


def _pull_receipts(view: RemoteView, manifests: dict[str, Any]) -> None:
    if MANIFEST in manifests:
        return
    (view.folder / OBJECTS).mkdir()
    keys = {key for m in manifests.values() for key in m.get("objects", []) if isinstance(key, str) and is_inside(key)}
    view.pull(f"{OBJECTS}/{key}/{RECEIPT}" for key in sorted(keys))
    saved = {name for manifest in manifests.values() for name in _indexes_of(manifest)}
    view.pull(f"{INDEXES}/{name}/{INDEX}" for name in sorted(saved))


def _indexes_of(manifest: dict[str, Any]) -> Iterator[str]:
    for step in manifest.get("steps", []):
        given = step.get("params", {}).get("index") if isinstance(step, dict) else None
        name = given.get("save") if isinstance(given, dict) else None
        if isinstance(name, str) and "/" not in name and is_inside(name):
            yield name


def _files(manifests: dict[str, Any], lists: Sequence[str]) -> Iterator[tuple[str, FileEntry]]:
    for name, manifest in manifests.items():
        folder = name.removesuffix(MANIFEST)
        for entry in (e for file_list in FILE_LISTS if file_list in lists for e in manifest.get(file_list, [])):
            if is_inside(str(entry["path"])):
                yield folder + entry["path"], FileEntry.from_json(entry)


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _at_once(do: Callable[[Any], Any], of: Sequence[Any]) -> Iterator[Any]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(do, of)

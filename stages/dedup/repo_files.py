"""The files of repositories that records hold, and the folders in which these stand.

In: columns `id`, `source`, `url`, `text`, `media`, `meta`. A record is a file of a repository where its `meta` (JSON by
source) has a path (`stages.text.code_files.PATH_KEYS`) and names a repository (REPOSITORY_KEYS) or else the path has
folders: the first ones are the repository, as in the source `tree`. A record whose `meta` lists `files` is a
repository, each of its files a passage of the text with the line `=== PATH ===` before it. Others are left alone.

Out: rows of COUNTS. A row of kind FILE is a file: `folder` that it stands in, `other` the BLAKE3-128 of its normal form
(`kernels.normal_form`, EXACT) and of the record's media, for a passage with a medium of its place in the record, which
is equal to none; its record's `id`, hash of its `name`, the bytes [start, stop) of the text, its line included, or -1
where the record is the file. A row of kind FOLDER is a folder: `folder`, `other` the one around it (zeros: it is a
repository), hash of its `name`, `depth` (0: repository), `vendored` (whether it is, or lies in, one of VENDOR_FOLDERS);
it may come in many batches. A folder is the BLAKE3-128 of source, repository and path: the same in every shard.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from blake3 import blake3

from gristmill.manifests.schema import ID_BYTES, MEDIUM_CHAR, id_bytes
from gristmill.stages.dedup.exact import media_hashes
from gristmill.stages.kernels.buffers import text_buffers

FILE, FOLDER = 0, 1
COUNTS = pa.schema(
    [
        ("addr", pa.uint64()),
        ("kind", pa.uint8()),
        ("folder", pa.binary(ID_BYTES)),
        ("other", pa.binary(ID_BYTES)),
        ("id", pa.binary(ID_BYTES)),
        ("name", pa.uint64()),
        ("depth", pa.uint8()),
        ("vendored", pa.uint8()),
        ("start", pa.int64()),
        ("stop", pa.int64()),
    ]
)

REPOSITORY_KEYS = ("repository", "repo", "repo_name", "repository_name", "max_stars_repo_name")
"""Of `meta`: names of a repository; the last is The Stack's."""
VENDOR_FOLDERS = frozenset(
    (
        *("vendor", "vendors", "vendored", "_vendor", "third_party", "third-party", "thirdparty", "3rdparty"),
        *("3rd_party", "3rd-party", "external", "externals", "extern", "deps", "dependencies", "submodules"),
        *("node_modules", "bower_components", "godeps", "pods", "carthage", "site-packages", "jspm_packages"),
    )
)
"""Names of folders for what others wrote, lower case: mostly those of GitHub linguist's vendor.yml."""
MAX_FOLDERS = 64
"""Folders of a path that count; what lies deeper is named by the rest of its path."""

_NONE = bytes(ID_BYTES)
_LINE_END = 0x0A
_MEDIUM = MEDIUM_CHAR.encode()

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Place:
    """Where a record says that it stands: `path` within `repository`; `listed` are the files that it holds."""

    repository: str
    path: str
    listed: bool


def place_of(meta: str | None, repository_folders: int) -> Place | None:
    """The place of a record by its `meta`; None for a record that is no file of a repository."""
    from gristmill.stages.text.code_files import PATH_KEYS, meta_spaces

    repository, path, listed = "", "", False
    for space in meta_spaces(meta):
        repository = repository or _first(space, REPOSITORY_KEYS)
        path = path or _first(space, PATH_KEYS)
        listed = listed or isinstance(space.get("files"), list)
    if listed:
        return Place(repository or path, "", True)
    if path and not repository:
        parts = _parts(path)
        repository, path = "/".join(parts[:repository_folders]), "/".join(parts[repository_folders:])
    return Place(repository, path, False) if _parts(path) else None


def _first(space: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((found for key in keys if isinstance(found := space.get(key), str) and found), "")


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def counted_files(batch: pa.RecordBatch, addr: npt.NDArray[np.uint64], repository_folders: int) -> pa.RecordBatch:
    """Rows of COUNTS for the records of a batch."""
    rows = _Rows()
    ids: list[Any] = id_bytes(batch.column("id")).to_pylist()
    sources = batch.column("source").to_pylist()
    found = list(_found(batch, repository_folders))
    for (row, repository, parts, passage), content in zip(found, _contents(batch, found, ids), strict=True):
        root = _digest(f"{sources[row] or ''}\0{repository or ids[row].hex()}")
        start, stop = (passage.start, passage.stop) if passage else (-1, -1)
        rows.file(int(addr[row]), root, parts, (content, ids[row], start, stop))
    return rows.finished()


class _Found(NamedTuple):
    """A file of row `row`: the whole record, or a passage of it."""

    row: int
    repository: str
    parts: list[str]
    passage: "_Passage | None"


def _found(batch: pa.RecordBatch, repository_folders: int) -> Iterator[_Found]:
    data, offsets = text_buffers(batch.column("text"))
    for row, meta in enumerate(batch.column("meta").to_pylist()):
        place = place_of(meta, repository_folders)
        if place is None:
            continue
        if not place.listed:
            yield _Found(row, place.repository, _parts(place.path), None)
            continue
        for passage in _passages(batch.slice(row, 1), data[offsets[row] : offsets[row + 1]]):
            yield _Found(row, place.repository, _parts(passage.path), passage)


def _contents(batch: pa.RecordBatch, found: list[_Found], ids: list[bytes]) -> list[bytes]:
    """What is equal for equal files."""
    from gristmill.stages.kernels.normal_form import EXACT, form_digests

    data, offsets = text_buffers(batch.column("text"))
    media = media_hashes(batch.column("media"))
    tails = dict[int, bytes]()
    starts, stops = np.zeros((2, len(found)), np.int64)
    for number, (row, _, _, passage) in enumerate(found):
        base = int(offsets[row])
        starts[number] = base + passage.text if passage else base
        stops[number] = base + passage.stop if passage else offsets[row + 1]
        if row in media and not passage:
            tails[number] = media[row]
        elif row in media and passage and _MEDIUM in data[starts[number] : stops[number]].tobytes():
            # Which of the record's media are its own is not told: it is equal to none.
            tails[number] = ids[row] + passage.start.to_bytes(8)
    digests = form_digests(data, starts, stops, np.full(len(found), EXACT, np.uint8), tails)
    return [digest.tobytes() for digest in digests]


class _Passage(NamedTuple):
    """A file in a whole repository: its line begins at byte `start`, its text at `text`, both end at `stop`."""

    path: str
    start: int
    text: int
    stop: int


def _passages(record: pa.RecordBatch, body: Bytes) -> Iterator[_Passage]:
    """The files of a whole repository whose lines stand before them."""
    from gristmill.stages.text.code_files import files_of

    found = files_of(record)
    if not found.repositories:
        return
    base = int(text_buffers(record.column("text"))[1][0])
    for file in found.files:
        start, stop = file.start - base, file.end - base
        shown = "".join(char if char.isprintable() else "\ufffd" for char in file.path)
        line = f"=== {shown} ===".encode("utf-8", "replace")
        ends = start - 1 if start and body[start - 1] == _LINE_END else start
        begins = ends - len(line)
        if begins >= 0 and body[begins:ends].tobytes() == line and _parts(file.path):
            yield _Passage(file.path, begins, start, stop)


@dataclass
class _Rows:
    """Rows of COUNTS as lists; each folder once."""

    rows: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    known: dict[bytes, tuple[int, bool]] = field(default_factory=dict[bytes, tuple[int, bool]])

    def file(self, addr: int, root: bytes, parts: list[str], content: tuple[bytes, bytes, int, int]) -> None:
        """A file, and the folders around it that are new."""
        if root not in self.known:
            self._folder(addr, root, _NONE, 0, (0, False))
        folder = root
        folders, name = parts[:-1][:MAX_FOLDERS], "/".join(parts[min(len(parts) - 1, MAX_FOLDERS) :])
        for part in folders:
            inner = _digest(folder + part.encode("utf-8", "replace"))
            if inner not in self.known:
                depth, vendored = self.known[folder]
                self._folder(addr, inner, folder, _name(part), (depth + 1, vendored or part.lower() in VENDOR_FOLDERS))
            folder = inner
        digest, key, start, stop = content
        self.rows.append((addr, FILE, folder, digest, key, _name(name), 0, 0, start, stop))

    def _folder(self, addr: int, folder: bytes, around: bytes, name: int, known: tuple[int, bool]) -> None:
        self.known[folder] = known
        self.rows.append((addr, FOLDER, folder, around, _NONE, name, known[0], int(known[1]), -1, -1))

    def finished(self) -> pa.RecordBatch:
        """All of them."""
        columns = zip(*self.rows, strict=True) if self.rows else [[] for _ in COUNTS]
        arrays = [pa.array(column, kind.type) for column, kind in zip(columns, COUNTS, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=COUNTS)


def _digest(data: str | bytes) -> bytes:
    return blake3(data.encode("utf-8", "replace") if isinstance(data, str) else data).digest(ID_BYTES)


def _name(part: str) -> int:
    return int.from_bytes(blake3(part.encode("utf-8", "replace")).digest(8), "little")

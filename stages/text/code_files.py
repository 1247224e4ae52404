"""The source files of a batch: a record is one file, or a whole repository with many.

A file's path comes from `meta` (a JSON object by source; the keys PATH_KEYS), else from `url`. A repository's `meta`
holds `files` (see the source `tree`); each file is found behind its line `=== PATH ===`, in their order, rather than at
the places written there, so that it is found whatever was cut out of the text before. Data is hostile: a record of
another shape is one file without a path.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote, urlsplit

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa

from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.text.code_languages import Language, language_of
from gristmill.stages.text.code_lexis import LEXIS_NUMBERS
from gristmill.stages.text.pii_spans import byte_pattern

PATH_KEYS = ("path", "max_stars_repo_path", "file_path", "filename", "file_name")
"""Of `meta`: ours, The Stack's, and what other collections use."""
HEAD_BYTES = 4096
MAX_PATH_CHARS = 4096


@dataclass(frozen=True)
class SourceFile:
    """Bytes `[start, end)` of the batch's text; `path` "" where none is known, `language` None likewise."""

    row: int
    path: str
    start: int
    end: int
    language: Language | None


@dataclass(frozen=True)
class SourceFiles:
    """The files of a batch in the order of its rows; `data` holds all; `repositories` are the rows with many."""

    data: npt.NDArray[np.uint8]
    files: list[SourceFile]
    repositories: frozenset[int]

    def bytes_of(self, file: SourceFile, limit: int | None = None) -> bytes:
        """A file's bytes, the first `limit`."""
        end = file.end if limit is None else min(file.end, file.start + limit)
        return self.data[file.start : end].tobytes()

    def spans(self) -> npt.NDArray[np.int64]:
        """For kernels: start, end, lexis of each file; read-only (n, 3)."""
        lexes = (LEXIS_NUMBERS[file.language.lexis if file.language else ""] for file in self.files)
        rows = [(file.start, file.end, lexis) for file, lexis in zip(self.files, lexes, strict=True)]
        spans = np.array(rows, dtype=np.int64).reshape(-1, 3)
        spans.flags.writeable = False
        return spans


def files_of(batch: pa.RecordBatch) -> SourceFiles:
    """The files of each row: one, or those of a repository that are found in its text."""
    data, offsets = text_buffers(batch.column("text"))
    bounds = offsets.tolist()
    metas, urls = batch.column("meta").to_pylist(), batch.column("url").to_pylist()
    files: list[SourceFile] = []
    repositories: set[int] = set()
    for row in range(batch.num_rows):
        start, end = bounds[row], bounds[row + 1]
        path, listed = _described(metas[row], urls[row])
        inner = list(_inner(data, row, start, end, listed)) if listed else []
        if inner:
            repositories.add(row)
            files += inner
        else:
            files.append(_file(data, row, path, start, end))
    return SourceFiles(data, files, frozenset(repositories))


def _file(data: npt.NDArray[np.uint8], row: int, path: str, start: int, end: int) -> SourceFile:
    head = data[start : min(end, start + HEAD_BYTES)].tobytes()
    return SourceFile(row, path, start, end, language_of(path, head))


def _described(meta: str | None, url: str | None) -> tuple[str, list[str]]:
    """The path that a record gives itself, and the paths of the files that it holds."""
    path, listed = "", list[str]()
    for space in meta_spaces(meta):
        path = path or next((found for key in PATH_KEYS if (found := space.get(key)) and isinstance(found, str)), "")
        files = space.get("files")
        for file in cast(list[Any], files) if isinstance(files, list) else []:
            name = cast(dict[str, Any], file).get("path") if isinstance(file, dict) else None
            if isinstance(name, str):
                listed.append(name)
    if not path and url:
        path = _url_path(url)
    return path[:MAX_PATH_CHARS], listed


def meta_spaces(meta: str | None) -> Iterator[dict[str, Any]]:
    """The objects of a record's `meta` that may describe it: those it holds, then itself; none where it is no JSON."""
    try:
        found = orjson.loads(meta) if meta else None
    except orjson.JSONDecodeError:
        return
    if isinstance(found, dict):
        plain = cast(dict[str, Any], found)
        yield from (cast(dict[str, Any], space) for space in plain.values() if isinstance(space, dict))
        yield plain


def _url_path(url: str) -> str:
    try:
        return unquote(urlsplit(url).path)
    except ValueError:
        return ""


def _inner(data: npt.NDArray[np.uint8], row: int, start: int, end: int, paths: list[str]) -> Iterator[SourceFile]:
    """The files of a repository whose lines are found, in order; a file ends where the next one's line begins."""
    places = {_shown(path): number for number, path in enumerate(paths)}
    marks: list[tuple[str, int, int]] = []
    expected = 0
    for match in _mark().finditer(data[start:end].tobytes()):
        number = places.get(match.group(1), -1)
        if number >= expected:
            marks.append((paths[number], *match.span()))
            expected = number + 1
    for number, (path, _, behind) in enumerate(marks):
        last = start + marks[number + 1][1] if number + 1 < len(marks) else end
        yield _file(data, row, path[:MAX_PATH_CHARS], min(start + behind + 1, last), last)


def _shown(path: str) -> bytes:
    return "".join(char if char.isprintable() else "\ufffd" for char in path).encode("utf-8", "replace")


@functools.lru_cache(maxsize=1)
def _mark() -> Any:
    return byte_pattern(r"(?m:^=== ([^\n]*) ===$)")

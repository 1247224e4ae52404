"""Source code: one file a record; with `whole_repo: true` each folder right below the fixed part of the GLOB as one.

In: all files of a folder, hidden ones too; version control folders are never entered and links never followed. Out:
`text` as UTF-8, line ends as they stand; `id` from dataset and path; `meta` holds `path`. Drops: `binary`,
`excluded_path` (lock files). Quarantines: `bad_utf8`, `too_large`.

A repository's text is each of its files behind a line `=== PATH ===`, in the order of `repositories`; a file that does
not end with a line end is given one. Its `meta` holds `files`: for each file `path`, and the characters
`[start, end)` of `text` that it takes. A file that is left out is a loss of its own, whose detail begins with its path.
A repository above `max_doc_bytes` is one loss `too_large` beside these, hashed over its texts in the order of paths.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from blake3 import blake3

from gristmill.manifests.errors import InputError
from gristmill.pipeline.sources.columns import empty_batch
from gristmill.pipeline.sources.digests import digest_stream
from gristmill.pipeline.sources.files import list_folder, open_binary
from gristmill.pipeline.sources.losses import LostBytes, lose
from gristmill.pipeline.sources.protocol import InputFile, Loss, OptionValue, ReadBatch, ReadOptions
from gristmill.pipeline.sources.repositories import dependency_order
from gristmill.pipeline.sources.text import text_or_loss
from gristmill.pipeline.sources.whole_files import one_document, one_loss, one_record, read_whole

NAME = "tree"
OPTIONS: dict[str, OptionValue] = {"whole_repo": False}
SUFFIXES = ()
LOCK_FILES = frozenset(
    (
        *("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"),
        *("poetry.lock", "pipfile.lock", "pdm.lock", "uv.lock", "pixi.lock", "cargo.lock", "go.sum", "gemfile.lock"),
        *("composer.lock", "mix.lock", "pubspec.lock", "podfile.lock", "package.resolved", "flake.lock"),
        *("gradle.lockfile", "packages.lock.json", "paket.lock", "deno.lock", ".terraform.lock.hcl"),
    )
)


def read_file(file: InputFile, options: ReadOptions) -> Iterator[ReadBatch]:
    """The row or loss of one file; of a folder (its url ends with `/`) the row and losses.

    Raises InputError if a file cannot be read, or a folder is not as it was listed.
    """
    if file.url.endswith("/"):
        yield _repository(file, options)
        return
    data = read_whole(file, options)
    if isinstance(data, Loss):
        yield one_loss(data)
    elif isinstance(text := _text_or_loss(file.rel, data), Loss):
        yield one_loss(text)
    else:
        yield one_record(text, data, file, options)


def _text_or_loss(path: str, data: bytes) -> bytes | Loss:
    if path.rpartition("/")[2].lower() in LOCK_FILES:
        return lose("excluded_path", data, 0, path)
    return text_or_loss(data)


@dataclass
class _Repository:
    """The files of a repository while they are read: texts by path, until they are too many together."""

    max_bytes: int
    texts: dict[str, bytes] = field(default_factory=dict[str, bytes])
    losses: list[Loss] = field(default_factory=list[Loss])
    size: int = 0
    lost: LostBytes | None = None

    def add(self, path: str, text: bytes | Loss) -> None:
        """The next file in the order of paths."""
        if isinstance(text, Loss):
            self.losses.append(replace(text, detail=f"{path}: {text.detail}"))
            return
        self.size += sum(map(len, _part(path, b""))) + len(text) + 1
        if self.lost is None and self.size > self.max_bytes:
            self.lost = LostBytes()
            for earlier in self.texts.values():
                self.lost.add(earlier)
            self.texts.clear()
        if self.lost is None:
            self.texts[path] = text
        else:
            self.lost.add(text)


def _repository(folder: InputFile, options: ReadOptions) -> ReadBatch:
    repository, listing = _Repository(options.max_doc_bytes), blake3()
    for path, url in list_folder(folder.url):
        file = InputFile(url, f"{folder.rel}/{path}", 0, "")
        data = read_whole(file, options)
        if isinstance(data, Loss):
            with open_binary(url) as stream:
                digest = digest_stream(stream)
        else:
            digest = f"blake3:{blake3(data).hexdigest()}"
        listing.update(f"{file.rel}\0{digest}\n".encode())
        repository.add(path, data if isinstance(data, Loss) else _text_or_loss(path, data))
    if f"blake3:{listing.hexdigest()}" != folder.digest:
        remedy = "run again; if nothing changes there, name whole folders: whole_repo takes no part of one"
        raise InputError("a repository is not as it was listed", folder.url, folder.rel, remedy)
    return _join(repository, folder, options)


def _join(repository: _Repository, folder: InputFile, options: ReadOptions) -> ReadBatch:
    losses = repository.losses
    if repository.lost:
        size, limit = repository.size, options.max_doc_bytes
        losses.append(lose("too_large", repository.lost, 0, "repository", size, limit))
    if not repository.texts:
        return ReadBatch(empty_batch(), tuple(losses))
    order = dependency_order(repository.texts)
    parts = [part for path in order for part in _part(path, repository.texts.pop(path))]
    files = _places(order, parts)
    text = b"".join(parts)
    parts.clear()
    return replace(one_document(text, folder, options, {"files": files}), losses=tuple(losses))


def _part(path: str, text: bytes) -> tuple[bytes, bytes]:
    """A file's line and its text, which ends with a line end."""
    shown = "".join(char if char.isprintable() else "\ufffd" for char in path)
    end = b"" if not text or text.endswith(b"\n") else b"\n"
    return f"=== {shown} ===\n".encode(), text + end


def _places(order: Sequence[str], parts: Sequence[bytes]) -> list[dict[str, str | int]]:
    """Where in the joined text each file stands, in characters; `parts` are a line and a text for each."""
    ends = np.cumsum([_chars(part) for part in parts]).tolist()
    starts = zip(order, ends[::2], ends[1::2], strict=True)
    return [{"path": path, "start": start, "end": end} for path, start, end in starts]


def _chars(text: bytes) -> int:
    """Characters of UTF-8: bytes that continue none."""
    if text.isascii():
        return len(text)
    return int(np.count_nonzero(np.frombuffer(text, np.int8) >= -64))

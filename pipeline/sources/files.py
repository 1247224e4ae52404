"""From a GLOB to the frozen listing of input files.

A GLOB is a local path (relative ones are relative to a given folder), a folder, a pattern with `*`, `?`, `[]`,
`**`, any of these in object storage (`s3://`: `pipeline.sources.object_storage`), or as an fsspec URL (`gs://`,
`memory://`, ...). `rel` is the path behind the fixed part of the GLOB (up to the first wildcard; the folder of a single
file), with `/`, and the listing is sorted by it. A folder stands for the files in it, at any depth, whose names end as
the source expects (all files, hidden ones too, where it expects nothing). Version control folders are never entered.
Wildcards do not match a leading dot. Folders that are links are not followed, and links to files only where no
hostile tree is read.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from blake3 import blake3

from gristmill.manifests.errors import InputError
from gristmill.manifests.remote_access import is_remote
from gristmill.manifests.remote_file import open_remote
from gristmill.pipeline.sources.digests import DigestCache, digest_local, digest_stream
from gristmill.pipeline.sources.object_storage import Listed, digests_of, list_objects
from gristmill.pipeline.sources.protocol import InputFile

VCS_FOLDERS = frozenset({".git", ".hg", ".svn", ".bzr", "_darcs", "CVS"})
_MAGIC = frozenset("*?[")
_REMOTE_BLOCK_BYTES = 8 << 20
# Keys under which fsspec's file systems say that content has changed; the first one present is used.
_STAMP_KEYS = ("ETag", "etag", "md5Hash", "generation", "LastModified", "last_modified", "updated", "mtime")


@dataclass(frozen=True)
class Selection:
    """What of a folder is read: names with one of `suffixes` (all when empty), links to files or not;
    `whole_folders` makes one input of each folder right below the fixed part, whose url ends with `/`."""

    suffixes: tuple[str, ...] = ()
    file_links: bool = True
    whole_folders: bool = False


class NoFileError(InputError):
    """A GLOB that matches no file."""


@dataclass(frozen=True)
class _Found:
    url: str
    rel: str
    size: int
    stamp: str | None


def list_inputs(glob: str, base_dir: str, selection: Selection, digests: DigestCache) -> tuple[InputFile, ...]:
    """The files of `glob`, sorted by `rel`, each with its digest (from `digests` where the file is unchanged).

    Raises NoFileError when nothing matches, InputError when a file cannot be listed or read.
    """
    try:
        found = list(_find_remote(glob, selection) if is_url(glob) else _find(glob, base_dir, selection))
        if not found:
            remedy = f"check the path; relative ones start at {base_dir}"
            raise NoFileError("no file matches", value=glob, remedy=remedy)
        unique = {one.url: one for one in found}.values()
        _digest_objects(list(unique), digests)
        files = tuple(_input(one, digests) for one in sorted(unique, key=lambda one: (one.rel, one.url)))
        return _folders(files) if selection.whole_folders else files
    except (OSError, ImportError, ValueError) as error:
        raise _unreadable(glob, error) from error


def open_binary(url: str) -> BinaryIO:
    """The file at a local path or fsspec URL, seekable, for reading. Raises InputError if that fails."""
    try:
        if not is_url(url):
            return open(url, "rb")
        if is_remote(url):
            return open_remote(url)
        import fsspec

        opened: Any = fsspec.open(url, "rb", block_size=_REMOTE_BLOCK_BYTES)
        return cast(BinaryIO, opened.open())
    except (OSError, ImportError, ValueError) as error:
        raise _unreadable(url, error) from error


def is_url(glob: str) -> bool:
    """Whether `glob` is a URL rather than a local path."""
    return "://" in glob


def list_folder(url: str) -> tuple[tuple[str, str], ...]:
    """All files of a folder as (path behind the folder, url), sorted by path; links are left out."""
    found = _find_remote(url, Selection()) if is_url(url) else _walk(url, url, Selection(file_links=False))
    return tuple(sorted((one.rel, one.url) for one in found))


def _folders(files: Sequence[InputFile]) -> tuple[InputFile, ...]:
    """The files of each first folder as one input, whose digest is made of their names and digests."""
    by_folder: dict[str, list[InputFile]] = {}
    for file in files:
        by_folder.setdefault(file.rel.partition("/")[0], []).append(file)
    return tuple(
        inner[0] if inner[0].rel == name else _folder(name, inner) for name, inner in sorted(by_folder.items())
    )


def _folder(name: str, files: Sequence[InputFile]) -> InputFile:
    listing = "".join(f"{file.rel}\0{file.digest}\n" for file in files)
    url = files[0].url.rsplit("/", files[0].rel.count("/"))[0] + "/"
    size = sum(file.bytes for file in files)
    return InputFile(url, name, size, f"blake3:{blake3(listing.encode()).hexdigest()}")


def _unreadable(url: str, error: Exception) -> InputError:
    remedy = "check that it exists and may be read"
    if isinstance(error, ImportError):
        remedy = "install the package that the message names"
    return InputError(f"cannot be read ({type(error).__name__}: {error})", where=url, remedy=remedy)


def _input(found: _Found, digests: DigestCache) -> InputFile:
    digest = digests.get(found.url, found.size, found.stamp)
    if digest is None:
        if is_url(found.url):
            with open_binary(found.url) as stream:
                digest = digest_stream(stream)
        else:
            digest = digest_local(found.url)
        digests.put(found.url, found.size, found.stamp, digest)
    etag = (found.stamp or "") if is_remote(found.url) else ""
    return InputFile(url=found.url, rel=found.rel, bytes=found.size, digest=digest, etag=etag)


def _digest_objects(found: Sequence[_Found], digests: DigestCache) -> None:
    """Have the digests of objects in object storage in the cache, those that are read for it several at once."""
    new = [one for one in found if is_remote(one.url) and digests.get(one.url, one.size, one.stamp) is None]
    objects = [Listed(one.url, (), one.size, one.stamp or "") for one in new]
    for one, digest in zip(new, digests_of(objects), strict=True):
        digests.put(one.url, one.size, one.stamp, digest)


def _find(glob: str, base_dir: str, selection: Selection) -> Iterator[_Found]:
    pattern = os.path.expanduser(glob)
    path = os.path.normpath(os.path.join(base_dir, pattern))
    if os.path.isdir(path):
        yield from _walk(path, path, selection)
    elif os.path.lexists(path):
        if not _is_wanted_file(os.stat(path), False, selection):
            raise InputError("is neither a file nor a folder", where=path, remedy="name a regular file")
        yield _found_local(path, os.path.dirname(path))
    elif _MAGIC & set(pattern):
        plain = _fixed_part(pattern)
        fixed = os.path.normpath(os.path.join(base_dir, plain))
        if os.path.isdir(fixed):
            yield from _matches(fixed, pattern[len(plain) :].lstrip("/"), selection)


def _matches(fixed: str, pattern: str, selection: Selection) -> Iterator[_Found]:
    """Files below `fixed` that match, and those in folders that match."""
    if "**" in pattern:
        # Not by glob(), which follows links to folders, and so never comes back from two that lead upwards.
        parts = pattern.split("/")
        everything = Selection((), selection.file_links)
        yield from (one for one in _walk(fixed, fixed, everything) if _fits(one.url[len(fixed) :], parts))
        return
    from glob import glob

    for name in glob(pattern, root_dir=fixed):
        path = os.path.join(fixed, name)
        if VCS_FOLDERS.intersection(PurePosixPath(name).parts):
            continue
        if os.path.isdir(path):
            yield from () if os.path.islink(path) else _walk(path, fixed, selection)
        elif _is_wanted_file(os.stat(path), os.path.islink(path), selection):
            yield _found_local(path, fixed)


def _fits(path: str, pattern: Sequence[str]) -> bool:
    """Whether the parts of a path match those of a pattern, of which `**` stands for any number that are not hidden."""
    return _parts_fit([part for part in path.split("/") if part], pattern)


def _parts_fit(names: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern or not names:
        return not names and all(part == "**" for part in pattern)
    hidden = names[0].startswith(".")
    if pattern[0] == "**":
        return _parts_fit(names, pattern[1:]) or (not hidden and _parts_fit(names[1:], pattern))
    fits = fnmatchcase(names[0], pattern[0]) and (not hidden or pattern[0].startswith("."))
    return fits and _parts_fit(names[1:], pattern[1:])


def _walk(top: str, fixed: str, selection: Selection) -> Iterator[_Found]:
    folders = [top]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in VCS_FOLDERS:
                        folders.append(entry.path)
                elif _is_named(entry.name, selection) and _is_wanted(entry, selection):
                    yield _found_local(entry.path, fixed)


def _is_wanted(entry: "os.DirEntry[str]", selection: Selection) -> bool:
    if entry.is_symlink() and not selection.file_links:
        return False
    return entry.is_file()


def _is_wanted_file(status: os.stat_result, is_link: bool, selection: Selection) -> bool:
    """Devices, pipes and sockets are never opened."""
    return stat.S_ISREG(status.st_mode) and (selection.file_links or not is_link)


def _is_named(path: str, selection: Selection) -> bool:
    if not selection.suffixes:
        return True
    name = path.rpartition("/")[2]
    return name.lower().endswith(selection.suffixes) and not name.startswith(".")


def _found_local(path: str, fixed: str) -> _Found:
    status = os.stat(path)
    stamp = f"{status.st_mtime_ns}-{status.st_ino}"
    rel = os.path.relpath(path, fixed).replace(os.sep, "/")
    return _Found(path, _printable(rel), status.st_size, stamp)


def _printable(rel: str) -> str:
    """`rel` with bytes that are not UTF-8 written as `\\xNN`."""
    return os.fsencode(rel).decode("utf-8", "backslashreplace")


def _fixed_part(path: str) -> str:
    """The folders of `path` before the first that holds a wildcard."""
    parts = path.split("/")
    plain = next((i for i, part in enumerate(parts) if _MAGIC & set(part)), len(parts) - 1)
    return "/".join(parts[:plain]) or ("/" if path.startswith("/") else "")


def _find_objects(glob: str, selection: Selection) -> Iterator[_Found]:
    listed, pattern = list_objects(glob)
    for one in listed:
        fits = _fits("/".join(one.parts), pattern) if pattern is not None else _is_named(one.parts[-1], selection)
        if fits and one.parts[-1] and not VCS_FOLDERS.intersection(one.parts):
            yield _Found(one.url, "/".join(one.parts), one.size, one.etag or None)


def _find_remote(glob: str, selection: Selection) -> Iterator[_Found]:
    if is_remote(glob):
        yield from _find_objects(glob, selection)
        return
    from fsspec.core import url_to_fs

    fs, path = url_to_fs(glob)
    path = cast(str, path)
    if _MAGIC & set(path):
        fixed = _fixed_part(path)
        infos = cast(dict[str, dict[str, Any]], fs.glob(path, detail=True))
    elif fs.isdir(path):
        fixed = path.rstrip("/")
        infos = cast(dict[str, dict[str, Any]], fs.find(path, detail=True))
        infos = {name: info for name, info in infos.items() if _is_named(name, selection)}
    elif fs.exists(path):
        fixed, infos = path.rpartition("/")[0], {path: fs.info(path)}
    else:
        return
    for name, info in infos.items():
        rel = name[len(fixed) :].lstrip("/")
        if info["type"] == "file" and not VCS_FOLDERS.intersection(rel.split("/")):
            stamp = next((str(info[key]) for key in _STAMP_KEYS if info.get(key)), None)
            yield _Found(fs.unstrip_protocol(name), rel, int(info["size"] or 0), stamp)

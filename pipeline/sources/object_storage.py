"""Inputs in object storage: `s3://BUCKET/KEY`, a prefix, or a pattern, listed once.

As for local paths: `*` and `?` stay inside a part of the key, `**` does not, and a prefix stands for all objects below
it whose names end as the source expects. The listing freezes each object's size and entity tag; an object that is
another one when it is read is an error, for records of both would stand in one dataset.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from gristmill.manifests.errors import UsageError
from gristmill.manifests.remote import ChangedError, Found, head, list_below
from gristmill.manifests.remote_access import SCHEME, RemotePlace, place_of
from gristmill.manifests.remote_file import RemoteFile
from gristmill.pipeline.sources.digests import digest_stream

_MAGIC = frozenset("*?[")
_AT_ONCE = 8


@dataclass(frozen=True)
class Listed:
    """An object: `parts` of its key behind the fixed part of the pattern."""

    url: str
    parts: tuple[str, ...]
    size: int
    etag: str


def list_objects(glob: str) -> tuple[list[Listed], Sequence[str] | None]:
    """The objects that a pattern may mean, and the parts that theirs must match; None: they lie below a prefix, and
    their names decide. One object that is named alone comes without a listing."""
    place = place_of(glob.rstrip("/"))
    parts = place.prefix.split("/")
    plain = next((i for i, part in enumerate(parts) if _MAGIC & set(part)), None)
    bucket = RemotePlace(place.bucket, "")
    if _MAGIC & set(place.bucket):
        raise UsageError("a bucket cannot be a pattern", glob, None, "name the bucket")
    if plain is not None:
        fixed = RemotePlace(place.bucket, "/".join(parts[:plain]))
        return [_listed(fixed, found) for found in list_below(fixed)], parts[plain:]
    found = head(bucket, place.prefix) if place.prefix and not glob.endswith("/") else None
    if found is not None:
        return [_listed(RemotePlace(place.bucket, "/".join(parts[:-1])), found)], parts[-1:]
    return [_listed(place, found) for found in list_below(place)], None


def digests_of(files: Sequence[Listed]) -> Iterator[str]:
    """The digest of each object, read as a whole, several at once. Raises InputError where one changed since."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield from pool.map(_digest, files)


def _digest(file: Listed) -> str:
    with RemoteFile(file.url) as stream:
        if stream.etag != file.etag:
            raise ChangedError("an input changed while it was listed", file.url, None, "run the same command again")
        return digest_stream(stream)  # type: ignore[arg-type]


def _listed(fixed: RemotePlace, found: Found) -> Listed:
    rel = found.key.removeprefix(f"{fixed.prefix}/" if fixed.prefix else "")
    return Listed(f"{SCHEME}{fixed.bucket}/{found.key}", tuple(rel.split("/")), found.size, found.etag)

"""Requests to object storage, and the errors that they end in.

One object is one request where that is possible: whole objects are read and written at once (writing is atomic:
readers see the old object or the new one), large ones written in parts and read in ranges. A range whose connection
drops is asked for again from the byte that is missing. A put "if absent" has one winner whoever asks at once.

Errors, all in one line, never with what the server said in its own words (it repeats access keys): UsageError for a
bucket that is not there and credentials that are refused, StorageLostError for a server that does not answer,
VerifyError for an object that is not what was written.
"""

import os
import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from blake3 import blake3

from gristmill.manifests.canonical import DIGEST_PREFIX
from gristmill.manifests.commit import TMP_PREFIX
from gristmill.manifests.errors import GristmillError, InputError, StorageLostError, UsageError, VerifyError
from gristmill.manifests.remote_access import RemotePlace, client, obstore

PART_BYTES = 16 << 20
"""Parts of a large upload; a file of 160 GB has 10,000 of them, the most that S3 takes."""
PARTS_AT_ONCE = 4
BLOCK_BYTES = 8 << 20
_CHUNK_BYTES = 256 << 10
_COPY_MAX_BYTES = 5 << 30
_TRIES = 3
"""So often a body is asked for again without a byte of it coming; the client itself tries for RETRY_S each time."""

Answer = TypeVar("Answer")


class ChangedError(InputError):
    """An object is not the one that was listed."""


@dataclass(frozen=True)
class Found:
    """An object as a listing or a HEAD tells of it: `key` in the bucket, `etag` of its content, age by its clock."""

    key: str
    size: int
    etag: str
    modified_s: float


def get(place: RemotePlace, name: str) -> tuple[bytes, str] | None:
    """All bytes of a small object and its entity tag; None when there is none."""
    for attempt in range(_TRIES):
        try:
            result = _asked(place, name, lambda: obstore().get(client(place.bucket), place.key(name)))
        except FileNotFoundError:
            return None
        got = bytearray()
        _take(result, got)
        if len(got) == result.meta["size"]:
            return bytes(got), result.meta["e_tag"] or ""
        time.sleep(0.05 * 2**attempt)
    raise _breaks_off(place, name)


def _take(result: Any, got: bytearray) -> None:
    """Add what comes of a body; one that breaks off is not asked for again by the client, as a request is."""
    with suppress(obstore().exceptions.BaseError, OSError):
        for piece in result.stream(min_chunk_size=_CHUNK_BYTES):
            got += piece


def head(place: RemotePlace, name: str) -> Found | None:
    """What is told of an object; None when there is none."""
    try:
        meta = _asked(place, name, lambda: obstore().head(client(place.bucket), place.key(name)))
    except FileNotFoundError:
        return None
    return _found(meta)


def put(place: RemotePlace, name: str, data: bytes) -> None:
    """Write a small object, in place of the one that may be there."""
    _written(place, name, lambda: obstore().put(client(place.bucket), place.key(name), data, use_multipart=False))


def put_if_absent(place: RemotePlace, name: str, data: bytes) -> str | None:
    """Write an object whose name is free; its entity tag, or None when the name is taken.

    It may be taken by ourselves, when an answer was lost on the way: look at what stands there.
    """
    return _conditional(place, name, data, "create")


def replace_if(place: RemotePlace, name: str, data: bytes, etag: str) -> str | None:
    """Write in place of the very object with this entity tag; None when another one stands there, or none."""
    return _conditional(place, name, data, {"e_tag": etag})


def _conditional(place: RemotePlace, name: str, data: bytes, mode: Any) -> str | None:
    def ask() -> str:
        return obstore().put(client(place.bucket), place.key(name), data, mode=mode)["e_tag"] or ""

    errors = obstore().exceptions
    try:
        return _written(place, name, ask)
    except (errors.AlreadyExistsError, errors.PreconditionError):
        return None
    except StorageLostError:
        # Not tried again by the client, for the answer may be lost and not the object.
        found = get(place, name)
        if found is None or found[0] != data:
            raise
        return found[1]


def upload(place: RemotePlace, name: str, path: Path, part_bytes: int = PART_BYTES) -> None:
    """Write a file, one above `part_bytes` in parts; parts of an upload that was cut off are seen by nobody."""
    in_parts = path.stat().st_size > part_bytes

    def ask() -> Any:
        return obstore().put(
            client(place.bucket),
            place.key(name),
            path if in_parts else path.read_bytes(),
            use_multipart=in_parts,
            chunk_size=part_bytes,
            max_concurrency=PARTS_AT_ONCE,
        )

    _written(place, name, ask)


def copy(place: RemotePlace, source: str, target: str, size: int) -> bool:
    """Copy an object inside its bucket, which moves no bytes here; False when it is too large for one request."""
    if size > _COPY_MAX_BYTES:
        return False
    try:
        _asked(place, source, lambda: obstore().copy(client(place.bucket), place.key(source), place.key(target)))
    except FileNotFoundError:
        raise absent(place, source) from None
    return True


def delete(place: RemotePlace, name: str) -> None:
    """Remove an object; one that is not there is no error."""
    try:
        _asked(place, name, lambda: obstore().delete(client(place.bucket), place.key(name)))
    except FileNotFoundError:
        return


def list_below(place: RemotePlace) -> Iterator[Found]:
    """Every object below a place, a request for each thousand. For listing inputs alone."""

    def pages() -> list[Any]:
        return [meta for page in obstore().list(client(place.bucket), place.prefix or None) for meta in page]

    try:
        metas = _asked(place, "", pages)
    except FileNotFoundError:
        return
    yield from map(_found, metas)


def read_range(place: RemotePlace, name: str, start: int, stop: int, of: Found) -> bytes:
    """The bytes [start, stop) of an object that is the one `of` tells of (its size; its entity tag where it has one).

    Raises ChangedError when another one stands there, FileNotFoundError when none does.
    """
    got = bytearray()
    tries = 0
    while start + len(got) < stop:
        before = len(got)
        _asked(place, name, lambda: _read_on(place, name, (start, stop), of, got))
        tries = 0 if len(got) > before else tries + 1
        if tries >= _TRIES:
            raise _breaks_off(place, name)
        if tries:
            time.sleep(0.05 * 2**tries)
    return bytes(got)


def _read_on(place: RemotePlace, name: str, span: tuple[int, int], of: Found, got: bytearray) -> None:
    options: dict[str, Any] = {"range": (span[0] + len(got), span[1])}
    if of.etag:
        options["if_match"] = of.etag
    errors = obstore().exceptions
    try:
        result = obstore().get(client(place.bucket), place.key(name), options=options)
    except errors.PreconditionError:
        raise _changed(place, name) from None
    if result.meta["size"] != of.size:
        raise _changed(place, name)
    _take(result, got)


def fetch(place: RemotePlace, name: str, path: Path, size: int, digest: str) -> None:
    """Bring an object here as the file `path`, whole or not at all.

    Raises VerifyError, which names the object, when it is gone, or is not of this size and digest.
    """
    tmp = path.with_name(f"{TMP_PREFIX}{uuid.uuid4().hex}")
    try:
        with open(tmp, "xb") as file:
            hasher = blake3()
            for piece in read_whole(place, name, size):
                hasher.update(piece)
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if DIGEST_PREFIX + hasher.hexdigest() != digest:
            raise damaged(place, name, "its bytes do not have the digest of its receipt")
        os.replace(tmp, path)
    finally:
        tmp.unlink(missing_ok=True)


def read_whole(place: RemotePlace, name: str, size: int) -> Iterator[bytes]:
    """The bytes of an object that must be of this size, in order. Raises VerifyError when it is gone or is not."""
    expected = Found(place.key(name), size, "", 0.0)
    if size == 0:
        found = head(place, name)
        if found is None:
            raise absent(place, name)
        if found.size:
            raise damaged(place, name, f"{found.size} bytes, not 0")
    for start in range(0, size, BLOCK_BYTES):
        try:
            yield read_range(place, name, start, min(start + BLOCK_BYTES, size), expected)
        except FileNotFoundError:
            raise absent(place, name) from None
        except ChangedError:
            found = head(place, name)
            raise damaged(place, name, f"{found.size if found else 0} bytes, not {size}") from None


def absent(place: RemotePlace, name: str) -> VerifyError:
    """The error for an object that a receipt or manifest names, and that is not there."""
    return VerifyError("an object that is named is not there", place.shown(name), None, _anew(place, name))


def damaged(place: RemotePlace, name: str, how: str) -> VerifyError:
    """The error for an object that is not what was written."""
    return VerifyError("the object is damaged", place.shown(name), how, _anew(place, name))


def _anew(place: RemotePlace, name: str) -> str:
    folder = name.rpartition("/")[0]
    return f"remove {place.shown(folder)}/ and run again" if folder else "run again"


def _breaks_off(place: RemotePlace, name: str) -> StorageLostError:
    what = "object storage breaks off its answers again and again"
    return StorageLostError(what, place.shown(name), None, "check the server; the same command goes on")


def _changed(place: RemotePlace, name: str) -> ChangedError:
    return ChangedError(
        "an input changed while the run was going on", place.shown(name), None, "run the same command again"
    )


def _found(meta: Any) -> Found:
    return Found(meta["path"], int(meta["size"]), meta["e_tag"] or "", meta["last_modified"].timestamp())


def _written(place: RemotePlace, name: str, ask: Callable[[], Answer]) -> Answer:
    try:
        return _asked(place, name, ask)
    except FileNotFoundError:
        # A put says so of its bucket alone, whatever the server calls it.
        raise no_bucket(place) from None


def _asked(place: RemotePlace, name: str, ask: Callable[[], Answer]) -> Answer:
    """The answer; what the client raises becomes an error of ours, but for an object that is not there, one that is
    there already, and one that is another."""
    errors = obstore().exceptions
    try:
        return ask()
    except (GristmillError, errors.AlreadyExistsError, errors.PreconditionError):
        raise
    except FileNotFoundError as error:
        if "NoSuchBucket" in str(error):
            raise no_bucket(place) from None
        raise FileNotFoundError(place.shown(name)) from None
    except (errors.BaseError, OSError, ValueError) as error:
        raise _told(str(error), place, name, isinstance(error, errors.PermissionDeniedError)) from None


def no_bucket(place: RemotePlace) -> UsageError:
    """The error for a bucket that is not there."""
    return UsageError("no such bucket", f"s3://{place.bucket}", None, "make it, or check its name and AWS_ENDPOINT_URL")


def _told(text: str, place: RemotePlace, name: str, denied: bool) -> GristmillError:
    """What a client's words come to. Of them only a status and an error's name are passed on."""
    status = re.search(r"status code: (\d{3})", text)
    code = re.search(r"<Code>(\w{1,60})</Code>", text)
    number = int(status.group(1)) if status else 0
    said = " ".join(part for part in (status and status.group(1), code and code.group(1)) if part)
    where = place.shown(name) if name else place.url
    if "NoSuchBucket" in text:
        return no_bucket(place)
    if denied or number in (401, 403):
        remedy = "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY or AWS_PROFILE, and what they may do"
        return UsageError(f"object storage refuses the credentials ({said or 'denied'})", where, None, remedy)
    if "169.254.169.254" in text or "metadata endpoint" in text:
        remedy = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
        return UsageError("no credentials for object storage were found", where, None, remedy)
    if number == 416:
        return ChangedError("the object is shorter than it was listed", where, None, "run the same command again")
    if 300 <= number < 500 and number not in (408, 429):
        remedy = "check the URL, AWS_REGION and AWS_ENDPOINT_URL"
        return UsageError(f"object storage refuses the request ({said})", where, None, remedy)
    what = f"object storage fails ({said})" if said else "object storage cannot be reached"
    return StorageLostError(what, where, None, "check the server and AWS_ENDPOINT_URL; the same command goes on")

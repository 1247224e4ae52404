"""Writes WARC 1.1 files (ISO 28500:2017) whose bytes depend on the pages alone.

One gzip member a record, as crawlers write it: a `warcinfo` record first, then a `response` record a
page with its HTTP header. Record ids are version-5 UUIDs of URL and content, dates are fixed, digests
are SHA-1 in base 32 (the customary form).
"""

import base64
import gzip
import hashlib
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_DATE = "2024-01-01T00:00:00Z"
_GZIP_LEVEL = 6


@dataclass(frozen=True)
class Page:
    """One page as a server would have sent it: absolute URL in ASCII, and the bytes of the body."""

    url: str
    body: bytes


def write_warcs(folder: Path, stem: str, pages: Iterable[Page], max_raw_bytes: int) -> int:
    """Writes `folder/<stem>-NNN.warc.gz`, a new file once one holds `max_raw_bytes` of bodies.

    Returns the bytes of all bodies. Without pages no file is written.
    """
    raw_bytes = 0
    for number, shard in enumerate(_shards(pages, max_raw_bytes)):
        name = f"{stem}-{number:03d}.warc.gz"
        (folder / name).write_bytes(b"".join([_warcinfo(name), *map(_response, shard)]))
        raw_bytes += sum(len(page.body) for page in shard)
    return raw_bytes


def write_cut_warc(path: Path, pages: list[Page]) -> int:
    """Writes a WARC that ends in the middle of its last record's gzip member.

    The records before it are whole. Needs at least one page; returns the bytes of all bodies.
    """
    members = [_warcinfo(path.name), *map(_response, pages)]
    members[-1] = members[-1][: len(members[-1]) // 2]
    path.write_bytes(b"".join(members))
    return sum(len(page.body) for page in pages)


def _shards(pages: Iterable[Page], max_raw_bytes: int) -> Iterator[list[Page]]:
    shard: list[Page] = []
    shard_bytes = 0
    for page in pages:
        shard.append(page)
        shard_bytes += len(page.body)
        if shard_bytes >= max_raw_bytes:
            yield shard
            shard, shard_bytes = [], 0
    if shard:
        yield shard


def _response(page: Page) -> bytes:
    block = _http_header(page.body) + page.body
    fields = {
        "WARC-Type": "response",
        "WARC-Record-ID": _record_id(page.url, page.body),
        "WARC-Target-URI": page.url,
        "Content-Type": "application/http; msgtype=response",
        "WARC-Payload-Digest": _digest(page.body),
        "WARC-Identified-Payload-Type": "text/html",
    }
    return _member(fields, block)


def _warcinfo(name: str) -> bytes:
    block = b"software: gristmill demo-data\r\nformat: WARC File Format 1.1\r\n"
    fields = {
        "WARC-Type": "warcinfo",
        "WARC-Record-ID": _record_id(name, block),
        "WARC-Filename": name,
        "Content-Type": "application/warc-fields",
    }
    return _member(fields, block)


def _http_header(body: bytes) -> bytes:
    """A charset is declared only where the body bears it out."""
    try:
        body.decode("utf-8")
        charset = "; charset=utf-8"
    except UnicodeDecodeError:
        charset = ""
    return (f"HTTP/1.1 200 OK\r\nContent-Type: text/html{charset}\r\nContent-Length: {len(body)}\r\n\r\n").encode(
        "ascii"
    )


def _member(fields: dict[str, str], block: bytes) -> bytes:
    fields = fields | {
        "WARC-Date": _DATE,
        "WARC-Block-Digest": _digest(block),
        "Content-Length": str(len(block)),
    }
    header = "WARC/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"
    return gzip.compress(header.encode("ascii") + block + b"\r\n\r\n", _GZIP_LEVEL, mtime=0)


def _record_id(name: str, content: bytes) -> str:
    return f"<{uuid.uuid5(uuid.NAMESPACE_URL, f'{name} {hashlib.sha256(content).hexdigest()}').urn}>"


def _digest(content: bytes) -> str:
    sha1 = hashlib.sha1(content, usedforsecurity=False).digest()
    return f"sha1:{base64.b32encode(sha1).decode('ascii')}"

"""What a WARC record of type `response` holds: an HTTP head, and a body under its transfer and content encodings.

Servers and crawlers lie about encodings: a body that is declared to be chunked or compressed and is not is taken as
it stands. A compressed body that only ends early is taken as far as it goes, as browsers do. What a body decodes to
is bounded.
"""

import io
import re
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fastwarc.stream_io import WarcReader

_STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)? +(\d{3})(?: [^\r\n]*)?\r?\n")
_USUAL_STATUS = (b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 200 OK\r\n")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_MAX_HEAD_BYTES = 256 << 10
_CHUNK_SIZE = re.compile(rb"(?:\r?\n)?([0-9A-Fa-f]{1,15})[^\r\n]{0,4096}\r?\n")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w:.+-]+)", re.IGNORECASE | re.ASCII)
_TEXT_BYTES = 512
_READ_BYTES = 1 << 20
_MARKUP = re.compile(rb"\s*<(?:!doctype|!--|\?xml|html|head|body|[a-z])", re.IGNORECASE)
PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain", "text/markdown"})


class Fault(Exception):
    """Why a payload becomes no row: reason of the ledger, detail, value and limit."""

    def __init__(self, reason: str, detail: str, value: float = float("nan"), limit: float = float("nan")) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail
        self.value = value
        self.limit = limit


class Head(NamedTuple):
    """An HTTP head: `body` is where the body begins; `mime` "" and `charset` None where not declared."""

    status: int
    body: int
    mime: str
    charset: str | None
    encodings: tuple[str, ...]
    chunked: bool


def parse_head(data: bytes, start: int, end: int) -> Head:
    """The head of the HTTP response `data[start:end]`. Raises Fault (`bad_http`)."""
    if data.startswith(_USUAL_STATUS, start, end):
        status, line_end = 200, start + len(_USUAL_STATUS[0]) - 1
    elif found := _STATUS_LINE.match(data, start, end):
        status, line_end = int(found[1]), found.end() - 1
    else:
        raise Fault("bad_http", "no HTTP status line")
    limit = min(end, start + _MAX_HEAD_BYTES)
    last = data.find(b"\r\n\r\n", line_end - 1, limit)
    body = last + 4
    if last < 0:
        found = _HEAD_END.search(data, line_end, limit)
        if not found:
            raise Fault("bad_http", "the HTTP head does not end")
        last, body = found.span()
    fields = data[line_end:last].lower()
    mime, charset = split_content_type(_field(fields, b"\ncontent-type:"))
    if b"-encoding:" not in fields:
        return Head(status, body, mime, charset, (), False)
    encoded, chunked = _field(fields, b"\ncontent-encoding:"), _field(fields, b"\ntransfer-encoding:")
    encodings = _words(encoded) if encoded else ()
    return Head(status, body, mime, charset, encodings, bool(chunked) and "chunked" in _words(chunked))


def _field(fields: bytes, name: bytes) -> bytes:
    """The value of the first field of a name."""
    start = fields.find(name)
    if start < 0:
        return b""
    start += len(name)
    end = fields.find(b"\n", start)
    return fields[start : end if end >= 0 else len(fields)].strip()


@lru_cache(maxsize=1024)
def split_content_type(value: bytes) -> tuple[str, str | None]:
    """MIME type in lower case and charset of a Content-Type field."""
    text = value.decode("latin-1")
    charset = _CHARSET.search(text)
    return text.partition(";")[0].strip().lower(), charset[1] if charset else None


@lru_cache(maxsize=1024)
def _words(value: bytes) -> tuple[str, ...]:
    words = value.decode("latin-1").lower().replace(",", " ").split()
    return tuple(word for word in words if word not in ("identity", "none"))


def sniff_mime(data: bytes, start: int, end: int) -> str:
    """The type of a body `data[start:end]` that declares none: HTML if it begins like it, else ""."""
    return "text/html" if _MARKUP.match(data, start, min(end, start + _TEXT_BYTES)) else ""


def decode_body(body: bytes, head: Head, max_bytes: int) -> bytes:
    """The body without its encodings. Raises Fault: `too_large`, `corrupt`, `bad_http` for an unknown encoding."""
    if head.chunked:
        body = _dechunk(body)
    for name in reversed(head.encodings):
        if name not in _DECODERS:
            raise Fault("bad_http", f"content encoding {name[:40]} is not known")
        body = _DECODERS[name](body, max_bytes)
        if len(body) > max_bytes:
            raise Fault("too_large", f"decoded from {name}", len(body), max_bytes)
    return body


def _dechunk(body: bytes) -> bytes:
    """The chunks put together; the body itself where it does not begin with a chunk."""
    parts: list[memoryview] = []
    view, at = memoryview(body), 0
    while size := _CHUNK_SIZE.match(body, at):
        length, start = int(size[1], 16), size.end()
        if not length or (not at and start + length > len(body)):
            return b"".join(parts) if at or not length else body
        parts.append(view[start : start + length])
        at = start + length
    return b"".join(parts) if parts else body


def _inflate(body: bytes, max_bytes: int, window: int, name: str) -> bytes:
    parts: list[bytes] = []
    left, inflate = max_bytes + 1, zlib.decompressobj(window)
    try:
        while body and left > 0:
            parts.append(inflate.decompress(body, left))
            left -= len(parts[-1])
            body = inflate.unconsumed_tail
            if inflate.eof:
                body = inflate.unused_data if inflate.unused_data.startswith(b"\x1f\x8b") else b""
                inflate = zlib.decompressobj(window)
    except zlib.error as error:
        raise Fault("corrupt", f"content encoding {name}: {error}") from None
    return b"".join(parts)


def _gunzip(body: bytes, max_bytes: int) -> bytes:
    return _inflate(body, max_bytes, 31, "gzip") if body.startswith(b"\x1f\x8b") else body


def _deflate(body: bytes, max_bytes: int) -> bytes:
    """RFC 9110 means zlib; some servers send bare deflate."""
    wrapped = len(body) > 1 and body[0] & 15 == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    try:
        return _inflate(body, max_bytes, 15 if wrapped else -15, "deflate")
    except Fault:
        if _is_plain(body):
            return body
        raise


def _unbrotli(body: bytes, max_bytes: int) -> bytes:
    from fastwarc.stream_io import BrotliReader

    return _read_bounded(BrotliReader(io.BytesIO(body)), body, max_bytes, "br")


def _unzstd(body: bytes, max_bytes: int) -> bytes:
    from fastwarc.stream_io import ZstdReader

    return _read_bounded(ZstdReader(io.BytesIO(body)), body, max_bytes, "zstd")


def _read_bounded(reader: "WarcReader", body: bytes, max_bytes: int, name: str) -> bytes:
    parts: list[bytes] = []
    left = max_bytes + 1
    try:
        while left > 0 and (part := reader.read(min(left, _READ_BYTES))):
            parts.append(part)
            left -= len(part)
    except OSError as error:
        if not parts and _is_plain(body):
            return body
        raise Fault("corrupt", f"content encoding {name}: {error}") from None
    return b"".join(parts)


def _is_plain(body: bytes) -> bool:
    """Whether a body that is declared to be compressed is not: it begins with markup."""
    return bool(_MARKUP.match(body, 0, _TEXT_BYTES))


_DECODERS: Mapping[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _deflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}

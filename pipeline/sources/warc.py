"""WARC: the pages of a crawl, as they came (`extract_html` makes text of them).

In: `response`, `resource` and `conversion` records whose payload is HTML or plain text; other types of records are no
records here. Out: `text` is the payload, decoded from its transfer, content and character encodings; `url` the
target URI; `id` from WARC-Record-ID, else the URL, else the content; `meta` holds `mime`, `date`, `charset` (if not
UTF-8) and `truncated` (the crawler's WARC-Truncated).
Drops: `http_status`, `mime`. Quarantines: `bad_http`, `bad_encoding`, `too_large` (also what an encoding blows up to),
`corrupt`, `truncated`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from gristmill.pipeline.sources.batching import DocumentBuilder
from gristmill.pipeline.sources.columns import identity, may_hold_medium_chars, without_medium_chars
from gristmill.pipeline.sources.encodings import META_BYTES, UTF8, declares_utf8, html_to_utf8, is_utf8, python_codec
from gristmill.pipeline.sources.files import open_binary
from gristmill.pipeline.sources.http_payload import (
    PAGE_TYPES,
    Fault,
    decode_body,
    parse_head,
    sniff_mime,
    split_content_type,
)
from gristmill.pipeline.sources.losses import lose
from gristmill.pipeline.sources.protocol import InputFile, Loss, OptionValue, ReadBatch, ReadOptions
from gristmill.pipeline.sources.streams import read_pieces
from gristmill.pipeline.sources.warc_records import Record, read_records

NAME = "warc"
OPTIONS: dict[str, OptionValue] = {}
SUFFIXES = (".warc", ".warc.gz", ".warc.zst")
TYPES = ("response", "resource", "conversion")
_FIELD = re.compile(rb"\n([A-Za-z-]+)[ \t]*:[ \t]*([^\r\n]*)")
_NAMES = (
    b"WARC-Type",
    b"WARC-Record-ID",
    b"WARC-Target-URI",
    b"WARC-Date",
    b"Content-Type",
    b"WARC-Truncated",
    b"WARC-Identified-Payload-Type",
    b"WARC-Identified-Content-Language",
)
_USUAL_NAMES = {name.lower(): name for name in _NAMES}
_HTTP_OK = 200
_MAX_HEADS = 1024
_CONVERSION = ""  # no server declares it
Fields = dict[bytes, bytes]


def read_file(file: InputFile, options: ReadOptions) -> Iterator[ReadBatch]:
    """The rows and losses of one file. Raises InputError if it cannot be opened."""
    return read_types(file, options, TYPES)


def read_types(file: InputFile, options: ReadOptions, types: Sequence[str]) -> Iterator[ReadBatch]:
    """The rows and losses of the records whose WARC-Type is one of `types`."""
    meta_head = b"{" + orjson.dumps(options.dataset) + b":"
    builder = DocumentBuilder(options)
    heads: dict[bytes, bytes] = {}
    with open_binary(file.url) as raw:
        for record in read_records(read_pieces(raw, file.rel), options.max_doc_bytes, types):
            if not isinstance(record, Record):
                yield from builder.lose(record)
                continue
            if record.places and _add_page(record, builder, heads, meta_head):
                continue
            fields = _fields(record)
            try:
                body = _body(record, fields, options.max_doc_bytes)
                url = _url(fields)
                key_text = _key_text(fields, url)
                if body.plain and builder.add_utf8(
                    body.parts(), key_text, url, meta_head + _meta(fields, body.mime, UTF8)
                ):
                    continue
                text, encoding = _text(body.whole(), options.max_doc_bytes)
            except Fault as fault:
                yield from builder.lose(_lost(record.whole(), fields, fault))
                continue
            yield from builder.add_row(text, key_text, url, meta_head + _meta(fields, body.mime, encoding))
        yield from builder.finish()


def _add_page(record: Record, builder: DocumentBuilder, heads: dict[bytes, bytes], meta_head: bytes) -> bool:
    """Adds a page that a kernel found, if it says that it is UTF-8, is it, and fits; all others are left alone.

    `heads` holds, for the types that pages declare, how their `meta` begins, b"" for those that are left alone.
    """
    data = record.data
    _, _, _, body, id_start, id_end, url_start, url_end, date_start, date_end, mime_start, mime_end = record.places
    declared = data[mime_start:mime_end]
    head = heads.get(declared)
    if head is None:
        mime, charset = split_content_type(declared.strip().lower())
        if mime in PAGE_TYPES and charset and python_codec(charset) == UTF8:
            head = meta_head + orjson.dumps({"mime": mime, "date": ""})[: -len(b'"}')]
        if len(heads) >= _MAX_HEADS:
            heads.clear()
        heads[declared] = head = head or b""
    if not head:
        return False
    return builder.add_utf8(
        [memoryview(data)[body : record.end], *record.more],
        f"warc\0\0{data[id_start:id_end].decode()}",
        data[url_start:url_end].decode(),
        head + data[date_start:date_end] + b'"}}',
    )


def _fields(record: Record) -> Fields:
    """The fields of a record's head under their usual names."""
    data, start, block = record[:3]
    try:
        # As nearly all tools write heads: at half the time of the pattern.
        lines = data[start + len(b"WARC/1.0\r\n") : block - 4].split(b"\r\n")
        fields: Fields = dict([line.split(b": ", 1) for line in lines])  # type: ignore[misc]
        if b"WARC-Type" in fields and b"WARC-Record-ID" in fields and b"WARC-Target-URI" in fields:
            return fields
    except ValueError:
        pass
    fields = {}
    for name, value in _FIELD.findall(data, start, block):
        if usual := _USUAL_NAMES.get(name.lower()):
            fields.setdefault(usual, value)
    return fields


class _Body(NamedTuple):
    """A page under its character encoding: `data[start:end]` and `more`. `plain`: it is UTF-8 without byte order
    mark, if it is UTF-8 at all; `charset` is what the server declared."""

    data: bytes
    start: int
    end: int
    more: Sequence[memoryview]
    mime: str
    charset: str | None
    plain: bool

    def parts(self) -> list[memoryview]:
        """The bytes, not put together."""
        return [memoryview(self.data)[self.start : self.end], *self.more]

    def whole(self) -> "_Body":
        """The same in one piece."""
        if not self.more:
            return self
        data = b"".join(self.parts())
        return self._replace(data=data, start=0, end=len(data), more=())


def _body(record: Record, fields: Fields, max_bytes: int) -> _Body:
    """What a record holds, without its transfer and content encodings. Raises Fault."""
    kind, (mime, charset) = fields[b"WARC-Type"], split_content_type(fields.get(b"Content-Type", b""))
    if kind != b"response" and kind.strip().lower() == b"conversion":
        return _Body(record.data, record.block, record.end, record.more, mime, _CONVERSION, True)
    if record.more and record.data.find(b"\r\n\r\n", record.block, record.end - META_BYTES) < 0:
        record = record.whole()  # all that is looked at here is in the first part of the others
    data, start, end, more = record.data, record.block, record.end, record.more
    if mime == "application/http" or (not mime and data.startswith(b"HTTP/", start)):
        head = parse_head(data, start, end)
        if head.status != _HTTP_OK:
            raise Fault("http_status", "", head.status, _HTTP_OK)
        mime, charset, start = head.mime, head.charset, head.body
        if mime and mime not in PAGE_TYPES:
            raise Fault("mime", mime)
        if head.chunked or head.encodings:
            data = decode_body(b"".join((memoryview(data)[start:end], *more)), head, max_bytes)
            start, end, more = 0, len(data), ()
    mime = mime or split_content_type(fields.get(b"WARC-Identified-Payload-Type", b""))[0]
    mime = mime or sniff_mime(data, start, end)
    if mime not in PAGE_TYPES:
        raise Fault("mime", mime or "not declared")
    return _Body(data, start, end, more, mime, charset, declares_utf8(data, start, end, charset))


def _text(body: _Body, max_bytes: int) -> tuple[bytes | memoryview, str]:
    """The text of a body in one piece, and the encoding that it had. Raises Fault."""
    data, start, end, _, _, charset, plain = body
    page = memoryview(data)[start:end]
    if plain and is_utf8(page):
        # Seldom copied.
        return without_medium_chars(data[start:end]) if may_hold_medium_chars(data, start, end) else page, UTF8
    if charset == _CONVERSION:
        raise Fault("bad_utf8", "a conversion record is UTF-8")
    found = html_to_utf8(page, charset)
    if found is None:
        raise Fault("bad_encoding", charset or "not declared")
    if len(found[0]) > max_bytes:
        raise Fault("too_large", "text", len(found[0]), max_bytes)
    return without_medium_chars(found[0]), found[1]


def _meta(fields: Fields, mime: str, encoding: str) -> bytes:
    meta = {"mime": mime, "date": _string(fields.get(b"WARC-Date", b""))}
    if encoding != UTF8:
        meta["charset"] = encoding
    if b"WARC-Truncated" in fields:
        meta["truncated"] = _string(fields[b"WARC-Truncated"])
    if b"WARC-Identified-Content-Language" in fields:
        meta["language"] = _string(fields[b"WARC-Identified-Content-Language"])
    return orjson.dumps(meta) + b"}"


def _key_text(fields: Fields, url: str | None) -> str | None:
    key = _string(fields.get(b"WARC-Record-ID", b""))
    if key:
        return identity("warc", "", key)
    return identity("url", "", url) if url else None


def _lost(record: Record, fields: Fields, fault: Fault) -> Loss:
    raw = memoryview(record.data)[record.start : record.end]
    return lose(fault.reason, raw, record.offset, fault.detail, fault.value, fault.limit, _url(fields))


def _url(fields: Fields) -> str | None:
    """The target URI; Wget puts it between angle brackets."""
    return _string(fields.get(b"WARC-Target-URI", b"")).strip("<>") or None


def _string(value: bytes) -> str:
    return value.decode("utf-8", "replace").strip()

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

import orjson

from gristmill.pipeline.sources.batching import DocumentBuilder
from gristmill.pipeline.sources.columns import identity, may_hold_medium_chars, without_medium_chars
from gristmill.pipeline.sources.encodings import UTF8, html_to_utf8, is_plain_utf8, is_utf8
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
Fields = dict[bytes, bytes]


def read_file(file: InputFile, options: ReadOptions) -> Iterator[ReadBatch]:
    """The rows and losses of one file. Raises InputError if it cannot be opened."""
    return read_types(file, options, TYPES)


def read_types(file: InputFile, options: ReadOptions, types: Sequence[str]) -> Iterator[ReadBatch]:
    """The rows and losses of the records whose WARC-Type is one of `types`."""
    meta_head = b"{" + orjson.dumps(options.dataset) + b":"
    builder = DocumentBuilder(options)
    with open_binary(file.url) as raw:
        for record in read_records(read_pieces(raw, file.rel), options.max_doc_bytes, types):
            if not isinstance(record, Record):
                yield from builder.lose(record)
                continue
            fields = _fields(record)
            try:
                text, meta = _payload(record, fields, options.max_doc_bytes)
            except Fault as fault:
                yield from builder.lose(_lost(record, fields, fault))
                continue
            url = _url(fields)
            yield from builder.add_row(text, _key_text(fields, url), url, meta_head + orjson.dumps(meta) + b"}")
        yield from builder.finish()


def _fields(record: Record) -> Fields:
    """The fields of a record's head under their usual names."""
    data, start, block, _, _ = record
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


def _payload(record: Record, fields: Fields, max_bytes: int) -> tuple[bytes | memoryview, dict[str, str]]:
    """Text and meta of a record. Raises Fault."""
    data, start, end = record.data, record.block, record.end
    mime, charset = split_content_type(fields.get(b"Content-Type", b""))
    if fields[b"WARC-Type"].strip().lower() == b"conversion":
        if not is_utf8(memoryview(data)[start:end]):
            raise Fault("bad_utf8", "a conversion record is UTF-8")
        return _utf8(data, start, end), _meta(fields, mime, UTF8)
    if mime == "application/http" or (not mime and data.startswith(b"HTTP/", start)):
        head = parse_head(data, start, end)
        if head.status != _HTTP_OK:
            raise Fault("http_status", "", head.status, _HTTP_OK)
        mime, charset, start = head.mime, head.charset, head.body
        if mime and mime not in PAGE_TYPES:
            raise Fault("mime", mime)
        if head.chunked or head.encodings:
            data = decode_body(data[start:end], head, max_bytes)
            start, end = 0, len(data)
    mime = mime or split_content_type(fields.get(b"WARC-Identified-Payload-Type", b""))[0]
    mime = mime or sniff_mime(data, start, end)
    if mime not in PAGE_TYPES:
        raise Fault("mime", mime or "not declared")
    if is_plain_utf8(data, start, end, charset):
        return _utf8(data, start, end), _meta(fields, mime, UTF8)
    found = html_to_utf8(memoryview(data)[start:end], charset)
    if found is None:
        raise Fault("bad_encoding", charset or "not declared")
    if len(found[0]) > max_bytes:
        raise Fault("too_large", "text", len(found[0]), max_bytes)
    return without_medium_chars(found[0]), _meta(fields, mime, found[1])


def _utf8(data: bytes, start: int, end: int) -> bytes | memoryview:
    """A text without U+FFFC; seldom copied."""
    if may_hold_medium_chars(data, start, end):
        return without_medium_chars(data[start:end])
    return memoryview(data)[start:end]


def _meta(fields: Fields, mime: str, encoding: str) -> dict[str, str]:
    meta = {"mime": mime, "date": _string(fields.get(b"WARC-Date", b""))}
    if encoding != UTF8:
        meta["charset"] = encoding
    if b"WARC-Truncated" in fields:
        meta["truncated"] = _string(fields[b"WARC-Truncated"])
    if b"WARC-Identified-Content-Language" in fields:
        meta["language"] = _string(fields[b"WARC-Identified-Content-Language"])
    return meta


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

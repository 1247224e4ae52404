"""WARC: the pages of a crawl, as they came (`extract_html` makes text of them).

In: `response`, `resource` and `conversion` records whose payload is HTML or plain text; other types of records are no
records here. Out: `text` is the payload, decoded from its transfer, content and character encodings; `url` the
target URI; `id` from WARC-Record-ID, else the URL, else the content; `meta` holds `mime`, `date`, `charset` (if not
UTF-8) and `truncated` (the crawler's WARC-Truncated).
Drops: `http_status`, `mime`. Quarantines: `bad_http`, `bad_encoding`, `too_large` (also what an encoding blows up to),
`corrupt`, `truncated`.
"""

import re
from collections.abc import Iterator

import orjson

from gristmill.pipeline.sources.batching import Columns, DocumentBuilder, identity
from gristmill.pipeline.sources.encodings import UTF8, html_to_utf8, is_utf8
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
TYPES = "response|resource|conversion"
_FIELD = re.compile(
    rb"\n(warc-type|warc-record-id|warc-target-uri|warc-date|warc-truncated|warc-identified-payload-type"
    rb"|warc-identified-content-language|content-type)[ \t]*:[ \t]*([^\r\n]*)",
    re.IGNORECASE,
)
_HTTP_OK = 200
Fields = dict[bytes, bytes]


def read_file(file: InputFile, options: ReadOptions) -> Iterator[ReadBatch]:
    """The rows and losses of one file. Raises InputError if it cannot be opened."""
    return read_types(file, options, TYPES)


def read_types(file: InputFile, options: ReadOptions, types: str) -> Iterator[ReadBatch]:
    """The rows and losses of the records whose WARC-Type is one of `types`, divided by `|`."""
    wants = re.compile(rb"\nwarc-type[ \t]*:[ \t]*(?:" + types.encode() + rb")[ \t]*\r?\n", re.IGNORECASE)
    meta_head = b"{" + orjson.dumps(options.dataset) + b":"
    builder = DocumentBuilder(options)
    with open_binary(file.url) as raw:
        for record in read_records(read_pieces(raw, file.rel), options.max_doc_bytes, wants):
            if not isinstance(record, Record):
                yield from builder.lose(record)
                continue
            fields: Fields = {
                name.lower(): value for name, value in _FIELD.findall(record.data, record.start, record.block)
            }
            try:
                text, meta = _payload(record, fields, options.max_doc_bytes)
            except Fault as fault:
                yield from builder.lose(_lost(record, fields, fault))
                continue
            yield from builder.add_row(text, _columns(fields, meta_head + orjson.dumps(meta) + b"}"))
        yield from builder.finish()


def _payload(record: Record, fields: Fields, max_bytes: int) -> tuple[bytes, dict[str, str]]:
    """Text and meta of a record. Raises Fault."""
    mime, charset = split_content_type(fields.get(b"content-type", b""))
    if fields[b"warc-type"].strip().lower() == b"conversion":
        body, encoding = record.data[record.block : record.end], UTF8
        if not is_utf8(body):
            raise Fault("bad_utf8", "a conversion record is UTF-8")
    else:
        if mime == "application/http" or (not mime and record.data.startswith(b"HTTP/", record.block)):
            body, mime, charset = _http_body(record, max_bytes)
        else:
            body = record.data[record.block : record.end]
        mime = mime or split_content_type(fields.get(b"warc-identified-payload-type", b""))[0] or sniff_mime(body)
        if mime not in PAGE_TYPES:
            raise Fault("mime", mime or "not declared")
        found = html_to_utf8(body, charset)
        if found is None:
            raise Fault("bad_encoding", charset or "not declared")
        body, encoding = found
    if len(body) > max_bytes:
        raise Fault("too_large", "text", len(body), max_bytes)
    return body, _meta(fields, mime, encoding)


def _http_body(record: Record, max_bytes: int) -> tuple[bytes, str, str | None]:
    """Body, MIME type and charset of an HTTP response. Raises Fault."""
    head = parse_head(record.data, record.block, record.end)
    if head.status != _HTTP_OK:
        raise Fault("http_status", "", head.status, _HTTP_OK)
    if head.mime and head.mime not in PAGE_TYPES:
        raise Fault("mime", head.mime)
    body = record.data[head.body : record.end]
    return decode_body(body, head, max_bytes), head.mime, head.charset


def _meta(fields: Fields, mime: str, encoding: str) -> dict[str, str]:
    meta = {"mime": mime, "date": _string(fields.get(b"warc-date", b""))}
    if encoding != UTF8:
        meta["charset"] = encoding
    if b"warc-truncated" in fields:
        meta["truncated"] = _string(fields[b"warc-truncated"])
    if b"warc-identified-content-language" in fields:
        meta["language"] = _string(fields[b"warc-identified-content-language"])
    return meta


def _columns(fields: Fields, meta: bytes) -> Columns:
    key, url = _string(fields.get(b"warc-record-id", b"")), _url(fields)
    key_text = identity("warc", "", key) if key else identity("url", "", url) if url else None
    return Columns([key_text], [url], [None], [None], [meta])


def _lost(record: Record, fields: Fields, fault: Fault) -> Loss:
    raw = memoryview(record.data)[record.start : record.end]
    return lose(fault.reason, raw, record.offset, fault.detail, fault.value, fault.limit, _url(fields))


def _url(fields: Fields) -> str | None:
    """The target URI; Wget puts it between angle brackets."""
    return _string(fields.get(b"warc-target-uri", b"")).strip("<>") or None


def _string(value: bytes) -> str:
    return value.strip().decode("utf-8", "replace")

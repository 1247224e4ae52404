"""Bytes of WARC records, as crawlers write them."""

import gzip
from collections.abc import Iterable

CRLF = b"\r\n"
HTML_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"


def record(number: int, block: bytes, kind: str = "response", **fields: str) -> bytes:
    """A record; `fields` replace or add to the usual ones, `_` standing for `-`, an empty value removing one."""
    http = "application/http; msgtype=response" if kind == "response" else "text/plain"
    usual = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{number:08d}>",
        "WARC-Target-URI": f"https://example.org/{number}",
        "WARC-Date": "2024-01-01T00:00:00Z",
        "Content-Type": http,
        "Content-Length": str(len(block)),
    } | {name.replace("_", "-"): value for name, value in fields.items()}
    lines = [f"{name}: {value}".encode() for name, value in usual.items() if value]
    return CRLF.join([b"WARC/1.1", *lines, b"", block, b"", b""])


def page(number: int, chars: int = 300) -> bytes:
    """A `response` record of an HTML page."""
    return record(number, HTML_HEAD + body(number, chars).encode())


def body(number: int, chars: int = 300) -> str:
    """The text of `page(number)`."""
    words = f"<html><body><p>page {number} \u00e9\u4e2d\U0001f600 "
    return words + "".join(f"w{number * i % 7919} " for i in range(chars // 5))


def members(records: Iterable[bytes]) -> list[bytes]:
    """Each record as a gzip member."""
    return [gzip.compress(one, 6, mtime=0) for one in records]

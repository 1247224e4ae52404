"""Payloads of WARC responses: which are pages, how their encodings are undone, and within what bounds."""

import gzip
import io
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from fastwarc.stream_io import BrotliWriter

from tests.pipeline.sources.reading import Read, read
from tests.pipeline.sources.warc_bytes import HTML_HEAD, body, page, record

PAGES = [page(n) for n in range(3)]
BODIES = [body(n) for n in range(3)]
BOMB_BYTES = 200 << 20
LIMIT = 1 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all cases."""
    return tmp_path_factory.mktemp("payload")


def read_records(folder: Path, *records: bytes) -> Read:
    (folder / "a.warc").write_bytes(b"".join(records))
    return read("warc", folder / "a.warc")


def response(block: bytes, **fields: str) -> bytes:
    return record(7, block, **fields)


def encoded(data: bytes, *fields: str) -> bytes:
    """A response with further fields in its head."""
    lines = ["HTTP/1.1 200 OK", "content-type: text/html;charset=UTF-8", *fields, "", ""]
    return response("\r\n".join(lines).encode() + data)


@pytest.mark.parametrize(
    ("block", "fields", "reason", "value", "detail"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\nx", {}, "http_status", 404, ""),
        (b"HTTP/1.1 301\r\n\r\n", {}, "http_status", 301, ""),
        (b"HTTP/1.1 200 OK\r\nContent-Type: Image/PNG\r\n\r\nx", {}, "mime", None, "image/png"),
        (b"HTTP/1.1 200 OK\r\n\r\n\x00\x01", {}, "mime", None, ""),
        (b"no head at all", {}, "bad_http", None, ""),
        (b"", {}, "bad_http", None, ""),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html", {}, "bad_http", None, ""),
        (b"\x89PNG", {"WARC_Type": "resource", "Content_Type": "image/png"}, "mime", None, "image/png"),
    ],
)
def test_what_is_no_page_is_lost_with_its_reason(
    folder: Path, block: bytes, fields: dict[str, str], reason: str, value: float | None, detail: str
) -> None:
    found = read_records(folder, PAGES[0], response(block, **fields), PAGES[1])
    assert found.texts == BODIES[:2] and found.reasons == [reason]
    loss = found.losses[0]
    assert loss.offset == len(PAGES[0]) and detail in loss.detail
    assert value is None or loss.value == value
    assert loss.url == "https://example.org/7"


JAPANESE = "これは日本語の文章です。文字コードを調べるために書かれました。" * 4


@pytest.mark.parametrize(
    ("charset", "meta", "encoding"),
    [
        ("shift_jis", "", "shift_jis"),
        ("", '<meta charset="euc-jp">', "euc-jp"),
        ("", '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">', "shift_jis"),
        ("", "", "euc-jp"),
        ("", "", "utf-8"),
        ("iso-8859-1", "", "utf-8"),
        ("no-such-charset", "", "utf-8"),
    ],
)
def test_charset_from_header_then_meta_then_bytes(folder: Path, charset: str, meta: str, encoding: str) -> None:
    text = f"<html><head>{meta}</head><body>{JAPANESE}"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html{'; charset=' + charset if charset else ''}\r\n\r\n"
    assert read_records(folder, response(head.encode() + text.encode(encoding))).texts == [text]


def test_text_is_free_of_media_marks(folder: Path) -> None:
    assert read_records(folder, response(HTML_HEAD + "a\ufffcb".encode())).texts == ["a\ufffdb"]


class Kept(io.BytesIO):
    """Keeps its content when the writer closes it, which is when the last bytes come."""

    def close(self) -> None:
        """Does nothing."""


def brotli(data: bytes) -> bytes:
    out = Kept()
    writer = BrotliWriter(out)
    writer.write(data)
    writer.close()
    return out.getvalue()


def bare_deflate(data: bytes) -> bytes:
    pack = zlib.compressobj(wbits=-15)
    return pack.compress(data) + pack.flush()


def chunked(data: bytes, size: int = 50) -> bytes:
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x;ext=1\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": bare_deflate,
    "br": brotli,
    "zstd": zstandard.ZstdCompressor().compress,
    "identity": bytes,
}


@pytest.mark.parametrize("name", PACKERS)
def test_content_encodings_are_undone_in_chunks_or_not(folder: Path, name: str) -> None:
    packed = PACKERS[name](BODIES[0].encode())
    whole = encoded(packed, f"Content-Encoding: {name}")
    parts = encoded(chunked(packed), f"CONTENT-ENCODING: {name}", "Transfer-Encoding: Chunked")
    assert read_records(folder, whole, parts, PAGES[1]).texts == [BODIES[0], BODIES[0], BODIES[1]]


def test_encodings_are_undone_in_reverse_order(folder: Path) -> None:
    packed = gzip.compress(brotli(BODIES[0].encode()))
    assert read_records(folder, encoded(packed, "Content-Encoding: br, gzip")).texts == [BODIES[0]]


@pytest.mark.parametrize("field", ["Content-Encoding: gzip", "Content-Encoding: br", "Transfer-Encoding: chunked"])
def test_a_plain_body_that_claims_an_encoding_is_taken_as_it_is(folder: Path, field: str) -> None:
    assert read_records(folder, encoded(BODIES[0].encode(), field)).texts == [BODIES[0]]


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_damaged_body_costs_at_most_its_record(folder: Path, name: str) -> None:
    packed = bytearray(PACKERS[name](BODIES[0].encode()))
    packed[len(packed) // 2] ^= 0x55
    found = read_records(folder, encoded(bytes(packed), f"Content-Encoding: {name}"), PAGES[1])
    assert found.texts[-1] == BODIES[1] and len(found.rows) + len(found.losses) == 2


def zeros(packer: str) -> bytes:
    """BOMB_BYTES of zeros, packed."""
    if packer == "gzip":
        return gzip.compress(bytes(BOMB_BYTES), 1)
    return brotli(bytes(BOMB_BYTES)) if packer == "br" else zstandard.ZstdCompressor().compress(bytes(BOMB_BYTES))


@pytest.mark.parametrize("where", ["member", "gzip", "br", "zstd"])
def test_what_blows_up_is_lost_alone_in_bounded_memory(folder: Path, where: str) -> None:
    """200 KB or less that inflate to 200 MB, in a process whose peak stays below that."""
    if where == "member":
        bomb = gzip.compress(response(HTML_HEAD + bytes(BOMB_BYTES)), 1)
    else:
        bomb = gzip.compress(encoded(zeros(where), f"Content-Encoding: {where}"))
    (folder / "bomb.warc.gz").write_bytes(gzip.compress(PAGES[0]) + bomb + gzip.compress(PAGES[1]))
    code = (
        "import sys; from pathlib import Path; from tests.pipeline.sources.reading import ReadOptions, read\n"
        f"found = read('warc', Path(sys.argv[1]), ReadOptions('d', max_doc_bytes={LIMIT}))\n"
        "print(len(found.rows), *found.reasons, found.losses[0].value > found.losses[0].limit,"
        " Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])"
    )
    words = [sys.executable, "-c", code, str(folder / "bomb.warc.gz")]
    *told, peak_kib = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert told == ["2", "too_large", "True"] and int(peak_kib) << 10 < BOMB_BYTES

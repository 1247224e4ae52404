"""Which records are pages in the usual form, where their parts are, and at what the scan stops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.kernels.warc_pages import MAX_ROWS, PagePlaces, scan_pages
from tests.pipeline.sources.warc_bytes import HTML_HEAD, page, record

PAGES = [page(1), page(2, 3000), page(3)]
NEXT = record(9, b"software: x\r\n", "warcinfo")
LIMIT = 1 << 30


def scanned(data: bytes, limit: int = LIMIT, at: int = 0) -> tuple[list[PagePlaces], int]:
    rows, stop = scan_pages(np.frombuffer(data, np.uint8), at, limit)
    return [PagePlaces(*row) for row in rows], stop


def test_the_places_are_those_of_the_values() -> None:
    data = NEXT + b"".join(PAGES) + NEXT
    rows, stop = scanned(data)
    assert len(rows) == 3 and stop == len(data) - len(NEXT)
    for number, (row, whole) in enumerate(zip(rows, PAGES, strict=True), 1):
        assert data[row.start : row.end + 4] == whole
        assert data[row.block : row.body] == HTML_HEAD
        assert data[row.id_start : row.id_end] == b"<urn:uuid:%08d>" % number
        assert data[row.url_start : row.url_end] == b"https://example.org/%d" % number
        assert data[row.date_start : row.date_end] == b"2024-01-01T00:00:00Z"
        assert data[row.mime_start : row.mime_end] == b" text/html; charset=utf-8"


@pytest.mark.parametrize("kind", ["request", "metadata", "revisit", "warcinfo"])
def test_records_of_the_crawler_are_passed_over(kind: str) -> None:
    other = record(5, b"HTTP/1.1 404 No\r\n\r\n", kind, WARC_Date="")
    rows, stop = scanned(other + PAGES[0] + other + NEXT)
    assert [row.start for row in rows] == [len(other)] and stop == 2 * len(other) + len(PAGES[0])


def response(**fields: str) -> bytes:
    return record(5, HTML_HEAD + b"<p>", **fields)


def answered(head: bytes, body: bytes = b"<p>") -> bytes:
    return record(5, head + body)


@pytest.mark.parametrize(
    "usual",
    [
        response(Content_Type="application/http"),
        response(Content_Type="application/http;msgtype=response"),
        response(WARC_Block_Digest="sha1:a b"),
        response(warc_truncated="length"),
        response().replace(b"WARC/1.1", b"WARC/1.0"),
        answered(HTML_HEAD.replace(b"HTTP/1.1 200 OK", b"HTTP/1.0 200")),
        answered(HTML_HEAD.replace(b"Content-Type", b"cOnTenT-tYpe")),
        answered(HTML_HEAD[:-2] + b"Content-Type: image/png\r\n\r\n"),
        answered(HTML_HEAD[:-2] + b"X-Content-Encoding: gzip\r\nno field\r\n\r\n"),
    ],
)
def test_what_makes_no_difference(usual: bytes) -> None:
    rows, stop = scanned(usual + NEXT)
    assert len(rows) == 1 and stop == len(usual)


@pytest.mark.parametrize(
    "unusual",
    [
        record(5, b"<p>", "resource"),
        record(5, b"<p>", "Response"),
        response(Content_Type="text/html"),
        response(Content_Type=""),
        response(Content_Length=""),
        response(Content_Length="1e3"),
        response(Content_Length="9" * 19),
        response(Content_Length="-1"),
        response(Content_Length="10"),
        response(WARC_Record_ID=""),
        response(WARC_Record_ID="<a b>"),
        response(WARC_Target_URI=""),
        response(WARC_Target_URI="<https://example.org>"),
        response(WARC_Target_URI="https://example.org/\u00e9"),
        response(WARC_Date=""),
        response(WARC_Date='2024"'),
        response(WARC_Date="2024\\"),
        response(WARC_Truncated="length"),
        response(WARC_Identified_Content_Language="eng"),
        response(X="a\r\nWARC-Date: 2024"),
        response(X="a\r\n folded"),
        response(X="a\nb: c"),
        response().replace(b"WARC/1.1", b"WARC/2.0"),
        response().replace(b"WARC/1.1\r\n", b"WARC/1.1 \r\n"),
        response().replace(b"WARC-Date: ", b"WARC-Date:"),
        answered(HTML_HEAD.replace(b"200", b"404")),
        answered(HTML_HEAD.replace(b"200", b"2000")),
        answered(HTML_HEAD.replace(b"HTTP/1.1", b"HTTP/2.0")),
        answered(HTML_HEAD.replace(b"HTTP/1.1", b"HTTP/1")),
        answered(HTML_HEAD.replace(b"\r\n", b"\n")),
        answered(HTML_HEAD.replace(b"Content-Type", b"X-Type")),
        answered(HTML_HEAD[:-2] + b"Content-Encoding: gzip\r\n\r\n"),
        answered(HTML_HEAD[:-2] + b"TRANSFER-ENCODING: chunked\r\n\r\n"),
        answered(HTML_HEAD[:-2] + b"X: a\nContent-Encoding: gzip\r\n\r\n"),
        answered(HTML_HEAD[:-4], b""),
        answered(HTML_HEAD, b""),
        answered(HTML_HEAD, b"\xef\xbb\xbf<p>"),
        answered(HTML_HEAD, b"\xff\xfea"),
        answered(b"HTTP/1.1 200 OK\r\n\r\n"),
        response()[:-4],
        response()[:-4] + b"junk",
    ],
)
def test_anything_else_stops_the_scan(unusual: bytes) -> None:
    rows, stop = scanned(PAGES[0] + unusual + NEXT)
    assert len(rows) == 1 and stop == len(PAGES[0])


@pytest.mark.parametrize("between", [b"\r\n", b"junk"])
def test_a_page_that_no_record_follows_stops_the_scan(between: bytes) -> None:
    assert scanned(PAGES[0] + between + NEXT) == ([], 0)
    assert scanned(between + PAGES[0] + NEXT) == ([], 0)


def test_a_block_above_the_limit_stops_the_scan() -> None:
    sizes = [len(one) - one.index(b"HTTP") - 4 for one in PAGES[:2]]
    assert len(scanned(PAGES[0] + NEXT, sizes[0])[0]) == 1
    assert scanned(PAGES[0] + NEXT, sizes[0] - 1) == ([], 0)


def test_no_more_rows_than_there_is_room_for() -> None:
    data = page(1) * (MAX_ROWS + 3) + NEXT
    rows, stop = scanned(data)
    assert len(rows) == MAX_ROWS and stop == MAX_ROWS * len(page(1))
    assert len(scanned(data, at=stop)[0]) == 3


@given(cut=st.integers(0, sum(map(len, PAGES)) + len(NEXT)))
def test_a_cut_page_is_the_last_row_once_its_heads_are_there(cut: int) -> None:
    """The bytes behind the cut, which are in memory, are not looked at."""
    data = b"".join(PAGES) + NEXT
    rows, stop = scanned(data[:cut])
    whole = [row for row in scanned(data)[0] if row.end + len(b"\r\n\r\nWARC/") <= cut]
    assert rows[: len(whole)] == whole
    ends = [row for row in scanned(data)[0] if row not in whole and row.body < cut]
    assert rows[len(whole) :] == ends[:1]
    assert stop == (whole[-1].end + 4 if whole else 0)


@given(data=st.data())
def test_noise_is_never_read_outside_of_the_data(data: st.DataObject) -> None:
    noisy = bytearray(b"".join(PAGES))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, 600))
        noisy[start : start + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    rows, stop = scanned(bytes(noisy), at=data.draw(st.integers(0, len(noisy))))
    assert 0 <= stop <= len(noisy)
    for row in rows:
        assert row.start < row.block < row.body < min(row.end, len(noisy))
        assert all(row.start < at < row.body for at in row[4:])

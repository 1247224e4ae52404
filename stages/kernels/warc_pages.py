"""The heads of WARC records that hold a web page in the usual form, taken apart many at a time.

In: uncompressed bytes, in which a record begins at a given place. Out: a row of places for each `response` record whose
heads are written as nearly all tools write them; requests, metadata, revisits and descriptions of the file are passed
over. The scan stops at the first record that is anything else, which is left to slower readers: a head line without
": ", a line end that is not CRLF, a field of ours that is missing, there twice, empty or not printable ASCII, a field
that goes into `meta` beside the date, a status other than 200, a body under a transfer or content encoding, none, or
one that begins like a byte order mark, a record that is not followed by another one.

The last row may be of a record that ends behind the data, or so near its end that nothing can be seen behind it.
`pipeline.sources.warc` reads the same without this kernel, and is its oracle in the tests.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.stages.kernels.jit import BYTES, helper, kernel

Bytes = npt.NDArray[np.uint8]

MAX_ROWS = 256
_MAX_HEAD_BYTES = 64 << 10
_MAX_DIGITS = 18
_signed: Any = np.int64  # numba makes an unsigned with a signed integer a float


class PagePlaces(NamedTuple):
    """Where the parts of a record are: `start`, `block` and `end` as in framing, `body` behind the HTTP head; of the
    others beginning and end. `mime` is the rest of the line of the first Content-Type of the HTTP head."""

    start: int
    block: int
    end: int
    body: int
    id_start: int
    id_end: int
    url_start: int
    url_end: int
    date_start: int
    date_end: int
    mime_start: int
    mime_end: int


_COLUMNS = len(PagePlaces._fields)
_START, _BLOCK, _END, _BODY, _ID, _, _URL, _, _DATE, _, _MIME, _ = range(_COLUMNS)


def _bytes(text: bytes) -> Bytes:
    return np.frombuffer(text, np.uint8)


_VERSION = _bytes(b"WARC/1.")
_SOUND = _bytes(b"\r\n\r\nWARC/")
_TYPE, _LENGTH, _CONTENT = _bytes(b"WARC-Type"), _bytes(b"Content-Length"), _bytes(b"Content-Type")
_RECORD_ID, _TARGET, _WHEN = _bytes(b"WARC-Record-ID"), _bytes(b"WARC-Target-URI"), _bytes(b"WARC-Date")
_TRUNCATED, _LANGUAGE = _bytes(b"WARC-Truncated"), _bytes(b"WARC-Identified-Content-Language")
_RESPONSE, _HTTP = _bytes(b"response"), _bytes(b"application/http")
_HTTP_RESPONSE = _bytes(b"application/http; msgtype=response")
_HTTP_RESPONSE_TIGHT = _bytes(b"application/http;msgtype=response")
_REQUEST, _METADATA, _REVISIT, _INFO = map(_bytes, (b"request", b"metadata", b"revisit", b"warcinfo"))
_STATUS = _bytes(b"HTTP/1.")
_OK = _bytes(b" 200")
_MIME_FIELD = _bytes(b"content-type:")
_ENCODING_FIELDS = _bytes(b"content-encoding:"), _bytes(b"transfer-encoding:")


@helper
def _holds(data: Any, at: int, end: int, wanted: Any) -> bool:
    """Whether `wanted` stands at `at`, before `end`."""
    if at + len(wanted) > end:
        return False
    equal = True
    for i in range(len(wanted)):
        equal &= data[at + i] == wanted[i]
    return equal


@helper
def _is(data: Any, start: int, end: int, wanted: Any) -> bool:
    return end - start == len(wanted) and _holds(data, start, end, wanted)


@helper
def _holds_lower(data: Any, at: int, end: int, wanted: Any) -> bool:
    """`_holds`, where `wanted` is in lower case and the data in any."""
    if at + len(wanted) > end:
        return False
    for i in range(len(wanted)):
        byte = data[at + i]
        if 0x41 <= byte <= 0x5A:
            byte |= 0x20
        if byte != wanted[i]:
            return False
    return True


@helper
def _is_printable(data: Any, start: int, end: int, and_quoted: bool) -> bool:
    """Printable ASCII without spaces, at least one byte; also without what JSON escapes."""
    for i in range(start, end):
        if not 0x21 <= data[i] <= 0x7E or (and_quoted and data[i] in (0x22, 0x5C)):
            return False
    return end > start


@helper
def _number(data: Any, start: int, end: int) -> int:
    """Decimal digits and nothing else; -1 if not."""
    if not 0 < end - start <= _MAX_DIGITS:
        return -1
    value = 0
    for i in range(start, end):
        if not 0x30 <= data[i] <= 0x39:
            return -1
        value = value * 10 + _signed(data[i]) - 0x30
    return value


@helper
def _warc_head(data: Any, start: int, spans: Any) -> int:
    """The places of the fields' values: a row of `spans` for type, length, content type, id, URL and date, -1 where
    there is none. Returns where the block begins, or -1."""
    limit = min(len(data), start + _MAX_HEAD_BYTES)
    spans[:] = -1
    at = start + len(_VERSION)
    if not _holds(data, start, limit, _VERSION) or at + 3 > limit or data[at] not in (0x30, 0x31):
        return -1
    if data[at + 1] != 0x0D or data[at + 2] != 0x0A:
        return -1
    at += 3
    while at + 1 < limit:
        if data[at] == 0x0D:
            return at + 2 if data[at + 1] == 0x0A else -1
        colon, end = -1, at
        while end < limit and data[end] != 0x0D:
            if data[end] == 0x0A:
                return -1
            if colon < 0 and data[end] == 0x3A and end + 1 < limit and data[end + 1] == 0x20:
                colon = end
            end += 1
        if colon < 0 or end + 1 >= limit or data[end + 1] != 0x0A:
            return -1
        field = -1
        if _is(data, at, colon, _TYPE):
            field = 0
        elif _is(data, at, colon, _LENGTH):
            field = 1
        elif _is(data, at, colon, _CONTENT):
            field = 2
        elif _is(data, at, colon, _RECORD_ID):
            field = 3
        elif _is(data, at, colon, _TARGET):
            field = 4
        elif _is(data, at, colon, _WHEN):
            field = 5
        elif _is(data, at, colon, _TRUNCATED) or _is(data, at, colon, _LANGUAGE):
            field = 6
        if field >= 0:
            if spans[field, 0] >= 0:
                return -1
            spans[field, 0] = colon + 2
            spans[field, 1] = end
        at = end + 2
    return -1


@helper
def _http_head(data: Any, start: int, end: int, row: Any) -> int:
    """Where the body begins, or -1; sets the place of the type."""
    limit = min(end, start + _MAX_HEAD_BYTES)
    at = start + len(_STATUS)
    if not _holds(data, start, limit, _STATUS) or at + 6 > limit or data[at] not in (0x30, 0x31):
        return -1
    if not _holds(data, at + 1, limit, _OK) or (data[at + 5] != 0x20 and data[at + 5] != 0x0D):
        return -1
    at += 5
    while at < limit and data[at] != 0x0D and data[at] != 0x0A:
        at += 1
    if at + 1 >= limit or data[at] != 0x0D or data[at + 1] != 0x0A:
        return -1
    row[_MIME] = -1
    while at + 3 < limit:
        # A carriage return and a line feed stand at `at`.
        if data[at + 2] == 0x0D and data[at + 3] == 0x0A:
            return at + 4 if row[_MIME] >= 0 else -1
        line = at + 2
        for field in _ENCODING_FIELDS:
            if _holds_lower(data, line, limit, field):
                return -1
        at = line
        while at < limit and data[at] != 0x0D:
            if data[at] == 0x0A:
                return -1
            at += 1
        if at + 1 >= limit or data[at + 1] != 0x0A:
            return -1
        if row[_MIME] < 0 and _holds_lower(data, line, limit, _MIME_FIELD):
            row[_MIME] = line + len(_MIME_FIELD)
            row[_MIME + 1] = at
    return -1


@helper
def _page(data: Any, spans: Any, row: Any) -> bool:
    """Whether the record is a page in the usual form; sets the rest of its row."""
    for field in range(6):
        if spans[field, 0] < 0:
            return False
    if spans[6, 0] >= 0:
        return False
    start, end = spans[2, 0], spans[2, 1]
    if not (
        _is(data, start, end, _HTTP_RESPONSE)
        or _is(data, start, end, _HTTP_RESPONSE_TIGHT)
        or _is(data, start, end, _HTTP)
    ):
        return False
    for i in range(3):
        if not _is_printable(data, spans[3 + i, 0], spans[3 + i, 1], i == 2):
            return False
        row[_ID + 2 * i] = spans[3 + i, 0]
        row[_ID + 2 * i + 1] = spans[3 + i, 1]
    if data[row[_URL]] in (0x3C, 0x3E) or data[row[_URL + 1] - 1] in (0x3C, 0x3E):
        return False
    body = _http_head(data, row[_BLOCK], min(row[_END], len(data)), row)
    if body < 0 or body >= min(row[_END], len(data)) or data[body] in (0x00, 0xEF, 0xFE, 0xFF):
        return False
    row[_BODY] = body
    return True


@kernel(types.int64(BYTES, types.int64, types.int64, types.Array(types.int64, 2, "C")))
def _scan(data: Any, at: int, max_block_bytes: int, rows: Any) -> int:
    """Fills `rows`, one row more than MAX_ROWS; the one behind the last holds where it stopped."""
    spans = np.empty((7, 2), np.int64)
    count = 0
    while count < MAX_ROWS:
        row = rows[count]
        row[_START] = at
        block = _warc_head(data, at, spans)
        if block < 0 or spans[0, 0] < 0 or spans[1, 0] < 0:
            break
        length = _number(data, spans[1, 0], spans[1, 1])
        if length < 0 or length > max_block_bytes:
            break
        end = block + length
        row[_BLOCK], row[_END] = block, end
        start, stop = spans[0, 0], spans[0, 1]
        is_page = _is(data, start, stop, _RESPONSE)
        if is_page:
            if not _page(data, spans, row):
                break
        elif not (
            _is(data, start, stop, _REQUEST)
            or _is(data, start, stop, _METADATA)
            or _is(data, start, stop, _REVISIT)
            or _is(data, start, stop, _INFO)
        ):
            break
        if end + len(_SOUND) > len(data):
            if is_page:
                count += 1
                rows[count, _START] = at
            break
        if not _holds(data, end, len(data), _SOUND):
            break
        at = end + 4
        count += is_page
    rows[count, _START] = at
    return count


_rows = np.empty((MAX_ROWS + 1, _COLUMNS), np.int64)


def scan_pages(data: Bytes, at: int, max_block_bytes: int) -> tuple[list[list[int]], int]:
    """The pages from `at` on, each as PagePlaces, and where the scan stopped: behind the last record that it dealt
    with wholly. Records whose block is above the limit are none of its."""
    count = _scan(data, at, max_block_bytes, _rows)
    found: list[list[int]] = _rows[: count + 1].tolist()
    return found, found.pop()[_START]

"""From the bytes of a page or text file to UTF-8.

HTML (`html_to_utf8`), in this order: a byte order mark; the encoding that the server declared; the one that a
`<meta>` in the first 1,024 bytes declares (names and labels as in the WHATWG Encoding Standard); UTF-8; what uchardet
detects. The first that fits every byte wins, with two exceptions which pages on the web call for: text that
declares a single-byte encoding, in which anything fits, and is valid UTF-8 with characters beyond ASCII is UTF-8; and
UTF-8 with few invalid bytes (a character cut at the end, a stray byte) is UTF-8 with U+FFFD in their places.

Text files (`text_to_utf8`): UTF-16 or UTF-32 with a byte order mark, else UTF-8 and nothing else.
"""

import codecs
import io
import re
import struct
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pyarrow as pa

from gristmill.pipeline.sources.kernel_use import kernels_pay

UTF8 = "utf-8"
_BOMS = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_OFFSETS = struct.Struct("=qq")
_BOM_STARTS = frozenset(bom[0] for bom, _ in _BOMS)
# A page declares its encoding within these.
META_BYTES = 1024
_PART_BYTES = 1 << 20
_DETECTED_BYTES = 128 << 10
_META_CHARSET = re.compile(rb"<meta[^>]{1,512}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.+-]{2,40})", re.IGNORECASE)
# Of every ten characters beyond ASCII at most one may be invalid, if the rest is to be believed.
_VALID_PER_STRAY = 9
# Python's codecs of these names are stricter than what browsers read under them.
_AS_BROWSERS = {"gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs"}
_SINGLE_BYTE = re.compile(r"cp125\d|iso8859-\d+|koi8-[ru]|mac-roman|cp866")


def is_utf8(data: bytes | memoryview) -> bool:
    """Whether `data` is UTF-8; both ways are far quicker than decoding it."""
    if kernels_pay(len(data)):
        from gristmill.stages.kernels import utf8

        return utf8.is_utf8(np.frombuffer(data, np.uint8))
    offsets = pa.py_buffer(_OFFSETS.pack(0, len(data)))
    array = pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(data))
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def declares_utf8(data: bytes, start: int, end: int, declared: str | None) -> bool:
    """Whether the page `data[start:end]`, if it is UTF-8, is just that, without byte order mark, as `html_to_utf8`
    would find, told by its first META_BYTES. False may also mean that it takes a closer look."""
    if start < end and data[start] in _BOM_STARTS:
        return False
    if declared is None and (meta := _META_CHARSET.search(data, start, min(end, start + META_BYTES))):
        declared = meta[1].decode("ascii")
    return declared is None or python_codec(declared) == UTF8


def html_to_utf8(data: bytes | memoryview, declared: str | None) -> tuple[bytes, str] | None:
    """A page as UTF-8 without byte order mark, and the encoding it had; None if no encoding fits.

    `declared` is the charset of the HTTP header, or None.
    """
    first = bytes(data[:META_BYTES])
    for bom, encoding in _BOMS:
        if first.startswith(bom):
            data, declared = data[len(bom) :], encoding
            break
    wanted = python_codec(declared) if declared else None
    if wanted is None and (meta := _META_CHARSET.search(first)):
        wanted = python_codec(meta[1].decode("ascii"))
        # A page cannot say so in UTF-16: it was read as ASCII.
        wanted = UTF8 if wanted and wanted.startswith("utf-16") else wanted
    if wanted is None or wanted == UTF8:
        return (bytes(data), UTF8) if is_utf8(data) else _detected(data, UTF8)
    if _SINGLE_BYTE.fullmatch(wanted) and is_utf8(data):
        text = bytes(data)
        return text, wanted if text.isascii() else UTF8
    text = _decoded(data, wanted)
    return _detected(data, wanted) if text is None else (text, wanted)


def text_to_utf8(data: bytes) -> bytes | None:
    """A text file as UTF-8 without byte order mark; None if it is none."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            data = data[len(bom) :]
            if encoding != UTF8:
                return _decoded(data, encoding)
            break
    return data if is_utf8(data) else None


def has_wide_bom(data: bytes) -> bool:
    """Whether a file says of itself that it is UTF-16 or UTF-32, in which NUL bytes are common."""
    return any(data.startswith(bom) for bom, encoding in _BOMS if encoding != UTF8)


@lru_cache(maxsize=1024)
def python_codec(label: str) -> str | None:
    """Python's codec for an encoding label as browsers understand it; None for an unknown one."""
    from resiliparse.parse.encoding import map_encoding_to_html5

    if label in ("utf-32-le", "utf-32-be"):
        return label
    name = map_encoding_to_html5(label, fallback_utf8=False)
    return _AS_BROWSERS.get(name, name) if name else None


def _detected(data: bytes | memoryview, wanted: str) -> tuple[bytes, str] | None:
    """For pages that are not in the encoding that they should be in."""
    from resiliparse.parse.encoding import detect_encoding

    if is_utf8(data):
        return bytes(data), UTF8
    if (text := _with_strays(data)) is not None:
        return text, UTF8
    half = _DETECTED_BYTES // 2
    sample = bytes(data) if len(data) <= _DETECTED_BYTES else bytes(data[:half]) + bytes(data[-half:])
    for encoding in (python_codec(detect_encoding(sample) or UTF8), "cp1252" if wanted == UTF8 else wanted):
        if encoding and encoding != UTF8 and (text := _decoded(data, encoding)) is not None:
            return text, encoding
    return None


def _decoded(data: bytes | memoryview, encoding: str) -> bytes | None:
    out = io.BytesIO()
    try:
        for part in _parts(data, encoding, "strict"):
            out.write(part.encode())
    except UnicodeError:
        return None
    return out.getvalue()


def _parts(data: bytes | memoryview, encoding: str, errors: str) -> Iterator[str]:
    """`data` decoded part by part: a str may take four times the bytes of a text."""
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    with memoryview(data) as view:
        for start in range(0, len(data), _PART_BYTES):
            yield decoder.decode(view[start : start + _PART_BYTES])
    yield decoder.decode(b"", final=True)


def _with_strays(data: bytes | memoryview) -> bytes | None:
    """UTF-8 with few invalid bytes, or only a character cut at the end; None for anything else."""
    out, chars, stray, last = io.BytesIO(), 0, 0, ""
    for part in _parts(data, UTF8, "replace"):
        out.write(part.encode())
        chars += len(part)
        stray += part.count("\ufffd")
        last = part[-1:] or last
    utf8 = out.getvalue()
    beyond_ascii = chars - _count_ascii(data)
    if stray * (_VALID_PER_STRAY + 1) <= beyond_ascii:
        return utf8
    # One byte at the end could be a letter of another encoding; two that begin a character are hardly anything else.
    cut_bytes = len(data) - len(utf8) + len("\ufffd".encode())
    is_cut = stray == 1 and last == "\ufffd" and (beyond_ascii > 1 or cut_bytes > 1)
    return utf8 if is_cut else None


def _count_ascii(data: bytes | memoryview) -> int:
    all_bytes = np.frombuffer(data, np.uint8)
    parts = (all_bytes[start : start + _PART_BYTES] for start in range(0, len(data), _PART_BYTES))
    return sum(int(np.count_nonzero(part < 0x80)) for part in parts)

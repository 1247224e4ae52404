"""JSON lines of many megabytes, read without ever holding the text as a Python string.

A str of such a line can take four times its bytes (one character beyond U+FFFF is enough). So the value of the text
field is cut out of the line, what is left is parsed as any other line, and the text is unescaped part by part into
a buffer that then is the Arrow column: at the peak the line and the text are held, nothing else.
"""

import re
from dataclasses import dataclass

import orjson
import pyarrow as pa

# Strings (possessive, so that no position is kept to come back to) and what changes the depth.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]]', re.DOTALL)
_VALUE_STRING = re.compile(rb'[ \t\r\n]*:[ \t\r\n]*(")?')
# At most 256 units of at most 4 KiB: bytes without a backslash, a surrogate pair as two escapes, one escape.
_PART = re.compile(rb"(?:[^\\]{1,4096}+|\\u[dD][89abAB]..\\u....|\\u....|\\.){1,256}+", re.DOTALL)


@dataclass(frozen=True)
class LongLine:
    """`rest` is the line with "" for the text; `start` and `end` bound the text's escaped bytes in the line."""

    rest: bytes
    start: int
    end: int


def split_text(line: bytes | bytearray, name: str) -> LongLine | None:
    """The line and its text apart; None if `name` is not, or not plainly, a top-level field with a string."""
    key, depth, span = orjson.dumps(name), 0, None
    tokens = _TOKEN.finditer(line)
    for token in tokens:
        first = line[token.start()]
        if first in b"{[":
            depth += 1
        elif first in b"}]":
            depth -= 1
        elif depth == 1 and token.end() - token.start() == len(key) and token.group() == key:
            value = _VALUE_STRING.match(line, token.end())
            if value:
                if not value.group(1):
                    return None
                text = next(tokens, None)
                span = text.span() if text else None
    if span is None:
        return None
    start, end = span[0] + 1, span[1] - 1
    with memoryview(line) as view:
        rest = b"".join((view[:start], view[end:]))
    return LongLine(rest, start, end)


def unescape(line: bytes | bytearray, start: int, end: int) -> pa.Buffer:
    """The UTF-8 of the JSON string whose inside is `line[start:end]`.

    Raises orjson.JSONDecodeError where it is not a JSON string.
    """
    buffer = pa.allocate_buffer(end - start)
    size = 0
    with memoryview(buffer).cast("B") as out, memoryview(line) as view:
        while start < end:
            cut = _safe_cut(line, start, end)
            part: str = orjson.loads(b"".join((b'"', view[start:cut], b'"')))
            data = part.encode()
            out[size : size + len(data)] = data
            size += len(data)
            start = cut
    return buffer.slice(0, size)


def _safe_cut(line: bytes | bytearray, start: int, end: int) -> int:
    """Where the part that begins at `start` may end: outside of escapes, pairs of them, and characters."""
    part = _PART.match(line, start, end)
    cut = part.end() if part else end
    while cut < end and 0x80 <= line[cut] < 0xC0:
        cut += 1
    return cut

"""The plain-Python twin of `code_shape`: slow, over characters, the kernel's oracle in the tests."""

import re

from gristmill.stages.kernels.char_table import ALPHA, SPACE, char_flags
from gristmill.stages.kernels.code_shape import DENSE_CHARS, MIN_BASE64_CHARS, MIN_HEX_ITEMS, MIN_JOINED_CHARS

_BASE64 = "0-9A-Za-z+/="
_RUN = re.compile(rf"[{_BASE64}]+(?:(?<=[{_BASE64}]{{{MIN_JOINED_CHARS}}})(?:\r\n|\r|\n)[{_BASE64}]+)*")
_NAME = r"[0-9A-Za-z_\u0080-\U0010ffff]"
_ITEM = re.compile(
    rf"\\x[0-9A-Fa-f]{{2}}|\\u[0-9A-Fa-f]{{4}}|(?<!{_NAME})0[xX][0-9A-Fa-f]{{2,}}[uUlL]*(?!{_NAME})"
    rf"|(?<!{_NAME})[0-9A-Fa-f]{{2}}(?!{_NAME})"
)
_BETWEEN = re.compile("[ \t\n\r,\"']*")


def shape_counts(text: str) -> list[int]:
    """The counts of one file, in the order of SHAPE_COUNTS."""
    flags = char_flags()
    lines = re.split("\r\n|\r|\n", text)
    if lines[-1] == "":
        lines.pop()
    runs = _base64_runs(text)
    spans = _hex_spans(text)
    return [
        len(text),
        len(lines),
        sum(map(len, lines)),
        max(map(len, lines), default=0),
        sum(bool(flags[ord(char)] & ALPHA) for char in text),
        sum(char in "0123456789" for char in text),
        sum(bool(flags[ord(char)] & SPACE) or char in "\r\n" for char in text),
        sum(len(line) for line in lines if _is_dense(line)),
        sum(runs) + sum(size for size, _ in spans),
        max([*runs, *(size for size, is_table in spans if not is_table)], default=0),
    ]


def _is_dense(line: str) -> bool:
    flags = char_flags()
    spaces = sum(bool(flags[ord(char)] & SPACE) for char in line)
    ascii_chars = sum(char < "\x80" for char in line)
    return len(line) >= DENSE_CHARS and 12 * spaces < len(line) and 5 * ascii_chars >= 4 * len(line)


def _base64_runs(text: str) -> list[int]:
    """Characters, line ends apart, of each run that counts."""
    found: list[int] = []
    for match in _RUN.finditer(text):
        run = re.sub("[\r\n]", "", match[0])
        cases = re.search("[A-Z]", run) and re.search("[a-z]", run)
        varied = re.search("[0-9]", run) and (cases or not re.search("[G-Zg-z]", run))
        if len(run) >= MIN_BASE64_CHARS and varied:
            found.append(len(run))
    return found


def _hex_spans(text: str) -> list[tuple[int, bool]]:
    """Bytes of each run of items, and whether it is a table of numbers."""
    found: list[tuple[int, bool]] = []
    at = 0
    while (match := _ITEM.search(text, at)) is not None:
        first, items = match.start(), [match[0]]
        at = match.end()
        while (more := _ITEM.match(text, _BETWEEN.match(text, at).end())) is not None:  # type: ignore[union-attr]
            items.append(more[0])
            at = more.end()
        if len(items) >= MIN_HEX_ITEMS:
            is_table = all(item[:2] in ("0x", "0X") or item.isdigit() for item in items)
            found.append((len(text[first:at].encode()), is_table))
    return found

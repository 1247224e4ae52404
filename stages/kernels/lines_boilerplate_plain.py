"""The plain-Python twin of `lines_boilerplate`: its test oracle."""

from collections.abc import Sequence

from gristmill.stages.kernels.char_table import ALPHA, ATTACHED, SOLO, UPPER, WORD
from gristmill.stages.kernels.lines_boilerplate import (
    COUNTS,
    LABEL_COLUMNS,
    LABEL_SOLOS,
    LABEL_WORDS,
    LINK_WORDS,
    MIN_RUN,
    NOTICE_WORDS,
)
from gristmill.stages.kernels.lines_chars import CLOSER, SEPARATOR, TERMINAL
from gristmill.stages.kernels.lines_plain import ends_of, is_space, last_char, raw_lines, stripped
from gristmill.stages.kernels.lines_refinedweb_plain import forms_of
from gristmill.stages.kernels.words_plain import flags_of

_BULLETS = "-*\u2022\u00b7\u25cf\u25aa\u2013"
_LONG_LINE_BYTES = 400


def count_plain(text: str, notices: Sequence[str]) -> dict[str, int]:
    """The counts of `lines_boilerplate.COUNTS` by name."""
    counts = dict.fromkeys(COUNTS, 0)
    run: list[tuple[str, int]] = []
    for raw, _ in raw_lines(text):
        line = _without_bullet(stripped(raw))
        if not line:
            continue
        kind = _kind(line, notices)
        chars = sum(not is_space(char) and not flags_of(char) & ATTACHED for char in line)
        counts["chars"] += chars
        counts["notice_chars"] += chars * (kind == "notice")
        counts["link_chars"] += chars * (kind == "links")
        if kind == "text":
            counts["navigation_chars"] += _of_run(run)
            run = []
        else:
            run.append((kind, chars))
    counts["navigation_chars"] += _of_run(run)
    return counts


def _of_run(run: list[tuple[str, int]]) -> int:
    return sum(chars for kind, chars in run if kind == "label") if len(run) >= MIN_RUN else 0


def _without_bullet(line: str) -> str:
    return stripped(line[1:]) if line[:1] in _BULLETS and line[1:2] and is_space(line[1]) else line


def _kind(line: str, notices: Sequence[str]) -> str:
    plain = "".join(" " if is_space(char) else char for char in line if not flags_of(char) & ATTACHED)
    chunks = plain.split()
    solos = sum(bool(flags_of(char) & SOLO) for char in plain)
    letters = sum(bool(flags_of(char) & ALPHA) for char in plain)
    separators = sum(len(chunk) == 1 and bool(ends_of(chunk) & SEPARATOR) for chunk in chunks[1:-1])
    if len(line.encode()) > _LONG_LINE_BYTES:
        return "text"
    folded = _folded(line)
    if len(chunks) - separators + solos <= NOTICE_WORDS and any(
        _folded(form) in folded for phrase in notices for form in forms_of(phrase)
    ):
        return "notice"
    last = last_char(line)
    if separators >= 2 and letters and line[0] != "|" and not ends_of(last) & TERMINAL:
        return "links" if len(chunks) - separators <= LINK_WORDS * (separators + 1) else "text"
    opens = flags_of(line[0])
    small = not opens & (UPPER | SOLO) and ord(line[0]) < 0x250
    if not opens & ALPHA or small or not (flags_of(last) & (ALPHA | WORD) or ends_of(last) & CLOSER):
        return "text"
    columns = len(plain) + solos
    fits = len(chunks) <= LABEL_WORDS and columns <= LABEL_COLUMNS and solos <= LABEL_SOLOS
    visible = sum(char != " " for char in plain)
    return "label" if fits and 4 * letters >= 3 * visible else "text"


def _folded(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)

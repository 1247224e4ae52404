"""The plain-Python twin of `page_lines`, `page_line_kinds` and `page_tokens`: one readable line after another.

The kernels' test oracle; page headers are told by their definition, from all places of a line at once.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from gristmill.stages.kernels.line_keys import MAX_KEY_BYTES, line_key, normal_form
from gristmill.stages.kernels.page_line_kinds import CHAPTER_WORD, MAX_CITED_BYTES, MAX_LABEL_BYTES, MAX_TEXT_BYTES
from gristmill.stages.kernels.page_lines import (
    CHAPTER,
    CITED,
    ENTRY,
    JUNK,
    LEADER,
    MAX_MARKS,
    MAX_PAGE_LINES,
    MIN_PAGE_LINES,
    MIN_PROSE_BYTES,
    NEAR_LINES,
    NUMBER,
    PAGE_HEAD,
    PLAIN,
    SPACED,
    TOC,
)
from gristmill.stages.kernels.page_tokens import MAX_CONSONANTS, MAX_SAME, MIN_VOWELLESS

Kind = tuple[int, int, int]

_BLANKS = bytes(range(0x21))
_DRESSING = _BLANKS + b"-|[]~*_<>"
_LINE = re.compile(rb"([^\n\r\f]*)(?:\r\n|\n|\r|\f|\Z)")
_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")
_ROMAN = dict(zip(b"ivxlcIVXLC", (1, 5, 10, 50, 100) * 2, strict=True))
_NUMERAL = re.compile(rb"[0-9]+|[ivxlcIVXLC]{1,9}")
_LEADER = re.compile(rb"(?s)\A(.*?)((?:[ \t.]|\xc2\xb7|\xe2\x80\xa6)*)([0-9]+|[ivxlcIVXLC]{1,9})\Z")
_PAGES = re.compile(rb"(?s)\A(.*?) *, *((?:[0-9]+\xe2\x80\x93)?[0-9-]+)\Z")
_YEAR = re.compile(rb"(?<![0-9])(?:1[5-9]|20)[0-9]{2}(?![0-9])")
_CUE = re.compile(rb"(?s)[dD][oO][iI]|[iI][sS][bB][nN]|e[tT][\x00 ]a.|://")
_OPEN_ASCII = re.compile(rb"[^.!?:\"')\x80-\xff]\Z")
_CLOSES = tuple(mark.encode() for mark in "\u201d\u2019\u2026\u3002\u300d\u300f\uff01\uff09\uff0e\uff1f")
_JUNK = re.compile(
    rb"([A-Za-z])\1{%d}|[b-df-hj-np-tv-xz]{%d}|[a-z][0-9][a-z]|[A-Za-z][~|!;][A-Za-z]" % (MAX_SAME, MAX_CONSONANTS + 1)
)
_VOWELLESS = re.compile(rb"[A-Za-z][a-z]{%d,}\Z" % (MIN_VOWELLESS - 1))


@dataclass(frozen=True)
class Line:
    """A line's bytes `[start, end)` in the text, and where it begins without what is blank at its ends, and that."""

    start: int
    end: int
    first: int
    content: bytes


@dataclass
class _Places:
    """Where the lines of one key stand."""

    lines: list[int] = field(default_factory=list[int])
    numbers: list[int] = field(default_factory=list[int])
    open: int = 0
    alone: int = 0


def lines(text: bytes) -> Iterator[Line]:
    """All lines, blank ones too."""
    for match in _LINE.finditer(text):
        if match.end() > match.start():
            body = match.group(1)
            first = match.start() + len(body) - len(body.lstrip(_BLANKS))
            yield Line(match.start(), match.end(), first, body.strip(_BLANKS))


def numeral(text: bytes) -> tuple[int, int]:
    """Value and length of the number, of 1 to 4 digits or Roman, that a text begins with; 0, 0."""
    match = _NUMERAL.match(text)
    if not match:
        return 0, 0
    found = match.group()
    if found.isdigit():
        return (int(found), len(found)) if len(found) <= 4 else (0, 0)
    if _LETTER.match(text, match.end()):
        return 0, 0
    digits = [_ROMAN[byte] for byte in found]
    value = sum(b - 2 * a if b > a else b for a, b in pairwise([0, *digits]))
    return max(value, 0), len(found)


def _inner(token: bytes) -> bytes:
    """What stands between the first and the last letter or digit of a token of ASCII; nothing of another."""
    return re.sub(rb"\A[^A-Za-z0-9]+|[^A-Za-z0-9]+\Z", b"", token) if token.isascii() else b""


def is_junk(token: bytes) -> bool:
    """Whether a token is junk."""
    inner = _inner(token)
    plain = len(re.findall(rb"[A-Za-z0-9]", inner))
    if _JUNK.search(inner) or 2 * plain < len(inner):
        return True
    return bool(_VOWELLESS.match(inner)) and not re.search(rb"(?i)[aeiouy]", inner)


def kind_of(line: Line, known: Mapping[int, int], near_toc: bool) -> Kind:
    """Kind, value and aux of a line that is not blank."""
    content = line.content
    if len(content) <= MAX_KEY_BYTES:
        bare = content.strip(_DRESSING)
        value, length = numeral(bare)
        if value and length == len(bare) and not bare[:1].isupper():
            return NUMBER, value, int(not bare.isdigit())
        kind = known.get(line_key(content), 0)
        if kind and kind != CHAPTER_WORD:
            return kind, _first_number(content) if kind == NUMBER else 0, 0
    if len(content) <= MAX_TEXT_BYTES:
        found = _leader(content, near_toc) or _entry(content, line.first == line.start)
        if found:
            return found
    label = _label(content)
    if label >= 0:
        return CITED, label, 0
    number = _chapter(content, known) if near_toc and len(content) <= MAX_TEXT_BYTES else 0
    return (CHAPTER, number, 0) if number else (PLAIN, 0, 0)


def _first_number(content: bytes) -> int:
    match = re.search(rb"[0-9]+", content)
    return numeral(match.group())[0] if match else 0


def _leader(content: bytes, near_toc: bool) -> Kind | None:
    match = _LEADER.match(content)
    if not match or not _LETTER.search(match.group(1)):
        return None
    value, length = numeral(match.group(3))
    gap = match.group(2)
    dots = gap.count(b".") + gap.count(b"\xc2\xb7") + 3 * gap.count(b"\xe2\x80\xa6")
    blanks = gap.count(b" ") + 2 * gap.count(b"\t")
    if value == 0 or length != len(match.group(3)) or not (dots >= 3 or (near_toc and blanks >= 2)):
        return None
    return (LEADER if dots >= 3 else SPACED), value, 0


def _entry(content: bytes, at_margin: bool) -> Kind | None:
    count, rest = 0, content.removesuffix(b".")
    while (match := _PAGES.match(rest)) and match.group(2)[:1].isdigit() and len(match.group(2)) <= 11:
        count, rest = count + 1, match.group(1)
    if not count or not _LETTER.match(content):
        return None
    first = content[0]
    width = 1 if first < 0x80 else 2 if first < 0xE0 else 3
    letter = first | 0x20 if first < 0x80 else int.from_bytes(content[:width].ljust(3, b"\0"), "big")
    pages = re.search(rb"[0-9]*\Z", content.removesuffix(b"."))
    last = numeral(pages.group())[0] if pages else 0
    return ENTRY, last, (letter if at_margin else 0) << 8 | min(count, 255)


def _label(content: bytes) -> int:
    """Number of the label of a reference, -1 where the line is none."""
    bracket = re.match(rb"\[([^\]]*)\]", content)
    if bracket:
        inner = bracket.group(1)
        label = numeral(inner)[0] if inner[:1].isdigit() else 0
        if bracket.end() > MAX_LABEL_BYTES or not re.search(rb"[0-9]", inner):
            return -1
        rest = content[bracket.end() - 1 :]
    else:
        number = re.match(rb"[0-9]{1,4}(?=\. )", content)
        if not number:
            return -1
        label, rest = int(number.group()), content[number.end() :]
    year = any(m.start() < MAX_CITED_BYTES for m in _YEAR.finditer(rest))
    cue = any(m.start() < MAX_CITED_BYTES for m in _CUE.finditer(rest))
    return label if (year and cue) or (bracket and (year or cue)) else -1


def _chapter(content: bytes, known: Mapping[int, int]) -> int:
    value, length = numeral(content)
    if value:
        return value if re.match(rb"(?s)[.)][\x00-\x20]", content[length:]) else 0
    if known.get(line_key(normal_form(content).split(b" ")[0]), 0) != CHAPTER_WORD:
        return 0
    second = re.match(rb"[^\x00-\x20]*[\x00-\x20]+", content)
    return numeral(content[second.end() :])[0] if second else 0


def _page_head(content: bytes) -> int:
    match = re.match(rb"([0-9]+)(?![0-9])", content)
    if match and len(match.group()) <= 4:
        return int(match.group()) if re.match(rb"[\x00-\x20]", content[match.end() :]) else 0
    last = re.search(rb"[\x00-\x20]([0-9]+)\Z", content)
    return numeral(last.group(1))[0] if last else 0


def _ends_open(content: bytes) -> bool:
    if content[-1] < 0x80:
        return bool(_OPEN_ASCII.search(content))
    return not content.endswith(_CLOSES)


def scan(text: bytes, known: Mapping[int, int], min_repeats: int) -> tuple[list[int], list[list[int]], set[int]]:
    """Counts, marks (without their window) and keys of page headers of a text that is one window."""
    counts = [0] * 5
    marks: list[list[int]] = []
    places: dict[int, _Places] = {}
    is_open, after_blank, near = False, True, -NEAR_LINES - 1
    waiting: list[int] | None = None
    last: _Places | None = None
    for line in lines(text):
        content = line.content
        if not content:
            after_blank = True
            continue
        number = counts[0]
        tokens = re.split(rb"[\x00-\x20]+", content)
        junk = sum(map(is_junk, tokens))
        singles = sum(bool(re.fullmatch(rb"[A-Za-z]", _inner(token))) for token in tokens)
        hyphen = re.search(rb"[A-Za-z]-\Z", content) is not None
        counts = [a + b for a, b in zip(counts, (1, len(tokens), junk, singles, hyphen), strict=True)]
        kind, value, aux = kind_of(line, known, number - near <= NEAR_LINES)
        ends = line.end >= len(text) or text[line.end] in b"\n\r\f"
        alone = after_blank and len(content) <= MAX_KEY_BYTES and ends
        if kind == PLAIN and len(tokens) >= 2 and 2 * junk >= len(tokens):
            kind, value, aux = JUNK, junk, len(tokens)
        if kind == PLAIN and alone and _page_head(content):
            kind, value, aux = PAGE_HEAD, _page_head(content), 0
        near = number if kind in (TOC, LEADER, SPACED, CHAPTER) else near
        is_prose = kind not in (NUMBER, PAGE_HEAD) and len(content) >= MIN_PROSE_BYTES
        if is_prose and is_open and (content[0] >= 0x80 or content[:1].islower()):
            if waiting:
                waiting[-1] = 1
            if last:
                last.open += 1
        if is_prose:
            waiting, last = None, None
        if kind != PLAIN and len(marks) < MAX_MARKS:
            waiting = [line.start, line.end, number, kind, value, aux, 0]
            marks.append(waiting)
        if kind in (PLAIN, PAGE_HEAD) and len(content) <= MAX_KEY_BYTES:
            last = places.setdefault(line_key(content), _Places())
            last.lines.append(number)
            last.numbers.append(_first_number(content))
            last.alone += alone
        if is_prose and (last is None or len(last.lines) == 1):
            is_open = _ends_open(content)
        after_blank = kind == NUMBER or text[line.end - 1] == 0x0C
    return counts, marks, {key for key, own in places.items() if _is_header(own, min_repeats)}


def _is_header(places: _Places, min_repeats: int) -> bool:
    count = len(places.lines)
    if count < max(min_repeats, 2) or 4 * places.open < count:
        return False
    gaps = [b - a for a, b in pairwise(places.lines)]
    rises = sum(a > 0 and 1 <= b - a <= 3 for a, b in pairwise(places.numbers))
    if 4 * places.alone < 3 * count and 5 * rises < 4 * len(gaps):
        return False
    total, squares = sum(gaps), sum(gap * gap for gap in gaps)
    apart = MIN_PAGE_LINES * len(gaps) <= total <= MAX_PAGE_LINES * len(gaps)
    return apart and 4 * (len(gaps) * squares - total * total) <= total * total

"""`find_breaks` in plain Python, as its oracle: the rules of `pipeline.breaks` by regular expressions and slices."""

import re
from collections.abc import Sequence
from itertools import pairwise

from gristmill.manifests.trainer_schema import (
    BREAK_LEVELS,
    BREAK_LINE,
    BREAK_PARAGRAPH,
    BREAK_SENTENCE,
    BREAK_STRETCH_TOKENS,
    BREAK_TOKEN,
    BREAK_TOP,
    HOLD_END,
    HOLD_START,
)

Span = tuple[int, int]

_HEADING = re.compile(rb"#{1,6} |\\(?:part|chapter|section|subsection)\{")
_BLANK_LINE = re.compile(rb"(?:\A|\n)[ \t\r]*\n\Z")
_SENTENCE = re.compile(rb"[.!?][\"')\]]{0,3}\Z")
_MARK = b"\xff"
"""Of a medium in a text, no byte of UTF-8."""
_OPENING = re.compile(rb"[ \t\r\xff]*(`{3,}(?=[^`]*\Z)|~{3,})")
_CLOSING = re.compile(rb"[ \t\r\xff]*(`{3,}|~{3,})[ \t\r\xff]*\Z")
_WIDE_SENTENCE = re.compile(rb"(?:\xe3\x80\x82|\xef\xbc\x81|\xef\xbc\x9f|\xe0\xa5\xa4)[\"')\]]{0,3}\Z")


def breaks_plain(text: bytes, sizes: Sequence[int], is_code: bool, media: Sequence[Span]) -> list[int]:
    """Breaks of one document. sizes: bytes of each id, -1 unknown (those of media are not looked at); media: (start,
    length) in tokens."""
    places = _places(sizes, media)
    if len(sizes) <= BREAK_STRETCH_TOKENS or places is None or places[-1] != len(text):
        return []
    holds = _holds(text, places, media)
    best: dict[int, tuple[int, int]] = {}
    for at, place in enumerate(places[:-1]):
        inside = any(s < at < e for s, e in holds)
        if 0 < place < len(text) and not inside and (level := level_of(text, place, is_code)):
            stretch = at // BREAK_STRETCH_TOKENS
            best[stretch] = max(best.get(stretch, (0, 0)), (level, at))
    marks = [(HOLD_START, s) for s, _ in holds] + [(HOLD_END, e) for _, e in holds]
    return sorted(at * BREAK_LEVELS + level for level, at in (*best.values(), *marks))


def level_of(text: bytes, place: int, is_code: bool) -> int:
    """Level of a cut in front of byte `place` in (0, len(text)), 0 inside a character."""
    if text[place] & 0xC0 == 0x80:
        return 0
    before, behind = text[:place], text[place:]
    if before.endswith(b"\n"):
        if not is_code and _HEADING.match(behind):
            return BREAK_TOP
        if not _BLANK_LINE.search(before):
            return BREAK_LINE
        return BREAK_TOP if is_code and behind[:1] not in (b" ", b"\t", b"\r", b"\n") else BREAK_PARAGRAPH
    core = before.removesuffix(b" ")
    spaced = len(core) < len(before) or behind[:1] in (b" ", b"\n")
    ends = _WIDE_SENTENCE.search(core) or (spaced and _SENTENCE.search(core))
    return BREAK_SENTENCE if ends else BREAK_TOKEN


def _places(sizes: Sequence[int], media: Sequence[Span]) -> list[int] | None:
    """The byte in front of which each token stands, and the end; None where a size is unknown."""
    inside = {at for start, length in media for at in range(start, start + length)}
    places = [0]
    for at, size in enumerate(sizes):
        if at not in inside and size < 0:
            return None
        places.append(places[-1] + (0 if at in inside else size))
    return places


def _holds(text: bytes, places: Sequence[int], media: Sequence[Span]) -> list[Span]:
    """(start, end) of the hold of each medium."""
    blocks = _fenced(text, [places[start] for start, _ in media])
    behind_blank = (at for at, place in enumerate(places[:-1]) if place and _BLANK_LINE.search(text[:place]))
    bounds = [at for at in behind_blank if not any(s < places[at] < e for s, e in blocks)]
    holds: list[Span] = []
    nexts = [start for start, _ in media[1:]] + [len(places) - 1]
    for (start, length), following in zip(media, nexts, strict=False):
        floor = holds[-1][1] if holds else 0
        front = [at for at in range(floor, start) if _has_text(text[places[at] : places[at + 1]])]
        paragraph = max((b for b in (0, *bounds) if front and b <= front[-1]), default=-1)
        behind = (b for b in bounds if start + length <= b <= following and _has_text(text[places[start] : places[b]]))
        holds.append((paragraph if front and paragraph >= floor else start, next(behind, following)))
    return holds


def _fenced(text: bytes, marks: Sequence[int]) -> list[Span]:
    """Bytes [start, end) of each fenced block, whole lines; media stand in front of the bytes `marks`."""
    cuts = [0, *marks, len(text)]
    marked = _MARK.join(text[s:e] for s, e in pairwise(cuts))
    blocks: list[Span] = []
    begin, fence, place = 0, b"", 0
    for line in marked.split(b"\n"):
        behind = place + len(line.replace(_MARK, b"")) + 1
        if not fence:
            found = _OPENING.match(line)
            begin, fence = place, found[1] if found else b""
        elif (found := _CLOSING.match(line)) and found[1].startswith(fence):
            blocks.append((begin, behind))
            fence = b""
        place = behind
    return [*blocks, (begin, place + 1)] if fence else blocks


def _has_text(part: bytes) -> bool:
    return any(byte > ord(" ") for byte in part)

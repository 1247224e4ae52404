"""What publishers put about a text: Project Gutenberg's header and licence, copyright pages, credits.

In: one document's bytes. Out: spans for the reasons `front_matter` and `licence_block`.

* Project Gutenberg: all up to its line `*** START OF THE (THIS) PROJECT GUTENBERG ... ***` (in files of before 2002,
  `*END*THE SMALL PRINT!...`), the last of them within HEAD_BYTES, and the credits that follow ("Produced by ..."); all
  from `*** END OF THE (THIS) PROJECT GUTENBERG` within the last TAIL_BYTES on, with "End of (the) Project Gutenberg's
  ..." before it. Both carry a licence for the trademark, which forbids to pass them on changed.
* Copyright pages: paragraphs of at most MAX_PARAGRAPH_BYTES within COPYRIGHT_BYTES of the begin that hold a known
  phrase, where there are two kinds of them or more: a list of books has ISBNs alone, a licence reserves rights alone.

Texts of fewer than MIN_BOOK_BYTES are searched for the marks of Project Gutenberg only.
"""

import functools
import re
from typing import Any

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.text.pages_cut import Span

HEAD_BYTES = 1 << 16
TAIL_BYTES = 1 << 16
COPYRIGHT_BYTES = 1 << 14
MIN_BOOK_BYTES = 20_000
MAX_PARAGRAPH_BYTES = 1500
MAX_CREDIT_BYTES = 600

_START = (
    r"(?im)^[^\n\r]{0,12}(?:\*{3} ?START OF (?:THE|THIS) PROJECT GUTENBERG|\*END\*? ?THE SMALL PRINT)[^\n\r]*[\r\n]*"
)
_END = r"(?im)^[^\n\r]{0,12}\*{3} ?END OF (?:THE|THIS) PROJECT GUTENBERG"
_LAST_LINE = r"(?im)^[^\n\r]{0,12}End of (?:the |this )?Project Gutenberg[^*]*$"
_CREDIT = (
    r"(?i)^\s{0,40}(?:Produced by|E-?texts? prepared by|Transcribed from"
    r"|This e-?(?:text|book) was (?:produced|prepared) by)"
)
_COPYRIGHT = (
    r"(?i)all rights reserved|copyright (?:©|\(c\)|[0-9]{4})|© ?[0-9]{4}|alle rechte vorbehalten"
    r"|tous droits réservés|todos los derechos reservados|版权所有"
)
_IMPRINT = (
    r"(?i)no part of this (?:publication|book)|library of congress catalog|isbn(?:-1[03])?[: ]*[0-9]"
    r"|printed (?:and bound )?in (?:the )?(?:united states|u\.?s\.?a|great britain|germany|china|india|canada)"
    r"|first published (?:in|by|[0-9]{4})|dépôt légal|depósito legal"
)


@functools.lru_cache(maxsize=8)
def _pattern(source: str) -> Any:
    import re2

    return re2.compile(source.encode())


def front_spans(data: Bytes, start: int, end: int, row: int) -> list[Span]:
    """Spans of what stands about the text `data[start:end]`."""
    spans = _gutenberg_spans(data, start, end, row)
    if end - start < MIN_BOOK_BYTES:
        return spans
    at = max([span.end for span in spans if span.reason == "front_matter"], default=start)
    head = data[at : min(end, at + COPYRIGHT_BYTES)].tobytes()
    return spans + [Span(row, at + first, at + last, "front_matter") for first, last in _copyright_pages(head)]


def _gutenberg_spans(data: Bytes, start: int, end: int, row: int) -> list[Span]:
    head = data[start : min(end, start + HEAD_BYTES)].tobytes()
    spans: list[Span] = []
    after = 0
    if b"PROJECT GUTENBERG" in head or b"SMALL PRINT" in head:
        after = max([match.end() for match in _pattern(_START).finditer(head)], default=0)
    if after:
        spans.append(Span(row, start, start + after + _credits(head[after:]), "front_matter"))
    begin = max(start + after, end - TAIL_BYTES)
    tail = data[begin:end].tobytes()
    mark = _pattern(_END).search(tail) if b"GUTENBERG" in tail else None
    if mark:
        first = mark.start()
        said = _pattern(_LAST_LINE).search(tail[max(first - MAX_CREDIT_BYTES, 0) : first])
        first -= min(first, MAX_CREDIT_BYTES) - said.start() if said else 0
        spans.append(Span(row, begin + first, end, "licence_block"))
    return spans


def _credits(text: bytes) -> int:
    """Bytes of the paragraph of credits at the begin; 0 where there is none."""
    lead = len(text) - len(text.lstrip())
    paragraph = re.split(rb"\r?\n[ \t]*\r?\n", text[lead : lead + MAX_CREDIT_BYTES], maxsplit=1)
    known = _pattern(_CREDIT).search(paragraph[0])
    return lead + len(paragraph[0]) if known and len(paragraph) > 1 else 0


def _copyright_pages(head: bytes) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    phrases: set[bytes] = set()
    at = 0
    for paragraph in re.split(rb"(\r?\n[ \t]*\r?\n)", head):
        if len(paragraph) <= MAX_PARAGRAPH_BYTES:
            imprints = {hit.group().lower()[:6] for hit in _pattern(_IMPRINT).finditer(paragraph)}
            rights = {b"rights" for _ in _pattern(_COPYRIGHT).finditer(paragraph)}
            if imprints or rights:
                found.append((at, at + len(paragraph)))
            phrases |= imprints | rights
        at += len(paragraph)
    return found if len(phrases) >= 2 else []
